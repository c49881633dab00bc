// SPDX-License-Identifier: BSD-3-Clause
// par_ilut on several ranks that share the rows of a general matrix. Which entries are kept depends on all of them, so
// every rank gathers the matrix and its host finds the factors as one rank does, with the same bits; it keeps its own
// rows of them. Solves are those of sync_free_ilu: on CPUs they go stage by stage
// (precond/general/solves/rank_solve.hpp), on GPUs row by row (precond/general/solves/between_ranks.hpp). Jacobi sweeps
// take their place on both (precond/general/sweeps/rank_sweeps.hpp).
#pragma once

#include "precond/general/solves/rank_solve.hpp"
#include "precond/par_ilut/par_ilut.hpp"

namespace hyperplane {

struct FactorsOnGpu;

class RankParIlut final : public Preconditioner {
public:
    RankParIlut(const Context& context, const ParIlutOptions& options);
    ~RankParIlut() override;

    SetupReport setup(const SystemMatrix& matrix) override;
    void suggest_shift(double alpha) override { options_.pivots.suggest_shift(alpha); }
    void apply(const Vector& r, Vector& z) const override;
    PreconditionerTraits traits() const override { return ParIlut::traits_of(options_, factors_.symmetric); }
    SweepCounts sweeps() const override;
    void set_setup_sweeps(int count) override {
        if (options_.sweeps > 0) options_.sweeps = count;
    }
    Index bytes_per_apply() const override;

    static PreconditionerPlan plan(const ParIlutOptions& options, const PreconditionerSetting& setting);
    /// What NVRTC compiles on a GPU.
    static std::vector<KernelSet> kernels(const ParIlutOptions& options, const PreconditionerSetting& setting);

private:
    /// Takes over this rank's rows of the factors of all ranks.
    void take(const GeneralFactors& whole, const BsrMatrix& a);

    Context context_;
    ParIlutOptions options_;
    GeneralFactors factors_;  ///< of the rows in memory, with values of the own rows; in the host's memory
    std::shared_ptr<const RowSlab> slab_;
    std::unique_ptr<RankSolve> solve_;      ///< on a CPU
    std::unique_ptr<FactorsOnGpu> on_gpu_;  ///< on a GPU
    std::unique_ptr<RankSweeps> swept_;     ///< on a GPU, in its place
};

}  // namespace hyperplane
