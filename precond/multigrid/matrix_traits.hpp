// SPDX-License-Identifier: BSD-3-Clause
// What a smoother's damping depends on: whether a matrix is an M-matrix, and whether its couplings jump.
#pragma once

#include "core/matrix/struct_matrix.hpp"

namespace hyperplane::multigrid {

/// Whether a matrix is symmetric with coefficients of an M-matrix, and whether its couplings jump.
struct MatrixTraits {
    bool m_matrix = false, jumps = false;
};

/// The traits of a matrix; neither, if it is not symmetric or has several unknowns a point. `flags`, a vector of its
/// layout, is overwritten. Where the grid is cut into the parts of ranks, all of them find the same.
MatrixTraits traits_of(const StructMatrix& a, Vector& flags);

}  // namespace hyperplane::multigrid
