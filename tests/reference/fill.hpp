// SPDX-License-Identifier: BSD-3-Clause
// Patterns, and the level-of-fill patterns of ILU(k): Saad, Iterative Methods, section 10.3.3.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "reference/stencils.hpp"

namespace hyperplane::reference {

/// The columns of each row, where rows and columns are points.
using Pattern = std::vector<std::set<int>>;

/// The couplings of a stencil that lead to points of the grid without wrapping.
inline Pattern stencil_pattern(const Box& box, const std::vector<Offset>& offsets) {
    Pattern pattern(box.points());
    for (int row = 0; row < box.points(); ++row)
        for (Offset s : offsets)
            if (box.contains(box.point(row) + s)) pattern[row].insert(box.row(box.point(row) + s));
    return pattern;
}

/// The pattern of ILU(k): an elimination with entries of fill levels p and q gives level p + q + 1, the lowest level
/// of an entry counts, and entries above level k are dropped. Computed row by row on a full table of levels.
inline Pattern symbolic_ilu(const Pattern& pattern, int k) {
    const int n = int(pattern.size());
    constexpr std::uint8_t none = 255;
    std::vector<std::uint8_t> level(std::size_t(n) * n, none);
    Pattern filled(n);
    for (int i = 0; i < n; ++i) {
        std::uint8_t* row = &level[std::size_t(i) * n];
        for (int j : pattern[i]) row[j] = 0;
        for (int m = 0; m < i; ++m) {
            if (row[m] > k) continue;
            for (auto j = filled[m].upper_bound(m); j != filled[m].end(); ++j) {
                const int made = row[m] + level[std::size_t(m) * n + *j] + 1;
                if (made <= k && made < row[*j]) row[*j] = std::uint8_t(made);
            }
        }
        for (int j = 0; j < n; ++j)
            if (row[j] <= k) filled[i].insert(j);
    }
    return filled;
}

/// The offsets of ILU(k) far from any boundary: those of the middle row of a grid so large that k + 1 couplings from
/// the middle stay inside.
inline std::vector<Offset> filled_offsets(const std::vector<Offset>& offsets, int k) {
    const int reach = radius(offsets) * (k + 1);
    const int width = 2 * reach + 1;
    const Box box{width, width, width};
    const Offset middle{reach, reach, reach};
    const Pattern filled = symbolic_ilu(stencil_pattern(box, offsets), k);
    std::vector<Offset> result;
    for (int column : filled[box.row(middle)]) result.push_back(box.point(column) + -middle);
    return result;
}

}  // namespace hyperplane::reference
