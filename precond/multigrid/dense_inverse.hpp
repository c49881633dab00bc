// SPDX-License-Identifier: BSD-3-Clause
// The inverse of a dense matrix in the host's memory.
#pragma once

#include "core/device/context.hpp"

namespace hyperplane::multigrid {

/// Replaces a matrix of n rows, row after row, by its inverse: Gauss-Jordan elimination with partial pivoting. Returns
/// the number of the first column whose pivot is at most 1e-15 of the largest value, or not finite; else -1. The bits
/// do not depend on the number of threads.
Index invert(const Context& context, double* values, Index n);
/// The bytes that invert() allocates meanwhile.
Index bytes_to_invert(Index n);

}  // namespace hyperplane::multigrid
