// SPDX-License-Identifier: BSD-3-Clause
#include "precond/triangular/wavefront/wavefront.hpp"

#include <functional>
#include <vector>

#include "core/profile.hpp"
#include "core/ranks/cuts.hpp"
#include "core/vector/plane_sums.hpp"
#include "precond/triangular/wavefront/solve_cpu.hpp"
#include "precond/triangular/wavefront/solve_cuda.hpp"

namespace hyperplane {
namespace {

/// One of the two solves in a profile: half of what both must move.
ProfileScope one_solve(const IluFactors& factors, const char* name) {
    return {factors.context(), name, IluFactors::bytes_per_apply(factors.pattern()) / 2};
}

}  // namespace

WavefrontSolve::WavefrontSolve(const StructIluTuning& tuning, bool eisenstat)
    : tuning_(tuning), wants_eisenstat_(eisenstat) {}
WavefrontSolve::~WavefrontSolve() = default;

void WavefrontSolve::analyse([[maybe_unused]] const IluFactors& factors) {
    if constexpr (cuda_built) {
        const IluPattern& pattern = factors.pattern();
        if (factors.matrix().backend() == Backend::cpu || (cuda_ && *served_ == pattern)) return;
        form_.reset();
        scaled_.reset();
        cuda_ = std::make_unique<wavefront_cuda::Solves>(factors.context(), pattern, wavefront_cuda::Geometry(pattern),
                                                         tuning_, offers_eisenstat(pattern, Backend::cuda));
        if (offers_eisenstat(pattern, Backend::cuda)) scaled_.emplace(factors.context(), pattern);
        served_ = pattern;
    }
}

void WavefrontSolve::accept(const IluFactors& factors, const std::string& /*name*/) {
    form_.reset();
    if (factors.pattern().dof == 1 && !factors.reduced()) {
        factors.triangles().find_equal_lines();
        factors.pivots().find_equal_lines();
    }
    if (scaled_) scaled_->take(factors);
    if (offers_eisenstat(factors.pattern(), factors.matrix().backend()))
        form_.emplace(factors, cuda_.get(), scaled_ ? &*scaled_ : nullptr);
}

bool WavefrontSolve::offers_eisenstat(const IluPattern& p, Backend backend) const {
    return wants_eisenstat_ && p.shares && !is_reduced(p.storage) && p.symmetric && p.dof == 1 && !p.of_rank &&
           !p.layout.is_part() && !p.layout.grid().any_periodic() && p.layout.kind() == layout(backend);
}

void WavefrontSolve::lower(const IluFactors& factors, const Vector& r, Vector& y) const {
    const ProfileScope scope = one_solve(factors, "lower");
    if constexpr (cuda_built)
        if (cuda_) return cuda_->lower(wavefront_cuda::addresses_of(factors), r.data(), y.data(), nullptr);
    factors.reduced() ? wavefront_cpu::lower_reduced(factors, r, y) : wavefront_cpu::lower(factors, r, y);
}

void WavefrontSolve::upper(const IluFactors& factors, Vector& z) const {
    const ProfileScope scope = one_solve(factors, "upper");
    if constexpr (cuda_built)
        if (cuda_) return cuda_->upper(wavefront_cuda::addresses_of(factors), z.data(), z.data(), nullptr);
    factors.reduced() ? wavefront_cpu::upper_reduced(factors, z) : wavefront_cpu::upper(factors, z);
}

bool WavefrontSolve::dot_is_free(const IluFactors& factors) {
    const StructMatrix& a = factors.matrix();
    if constexpr (cuda_built)
        if (a.backend() == Backend::cuda) return wavefront_cuda::computes_dot(factors.pattern());
    return a.symmetric() && a.layout().kind() == LayoutKind::natural;
}

void WavefrontSolve::apply_dot(const IluFactors& factors, const Vector& r, Vector& z, double* rz) const {
    if (!dot_is_free(factors)) return ExactSolve::apply_dot(factors, r, z, rz);
    const bool on_gpu = factors.matrix().backend() == Backend::cuda;
    std::vector<double> of_line;
    if (!on_gpu) of_line.resize(std::size_t(factors.matrix().layout().grid().ny) * factors.matrix().layout().planes());
    {
        const ProfileScope scope = one_solve(factors, "lower");
        if constexpr (cuda_built)
            if (on_gpu) cuda_->lower(wavefront_cuda::addresses_of(factors), r.data(), z.data(), rz);
        if (!on_gpu)
            factors.reduced() ? wavefront_cpu::lower_reduced(factors, r, z)
                              : wavefront_cpu::lower(factors, r, z, &of_line);
    }
    {
        const ProfileScope scope = one_solve(factors, "upper");
        if constexpr (cuda_built)
            if (on_gpu) return cuda_->upper(wavefront_cuda::addresses_of(factors), z.data(), z.data(), rz);
        factors.reduced() ? wavefront_cpu::upper_reduced(factors, z, &of_line) : wavefront_cpu::upper(factors, z);
    }
    const Layout& layout = factors.matrix().layout();
    PlaneSums::of_lines(layout).add_up(factors.context(), of_line, 1, rz);
}

bool WavefrontSolve::step(const IluFactors& factors, const Vector& b, double omega, Vector& x, Vector& t) const {
    const StructMatrix& a = factors.matrix();
    if (a.backend() == Backend::cuda || !wavefront_cpu::has_step(factors, x)) return false;
    exchange_halo(x);
    {
        const ProfileScope scope(a.context(), "residual and lower", IluFactors::bytes_per_apply(factors.pattern()) / 2);
        wavefront_cpu::lower_of_residual(factors, b, x, t);
    }
    const ProfileScope scope = one_solve(factors, "upper");
    wavefront_cpu::upper_to(factors, omega, t, x);
    return true;
}

bool WavefrontSolve::apply_single(const IluFactors& factors, const SingleVector& r, SingleVector& z) const {
    if constexpr (cuda_built)
        if (cuda_) {
            if (!wavefront_cuda::Solves::has_single(factors.pattern())) return false;
            const wavefront_cuda::FactorAddresses f = wavefront_cuda::addresses_of(factors);
            {
                const ProfileScope scope = one_solve(factors, "lower");
                cuda_->lower(f, r.data(), z.data());
            }
            const ProfileScope scope = one_solve(factors, "upper");
            cuda_->upper(f, z.data());
            return true;
        }
    if (!wavefront_cpu::has_single(factors)) return false;
    {
        const ProfileScope scope = one_solve(factors, "lower");
        wavefront_cpu::lower_single(factors, r, z);
    }
    const ProfileScope scope = one_solve(factors, "upper");
    wavefront_cpu::upper_single(factors, z);
    return true;
}

bool WavefrontSolve::step_single(const IluFactors& factors, const SingleMatrix& a, const SingleVector& b, double omega,
                                 SingleVector& x, SingleVector& t) const {
    if (x.backend() == Backend::cuda || !wavefront_cpu::has_single_step(factors, a, x)) return false;
    {
        const ProfileScope scope(x.context(), "residual and lower", IluFactors::bytes_per_apply(factors.pattern()) / 2);
        wavefront_cpu::lower_of_residual(factors, a, b, x, t);
    }
    const ProfileScope scope = one_solve(factors, "upper");
    wavefront_cpu::upper_to(factors, omega, t, x);
    return true;
}

Index WavefrontSolve::bytes([[maybe_unused]] const IluPattern& pattern, [[maybe_unused]] Backend backend) const {
    if constexpr (cuda_built)
        if (backend == Backend::cuda)
            return wavefront_cuda::Solves::bytes(pattern, wavefront_cuda::Geometry(pattern), tuning_,
                                                 offers_eisenstat(pattern, backend)) +
                   (offers_eisenstat(pattern, backend) ? ScaledTriangle::bytes(pattern) : 0);
    return 0;
}

std::vector<KernelSet> WavefrontSolve::kernels([[maybe_unused]] const IluPattern& p,
                                               [[maybe_unused]] bool single_vectors) const {
    std::vector<KernelSet> sets;
    if constexpr (cuda_built) {
        using wavefront_cuda::Geometry, wavefront_cuda::Solves;
        const auto add = [&](const char* family, const std::function<rtc::Programs()>& programs) {
            sets.push_back({family, p.layout, p.stencil, p.dof, p.symmetric, p.storage, programs});
        };
        const bool eisenstat = offers_eisenstat(p, Backend::cuda);
        add(p.of_rank   ? "wavefront of ranks"
            : eisenstat ? "wavefront with Eisenstat's form"
                        : "wavefront",
            [p, tuning = tuning_, eisenstat] { return Solves::programs(p, Geometry(p), tuning, eisenstat); });
        if (single_vectors && Solves::has_single(p))
            add("wavefront of single vectors",
                [p, tuning = tuning_] { return Solves::single_programs(p, Geometry(p), tuning); });
    }
    return sets;
}

std::string WavefrontSolve::describe() const {
    if constexpr (cuda_built)
        if (cuda_) return cuda_->describe();
    return "";
}

}  // namespace hyperplane
