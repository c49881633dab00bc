// SPDX-License-Identifier: BSD-3-Clause
// The rows of a system that is stored in natural order: bodies of loops over points.
#pragma once

#include <array>

#include "core/grid/neighbour_slot.hpp"
#include "core/matrix/views.hpp"

namespace hyperplane {

/// A view of a matrix in natural layout, for formulas at a point.
struct HeldMatrix {
    static constexpr int most_entries = 125;  ///< the size of the largest stencil of radius 2
    ConstMatrixView values;
    Layout layout;
    int entries = 0;
    std::array<Int3, most_entries> offsets{};

    explicit HeldMatrix(const StructMatrix& a) : values(view(a)), layout(a.layout()), entries(a.stencil().size()) {
        for (int e = 0; e < entries; ++e) offsets[e] = a.stencil()[e];
    }

    /// The neighbour of p at entry e, wrapped along periodic axes; outside the grid if there is none.
    HYPERPLANE_HD Int3 neighbour(Int3 p, int e) const { return layout.grid().wrapped(p + offsets[e]); }
    /// Coefficient (row, col) of entry e at p, stored or mirrored; `q` is the neighbour, which must lie inside the
    /// grid.
    HYPERPLANE_HD double at(Int3 p, Int3 q, int e, int row, int col) const {
        return e < values.stored_entries ? values.at(e, row, col, layout.slot(p))
                                         : values.at(entries - 1 - e, col, row, layout.slot(q));
    }
};

/// a = A.
struct HeldCopy {
    HeldMatrix held;
    MatrixView a;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        for (int e = 0; e < a.stored_entries; ++e) {
            const Int3 q = held.neighbour(p, e);
            const bool inside = held.layout.grid().contains(q);
            for (int row = 0; row < a.dof; ++row)
                for (int col = 0; col < a.dof; ++col)
                    a.at(e, row, col, slot) = inside ? held.at(p, q, e, row, col) : 0.0;
        }
    }
};

/// f = A u - b, where b is in natural order, dof fastest.
struct HeldResidual {
    HeldMatrix held;
    const double* b;
    ConstVectorView u;
    VectorView f;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        const int dof = held.values.dof;
        const Index first = held.layout.grid().row(p) * dof;
        for (int row = 0; row < dof; ++row) {
            double sum = -b[first + row];
            for (int e = 0; e < held.entries; ++e) {
                const Int3 q = held.neighbour(p, e);
                if (!held.layout.grid().contains(q)) continue;
                const Index there = slot_of_neighbour(u.layout, q);
                for (int col = 0; col < dof; ++col) sum += held.at(p, q, e, row, col) * u.at(there, col);
            }
            f.at(slot, row) = sum;
        }
    }
};

void copy_rows(const StructMatrix& from, StructMatrix& to);
void residual_of_rows(const StructMatrix& a, const double* b, const Vector& u, Vector& f);

}  // namespace hyperplane
