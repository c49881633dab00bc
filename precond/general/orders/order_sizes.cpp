// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/planned_gpu.hpp"
#include "core/error.hpp"
#include "precond/general/orders/orders_cuda.hpp"
#include "precond/general/pattern/diagonals_cuda.hpp"

namespace hyperplane {
namespace {

Orders orders_by_gpu(const Context& gpu, const FilledPattern& filled, const OrderNeeds& needs,
                     const std::string& label) {
    rtc::prepare(level_programs(), rtc::architecture_of(gpu.stream().properties()), gpu.threads());
    const auto pattern = filled.pattern->copied_to(gpu, label);
    const DiagonalsOnGpu diagonals = diagonals_on_gpu(gpu, *pattern, false, label);
    return orders_on_gpu(gpu, *pattern, diagonals.place, needs, label);
}

Orders orders_by_host(const Context& host, const FilledPattern& filled, const OrderNeeds& needs,
                      const std::string& label) {
    const BothLevels levels = levels_of_both(host, *filled.pattern, label);
    Orders orders;
    if (needs.slices) {
        orders.lower = sliced_order(host, filled, levels.lower, Side::lower, needs.dof, label);
        orders.upper = sliced_order(host, filled, levels.upper, Side::upper, needs.dof, label);
        keep_levels_if_used(*orders.lower, *orders.upper, needs.way, needs.dof);
    }
    if (needs.table) orders.table = table_order(host, filled, levels.lower, *needs.table, label);
    return orders;
}

/// On the host where there is no GPU, or no memory left on it.
Orders orders_where_possible(const Context& gpu, const FilledPattern& filled, const OrderNeeds& needs,
                             const std::string& label) {
    if (device::is_planned(gpu.stream().properties())) return orders_by_host(gpu.host(), filled, needs, label);
    try {
        return orders_by_gpu(gpu, filled, needs, label);
    } catch (const OutOfMemory&) {
        return orders_by_host(gpu.host(), filled, needs, label);
    }
}

}  // namespace

OrderSizes sizes_of_orders(const Context& gpu, const FilledPattern& filled, const OrderNeeds& needs,
                           const std::string& label) {
    if (!needs.slices && !needs.table) return {};
    return sizes_of(orders_where_possible(gpu, filled, needs, label));
}

}  // namespace hyperplane
