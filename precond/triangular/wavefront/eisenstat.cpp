// SPDX-License-Identifier: BSD-3-Clause
#include "precond/triangular/wavefront/eisenstat.hpp"

#include "core/profile.hpp"
#include "core/vector/blas1.hpp"
#include "precond/triangular/wavefront/solve_cpu.hpp"
#include "precond/triangular/wavefront/solve_cuda.hpp"

namespace hyperplane {
namespace {

/// A step in a profile: besides `vectors` vectors it reads the lower entries.
ProfileScope one_step(const IluFactors& factors, const char* name, int vectors) {
    const Index numbers = vectors + factors.stencil().lower_size();
    return {factors.context(), name, numbers * factors.matrix().layout().slots() * Index(sizeof(double))};
}

}  // namespace

void WavefrontEisenstat::begin(const Vector& r, Vector& s) const {
    const ProfileScope scope = one_step(factors_, "lower", 6);
    if constexpr (cuda_built) {
        if (cuda_)
            cuda_->lower(wavefront_cuda::addresses_of(factors_), r.data(), s.data(), nullptr);
        else
            wavefront_cpu::lower(factors_, r, s);
    } else {
        wavefront_cpu::lower(factors_, r, s);
    }
    scale_by_pivots(factors_, by_roots() ? PivotPower::signed_root : PivotPower::inverse, true, s);
}

void WavefrontEisenstat::upper_step(const double* before, const EisenstatBounds& bounds, const EisenstatVectors& v,
                                    double* sums) const {
    const ProfileScope scope = one_step(factors_, "upper", scaled_ && !scaled_->diagonal() ? 6 : 8);
    if constexpr (cuda_built)
        if (cuda_) return cuda_->upper_step(*scaled_, before, bounds, v, sums);
    wavefront_cpu::upper_step(factors_, EisenstatCoefficients(before, bounds), v, sums);
}

void WavefrontEisenstat::lower_step(const EisenstatVectors& v, double* sums) const {
    const ProfileScope scope = one_step(factors_, "lower", scaled_ && !scaled_->diagonal() ? 5 : scaled_ ? 6 : 7);
    if constexpr (cuda_built)
        if (cuda_) return cuda_->lower_step(*scaled_, v, sums);
    wavefront_cpu::lower_step(factors_, v, sums);
}

void WavefrontEisenstat::finish(Vector& y, Vector& x) const {
    const ProfileScope scope = one_step(factors_, "upper", 8);
    scale_by_pivots(factors_, by_roots() ? PivotPower::signed_root : PivotPower::inverse, false, y);
    if constexpr (cuda_built) {
        if (cuda_)
            cuda_->upper(wavefront_cuda::addresses_of(factors_), y.data(), y.data(), nullptr);
        else
            wavefront_cpu::upper(factors_, y);
    } else {
        wavefront_cpu::upper(factors_, y);
    }
    axpy(1.0, y, x);
}

void WavefrontEisenstat::times_roots(bool divide, Vector& x) const {
    scale_by_pivots(factors_, PivotPower::root, !divide, x);
}

}  // namespace hyperplane
