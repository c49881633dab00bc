// SPDX-License-Identifier: BSD-3-Clause
// The factors of sync_free_ilu, jacobi_sweeps and par_ilu on several ranks on GPUs, with every coupling between them,
// also those of fill, so that factors and solves have the bits of one GPU.
//
// The pattern is that of ranks on CPUs (precond/general/pattern/rank_pattern.hpp). In an elimination ranks factor one
// after the other: a rank copies the factors of the rows of earlier ranks that it depends on, and then runs the kernel
// of one GPU on its own rows. Between fixed-point sweeps they exchange what the next one reads. In exact solves ranks
// work at the same time (precond/general/solves/between_ranks.hpp); Jacobi sweeps are products.
#pragma once

#include <memory>
#include <optional>

#include "precond/general/factors/reduced_rows_cuda.hpp"
#include "precond/general/fixed_point/fixed_point_cuda.hpp"
#include "precond/general/solves/solve_cuda.hpp"
#include "precond/general/sweeps/rank_sweeps.hpp"
#include "precond/sync_free_ilu/cuda.hpp"
#include "precond/sync_free_ilu/factor_rows_cuda.hpp"
#include "precond/sync_free_ilu/general_ilu.hpp"

namespace hyperplane {

class RankIluCuda final : public GeneralIlu {
public:
    RankIluCuda(const Context& context, const SyncFreeOptions& options) : GeneralIlu(context, options) {}

    void apply(const Vector& r, Vector& z) const override { swept_ ? swept_->apply(r, z) : solve_->solve(r, z); }
    Index bytes_per_apply() const override;
    static PreconditionerPlan plan(const SyncFreeOptions& options, const PreconditionerSetting& setting);
    static std::vector<KernelSet> kernels(const SyncFreeOptions& options, const PreconditionerSetting& setting);

private:
    void forget() override;
    void find_pattern(const BsrMatrix& a) override;
    void factorise(const BsrMatrix& a, double alpha, PivotInverter& inverter) override;
    Rounding rounded(const BsrMatrix& a) override;
    void hand_on() override;

    std::unique_ptr<GpuPattern> pattern_;
    std::shared_ptr<const RowSlab> slab_;  ///< of the factors
    std::unique_ptr<FactorRowsCuda> between_;
    std::unique_ptr<SyncFreeCuda> elimination_;
    std::unique_ptr<FixedPointCuda> fixed_point_;  ///< in its place
    std::optional<RoundedFactors> rounded_;        ///< until the solves have taken them over
    std::unique_ptr<SlicedSolve> solve_;
    std::unique_ptr<RankSweeps> swept_;  ///< in its place
};

}  // namespace hyperplane
