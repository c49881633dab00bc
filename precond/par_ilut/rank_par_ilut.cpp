// SPDX-License-Identifier: BSD-3-Clause
#include "precond/par_ilut/rank_par_ilut.hpp"

#include <algorithm>
#include <chrono>

#include "core/timer.hpp"
#include "precond/sync_free_ilu/rank_pattern.hpp"

namespace hyperplane {
namespace {

constexpr const char* rank_label = "factor";

}  // namespace

RankParIlut::RankParIlut(const Context& context, const ParIlutOptions& options)
    : context_(context), options_(options) {}

void RankParIlut::take(const GeneralFactors& whole, const BsrMatrix& a) {
    FactorPattern mine = cut_to_rank(context_, *a.pattern(), whole.pattern(), a.dof(), rank_label);
    const RowSlab& slab = *mine.slab;
    factors_.dof = a.dof();
    factors_.symmetric = a.symmetric();
    factors_.filled = std::move(mine.filled);
    factors_.values = Buffer<double>(context_, rank_label, factors_.value_count());
    const Index size = Index(a.dof()) * a.dof(), first = factors_.filled.first;
    const Index* const rows = whole.pattern().row_begin() + slab.first;
    std::copy(whole.values.data() + rows[0] * size, whole.values.data() + rows[slab.rows] * size,
              factors_.values.data() + factors_.pattern().row_begin()[first] * size);
    solve_ = std::make_unique<RankSolve>(context_, factors_, mine.slab, *a.pattern()->slab(), std::nullopt, rank_label);
    solve_->take(factors_, "par_ilut");
}

SetupReport RankParIlut::setup(const SystemMatrix& matrix) {
    const auto begin = std::chrono::steady_clock::now();
    const BsrMatrix& a = general(matrix);
    solve_.reset();
    factors_ = {};
    const Context alone = context_.alone();
    ParIlut whole(alone, options_);
    SetupReport report;
    {
        BsrMatrix all(alone, a.pattern()->whole(), a.dof(), a.symmetric(), rank_label);
        context_.ranks()->all_gather({a.values(), std::size_t(a.nonzeros())},
                                     {all.values(), std::size_t(all.nonzeros())});
        report = whole.setup(all);
    }
    take(whole.factors(), a);
    report.numeric_seconds = seconds_since(begin);
    report.factor_bytes = factors_.values.size() * Index(sizeof(double)) + factors_.filled.bytes();
    return report;
}

PreconditionerPlan RankParIlut::plan(const ParIlutOptions& options, const PreconditionerSetting& setting) {
    const BlockPattern& a = *setting.matrix.pattern();
    const std::shared_ptr<const BlockPattern>& all = a.whole();
    const int dof = setting.matrix.dof();
    const Index size = dof * dof * Index(sizeof(double)), rows = all->rows();
    const PreconditionerSetting of_all{setting.context.alone(), {all, dof, setting.matrix.symmetric()}};
    const PreconditionerPlan whole = ParIlut::plan(options, of_all);
    const Index kept = ParIlut::most_blocks(options, *all);
    PreconditionerPlan plan;
    plan.space = setting.matrix.natural_space();
    plan.traits = whole.traits;
    plan.most_when = whole.most_when;
    // The least is held if the factors have the pattern of A.
    const FilledPattern own = filled_pattern(setting.context, all, 0, rank_label);
    const FactorPattern least = cut_to_rank(setting.context, a, *own.pattern, dof, rank_label);
    const Index least_blocks = least.filled.pattern->blocks();
    plan.bytes = least.filled.bytes() + least_blocks * size +
                 RankSolve::bytes(least.filled, least.slab, *a.slab(), std::nullopt, dof);
    plan.bytes_per_apply = RankSolve::bytes_per_apply(least.filled, *least.slab, std::nullopt, dof);
    // The factors of all rows are found beside the gathered matrix, and released when the own rows have been taken.
    const Index gathered = all->blocks() * size;
    const Index finding = gathered + whole.bytes + whole.setup_bytes;
    const Index taking = whole.bytes + std::max(plan.bytes, least.peak);
    plan.setup_bytes = std::max({Index(0), finding - plan.bytes, taking - plan.bytes});
    if (options.rounds == 0) {
        plan.most_bytes = plan.bytes + whole.most_bytes - whole.bytes;
        return plan;
    }
    // At most one rank's own rows and those that they depend on have all entries, and all rows are in its memory.
    const Index most_pattern = BlockPattern::bytes(rows, kept) + rows * Index(sizeof(Index));
    const Index most_held = most_pattern + (a.blocks() + kept) * Index(sizeof(int)) + kept * size +
                            2 * RankStages::bytes(*a.slab()) + StagedTriangle::bytes(rows, kept, dof) +
                            BlockPattern::bytes(rows, 0) + (rows + 2) * dof * Index(sizeof(double));
    const Index most = gathered + whole.most_bytes + whole.setup_bytes + most_held + BlockPattern::bytes(rows, kept);
    plan.most_bytes = std::max(plan.bytes, most - plan.setup_bytes);
    return plan;
}

}  // namespace hyperplane
