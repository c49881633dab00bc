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

#include "precond/general/solves/rank_solve.hpp"
#include "precond/sync_free_ilu/general_ilu.hpp"

namespace hyperplane {

class RankIlu final : public GeneralIlu {
public:
    RankIlu(const Context& context, const SyncFreeOptions& options) : GeneralIlu(context, options) {}

    void apply(const Vector& r, Vector& z) const override { solve_->apply(r, z); }
    Index bytes_per_apply() const override { return solve_->bytes_per_apply(); }
    static PreconditionerPlan plan(const SyncFreeOptions& options, const PreconditionerSetting& setting);

private:
    class RowMessages;
    void forget() override { solve_.reset(); }
    void find_pattern(const BsrMatrix& a) override;
    void factorise(const BsrMatrix& a, double alpha, PivotInverter& inverter) override;
    Rounding rounded(const BsrMatrix& a) override { return solve_->round(factors_, a); }
    void hand_on() override;
    Index factor_bytes() const override;

    std::unique_ptr<RankSolve> solve_;
};

}  // namespace hyperplane
