// SPDX-License-Identifier: BSD-3-Clause
#include "precond/graph/levels.hpp"

#include <numeric>

namespace hyperplane {

RowLevels levels_of(const Context& host, const BlockPattern& pattern, Side side, const std::string& label) {
    const Index rows = pattern.rows();
    Buffer<int> level(host, label, rows);
    int deepest = -1;
    for (Index step = 0; step < rows; ++step) {
        const Index row = side == Side::lower ? step : rows - 1 - step;
        int own = 0;
        for (Index at = pattern.row_begin()[row]; at < pattern.row_begin()[row + 1]; ++at) {
            const int j = pattern.column()[at];
            if (side == Side::lower ? j < row : j > row) own = std::max(own, level[j] + 1);
        }
        level[row] = own;
        deepest = std::max(deepest, own);
    }
    RowLevels result{Buffer<int>(host, label, rows), Buffer<Index>(host, label, deepest + 2)};
    for (Index row = 0; row < rows; ++row) ++result.begin[level[row] + 1];
    std::partial_sum(result.begin.begin(), result.begin.end(), result.begin.begin());
    std::vector<Index> next(result.begin.begin(), result.begin.end() - 1);
    for (Index row = 0; row < rows; ++row) result.rows[next[level[row]]++] = int(row);
    return result;
}

}  // namespace hyperplane
