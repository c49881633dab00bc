// SPDX-License-Identifier: BSD-3-Clause
// Copies in hyperplane layout of a rank's matrix and vectors, for factorisations and solves on GPUs, which are much
// faster in that layout. Ranks have the natural layout, in which neighbours' planes are contiguous.
//
// The copies are on a grid of their own: the rank's planes and, at either end, so many planes of the ranks beside it as
// the factors couple. Those exist at the ends of the whole grid, too, and are zero there, which is what coefficients
// that lead outside the grid are. So are those that lead around a periodic z, which factorisations drop. Where
// couplings between ranks are dropped, there are no such planes, and the coefficients that lead out of the rank's own
// planes are zero in the copy.
#pragma once

#include <memory>

#include "core/matrix/struct_matrix.hpp"

namespace hyperplane {

class HyperplaneCopy {
public:
    /// Makes a copy for the matrix `a` of a rank and factors on the stencil `filled`.
    HyperplaneCopy(const StructMatrix& a, const Stencil& filled, bool within_rank);

    /// Planes at either end of the grid of the copies that other ranks compute: as many as products read, since fill
    /// extends a stencil along x and y alone.
    static int halo(const Stencil& filled, bool within_rank) { return within_rank ? 0 : filled.planes(); }
    /// The layout of the copies for a rank's part of the grid.
    static Layout layout(const Layout& part, const Stencil& filled, int halo);
    /// Device memory held, for coefficients `coefficients` of a matrix.
    static Index bytes(const Layout& copy, Index coefficients, int dof) {
        return StructMatrix::bytes(coefficients, copy.slots()) + copy.slots() * dof * Index(sizeof(double));
    }

    /// Makes `copy` one of `a`, in memory that it has already where that serves.
    static const StructMatrix& refresh(std::unique_ptr<HyperplaneCopy>& copy, const StructMatrix& a,
                                       const Stencil& filled, bool within_rank);
    const StructMatrix& matrix() const { return matrix_; }
    /// Copies a rank's vector into the only vector that this has, and back.
    Vector& in_hyperplanes(const Vector& natural);
    void to_natural(Vector& natural) const;
    /// The number of planes of the whole grid before the copy's first one; negative if that lies before the grid.
    int planes_before() const { return begin_plane_ - halo_; }
    /// The number in the whole grid of the copy's first point.
    Index first_row() const { return planes_before() * matrix_.layout().slots_of_plane(); }

private:
    bool serves(const StructMatrix& a, const Layout& copy) const;
    /// Copies the coefficients of `a`.
    void take(const StructMatrix& a);

    int halo_, begin_plane_;
    bool within_rank_;
    StructMatrix matrix_;
    Vector vector_;
};

}  // namespace hyperplane
