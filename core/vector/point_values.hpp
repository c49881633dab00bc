// SPDX-License-Identifier: BSD-3-Clause
// PointValues: one value a point, written by a loop over points and reduced to a scalar on the backend that holds it.
//
// What a problem needs for its time step, for bounds on a step and for diagnostics: made once, with the problem.
#pragma once

#include "core/matrix/views.hpp"
#include "core/vector/vector.hpp"

namespace hyperplane {

/// A value and the point that has it.
struct PointValue {
    double value;
    Int3 point;
};

/// `value` at `slot` comes before `other`'s: it is smaller, or as small and at a point before it in natural order. NaN
/// is smaller than any number.
HYPERPLANE_HD inline bool comes_before(const Layout& layout, double value, Index slot, double other, Index other_slot) {
    const bool nan = value != value, other_nan = other != other;
    if (nan != other_nan) return nan;
    if (!nan && value != other) return value < other;
    return layout.grid().row(layout.point(slot)) < layout.grid().row(layout.point(other_slot));
}

class PointValues {
public:
    PointValues(const Context& context, const Grid& grid, const std::string& label)
        : values_(context, Layout(LayoutKind::natural, grid, {}), 1, label) {}

    /// To write them in the layout of a state on this grid.
    VectorView view(const Layout& layout) { return {layout, values_.data()}; }
    /// The smallest of values written in that layout, and its first point in natural order. NaN counts as the smallest.
    PointValue smallest(const Layout& layout) const;
    /// Their sum, in the order of slots: the same bits for any number of threads.
    double sum() const;

private:
    Vector values_;
};

}  // namespace hyperplane
