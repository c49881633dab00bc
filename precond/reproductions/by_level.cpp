// SPDX-License-Identifier: BSD-3-Clause
#include "precond/reproductions/by_level.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "precond/reproductions/level_loops.hpp"

namespace hyperplane {
namespace {

/// Elimination level by level: one pass of par_ilu's iteration in which the rows of a point are final before they are
/// used.
class LevelElimination : public Factorisation {
public:
    void analyse(const IluFactors& factors) override {
        if (sweeps_ && sweeps_->serves(factors.pattern())) return;
        sweeps_.reset();
        sweeps_ = std::make_unique<FactorSweeps>(factors.context(), factors.pattern());
    }
    void compute(double alpha, const PivotRules& rules, IluFactors& factors, PivotInverter& inverter) override {
        const FactorTarget result = factors.target(factors.held());
        eliminate_by_level(*sweeps_, factors.matrix(), factors.pattern().layout, result, alpha, rules, inverter);
        if (factors.unit_in_double()) sweeps_->make_unit(result);
    }
    FactorisationMemory memory(const IluPattern& pattern, const Context& /*context*/) const override {
        return {.kept = FactorSweeps::bytes(pattern)};
    }
    std::vector<KernelSet> kernels(const IluPattern& pattern) const override {
        return FactorSweeps::kernels(as_factored(pattern));
    }

private:
    std::unique_ptr<FactorSweeps> sweeps_;
};

class LevelSolve : public ExactSolve {
public:
    void analyse(const IluFactors& factors) override {
        offsets_ = copied_to(factors.context(), "sweeps", factors.stencil().offsets());
    }
    void lower(const IluFactors& factors, const Vector& r, Vector& y) const override {
        solve_by_level(factors.view(offsets_.data()), factors.pattern().layout, Side::lower, r, y);
    }
    void upper(const IluFactors& factors, Vector& z) const override {
        solve_by_level(factors.view(offsets_.data()), factors.pattern().layout, Side::upper, z, z);
    }
    LayoutKind layout(Backend backend) const override {
        return backend == Backend::cuda ? LayoutKind::hyperplane : LayoutKind::natural;
    }
    Index bytes(const IluPattern& pattern, Backend /*backend*/) const override {
        return pattern.stencil.size() * Index(sizeof(Int3));
    }

private:
    Buffer<Int3> offsets_;  ///< of the factors' stencil
};

}  // namespace

std::unique_ptr<IluPreconditioner> make_ilu_by_level(const Context& context, const IluOptions& options) {
    if (is_reduced(options.storage))
        throw UsageError(fmt::format("{}: solves by level read factors in double precision alone", options.name));
    if (options.pivots.rules.policy == PivotPolicy::boost)
        throw UsageError(fmt::format(
            "{}: an elimination by levels boosts no pivots; set preconditioner.pivot_policy = fail or shift",
            options.name));
    return std::make_unique<IluPreconditioner>(context, options, std::make_unique<LevelElimination>(),
                                               std::make_unique<LevelSolve>());
}

}  // namespace hyperplane
