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

RankOrders orders_of_rank(const Context& host, const FilledPattern& filled, Index rows, int dof,
                          const std::string& label) {
    RowLevels lower = levels_of_own_rows(host, filled, rows, Side::lower, label);
    const RowLevels upper = levels_of_own_rows(host, filled, rows, Side::upper, label);
    SlicedOrder of_lower = sliced_order(host, filled, lower, Side::lower, dof, label);
    SlicedOrder of_upper = sliced_order(host, filled, upper, Side::upper, dof, label);
    return {std::move(lower), std::move(of_lower), std::move(of_upper)};
}

SlicedOrder copied_to_gpu(const Context& gpu, const SlicedOrder& order, const std::string& label) {
    return {copy_on(gpu, label, order.row), copy_on(gpu, label, order.slices), order.places, order.levels, {}};
}

}  // namespace hyperplane
