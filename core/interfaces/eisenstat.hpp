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
//   w = D (D + L)^-1 A t
//   y: the sum of alpha p, so that x has changed by (D + L^T)^-1 y
//
// A form may hold all of them divided by |D|^(1/2) (by_roots). Sums and coefficients are the same then.
#pragma once

#include "core/vector/eisenstat_coefficients.hpp"
#include "core/vector/vector.hpp"

namespace hyperplane {

/// On a GPU u and w are the same vector: a step reads each value of one before it writes that of the other. On a CPU
/// they are two, and w is held as w - u.
struct EisenstatVectors {
    Vector &s, &p, &y, &u, &w;
};

class EisenstatForm {
public:
    virtual ~EisenstatForm() = default;
    /// s = D (D + L)^-1 r
    virtual void begin(const Vector& r, Vector& s) const = 0;
    /// s -= alpha w, y += alpha p, p = s + beta p, u = D (D + L^T)^-1 p. The coefficients are those of the sums
    /// `before`. Where alpha is 0, w is not read and s and y stay; where beta is 0, p is not read.
    virtual void upper_step(const double* before, const EisenstatBounds& bounds, const EisenstatVectors& v) const = 0;
    /// w = D (D + L)^-1 A D^-1 u, and the sums, with r = (D + L) D^-1 s.
    virtual void lower_step(const EisenstatVectors& v, double* sums) const = 0;
    /// x += (D + L^T)^-1 y; y is overwritten.
    virtual void finish(Vector& y, Vector& x) const = 0;
    /// Whether the vectors are held divided by |D|^(1/2).
    virtual bool by_roots() const = 0;
    /// Multiplies x by |D|^(1/2), or divides it if `divide`: for vectors that another form has held.
    virtual void times_roots(bool divide, Vector& x) const = 0;
};

}  // namespace hyperplane
