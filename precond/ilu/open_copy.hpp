// SPDX-License-Identifier: BSD-3-Clause
// A copy of a rank's matrix in natural layout on an open grid, for sweeps on GPUs over a grid that is periodic along z.
//
// The kernels of sweeps compute on a grid that consists of a rank's planes and its halo, at whose ends the whole grid
// may end (IluPattern::of_rank). They take coefficients that lead outside the grid to be zero, and a periodic z wraps
// them around instead. In the copy they are zero, as HyperplaneCopy makes them for exact solves, and so is all that the
// halo has beyond the ends of the whole grid.
#pragma once

#include "core/matrix/struct_matrix.hpp"

namespace hyperplane {

class OpenCopy {
public:
    /// Makes a copy of the matrix `a` of a rank.
    explicit OpenCopy(const StructMatrix& a);

    /// The layout of the copy: a rank's planes and its halo as a grid of their own, which is not periodic along z.
    static Layout layout(const Layout& part);
    /// Device memory held, for `coefficients` coefficients of a point.
    static Index bytes(const Layout& copy, Index coefficients) {
        return StructMatrix::bytes(coefficients, copy.slots());
    }

    bool serves(const StructMatrix& a) const;
    /// Copies the coefficients of `a`, whose halo must be filled.
    void take(const StructMatrix& a);
    const StructMatrix& matrix() const { return matrix_; }

private:
    Layout part_;
    StructMatrix matrix_;
};

}  // namespace hyperplane
