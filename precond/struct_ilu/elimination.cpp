// SPDX-License-Identifier: BSD-3-Clause
#include "precond/struct_ilu/elimination.hpp"

#include "precond/struct_ilu/factor_cpu.hpp"
#include "precond/struct_ilu/factor_cuda.hpp"

namespace hyperplane {

using wavefront_cuda::Geometry;

Elimination::Elimination(const StructIluTuning& tuning) : tuning_(tuning) {}
Elimination::~Elimination() = default;

void Elimination::analyse([[maybe_unused]] const IluFactors& factors) {
    if constexpr (cuda_built) {
        const IluPattern& pattern = factors.pattern();
        if (factors.matrix().backend() == Backend::cpu || (cuda_ && *served_ == pattern)) return;
        cuda_ = std::make_unique<wavefront_cuda::Factorisation>(factors.context(), pattern, Geometry(pattern), tuning_);
        served_ = pattern;
    }
}

void Elimination::compute(double alpha, [[maybe_unused]] const PivotRules& rules, IluFactors& factors,
                          PivotInverter& inverter) {
    if constexpr (cuda_built)
        if (cuda_) return cuda_->factor(factors.matrix(), factors.held(), alpha, rules, inverter);
    wavefront_cpu::factorise(factors, alpha, inverter);
}

FactorisationMemory Elimination::memory([[maybe_unused]] const IluPattern& pattern,
                                        [[maybe_unused]] const Context& context) const {
    if constexpr (cuda_built)
        if (context.backend() == Backend::cuda)
            return {.kept = wavefront_cuda::Factorisation::bytes(pattern, Geometry(pattern), tuning_)};
    return {};
}

std::vector<KernelSet> Elimination::kernels(const IluPattern& pattern) const {
    if constexpr (cuda_built) {
        const IluPattern p = as_factored(pattern);
        return {{p.of_rank ? "elimination of ranks" : "elimination", p.layout, p.stencil, p.dof, p.symmetric, p.storage,
                 [p, tuning = tuning_] { return wavefront_cuda::Factorisation::programs(p, Geometry(p), tuning); }}};
    }
    return {};
}

std::string Elimination::describe() const {
    if constexpr (cuda_built)
        if (cuda_) return cuda_->describe();
    return "";
}

}  // namespace hyperplane
