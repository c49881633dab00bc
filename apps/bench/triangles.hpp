// SPDX-License-Identifier: BSD-3-Clause
// Checks of what solves and sweeps with given factors make of a vector, on either backend: loops over points that share
// nothing with the kernels of preconditioners.
#pragma once

#include "core/matrix/struct_matrix.hpp"
#include "precond/triangular/jacobi/sweeps.hpp"

namespace hyperplane {

/// Of z = M^-1 r: M = (D + E) D^-1 (D + F) or (I + W) D (I + G) says what the lower solve must have given, y or v, for
/// the upper one to give z. max |y - D^-1 (r - E y)| / max |y|, or max |v - r + W v| / max |v|; of large systems at a
/// sample of the points.
double solve_error(const Context& context, const TriangleFactors& factors, const Vector& r, const Vector& z);
/// Of z by synchronous Jacobi sweeps, which are made once more: max |z - z'| / max |z'|.
double swept_error(const Context& context, const TriangleFactors& factors, const SweepOptions& options, const Vector& r,
                   const Vector& z);
/// Of z = D^-1 r, D the block diagonal of A: max |D z - r| / max (|D| |z| + |r|).
double diagonal_error(const StructMatrix& a, const Vector& r, const Vector& z);

}  // namespace hyperplane
