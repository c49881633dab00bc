// SPDX-License-Identifier: BSD-3-Clause
// par_ilut on several ranks on CPUs that share the rows of a general matrix. Which entries are kept depends on all of
// them, so every rank gathers the matrix and finds the factors as one rank does, with the same bits; it keeps its own
// rows of them. Solves go stage by stage, as those of sync_free_ilu do (precond/sync_free_ilu/rank_solve.hpp).
#pragma once

#include "precond/par_ilut/par_ilut.hpp"
#include "precond/sync_free_ilu/rank_solve.hpp"

namespace hyperplane {

class RankParIlut final : public Preconditioner {
public:
    RankParIlut(const Context& context, const ParIlutOptions& options);

    SetupReport setup(const SystemMatrix& matrix) override;
    void suggest_shift(double alpha) override { options_.pivots.suggest_shift(alpha); }
    void apply(const Vector& r, Vector& z) const override { solve_->apply(r, z); }
    PreconditionerTraits traits() const override { return {.fixed = true, .symmetric = factors_.symmetric}; }
    SweepCounts sweeps() const override { return ParIlut::sweep_counts(options_, factors_); }
    void set_setup_sweeps(int count) override {
        if (options_.sweeps > 0) options_.sweeps = count;
    }
    Index bytes_per_apply() const override { return solve_->bytes_per_apply(); }

    static PreconditionerPlan plan(const ParIlutOptions& options, const PreconditionerSetting& setting);

private:
    /// Takes over this rank's rows of the factors of all ranks.
    void take(const GeneralFactors& whole, const BsrMatrix& a);

    Context context_;
    ParIlutOptions options_;
    GeneralFactors factors_;  ///< of the rows in memory, with values of the own rows
    std::unique_ptr<RankSolve> solve_;
};

}  // namespace hyperplane
