// SPDX-License-Identifier: BSD-3-Clause
// chebyshev: a polynomial in D^-1 A, where D is the block diagonal of a symmetric matrix A.
//
// M^-1 = p(D^-1 A) D^-1, with a polynomial p of degree d - 1. The error that one application leaves is multiplied by
// e(x) = 1 - x p(x) at each eigenvalue x of D^-1 A. With b an upper bound of the eigenvalues and a = b / ratio
//
//     first    e(x) = T_d((b + a - 2x) / (b - a)) / T_d((b + a) / (b - a))
//     fourth   e(x) = W_d(1 - 2x / b) / (2d + 1),   W_d(cos t) = sin((d + 1/2) t) / sin(t / 2)
//
// first has the smallest maximum on [a, b] (Saad, Iterative Methods, section 12.3). fourth needs no lower bound and has
// the smallest maximum of sqrt(x) |e(x)| on [0, b], which is what a smoother of multigrid wants (Lottes, Optimal
// polynomial smoothers for multigrid V-cycles, 2022). M is symmetric, fixed, and positive definite if the eigenvalues
// are below a + b (first) or b (fourth).
//
// Set-up: 1. D^-1, as jacobi computes it. 2. A few steps of the Lanczos method (largest_eigenvalue.hpp) give a lower
// bound of the largest eigenvalue. 3. b = safety times that; ten steps with safety 1.1 are on the safe side for a
// Laplacian on any grid, and for coefficients of any contrast that were tried: b is 1.07 to 1.1 times the eigenvalue.
//
// Apply: z = sum of g_k e_k over k < d, with
//
//     e_0 = D^-1 r,   w = r - A z so far,   e_k = D^-1 w + h_k e_(k-1)
//
// and the coefficients of the three-term recurrences, which are in Polynomial. It costs d - 1 products with A and d
// applications of D^-1, and holds 3 vectors.
#pragma once

#include <memory>
#include <vector>

#include "core/interfaces/preconditioner.hpp"
#include "precond/registry_row.hpp"

namespace hyperplane {

enum class ChebyshevKind { first, fourth };

struct ChebyshevOptions {
    ChebyshevKind kind = ChebyshevKind::first;
    int degree = 4;                                           ///< d, at least 1
    double ratio = 30.0;                                      ///< b / a of the first kind, above 1
    int steps = 10;                                           ///< of the Lanczos method
    double safety = 1.1;                                      ///< b / the largest eigenvalue found
    FactorStorage storage = FactorStorage::double_precision;  ///< of D^-1; for checks
};

namespace chebyshev {

/// e(x) for a bound b, by the coefficients that an application uses.
struct Polynomial {
    std::vector<double> g, h;  ///< g_0 ... g_(d-1); h_1 ... h_(d-1), h[0] is unused

    Polynomial() = default;
    Polynomial(const ChebyshevOptions& options, double bound);
};

/// The d zeros of e(x), in an order in which products of 1 - x / zero stay small; for checks.
std::vector<double> zeros(const ChebyshevOptions& options, double bound);

}  // namespace chebyshev

class Chebyshev : public Preconditioner {
public:
    /// `diagonal` is D.
    Chebyshev(const Context& context, const ChebyshevOptions& options, std::unique_ptr<Preconditioner> diagonal)
        : context_(context), options_(options), diagonal_(std::move(diagonal)) {}

    SetupReport setup(const SystemMatrix& matrix) override;
    void apply(const Vector& r, Vector& z) const override;
    PreconditionerTraits traits() const override { return {.fixed = true, .symmetric = true}; }
    Index bytes_per_apply() const override;
    /// Computes M^-1 r with factors of degree 1, one for each zero of e(x), in loops over points.
    ApplicationCheck check_application(const SystemMatrix& a, const Vector& r, const Vector& z,
                                       const MakeInDouble& in_double) const override;

    /// The upper bound b of the eigenvalues of D^-1 A, after a set-up.
    double bound() const { return bound_; }

    /// Bytes that one application moves; `a` and `diagonal` are those of one product with A and with D^-1.
    static Index bytes_per_apply(int degree, Index a, Index diagonal, Index unknowns);

private:
    Context context_;
    ChebyshevOptions options_;
    std::unique_ptr<Preconditioner> diagonal_;
    const SystemMatrix* a_ = nullptr;
    double bound_ = 0.0;
    chebyshev::Polynomial polynomial_;
    mutable Vector e_, w_, t_;  ///< t is A e or D^-1 w
};

/// `diagonal` is the row of jacobi.
PreconditionerRow chebyshev_row(const PreconditionerRow& diagonal);

}  // namespace hyperplane
