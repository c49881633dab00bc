// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/orders/rank_orders.hpp"

#include <algorithm>

#include "precond/general/pattern/on_gpu.hpp"

namespace hyperplane {
namespace {

/// The levels of a rank's own rows among themselves: other ranks' rows precede all of them, or follow the levels as
/// those of the whole matrix do.
RowLevels levels_of_own_rows(const Context& host, const FilledPattern& filled, Index rows, Side side,
                             const std::string& label) {
    const BlockPattern& p = *filled.pattern;
    Buffer<int> depth(host, label, rows);
    int levels = 0;
    for (Index step = 0; step < rows; ++step) {
        const Index own = side == Side::lower ? step : rows - 1 - step, row = filled.first + own;
        for (Index at = p.row_begin()[row]; at < p.row_begin()[row + 1]; ++at) {
            const Index j = p.column()[at] - filled.first;
            if (j >= 0 && j < rows && (side == Side::lower ? j < own : j > own))
                depth[own] = std::max(depth[own], depth[j]);
        }
        levels = std::max(levels, ++depth[own]);
    }
    RowLevels made = sorted_levels(host, depth, levels, label);
    for (Index at = 0; at < rows; ++at) made.rows[at] += int(filled.first);
    return made;
}

}  // namespace

Orders orders_of_rank(const Context& host, const FilledPattern& filled, Index rows, const OrderNeeds& needs,
                      const std::string& label) {
    Orders made;
    const auto sliced = [&](const RowLevels& levels, Side side) {
        SlicedOrder order = sliced_order(host, filled, levels, side, needs.dof, label);
        order.level_begin = {};
        return order;
    };
    RowLevels lower = levels_of_own_rows(host, filled, rows, Side::lower, label);
    if (needs.slices) {
        made.lower = sliced(lower, Side::lower);
        made.upper = sliced(levels_of_own_rows(host, filled, rows, Side::upper, label), Side::upper);
    }
    if (needs.by_level) made.by_level = std::move(lower.rows);
    return made;
}

Orders copied_to_gpu(const Context& gpu, const Orders& orders, const std::string& label) {
    const auto sliced = [&](const std::optional<SlicedOrder>& order) -> std::optional<SlicedOrder> {
        if (!order) return std::nullopt;
        return SlicedOrder{copy_on(gpu, label, order->row), copy_on(gpu, label, order->slices), order->places,
                           order->levels, order->level_begin};
    };
    return {sliced(orders.lower), sliced(orders.upper), std::nullopt,
            orders.by_level.size() > 0 ? copy_on(gpu, label, orders.by_level) : Buffer<int>()};
}

}  // namespace hyperplane
