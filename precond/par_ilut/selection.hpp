// SPDX-License-Identifier: BSD-3-Clause
// The blocks of incomplete factors that are kept: in each triangle so many of the largest.
//
// The size of a block is its Frobenius norm: in the upper triangle of X_ij, in the lower one of L_ij = X_ij X_jj^-1. Of
// a symmetric matrix both triangles keep the same blocks, by the size that they have in Cholesky's factor, whose square
// is the trace of X_ij^T X_ii^-1 X_ij (i < j).
#pragma once

#include "precond/sync_free_ilu/factors.hpp"

namespace hyperplane::par_ilut {

/// Numbers of blocks beside the diagonal.
struct FillLimits {
    Index lower = 0, upper = 0;
};

/// X with its diagonal and the largest blocks of each triangle; of equal ones those before, row by row.
GeneralFactors with_largest(const BsrMatrix& a, const GeneralFactors& x, const double* inverse,
                            const FillLimits& limits);

/// Bytes that the selection among so many blocks holds.
Index selection_bytes(Index blocks);

}  // namespace hyperplane::par_ilut
