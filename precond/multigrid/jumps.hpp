// SPDX-License-Identifier: BSD-3-Clause
// Whether a matrix has coefficients that jump so much that its copies in single precision are of no use.
//
// A constant on a block of large coefficients, which jump to small ones around it, is coupled to its surroundings by
// the small ones alone. Rounding to single precision changes the sum of a row by up to 2^-24 of its diagonal. Where
// diagonals differ by more than 2^22 that is as large as the small coefficients, so residuals of that constant are
// wrong, and on coarse grids, where the block has a few points a side, smoothing steps follow them.
#pragma once

#include "core/matrix/struct_matrix.hpp"

namespace hyperplane::multigrid {

/// Diagonals that differ by a larger factor jump by more than single precision resolves.
inline constexpr double most_resolved = 4194304.0;  // 2^22, a quarter of the numbers that single precision tells apart

/// Whether the diagonals of one of the unknowns differ by a factor of more than most_resolved, or in sign. They are
/// compared and not added, so that the answer is the same on both backends and for any number of threads. `scratch`, a
/// vector of the matrix, is overwritten on a GPU, and the GPU is waited for. False where one is NaN. The matrix is no
/// rank's part.
bool jumps_beyond_single(const StructMatrix& a, Vector& scratch);

}  // namespace hyperplane::multigrid
