// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/orders/levels.hpp"

#include <algorithm>

namespace hyperplane {
namespace {

/// Writes the depth of each row, its level counted from 1; returns the number of levels.
Index find_depths(const BlockPattern& pattern, Side side, int* depth) {
    const Index rows = pattern.rows();
    const Index* const begin = pattern.row_begin();
    const int* const column = pattern.column();
    int deepest = 0;
    if (side == Side::lower)
        for (Index row = 0; row < rows; ++row) {
            int own = 1;
            for (Index at = begin[row]; at < begin[row + 1] && column[at] < row; ++at)
                own = std::max(own, depth[column[at]] + 1);
            depth[row] = own;
            deepest = std::max(deepest, own);
        }
    else
        for (Index row = rows; row-- > 0;) {
            int own = 1;
            for (Index at = begin[row + 1]; at > begin[row] && column[at - 1] > row; --at)
                own = std::max(own, depth[column[at - 1]] + 1);
            depth[row] = own;
            deepest = std::max(deepest, own);
        }
    return deepest;
}

}  // namespace

RowLevels sorted_levels(const Context& host, const Buffer<int>& depth, Index levels, const std::string& label) {
    const Index rows = depth.size();
    RowLevels result{Buffer<int>(host, label, rows), Buffer<Index>(host, label, levels + 1)};
    // Each part of the rows counts its own rows of each level, so that all know where to put them.
    const Index parts = std::clamp<Index>(host.threads_for(rows), 1, std::max<Index>(1, rows / (levels + 1)));
    std::vector<std::vector<Index>> next(std::size_t(parts), std::vector<Index>(std::size_t(levels), 0));
#pragma omp parallel for schedule(static, 1) num_threads(int(parts))
    for (Index part = 0; part < parts; ++part)
        for (Index row = rows * part / parts; row < rows * (part + 1) / parts; ++row) ++next[part][depth[row] - 1];
    Index before = 0;
    for (Index at = 0; at < levels; ++at) {
        result.begin[at] = before;
        for (Index part = 0; part < parts; ++part) before += std::exchange(next[part][at], before);
    }
    result.begin[levels] = before;
#pragma omp parallel for schedule(static, 1) num_threads(int(parts))
    for (Index part = 0; part < parts; ++part)
        for (Index row = rows * part / parts; row < rows * (part + 1) / parts; ++row)
            result.rows[next[part][depth[row] - 1]++] = int(row);
    return result;
}

RowLevels levels_of(const Context& host, const BlockPattern& pattern, Side side, const std::string& label) {
    Buffer<int> depth(host, label, pattern.rows());
    const Index levels = find_depths(pattern, side, depth.data());
    return sorted_levels(host, depth, levels, label);
}

BothLevels levels_of_both(const Context& host, const BlockPattern& pattern, const std::string& label) {
    Buffer<int> lower(host, label, pattern.rows()), upper(host, label, pattern.rows());
    Index count[2] = {0, 0};
#pragma omp parallel for schedule(static, 1) num_threads(std::min(2, host.threads_for(pattern.blocks())))
    for (int side = 0; side < 2; ++side)
        count[side] = side == 0 ? find_depths(pattern, Side::lower, lower.data())
                                : find_depths(pattern, Side::upper, upper.data());
    return {sorted_levels(host, lower, count[0], label), sorted_levels(host, upper, count[1], label)};
}

}  // namespace hyperplane
