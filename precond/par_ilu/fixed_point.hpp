// SPDX-License-Identifier: BSD-3-Clause
// Incomplete factors by fixed-point sweeps (precond/par_ilu/sweeps.hpp), as one of the factorisations that an
// IluPreconditioner combines with a triangular solve.
#pragma once

#include <optional>

#include "precond/ilu/factorisation.hpp"
#include "precond/par_ilu/sweeps.hpp"

namespace hyperplane {

class FixedPointFactorisation : public Factorisation {
public:
    FixedPointFactorisation(int sweeps, FactorSweepMode mode) : count_(sweeps), mode_(mode) {}

    void analyse(const IluFactors& factors) override;
    void compute(double alpha, const PivotRules& rules, IluFactors& factors, PivotInverter& inverter) override;
    void release_scratch() override;
    FactorisationMemory memory(const IluPattern& pattern, Backend backend) const override;
    std::vector<KernelSet> kernels(const IluPattern& pattern) const override;
    SweepCounts sweeps() const override;
    void set_sweeps(int count) override { count_ = count; }
    std::string remark() const override;
    const char* varies() const override { return mode_ == FactorSweepMode::async ? "mode = async" : ""; }

private:
    int count_;
    FactorSweepMode mode_;
    std::unique_ptr<FactorSweeps> sweeps_;
    std::optional<StructMatrix> spare_;  ///< a second set of factors; sweeps read one and write the other
};

}  // namespace hyperplane
