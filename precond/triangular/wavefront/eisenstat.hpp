// SPDX-License-Identifier: BSD-3-Clause
// Eisenstat's form of D-ILU (core/interfaces/eisenstat.hpp) in wavefront order, for one unknown a point and matrices
// that store one triangle. With E = L and the factors' own D^-1,
//
//   upper   u(p) = p(p) - sum_u F_u(p) t(p+u)                                   t = D^-1 u
//   lower   e(p) = g(p) - sum_l E_l(p) v(p+l)                                   v = D^-1 e,  w = u + e
//           r(p) = s(p) + sum_l E_l(p) q(p+l)                                   q = D^-1 s
//
// where g = p + diag(A) t - 2 u. Each solve updates the vectors on the way and reads nothing twice.
#pragma once

#include "core/interfaces/eisenstat.hpp"
#include "precond/factors/ilu_factors.hpp"

namespace hyperplane {

namespace wavefront_cuda {
class Solves;
}

class WavefrontEisenstat : public EisenstatForm {
public:
    /// Keeps references to both; `cuda` is null on a CPU.
    WavefrontEisenstat(const IluFactors& factors, wavefront_cuda::Solves* cuda) : factors_(factors), cuda_(cuda) {}

    void begin(const Vector& r, Vector& s) const override;
    void upper_step(const double* before, const EisenstatBounds& bounds, const EisenstatVectors& v) const override;
    void lower_step(const EisenstatVectors& v, double* sums) const override;
    void finish(Vector& y, Vector& x) const override;

private:
    const IluFactors& factors_;
    wavefront_cuda::Solves* cuda_;
};

/// x = D^-1 x, or x = D x if `divide`, on either backend.
void scale_by_pivots(const IluFactors& factors, bool divide, Vector& x);

namespace wavefront_cpu {

/// The two steps; `sums` has eisenstat_sums elements.
void upper_step(const IluFactors& factors, const EisenstatCoefficients& with, const EisenstatVectors& v);
void lower_step(const IluFactors& factors, const EisenstatVectors& v, double* sums);

/// What the sums of a line are made of: D^-1, and s, p, r, u and e = w - u.
struct EisenstatLine {
    const double *inverse, *s, *p, *r, *u, *e;
};
/// Adds those of `count` points to `sums`.
void add_sums(const EisenstatLine& line, Index count, double* sums);

}  // namespace wavefront_cpu
}  // namespace hyperplane
