// SPDX-License-Identifier: BSD-3-Clause
// The block diagonal of l1 Jacobi (Baker, Falgout, Kolev and Yang, Multigrid smoothers for ultraparallel computing,
// SIAM J. Sci. Comput. 33, 2011): D_pp is A_pp, to whose diagonal the sum of the magnitudes of the row's
// coefficients in other points is added, with the sign of the diagonal. For a symmetric positive definite A, D - A is
// positive semidefinite: the eigenvalues of D^-1 A are at most 1, so a step x += D^-1 (b - A x) never diverges and
// needs no damping.
#pragma once

#include "core/matrix/bsr_matrix.hpp"
#include "core/matrix/struct_matrix.hpp"

namespace hyperplane {

/// D of `a` on the point stencil, in the layout and on the backend of `a`.
StructMatrix l1_diagonal(const StructMatrix& a, const std::string& label);

/// D of a general matrix. `d` has the pattern of diagonal blocks; `places` says where those of `a` are stored, -1
/// where one is not.
void l1_diagonal(const BsrMatrix& a, const Buffer<Index>& places, BsrMatrix& d);

}  // namespace hyperplane
