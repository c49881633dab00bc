// SPDX-License-Identifier: BSD-3-Clause
// A check of solves with the factors of a general matrix: the product of the factors with the solution is compared with
// the right-hand side.
#pragma once

#include "core/vector/vector.hpp"
#include "precond/general/factors/factors.hpp"

namespace hyperplane {

/// The error of z = U^-1 L^-1 r: |L U z - r| relative to |L| |U| |z| + |r|, both the largest of all rows; with unit
/// triangles, of z = (I + G)^-1 D^-1 (I + W)^-1 r. The host computes it in loops over rows; `diagonals` are the places
/// of diagonal blocks, in the memory of the factors.
double error_of_solves(const GeneralFactors& factors, const Buffer<Index>& diagonals, const Vector& r, const Vector& z);

}  // namespace hyperplane
