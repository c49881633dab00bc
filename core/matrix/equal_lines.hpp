// SPDX-License-Identifier: BSD-3-Clause
// Lines along x of the natural layout that hold the same bits in several arrays, on a CPU.
//
// Where coefficients are constant, or constant in parts of the domain, most lines of a matrix, of its factors and of
// what else follows from it are copies of others. What is computed from such a line can be computed once, and loops
// that read it can read one of them, which stays in the caches, in place of all the others: the values are the same.
#pragma once

#include <vector>

#include "core/grid/layout.hpp"

namespace hyperplane {

class EqualLines {
public:
    /// Compares the lines of arrays, which are given by their value at slot 0. Only lines beside each other are
    /// compared, so equal lines can have different numbers.
    EqualLines(const Context& context, const Layout& layout, const std::vector<const double*>& arrays);

    /// Describes the lines of a layout without halo: `numbers` has for each line the first one that it equals, or the
    /// line itself; lines are counted from the layout's first plane on.
    EqualLines(const Layout& layout, std::vector<int> numbers);

    /// Lines with the same number hold the same bits in every array; -1 outside the grid, -2 outside memory.
    int number(int j, int k) const;
    /// Appends the numbers of the lines at most so far from a line.
    void append_around(int j, int k, int reach_y, int reach_z, std::vector<int>& numbers) const;

    /// The distance in slots from line (j, k), which must lie in memory, to the one that is read in its place.
    Index shift(int j, int k) const {
        const Index at = Index(k - begin_) * ny_ + j;
        return (number_[std::size_t(at)] - at) * nx_;
    }
    /// Whether half of the lines or more are read at other places.
    bool save_half() const { return 2 * different_ <= Index(number_.size()); }

private:
    int nx_, ny_, nz_, begin_, end_;  ///< planes in memory
    Index different_ = 0;             ///< numbers
    std::vector<int> number_;         ///< the first line with the same number, counted from plane `begin_` on
};

/// Equal lines, or null where fewer than half equal others: then each line is read at its own place.
inline const EqualLines* if_they_save(const EqualLines* lines) {
    return lines && lines->save_half() ? lines : nullptr;
}

}  // namespace hyperplane
