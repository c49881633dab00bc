// SPDX-License-Identifier: BSD-3-Clause
// Lines of coarse points on grids with periodic axes, on a CPU.
//
// Most points of a line have all their children, the neighbours of these and their parents where they would be without
// periodic axes: at constant distances. Loops take these together. The few at the ends of a line, whose neighbourhoods
// wrap around or are cut off, are taken one by one.
#pragma once

#include <vector>

#include "precond/multigrid/sources.hpp"

namespace hyperplane::multigrid {

/// What a coarse point has around it along one axis.
class AxisPoint {
public:
    /// The parent of a neighbour of which it is the child at `child`.
    struct Parent {
        int child, index, offset;  ///< `offset`: from the coarse point
    };

    /// For stencils whose offsets have components of at most `reach`.
    AxisPoint(const Coarsening& grids, int axis, int index, int reach);

    /// The fine point that is the child at s, -1 if there is none.
    int child(int s) const { return children_[s + 1]; }
    /// The fine point at o from the child at s, which exists; -1 if there is none.
    int neighbour(int s, int o) const { return around_[number(s, o)].fine; }
    /// Its parents, in the order in which their numbers grow.
    const std::vector<Parent>& parents(int s, int o) const { return around_[number(s, o)].parents; }
    /// Whether everything exists, at the same distances as for all such points.
    bool regular() const { return regular_; }

private:
    struct Around {
        int fine = -1;
        std::vector<Parent> parents;
    };

    int number(int s, int o) const { return (s + 1) * (2 * reach_ + 1) + o + reach_; }

    int reach_;
    bool regular_ = true;
    int children_[3] = {-1, -1, -1};
    std::vector<Around> around_;
};

/// Coarse points of a line that are computed together: one, or several regular ones.
struct Segment {
    int first, count;
};

/// The points along all three axes of a coarse grid.
class PeriodicLines {
public:
    PeriodicLines(const Coarsening& grids, int reach);

    const AxisPoint& at(int axis, int index) const { return points_[axis][std::size_t(index)]; }
    /// The first regular point along an axis, -1 if there is none.
    int first_regular(int axis) const;
    /// Segments that make up a line.
    const std::vector<Segment>& segments() const { return segments_; }

private:
    std::vector<AxisPoint> points_[3];
    std::vector<Segment> segments_;
};

}  // namespace hyperplane::multigrid
