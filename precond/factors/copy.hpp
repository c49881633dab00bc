// SPDX-License-Identifier: BSD-3-Clause
// Copies the factors W, D^-1 and G of a preconditioner into other memory, block by block, on either backend.
// precond/factors/exported.hpp uses this for factors that are kept in an order of their own. A source file that calls
// copy_triangles_of contains a loop over points, so it is listed and written as core/device/for_each_point.hpp says.
#pragma once

#include "core/device/for_each_element.hpp"
#include "precond/factors/view.hpp"

namespace hyperplane {

/// The destination of a copy. Kernels receive it by value.
struct TriangleCopy {
    const Context* context;  ///< of the copy
    Layout layout;
    BlockView values;
    const Int3* offsets;  ///< of W's entries, (0,0,0), of G's entries; in the context's memory
    int lower, dof;
    bool symmetric;  ///< only W and D^-1 are stored

    int entries() const { return symmetric ? lower + 1 : 2 * lower + 1; }
};

/// Copies one row of a block. From::at(entry, point, neighbour, row, column) returns a coefficient of W, D^-1 or G. It
/// is called only if the neighbour is inside the grid; otherwise the copy holds zero.
template <class From>
struct CopyRow {
    TriangleCopy to;
    From from;
    bool rows_first;  ///< consecutive threads copy the rows of one point instead of one row at consecutive slots

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
    for_each_element(*to.context, to.layout.slots() * to.dof, to.entries(), "copy of factors",
                     CopyRow<From>{to, from, to.values.slot_stride > 1});
}

}  // namespace hyperplane
