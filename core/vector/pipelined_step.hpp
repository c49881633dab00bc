// SPDX-License-Identifier: BSD-3-Clause
// A step of pipelined conjugate gradients (solvers/pipelined_cg.hpp) as one pass over its vectors.
#pragma once

#include <cmath>

#include "core/vector/vector.hpp"

namespace hyperplane {

/// What a step leaves for the next one, in the context's memory: the sums of its reduction, r^T u, w^T u, r^T r,
/// u^T s + w^T p and p^T s, and what it used itself.
enum PipelinedScalar { sum_ru, sum_wu, sum_rr, sum_us_wp, sum_ps, used_ru, used_alpha, pipelined_scalars };
inline constexpr int pipelined_sums = 5;

/// The coefficients of a step, from the scalars of the step before. Products and sums are rounded alike on host and
/// device, so that both judge a step alike.
struct PipelinedCoefficients {
    double beta, pap, alpha, alpha_before;

    HYPERPLANE_HD explicit PipelinedCoefficients(const double* before) {
        beta = before[sum_ru] / before[used_ru];  // r^T u / (r^T u)_old
        // p^T A p = (u + beta p_old)^T (w + beta s_old)
        pap = std::fma(beta, std::fma(beta, before[sum_ps], before[sum_us_wp]), before[sum_wu]);
        const double quotient = before[sum_ru] / pap;  // alpha = r^T u / p^T A p
        const bool usable = before[sum_ru] > 0.0 && pap > 0.0 && quotient <= 1.7976931348623157e308;
        alpha = usable ? quotient : 0.0;
        alpha_before = before[used_alpha];
    }
};

/// v = M^-1 w and n = A v are read, the others updated. In exact arithmetic u = M^-1 r, w = A u, s = A p, q = M^-1 s
/// and z = A q.
struct PipelinedVectors {
    const Vector &v, &n;
    Vector &x, &r, &u, &w, &p, &s, &q, &z;
};

/// x += alpha_before p, then
///   z = n + beta z, q = v + beta q, s = w + beta s, p = u + beta p,
///   r -= alpha s, u -= alpha q, w -= alpha z,
/// and into `now` the sums of the results, and what the step used. Where beta is 0, z, q, s and p are not
/// read; where alpha is 0, nothing but x is of use afterwards, and r, u and w are left alone.
void pipelined_step(const double* before, double* now, const PipelinedVectors& vectors);

}  // namespace hyperplane
