// SPDX-License-Identifier: BSD-3-Clause
// Galerkin products: the matrix A_c = P^T A P of a coarse grid, block by block of its stencil.
//
//     A_c(I, J) = sum over children i of I, entries o of A at i, parents J of i + o of P(i, I) a_i(o) P(i + o, J)
//
// Of a matrix that stores one triangle, the coarse one stores one, too. A coefficient on the diagonal of A_c that is
// zero, because P interpolates nothing there, becomes 1.
#pragma once

#include "precond/multigrid/interpolation.hpp"

namespace hyperplane::multigrid {

/// Computes A_c into `coarse`, whose stencil is coarse_stencil(). On ranks p has its halo, and the rows of the own part
/// are computed.
void galerkin_product(const Sources& sources, const Interpolation& p, StructMatrix& coarse);
inline void galerkin_product(const StructMatrix& a, const Interpolation& p, StructMatrix& coarse) {
    galerkin_product(Sources(a, p.grids(), p.coarse()), p, coarse);
}

}  // namespace hyperplane::multigrid
