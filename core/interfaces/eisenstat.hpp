// SPDX-License-Identifier: BSD-3-Clause
// The part of a preconditioner in conjugate gradients in Eisenstat's form (solvers/eisenstat_cg.hpp).
//
// A = L + diag(A) + L^T is symmetric, and M = (D + L) D^-1 (D + L^T) has A's own L. Then
//
//   A = (D + L) + (D + L^T) + (diag(A) - 2 D),
//
// so (D + L)^-1 A t takes a solve with each triangle and no product with A, if (D + L^T) t is known. The vectors are
//
//   s = D (D + L)^-1 r        r: the residual
//   p = (D + L^T) t           t: the direction in which x changes
//   u = D t
//   w = D (D + L)^-1 A t, by which s changes
//   y: the sum of alpha p, so that x has changed by (D + L^T)^-1 y
//
// t^T A t = t^T (2 p + (diag(A) - 2 D) t) is known before w is, so a lower step changes s by w as soon as it has it,
// and no vector holds w.
//
// A form may hold all of them divided by |D|^(1/2) (by_roots). Sums and coefficients are the same then.
#pragma once

#include "core/vector/eisenstat_coefficients.hpp"
#include "core/vector/vector.hpp"

namespace hyperplane {

/// `work` is used on a CPU only, where it holds w - u within a lower step; on a GPU it may be any of the others.
struct EisenstatVectors {
    Vector &s, &p, &y, &u, &work;
};

class EisenstatForm {
public:
    virtual ~EisenstatForm() = default;
    /// s = D (D + L)^-1 r
    virtual void begin(const Vector& r, Vector& s) const = 0;
    /// y += alpha p, p = s + beta p, u = D (D + L^T)^-1 p, and the first two of the sums. The coefficients are those of
    /// the sums `before`. Where alpha is 0, y stays; where beta is 0, p is not read.
    virtual void upper_step(const double* before, const EisenstatBounds& bounds, const EisenstatVectors& v,
                            double* sums) const = 0;
    /// Writes s - alpha w, with w = D (D + L)^-1 A D^-1 u and alpha from the first two sums, in u's place: it is the
    /// next step's s. Then the other sums, with r = (D + L) D^-1 s. Where alpha is 0, that is s.
    virtual void lower_step(const EisenstatVectors& v, double* sums) const = 0;
    /// x += (D + L^T)^-1 y; y is overwritten.
    virtual void finish(Vector& y, Vector& x) const = 0;
    /// Whether the vectors are held divided by |D|^(1/2).
    virtual bool by_roots() const = 0;
    /// Multiplies x by |D|^(1/2), or divides it if `divide`: for vectors that another form has held.
    virtual void times_roots(bool divide, Vector& x) const = 0;
};

}  // namespace hyperplane
