// SPDX-License-Identifier: BSD-3-Clause
// Random systems for benchmarks, and checks of what kernels make of them, on either backend.
//
// A check recomputes every row from the definition, with code of its own, and gives the largest error.
#pragma once

#include <cstdint>

#include "core/matrix/struct_matrix.hpp"
#include "precond/factors/reduced.hpp"

namespace hyperplane {

/// Entries uniform in (-1, 1), the diagonal larger by the number of entries in a row; zero outside the grid. The same
/// values in every layout and on every backend.
void fill_random(StructMatrix& a);
/// Uniform in (-1, 1).
void fill_random(Vector& x, std::uint64_t seed);

/// The factors of M = (D + E) D^-1 (D + F), on a's stencil.
struct FactorsAt {
    const StructMatrix& triangles;  ///< E and F; W = E D^-1 and G = D^-1 F where `unit`
    const StructMatrix& pivots;     ///< D^-1 is an entry of it
    int pivot_entry;
    bool unit = false;  ///< M = (I + W) D (I + G)
    CoefficientOrder triangle_places = CoefficientOrder::apart, pivot_places = CoefficientOrder::apart;
};

/// max |y - A x| / entries of a row.
double spmv_error(const StructMatrix& a, const Vector& x, const Vector& y);
/// max |y - D^-1 (r - E y)| / max |y|; |y - r + W y| where `unit`.
double lower_error(const FactorsAt& factors, const Vector& r, const Vector& y);
/// max |z - y + D^-1 F z| / max |z|; |z - D^-1 y + G z| where `unit`.
double upper_error(const FactorsAt& factors, const Vector& y, const Vector& z);
/// X_e = A_e - sum over l + u = e of E_l D^-1(p+l) F_u(p+l), tried on a random vector v of dof values at each point:
/// max |X_e v - E_e v| over lower e, likewise F_e, and |X_0 D^-1 v - v|. Where `unit`, |X_e D^-1(p+e) v - W_e v| and
/// |D^-1 X_e v - G_e v|. Of large systems a sample of the points.
double factor_error(const StructMatrix& a, const FactorsAt& factors);

}  // namespace hyperplane
