// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/rank_parts_cuda.hpp"

#include <chrono>
#include <utility>

#include "core/profile.hpp"
#include "core/ranks/links_cuda.hpp"
#include "core/ranks/messages_cuda.hpp"
#include "core/ranks/rows_cuda.hpp"
#include "core/timer.hpp"
#include "precond/factors/rounding_events.hpp"
#include "precond/sync_free_ilu/factor_with_options.hpp"

namespace hyperplane {
namespace {

constexpr const char* parts_of_rank_label = "factor";

/// The options for the solved rows, whose parts are known.
SyncFreeOptions with_known_parts(SyncFreeOptions options, const SolvedParts& parts) {
    options.parts->given = parts.part;
    options.couples_ranks = false;
    return options;
}

/// Hands over what was found of the pivots of rows that are numbered as `rows` says.
void hand_over(const PivotInverter& found, const std::vector<int>& rows, PivotInverter& to) {
    if (rows.empty()) return;
    SetupReport failed, made;
    found.add_failures_to(failed);
    found.add_to(made);
    const auto numbered = [&](PivotEvent event) {
        event.cell = to.cell(rows[event.cell.x]);
        return event;
    };
    for (PivotEvent& event : made.modified) event = numbered(event);
    to.adopt(found.failures(), numbered(failed.modified.front()), made.pivots_modified, std::move(made.modified),
             {made.smallest_pivot_ratio, rows[made.smallest_pivot_cell.x]});
}

/// The parts, and what is kept of their rows.
struct KeptParts : KeptByPlan {
    std::shared_ptr<const KeptByPlan> parts, rows;

