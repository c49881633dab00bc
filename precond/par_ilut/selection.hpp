// SPDX-License-Identifier: BSD-3-Clause
// The blocks of incomplete factors that are kept: in each triangle the largest, as many as its limit allows.
//
// The size of a block is the Frobenius norm of X_ij in the upper triangle, and of L_ij = X_ij X_jj^-1 in the lower one.
// For a symmetric matrix both triangles keep the same blocks, and the size is the one that a block has in Cholesky's
// factor; its square is the trace of X_ij^T X_ii^-1 X_ij (i < j).
#pragma once

#include "precond/general/factors/factors.hpp"

namespace hyperplane::par_ilut {

/// The most blocks of each triangle, without the diagonal.
struct FillLimits {
    Index lower = 0, upper = 0;
};

/// The limits where A's triangles have so many blocks beside the diagonal, and all diagonal blocks are there.
FillLimits limits_of(Index rows, Index lower, Index upper, double fill_limit);

/// X with its diagonal and the largest blocks of each triangle; among equal ones the first, row by row.
GeneralFactors with_largest(const BsrMatrix& a, const GeneralFactors& x, const double* inverse,
                            const FillLimits& limits);

/// Bytes that a selection among this number of blocks holds.
Index selection_bytes(Index blocks);

}  // namespace hyperplane::par_ilut
