// SPDX-License-Identifier: BSD-3-Clause
// Eisenstat's form of D-ILU (core/interfaces/eisenstat.hpp) in wavefront order, for one unknown a point and matrices
// that store one triangle. With E = L and the factors' own D^-1,
//
//   upper   u(p) = p(p) - sum_u F_u(p) t(p+u)                                   t = D^-1 u
//   lower   e(p) = g(p) - sum_l E_l(p) v(p+l)                                   v = D^-1 e,  w = u + e
//           r(p) = s(p) + sum_l E_l(p) q(p+l)                                   q = D^-1 s
//
// where g = p + diag(A) t - 2 u and t^T A t = t^T (p + g). Each solve updates the vectors on the way and reads nothing
// twice.
//
// On a GPU the same is done with |D|^(-1/2) A |D|^(-1/2), whose D is 1 or -1 and need not be read, and the vectors are
// divided by |D|^(1/2). If no pivot was modified, diag(A) is D + sum_l E_l^2 D^-1(p+l), which of that matrix is
// the sum of the squares of a row's coefficients, so it is not read either. D is: ||r|| needs it. The scaled
// coefficients are a copy.
#pragma once

#include "core/interfaces/eisenstat.hpp"
#include "precond/factors/ilu_factors.hpp"

namespace hyperplane {

namespace wavefront_cuda {
class Solves;
}

/// E scaled by |D|^(-1/2) from both sides and with the sign of its row's D, and D, on a GPU in hyperplane layout.
class ScaledTriangle {
public:
    ScaledTriangle(const Context& context, const IluPattern& pattern);
    /// Takes the values of factors of that pattern, which must outlive the use of diagonal().
    void take(const IluFactors& factors);

    /// [entry][slot], and [slot].
    const double* entries() const { return values_.data(); }
    const double* pivots() const { return values_.data() + lower_ * slots_; }
    Index slots() const { return slots_; }
    /// A's diagonal, or null if it is D + E D^-1 E^T to rounding and all pivots are positive: it is then computed
    /// from the scaled coefficients.
    const double* diagonal() const { return diagonal_; }

    static Index bytes(const IluPattern& pattern);

private:
    Index slots_, lower_;
    Buffer<double> values_;
    Buffer<int> differs_;
    const double* diagonal_ = nullptr;
};

class WavefrontEisenstat : public EisenstatForm {
public:
    /// Keeps references to all; `cuda` and `scaled` are null on a CPU.
    WavefrontEisenstat(const IluFactors& factors, wavefront_cuda::Solves* cuda, const ScaledTriangle* scaled)
        : factors_(factors), cuda_(cuda), scaled_(scaled) {}

    void begin(const Vector& r, Vector& s) const override;
    void upper_step(const double* before, const EisenstatBounds& bounds, const EisenstatVectors& v,
                    double* sums) const override;
    void lower_step(const EisenstatVectors& v, double* sums) const override;
    void finish(Vector& y, Vector& x) const override;
    bool by_roots() const override { return scaled_ != nullptr; }
    void times_roots(bool divide, Vector& x) const override;

private:
    const IluFactors& factors_;
    wavefront_cuda::Solves* cuda_;
    const ScaledTriangle* scaled_;
};

enum class PivotPower { inverse, signed_root, root };  ///< D^-1, its root with its sign, and |D|^(-1/2)

/// Multiplies x by a power of D^-1, or divides it if `divide`, on either backend.
void scale_by_pivots(const IluFactors& factors, PivotPower power, bool divide, Vector& x);

namespace wavefront_cpu {

/// The two steps; `sums` has eisenstat_sums elements.
void upper_step(const IluFactors& factors, const EisenstatCoefficients& with, const EisenstatVectors& v, double* sums);
void lower_step(const IluFactors& factors, const EisenstatVectors& v, double* sums);

/// The values of a line that an upper step sums: D^-1, diag(A), s, p and u.
struct EisenstatUpperLine {
    const double *inverse, *diagonal, *s, *p, *u;
};
/// The values of a line that a lower step sums: D^-1, r, and the next s.
struct EisenstatLowerLine {
    const double *inverse, *r, *next;
};
/// Both add the sums of `count` points to `sums`.
void add_sums(const EisenstatUpperLine& line, Index count, double* sums);
void add_sums(const EisenstatLowerLine& line, Index count, double* sums);

}  // namespace wavefront_cpu
}  // namespace hyperplane
