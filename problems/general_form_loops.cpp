// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/for_each_point.hpp"
#include "problems/general_form.hpp"
#include "problems/matrix_market_rows.hpp"

namespace hyperplane {
namespace {

/// The blocks of one row.
struct CopyBlocks {
    HeldMatrix held;
    const Index* row_begin;
    const unsigned char* entry;
    const int* place;
    double* values;

    HYPERPLANE_HD void operator()(Int3 p, Index point) const {
        const int dof = held.values.dof;
        const Index row = place ? place[point] : point;
        for (Index at = row_begin[row]; at < row_begin[row + 1]; ++at) {
            const Int3 q = held.neighbour(p, entry[at]);
            for (int r = 0; r < dof; ++r)
                for (int c = 0; c < dof; ++c) values[(at * dof + r) * dof + c] = held.at(p, q, entry[at], r, c);
        }
    }
};

struct CopyToRows {
    ConstVectorView from;
    const int* place;
    double* to;
    int dof;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        const Index point = from.layout.grid().row(p), row = place ? place[point] : point;
        for (int c = 0; c < dof; ++c) to[row * dof + c] = from.at(slot, c);
    }
};

struct CopyToGrid {
    const double* from;
    const int* place;
    VectorView to;
    int dof;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        const Index point = to.layout.grid().row(p), row = place ? place[point] : point;
        for (int c = 0; c < dof; ++c) to.at(slot, c) = from[row * dof + c];
    }
};

}  // namespace

void copy_values(const StructMatrix& from, const Buffer<unsigned char>& entry, const Buffer<int>& place,
                 BsrMatrix& to) {
    for_each_point(to.context(), from.layout(), "matrix in general form",
                   CopyBlocks{HeldMatrix(from), to.here().row_begin(), entry.data(), place.data(), to.values()});
}

void copy_rows(const Vector& from, const Buffer<int>& place, Vector& to) {
    if (from.space().has_grid())
        for_each_point(to.context(), from.layout(), "vector to rows",
                       CopyToRows{view(from), place.data(), to.data(), from.dof()});
    else
        for_each_point(to.context(), to.layout(), "vector to grid",
                       CopyToGrid{from.data(), place.data(), view(to), to.dof()});
}

}  // namespace hyperplane
