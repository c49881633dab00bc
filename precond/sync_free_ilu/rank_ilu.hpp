// SPDX-License-Identifier: BSD-3-Clause
// The factors of sync_free_ilu, jacobi_sweeps, par_ilu and subdomain_ildu0 on several ranks, each of which has some
// rows of a general matrix: with every coupling between them, also those of fill, so that factors and solves have the
// bits of one rank.
//
// A rank's factors lie in the order of the slots in memory (rank_pattern.hpp): of earlier ranks' rows that its own rows
// depend on, it has a copy of the diagonal block and of what is above the diagonal in its columns; then come its own
// rows. So the loops of one rank compute them. An elimination and exact solves go stage by stage (rank_stages.hpp);
// sweeps exchange between them what the next one reads. Parts of subdomain_ildu0 that lie on one rank exchange nothing.
#pragma once

#include <memory>

#include "core/interfaces/linear_operator.hpp"
#include "precond/general/solves/rank_solve.hpp"
#include "precond/row.hpp"
#include "precond/sync_free_ilu/sync_free_ilu.hpp"

namespace hyperplane {

/// The symbolic part of these factors. `a`: the pattern of a rank's rows of the matrix.
SymbolicKey key_across_ranks(const SyncFreeOptions& options, const std::shared_ptr<const BlockPattern>& a, int dof,
                             bool symmetric);

class RankIlu final : public Preconditioner {
public:
    RankIlu(const Context& context, const SyncFreeOptions& options);
    ~RankIlu() override;

    SetupReport setup(const SystemMatrix& matrix) override;
    void suggest_shift(double alpha) override { options_.pivots.suggest_shift(alpha); }
    void apply(const Vector& r, Vector& z) const override;
    PreconditionerTraits traits() const override { return traits_of(options_, factors_.symmetric); }
    SweepCounts sweeps() const override { return sweep_counts(options_, factors_); }
    void set_setup_sweeps(int count) override {
        if (options_.fixed_point_sweeps > 0) options_.fixed_point_sweeps = count;
    }
    Index bytes_per_apply() const override;
    static PreconditionerPlan plan(const SyncFreeOptions& options, const PreconditionerSetting& setting);

private:
    class RowMessages;
    void analyse(const BsrMatrix& a);
    /// Allocates what a numeric part computes with, where it is not there.
    void allocate_values();
    void factorise(const BsrMatrix& a, double alpha, PivotInverter& inverter);

    Context context_;
    SyncFreeOptions options_;
    std::shared_ptr<const BlockPattern> served_;  ///< of the matrices that the symbolic part is for
    GeneralFactors factors_;
    general_cpu::FixedPointScratch scratch_;
    std::unique_ptr<RankSolve> solve_;
};

}  // namespace hyperplane
