// SPDX-License-Identifier: BSD-3-Clause
// How far rounding has carried the vectors of pipelined conjugate gradients from what they stand for.
//
// The method updates s, w and z by recurrences where conjugate gradients would multiply by A. The rounding errors of
// these updates are never corrected, and later updates amplify them:
//
//   f = (b - A x) - r,   g = A p - s,   h = A u - w,   j = A q - z
//
// Cools, Yetkin, Agullo, Giraud and Vanroose (SIAM J. Matrix Anal. Appl. 39, 2018) bound these errors step by step,
// from the norms of all vectors and of A. Here the norms are made of the scalars that the method has anyway, in the
// norm in which r is as long as sqrt(r^T M^-1 r):
//
//   R = sqrt(r^T u)                    r
//   P = sqrt(R^2 + beta^2 P_old^2)     p
//   X = X_old + alpha P                x, from above
//   L = max w^T u / r^T u              A, from below: at most the largest eigenvalue of M^-1 A
//
// With e the distance from 1 to the next double a step makes
//
//   j = beta j + e L^2 (R + P)
//   g = h + beta g + e L (R + P)
//   f = f + alpha g                    without the rounding of x, which conjugate gradients commit, too
//   h = h + alpha j + e L (R_new + alpha L P)
//
// On the systems that were tried (nos7 and star7; IC(0), Jacobi, no preconditioner) the f so made was 2 to 8 times the
// true one. Drift is too large, and u, w, s, q and z have to be made anew from r and p, where
//
//   f > max(10 e L X, 1e-10 R)         10 e L X is about what the rounding of x leaves in b - A x in any case
//   |u^T A p_old + beta p_old^T A p_old| > 0.01 beta p_old^T A p_old
//
// The second is measured: it is p^T A p_old, which ought to be 0, and is below 1e-5 where the estimates hold. It sees
// what they do not know, such as products that are less exact than rounding makes them.
#pragma once

#include <vector>

namespace hyperplane {

/// `scalars` are those that a step leaves (core/vector/pipelined_step.hpp).
class Drift {
public:
    /// The method begins: u and w are made of r, and p = u.
    void begin(const double* scalars);
    /// u, w, s, q and z were made anew from r and p.
    void renewed(const double* scalars);
    void step(const double* scalars);
    bool too_large() const { return too_large_; }

    /// What it knows, for a solve that goes on later.
    std::vector<double> state() const { return {l_, x_, p_, beta_, f_, g_, h_, j_, double(too_large_)}; }
    void set_state(const std::vector<double>& state);

private:
    double l_ = 0.0, x_ = 0.0, p_ = 0.0;
    double beta_ = 0.0;  ///< of the next step
    double f_ = 0.0, g_ = 0.0, h_ = 0.0, j_ = 0.0;
    bool too_large_ = false;
};

}  // namespace hyperplane
