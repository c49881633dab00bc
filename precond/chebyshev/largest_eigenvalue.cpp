// SPDX-License-Identifier: BSD-3-Clause
#include "precond/chebyshev/largest_eigenvalue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/vector/blas1.hpp"
#include "precond/walks/random_vector.hpp"

namespace hyperplane::chebyshev {
namespace {

/// Number of eigenvalues below x: that of the negative pivots of T - x I (Sturm).
int eigenvalues_below(double x, const std::vector<double>& diagonal, const std::vector<double>& off) {
    int below = 0;
    double pivot = 1.0;
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
        pivot = diagonal[i] - x - (i > 0 ? off[i - 1] * off[i - 1] / pivot : 0.0);
        if (pivot == 0.0) pivot = -1e-300;
        below += pivot < 0.0;
    }
    return below;
}

}  // namespace

double largest_of_tridiagonal(const std::vector<double>& diagonal, const std::vector<double>& off) {
    const int n = int(diagonal.size());
    double low = *std::max_element(diagonal.begin(), diagonal.end()), high = low;
    for (int i = 0; i < n; ++i)
        high =
            std::max(high, diagonal[i] + (i > 0 ? std::abs(off[i - 1]) : 0.0) + (i + 1 < n ? std::abs(off[i]) : 0.0));
    for (int halving = 0; halving < 60; ++halving) {
        const double middle = 0.5 * (low + high);
        (eigenvalues_below(middle, diagonal, off) == n ? high : low) = middle;
    }
    return high;
}

double largest_eigenvalue(const LinearOperator& a, const LinearOperator& m, int steps, Vector& r, Vector& p, Vector& q,
                          const std::string& name) {
    const auto require_positive = [&](double product, const char* what) {
        if (!std::isfinite(product))
            throw SetupError(
                fmt::format("{}: the largest eigenvalue cannot be found, since the matrix holds values that are not "
                            "finite, or so large, or so small on its diagonal, that what is computed with them is not.",
                            name));
        if (!(product > 0.0))
            throw SetupError(fmt::format(
                "{}: {} is not positive definite: a vector x was found with x^T {} x = {:g}. The bound of the "
                "eigenvalues needs a positive definite matrix; use {}, or jacobi with gmres.",
                name, what, what, product,
                r.space().has_grid() ? "struct_ilu with pivot_policy = shift"
                                     : "sync_free_ilu with indefinite = true and gmres"));
    };
    set_random(p, 2022, -1.0);
    a.apply(p, r);  // r = A p
    Vector& z = q;
    std::vector<double> diagonal, off;
    double first = 0.0, rho = 0.0, alpha = 0.0;
    for (int step = 0; step < steps; ++step) {
        m.apply(r, z);  // z = M^-1 r
        const double old_rho = rho;
        rho = dot(r, z);
        if (step == 0) first = rho;
        if (step > 0 && std::abs(rho) <= 1e-24 * first) break;  // rounding is all that is left
        require_positive(rho, "the block diagonal");
        const double beta = step > 0 ? rho / old_rho : 0.0;
        xpby(z, beta, p);  // p = z + beta p
        a.apply(p, q);     // q = A p
        const double pq = dot(p, q);
        require_positive(pq, "the matrix");
        diagonal.push_back(pq / rho + (step > 0 ? beta / alpha : 0.0));
        if (step > 0) off.push_back(std::sqrt(beta) / alpha);
        alpha = rho / pq;
        axpy(-alpha, q, r);  // r -= alpha q
    }
    return largest_of_tridiagonal(diagonal, off);
}

}  // namespace hyperplane::chebyshev