    Index bytes() const override { return parts->bytes() + (rows ? rows->bytes() : 0); }
};

PreconditionerSetting setting_of_solved_rows(const PreconditionerSetting& setting, const SolvedParts& parts) {
    return {setting.context.alone(), {parts.pattern, setting.matrix.dof(), setting.matrix.symmetric()}};
}

}  // namespace

SetupReport RankPartsCuda::setup(const SystemMatrix& matrix) {
    const BsrMatrix& a = general(matrix);
    double symbolic_seconds = 0.0, planned_seconds = 0.0;
    {
        const ProfileScope scope(context_, "symbolic");
        if (!served_ || served_ != a.pattern() || a_->dof() != a.dof() || a_->symmetric() != a.symmetric()) {
            const auto begin = std::chrono::steady_clock::now();
            planned_seconds = analyse(a);
            symbolic_seconds = planned_seconds + seconds_since(begin);
        }
    }
    const auto begin = std::chrono::steady_clock::now();
    gather_rows(a);
    ilu_->allocate_values();
    SetupReport report =
        factor_with_options(a, options_, [&](double alpha, PivotInverter& inverter) { factorise(a, alpha, inverter); });
    if (is_reduced(options_.storage)) judge_rounding(round(a), a, options_, report);
    ilu_->hand_on();
    context_.synchronize();
    report.symbolic_seconds = symbolic_seconds;
    report.planned_seconds = planned_seconds;
    report.numeric_seconds = seconds_since(begin);
    report.factor_bytes = ilu_->factor_bytes();
    return report;
}

void RankPartsCuda::forget() {
    served_.reset();
    ilu_.reset();
    a_.reset();
    given_.clear();
    own_rows_ = {};
    result_ = {};
    r_ = {};
    z_ = {};
}

double RankPartsCuda::analyse(const BsrMatrix& a) {
    forget();
    const int dof = a.dof();
    links_of(context_);  // all ranks make them together, also those that exchange nothing
    const Symbolic found =
        taken_symbolic(context_.host(), key_of(options_, a, AcrossRanks::whole), parts_of_rank_label);
    parts_ = found.solved;
    there_ = parts_->there;
    back_ = parts_->back;
    const Context alone = context_.alone();
    a_ = std::make_unique<BsrMatrix>(alone, parts_->pattern, dof, a.symmetric(), parts_of_rank_label);
    ilu_ = std::make_unique<SyncFreeIlu>(alone, with_known_parts(options_, *parts_));
    ilu_->analyse(*a_);
    own_blocks_ = copied_to(context_, parts_of_rank_label, parts_->own_blocks);
    if (parts_->divided) {
        own_rows_ = copied_to(context_, parts_of_rank_label, parts_->own_rows);
        result_ = copied_to(context_, parts_of_rank_label, parts_->result);
        for (RowSlab* const slab : {&there_, &back_})
            slab->on_gpu = cuda::rows_on_gpu(context_, *slab, dof, parts_of_rank_label);
        r_ = Vector(alone, IndexSpace::plain(parts_->solved()), dof, parts_of_rank_label);
        z_ = Vector(alone, IndexSpace::plain(parts_->solved() + parts_->returned), dof, parts_of_rank_label);
    }
    for (const SolvedParts::Moved& moved : parts_->moved)
        if (!moved.places.empty())
            given_.push_back({moved.rank, copied_to(context_, parts_of_rank_label, moved.places),
                              Buffer<double>(context_, parts_of_rank_label, Index(moved.places.size()) * dof * dof)});
    context_.synchronize();
    served_ = a.pattern();
    return found.planned_seconds + ilu_->planned_seconds();
}

void RankPartsCuda::gather_rows(const BsrMatrix& a) {
    const Index size = Index(a.dof()) * a.dof(), bytes = size * Index(sizeof(double));
    std::vector<RankPart> sent, received;
    for (Given& given : given_) {
        cuda::collect(context_, given.blocks, size, a.values(), given.copy.data());
        sent.push_back({given.rank, given.copy.data(), given.copy.size() * Index(sizeof(double))});
    }
    cuda::collect(context_, own_blocks_, size, a.values(), a_->values() + parts_->first_block * size);
    for (const SolvedParts::Moved& moved : parts_->moved)
        if (moved.first != moved.last)
            received.push_back({moved.rank, a_->values() + moved.first * size, (moved.last - moved.first) * bytes});
    cuda::exchange_parts(context_, sent, received);
}

void RankPartsCuda::factorise(const BsrMatrix& a, double alpha, PivotInverter& inverter) {
    PivotInverter found(inverter.rules(), places_of(*a_), a.dof(), a.symmetric());
    ilu_->factorise(*a_, alpha, found);
    hand_over(found, parts_->row, inverter);
}

Rounding RankPartsCuda::round(const BsrMatrix& a) {
    const ProfileScope scope(context_, "rounding");
    Rounding mine = ilu_->round(*a_);
    if (mine.overflows > 0) mine.overflow.cell.x = parts_->row[mine.overflow.cell.x];
    return met_by_all_ranks(context_, a.space(), mine);
}

void RankPartsCuda::apply(const Vector& r, Vector& z) const {
    if (!parts_->divided) return ilu_->apply(r, z);
    const int dof = r.dof();
    cuda::collect(context_, own_rows_, dof, r.data(), r_.data() + parts_->first_row * dof);
    cuda::exchange_rows(context_, there_, dof, r.data(), r_.data());
    ilu_->apply(r_, z_);
    cuda::exchange_rows(context_, back_, dof, z_.data(), z_.data());
    cuda::collect(context_, result_, dof, z_.data(), z.data());
}

PreconditionerPlan RankPartsCuda::plan(const SyncFreeOptions& options, const PreconditionerSetting& setting) {
    const auto kept =
        kept_symbolic(setting.context.host(), key_of(options, setting.matrix, AcrossRanks::whole), parts_of_rank_label);
    const SolvedParts& parts = *kept->symbolic->solved;
    const int dof = setting.matrix.dof();
    const Index value = dof * Index(sizeof(double)), block = dof * value;
    PreconditionerPlan plan =
        SyncFreeIlu::plan(with_known_parts(options, parts), setting_of_solved_rows(setting, parts));
    const auto both = std::make_shared<KeptParts>();
    both->parts = kept;
    both->rows = plan.kept;
    plan.kept = both;
    plan.space = setting.matrix.natural_space();
    plan.bytes +=
        BsrMatrix::bytes(*parts.pattern, dof, Backend::cuda) + Index(parts.own_blocks.size()) * Index(sizeof(Index));
    for (const SolvedParts::Moved& moved : parts.moved)
        plan.bytes += Index(moved.places.size()) * (Index(sizeof(Index)) + block);
    if (!parts.divided) return plan;
    plan.bytes += Index(parts.own_rows.size() + parts.result.size()) * Index(sizeof(Index)) +
                  (2 * parts.solved() + parts.returned) * value;
    for (const RowSlab* const slab : {&parts.there, &parts.back})
        for (const RowSlab::Neighbour& other : slab->neighbours)
            plan.bytes += Index(other.sent.size()) * (Index(sizeof(int)) + value);
    return plan;
}

std::vector<KernelSet> RankPartsCuda::kernels(const SyncFreeOptions& options, const PreconditionerSetting& setting) {
    const auto kept =
        kept_symbolic(setting.context.host(), key_of(options, setting.matrix, AcrossRanks::whole), parts_of_rank_label);
    const SolvedParts& parts = *kept->symbolic->solved;
    return SyncFreeIlu::kernels(with_known_parts(options, parts), setting_of_solved_rows(setting, parts));
}

}  // namespace hyperplane
