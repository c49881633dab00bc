// SPDX-License-Identifier: BSD-3-Clause
// PointValues: one value a point, written by a loop over points and reduced to a scalar on the backend that holds the
// values. Problems use it for the time step, for bounds on a Newton step and for diagnostics; they allocate it once.
#pragma once

#include "core/matrix/views.hpp"
#include "core/ranks/cuts.hpp"
#include "core/vector/vector.hpp"

namespace hyperplane {

/// A value and the point that has it.
struct PointValue {
    double value;
    Int3 point;
};

/// Whether `value` at `slot` comes before `other` at `other_slot`: it is smaller, or equal and at a point that is
/// earlier in natural order. NaN counts as smaller than any number.
HYPERPLANE_HD inline bool comes_before(const Layout& layout, double value, Index slot, double other, Index other_slot) {
    const bool nan = value != value, other_nan = other != other;
    if (nan != other_nan) return nan;
    if (!nan && value != other) return value < other;
    return layout.grid().row(layout.point(slot)) < layout.grid().row(layout.point(other_slot));
}

class PointValues {
public:
    PointValues(const Context& context, const Grid& grid, const std::string& label)
        : values_(context, part_of(context, Layout(LayoutKind::natural, grid, {}), 0), 1, label) {}
    /// For states in this layout, whichever planes of the grid it has.
    PointValues(const Context& context, const Layout& layout, const std::string& label)
        : values_(context,
                  Layout(LayoutKind::natural, layout.grid(), {}).of_planes(layout.begin_plane(), layout.end_plane(), 0),
                  1, label) {}

    /// The natural layout of the values.
    const Layout& layout() const { return values_.layout(); }
    /// A view through which the values are written in the layout of a state on this grid.
    VectorView view(const Layout& layout) { return {layout, values_.data()}; }
    /// The smallest of the values that were written in `layout`, and the first point in natural order that has it. NaN
    /// counts as the smallest. Of all ranks.
    PointValue smallest(const Layout& layout) const;
    /// The sum of the values in the order of slots, with the same bits for any number of threads.
    double sum() const;

private:
    Vector values_;
};

}  // namespace hyperplane
