// SPDX-License-Identifier: BSD-3-Clause
// Ranges of coarse points along a line, for loops on a CPU that follow lines of the natural layout.
#pragma once

#include <algorithm>

#include "core/grid/layout.hpp"

namespace hyperplane::multigrid {

/// The positions [begin, end) of a coarse line for which all conditions hold that were asked for.
struct Range {
    int begin = 0, end;

    explicit Range(int count) : end(count) {}
    bool empty() const { return begin >= end; }

    /// step t + shift lies in [low, high).
    Range within(int step, int shift, int low, int high) const {
        Range narrowed = *this;
        narrowed.begin = std::max(begin, ceiling(low - shift, step));
        narrowed.end = std::min(end, ceiling(high - shift, step));
        return narrowed;
    }
    /// The fine point step t + s lies on a line of `count` points.
    Range with_fine(int step, int s, int count) const { return within(step, s, 0, count); }
    /// Its neighbour lies inside the grid.
    Range with_fine(int step, int s, const RunNeighbours& near) const { return within(step, s, near.begin, near.end); }

private:
    static int ceiling(int a, int step) { return a >= 0 ? (a + step - 1) / step : -(-a / step); }
};

}  // namespace hyperplane::multigrid
