// SPDX-License-Identifier: BSD-3-Clause
// The factors of sync_free_ilu without fill on several ranks on GPUs, with every coupling between them, so that factors
// and solves have the bits of one GPU.
//
// The pattern is that of ranks on CPUs (precond/sync_free_ilu/rank_pattern.hpp). Ranks factor one after the other: a
// rank copies the factors of the rows of earlier ranks that it depends on, and then runs the kernel of one GPU on its
// own rows. In solves ranks work at the same time (precond/sync_free_ilu/between_ranks.hpp).
#pragma once

#include <memory>

#include "core/interfaces/linear_operator.hpp"
#include "precond/row.hpp"
#include "precond/sync_free_ilu/cuda.hpp"
#include "precond/sync_free_ilu/solve_cuda.hpp"
#include "precond/sync_free_ilu/sync_free_ilu.hpp"

namespace hyperplane {

class RankIluCuda final : public Preconditioner {
public:
    RankIluCuda(const Context& context, const SyncFreeOptions& options) : context_(context), options_(options) {}

    SetupReport setup(const SystemMatrix& matrix) override;
    void suggest_shift(double alpha) override { options_.pivots.suggest_shift(alpha); }
    void apply(const Vector& r, Vector& z) const override { solve_->solve(r, z); }
    PreconditionerTraits traits() const override { return traits_of(options_, factors_.symmetric); }
    Index bytes_per_apply() const override;
    static PreconditionerPlan plan(const SyncFreeOptions& options, const PreconditionerSetting& setting);
    static std::vector<KernelSet> kernels(const PreconditionerSetting& setting);

private:
    /// The blocks of own rows that a later rank needs, and a copy of them.
    struct Given {
        int rank;
        Buffer<Index> blocks;
        Buffer<double> copy;
    };
    void analyse(const BsrMatrix& a);
    void factorise(const BsrMatrix& a, double alpha, PivotInverter& inverter);
    void take_factors();
    void give_factors();

    Context context_;
    SyncFreeOptions options_;
    std::shared_ptr<const BlockPattern> served_;  ///< of the matrices that the symbolic part is for
    GeneralFactors factors_;
    std::unique_ptr<GpuPattern> pattern_;
    std::unique_ptr<SyncFreeCuda> elimination_;
    std::unique_ptr<SlicedSolve> solve_;
    std::vector<Given> given_;
};

}  // namespace hyperplane
