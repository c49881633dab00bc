// SPDX-License-Identifier: BSD-3-Clause
// Copies of triangular factors, W, D^-1 and G, block by block on either backend: what
// precond/factors/exported.hpp makes of factors that lie elsewhere. Files that use copy_triangles_of are as
// core/device/for_each_point.hpp wants them.
#pragma once

#include "precond/factors/view.hpp"
#include "precond/walks/for_each_element.hpp"

namespace hyperplane {

/// Where a copy is made; a small value.
struct TriangleCopy {
    Backend backend;
    Layout layout;
    BlockView values;
    const Int3* offsets;  ///< in the backend's memory: of W's entries, (0,0,0), of G's
    int lower, dof;
    bool symmetric;  ///< W and D^-1 alone

    int entries() const { return symmetric ? lower + 1 : 2 * lower + 1; }
};

/// A row of a block. From::at(entry, point, neighbour, row, column) is a coefficient of W, D^-1 or G; outside the grid
/// it is not asked for, and zero is kept.
template <class From>
struct CopyRow {
    TriangleCopy to;
    From from;
    bool rows_first;  ///< threads side by side have the rows of a point, not slots, side by side

    HYPERPLANE_HD void operator()(int at, int entry) const {
        const int slots = int(to.layout.slots());
        const int slot = rows_first ? at / to.dof : at % slots, row = rows_first ? at % to.dof : at / slots;
        const Int3 p = to.layout.point(slot), q = p + to.offsets[entry];
        const bool inside = to.layout.grid().contains(q);
        for (int column = 0; column < to.dof; ++column)
            to.values.at(entry, slot, row, column) = inside ? from.at(entry, p, q, row, column) : 0.0;
    }
};

template <class From>
void copy_triangles_of(const From& from, const TriangleCopy& to) {
    for_each_element(to.backend, to.layout.slots() * to.dof, to.entries(), "copy of factors",
                     CopyRow<From>{to, from, to.values.slot_stride > 1});
}

/// Copies the factors of either form of M.
void copy_triangles(const FactorView& from, const TriangleCopy& to);

}  // namespace hyperplane
