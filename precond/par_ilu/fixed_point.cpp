// SPDX-License-Identifier: BSD-3-Clause
#include "precond/par_ilu/fixed_point.hpp"

#include <fmt/format.h>

namespace hyperplane {

void FixedPointFactorisation::analyse(const IluFactors& factors) {
    if (!sweeps_ || !sweeps_->serves(factors.pattern())) {
        sweeps_.reset();
        sweeps_ = std::make_unique<FactorSweeps>(factors.context(), factors.pattern());
    }
    if (!sweeps_->needs_spare(mode_)) {
        spare_.reset();
        return;
    }
    const StructMatrix& shape = factors.held();
    if (spare_ && spare_->layout() == shape.layout() && spare_->dof() == shape.dof() &&
        spare_->stencil().offsets() == shape.stencil().offsets() && spare_->storage() == shape.storage())
        return;
    spare_.reset();
    spare_.emplace(factors.context(), shape.layout(), shape.stencil(), shape.dof(), shape.storage(), "factor");
}

void FixedPointFactorisation::compute(double alpha, const PivotRules& rules, IluFactors& factors,
                                      PivotInverter& inverter) {
    const FactorTarget result = factors.target(factors.held());
    sweeps_->run(factors.matrix(), result, spare_ ? factors.target(*spare_) : FactorTarget{}, count_, mode_, alpha,
                 rules, inverter);
    if (factors.unit_in_double()) sweeps_->make_unit(result);
}

void FixedPointFactorisation::release_scratch() {
    spare_.reset();
    sweeps_->release_scratch();
}

FactorisationMemory FixedPointFactorisation::memory(const IluPattern& pattern, Backend backend) const {
    const Index spare = FactorSweeps::needs_spare(pattern, backend, mode_) ? IluFactors::bytes_in_double(pattern) : 0;
    return {.kept = FactorSweeps::bytes(pattern), .scratch = spare + FactorSweeps::scratch_bytes(pattern, backend)};
}

std::vector<KernelSet> FixedPointFactorisation::kernels(const IluPattern& pattern) const {
    if constexpr (cuda_built) {
        const IluPattern p = as_factored(pattern);
        if (FactorSweepsCuda::serves(p))
            return {{"fixed_point", p.layout, p.stencil, p.dof, p.symmetric, p.storage,
                     [p](const std::string& architecture) { return FactorSweepsCuda::compile(p, architecture); }}};
    }
    return {};
}

SweepCounts FixedPointFactorisation::sweeps() const {
    return {.setup = count_, .bytes_of_setup_sweep = sweeps_->bytes_of_sweep()};
}

std::string FixedPointFactorisation::remark() const {
    return fmt::format(
        " It was found after {} sweeps, which may not converge for this matrix; struct_ilu factors exactly.", count_);
}

}  // namespace hyperplane
