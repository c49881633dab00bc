// SPDX-License-Identifier: BSD-3-Clause
// Random systems for benchmarks, and checks of the results of kernels, on either backend.
//
// A check computes every row by the definition, with code of its own, and returns the largest error.
#pragma once

#include <cstdint>

#include "core/matrix/struct_matrix.hpp"
#include "precond/factors/view.hpp"

namespace hyperplane {

/// Sets entries to random numbers in (-1, 1) and adds the number of entries in a row to the diagonal; entries that lead
/// out of the grid are zero. The values do not depend on layout and backend.
void fill_random(StructMatrix& a);
/// Sets x to random numbers in (-1, 1).
void fill_random(Vector& x, std::uint64_t seed);

/// max |y - A x| / number of entries of a row.
double spmv_error(const StructMatrix& a, const Vector& x, const Vector& y);
/// Returns max |y - D^-1 (r - E y)| / max |y| or, if `unit`, max |y - r + W y| / max |y|. The factors are in the memory
/// in which the vectors are.
double lower_error(const FactorView& factors, const Vector& r, const Vector& y);
/// max |z - y + D^-1 F z| / max |z| or, if `unit`, max |z - D^-1 y + G z| / max |z|.
double upper_error(const FactorView& factors, const Vector& y, const Vector& z);
/// Checks factors on the stencil of a by X_e = A_e - sum over l + u = e of E_l D^-1(p+l) F_u(p+l) with a random vector
/// v of dof values at each point: max |X_e v - E_e v| over lower e, the same for F_e, and |X_0 D^-1 v - v|. If `unit`,
/// |X_e D^-1(p+e) v - W_e v| and |D^-1 X_e v - G_e v|. In large systems only a sample of the points is checked.
double factor_error(const StructMatrix& a, const FactorView& factors);

}  // namespace hyperplane
