// SPDX-License-Identifier: BSD-3-Clause
// M^-1 = p(D^-1 A) D^-1 from the zeros of e(x) = 1 - x p(x), which is a Chebyshev polynomial of the first kind on
// [bound / ratio, bound], or one of the fourth kind on [0, bound] (Saad, Iterative Methods, section 12.3; Lottes,
// Optimal polynomial smoothers for multigrid V-cycles, 2022).
#pragma once

#include <cmath>
#include <vector>

#include "reference/block_ilu.hpp"

namespace hyperplane::reference {

inline std::vector<double> zeros_of_first_kind(int degree, double bound, double ratio) {
    const double pi = std::acos(-1.0);
    std::vector<double> zeros;
    for (int i = 0; i < degree; ++i) {
        const double t = std::cos(pi * (i + 0.5) / degree);  // T_d(t) = 0
        zeros.push_back(0.5 * (bound + bound / ratio) + 0.5 * (bound - bound / ratio) * t);
    }
    return zeros;
}

inline std::vector<double> zeros_of_fourth_kind(int degree, double bound) {
    const double pi = std::acos(-1.0);
    std::vector<double> zeros;
    for (int i = 1; i <= degree; ++i)
        zeros.push_back(0.5 * bound * (1.0 - std::cos(pi * i / (degree + 0.5))));  // sin((d + 1/2) t) = 0
    return zeros;
}

/// z <- z + D^-1 (r - A z) / zero from z = 0, for each zero in turn.
inline std::vector<double> apply_polynomial(const BlockMatrix& a, const std::vector<double>& zeros,
                                            const std::vector<double>& r) {
    std::vector<double> z(r.size(), 0.0);
    for (double zero : zeros) {
        const std::vector<double> step = apply_block_jacobi(a, exact_residual(a, r, z));
        for (std::size_t i = 0; i < z.size(); ++i) z[i] += step[i] / zero;
    }
    return z;
}

/// The largest eigenvalue of D^-1 A for a symmetric positive definite A, by power iteration.
inline double largest_eigenvalue(const BlockMatrix& a, int steps) {
    std::vector<double> x(std::size_t(a.unknowns()));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(1.0 + double(i * i));
    double norm = 0.0;
    for (int step = 0; step < steps; ++step) {
        x = apply_block_jacobi(a, multiply(a, x).value);
        norm = 0.0;
        for (double value : x) norm += value * value;
        norm = std::sqrt(norm);
        for (double& value : x) value /= norm;
    }
    return norm;
}

}  // namespace hyperplane::reference
