// SPDX-License-Identifier: BSD-3-Clause
#include "precond/triangular/wavefront/eisenstat.hpp"

#include "core/profile.hpp"
#include "core/vector/blas1.hpp"
#include "precond/triangular/wavefront/solve_cpu.hpp"
#include "precond/triangular/wavefront/solve_cuda.hpp"

namespace hyperplane {
namespace {

/// A step in a profile: with `vectors` vectors it reads the lower entries and D^-1.
ProfileScope one_step(const IluFactors& factors, const char* name, int vectors) {
    const Index numbers = vectors + factors.stencil().lower_size() + 1;
    return {factors.context(), name, numbers * factors.matrix().layout().slots() * Index(sizeof(double))};
}

}  // namespace

void WavefrontEisenstat::begin(const Vector& r, Vector& s) const {
    const ProfileScope scope = one_step(factors_, "lower", 5);
    if constexpr (cuda_built) {
        if (cuda_)
            cuda_->lower(wavefront_cuda::addresses_of(factors_), r.data(), s.data(), nullptr);
        else
            wavefront_cpu::lower(factors_, r, s);
    } else {
        wavefront_cpu::lower(factors_, r, s);
    }
    scale_by_pivots(factors_, true, s);
}

void WavefrontEisenstat::upper_step(const double* before, const EisenstatBounds& bounds,
                                    const EisenstatVectors& v) const {
    const ProfileScope scope = one_step(factors_, "upper", cuda_ ? 8 : 9);
    if constexpr (cuda_built)
        if (cuda_) return cuda_->upper_step(factors_, before, bounds, v);
    wavefront_cpu::upper_step(factors_, EisenstatCoefficients(before, bounds), v);
}

void WavefrontEisenstat::lower_step(const EisenstatVectors& v, double* sums) const {
    const ProfileScope scope = one_step(factors_, "lower", 5);
    if constexpr (cuda_built)
        if (cuda_) return cuda_->lower_step(factors_, v, sums);
    wavefront_cpu::lower_step(factors_, v, sums);
}

void WavefrontEisenstat::finish(Vector& y, Vector& x) const {
    const ProfileScope scope = one_step(factors_, "upper", 7);
    scale_by_pivots(factors_, false, y);
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

}  // namespace hyperplane
