// SPDX-License-Identifier: BSD-3-Clause
// The inverse of a dense matrix in the host's memory.
#pragma once

#include <vector>

#include "core/device/context.hpp"

namespace hyperplane::multigrid {

inline constexpr double least_pivot = 1e-15;         ///< of the largest value of a matrix as it is
inline constexpr double least_scaled_pivot = 1e-13;  ///< what rounding leaves of a zero is smaller

/// Replaces a matrix of n rows, row after row, by its inverse: Gauss-Jordan elimination with partial pivoting. Returns
/// the number of the first column whose pivot is at most `least` of the largest value, or not finite; else -1. The bits
/// do not depend on the number of threads.
Index invert(const Context& context, double* values, Index n, double least = least_pivot);
/// The bytes that invert() allocates meanwhile.
Index bytes_to_invert(Index n);

/// R = diag(2^row) and C = diag(2^column), which multiply a matrix without rounding.
struct Scales {
    std::vector<int> row, column;
};
/// Replaces a matrix A of n rows by R A C, where the largest value of each row and column is about 1, so that invert()
/// does not take rows or columns in other units for zero: first R and then C, twice, or R = C for a symmetric matrix.
/// Rows and columns of zeros keep their scale.
Scales equilibrate(double* values, Index n, bool symmetric);
/// Replaces (R A C)^-1 by A^-1 = C (R A C)^-1 R.
void undo(const Scales& scales, double* inverse, Index n);

}  // namespace hyperplane::multigrid
