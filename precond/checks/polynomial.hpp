// SPDX-License-Identifier: BSD-3-Clause
// The check of z = p(D^-1 A) D^-1 r, where D is the block diagonal of A, from the zeros of e(x) = 1 - x p(x).
#pragma once

#include <vector>

#include "core/matrix/struct_matrix.hpp"

namespace hyperplane {

/// max |z - z'| / max |z'|, where z' is computed by z' <- z' + D^-1 (r - A z') / zero, one step for each zero, in loops
/// over points that share nothing with products and preconditioners. Couplings that wrap around the grid are part of A.
double polynomial_error(const StructMatrix& a, const std::vector<double>& zeros, const Vector& r, const Vector& z);

}  // namespace hyperplane
