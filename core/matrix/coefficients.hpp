// SPDX-License-Identifier: BSD-3-Clause
// The coefficients of a matrix as loops over points read them, on either backend.
#pragma once

#include "core/matrix/views.hpp"

namespace hyperplane {

/// Kernels take it by value.
struct Coefficients {
    ConstMatrixView a;
    Layout layout;
    const Int3* offsets;  ///< of all entries, in memory of the backend
    int entries;

    Coefficients(const StructMatrix& matrix, const Int3* where)
        : a(view(matrix)), layout(matrix.layout()), offsets(where), entries(matrix.stencil().size()) {}

    /// The neighbour of p at an entry; false if it lies outside the grid.
    HYPERPLANE_HD bool neighbour(Int3 p, int entry, Int3& q) const {
        q = layout.grid().wrapped(p + offsets[entry]);
        return layout.grid().contains(q);
    }
    /// The coefficient of `entry` at `slot`, whose neighbour there has slot `there`.
    HYPERPLANE_HD double operator()(int entry, int row, int col, Index slot, Index there) const {
        return entry < a.stored_entries ? a.at(entry, row, col, slot) : a.at(entries - 1 - entry, col, row, there);
    }
    /// The mean of the diagonal of the block, in the symmetric part of the matrix.
    HYPERPLANE_HD double scalar(int entry, Index slot, Index there) const {
        double sum = 0.0;
        for (int c = 0; c < a.dof; ++c) sum += (*this)(entry, c, c, slot, there);
        if (a.stored_entries < entries) return sum / a.dof;
        for (int c = 0; c < a.dof; ++c) sum += a.at(entries - 1 - entry, c, c, there);
        return sum / (2 * a.dof);
    }
};

/// The offsets of a matrix's entries in the memory of its backend.
inline Buffer<Int3> offsets_of(const StructMatrix& a, const std::string& label) {
    return copied_to(a.context(), label, a.stencil().offsets());
}

}  // namespace hyperplane
