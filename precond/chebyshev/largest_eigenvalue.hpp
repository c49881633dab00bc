// SPDX-License-Identifier: BSD-3-Clause
// The largest eigenvalue of M^-1 A for symmetric positive definite A and M, from below, by the Lanczos method.
//
// k steps of conjugate gradients from a residual r give a symmetric tridiagonal matrix T (Saad, Iterative Methods,
// section 6.7.3), whose eigenvalues are Ritz values of M^-1 A:
//
//     T_jj = 1 / alpha_j + beta_j / alpha_(j-1),   T_j(j+1) = sqrt(beta_(j+1)) / alpha_j
//
// They are those of the Lanczos method for B = M^-1/2 A M^-1/2 that begins with M^-1/2 r. Here r = A x with x random,
// which begins with B M^1/2 x: a step of the power method, orthogonal to the null space of a singular A. With r random,
// M^-1/2 r would be a vector of those points alone where M is smallest; where coefficients vary by some orders of
// magnitude, ten steps from it end below 0.9 of the largest eigenvalue.
#pragma once

#include <string>
#include <vector>

#include "core/interfaces/linear_operator.hpp"

namespace hyperplane::chebyshev {

/// The largest eigenvalue of a symmetric tridiagonal matrix, by bisection; off[i] couples i and i + 1.
double largest_of_tridiagonal(const std::vector<double>& diagonal, const std::vector<double>& off);

/// The largest Ritz value after `steps` steps and a product with A, or after fewer if they span an invariant subspace.
/// r, p and q are overwritten. The same bits for any number of threads. Throws SetupError if A or M is not positive
/// definite; `name` is the preconditioner's name in its message.
double largest_eigenvalue(const LinearOperator& a, const LinearOperator& m, int steps, Vector& r, Vector& p, Vector& q,
                          const std::string& name);

}  // namespace hyperplane::chebyshev
