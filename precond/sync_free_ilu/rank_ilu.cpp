// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/rank_ilu.hpp"

#include <algorithm>
#include <chrono>

#include "core/profile.hpp"
#include "core/timer.hpp"
#include "precond/sync_free_ilu/symbolic.hpp"

namespace hyperplane {
namespace {

constexpr const char* label = "factor";

}  // namespace

SymbolicKey key_across_ranks(const SyncFreeOptions& options, const std::shared_ptr<const BlockPattern>& a, int dof,
                             bool symmetric) {
    return {a, dof, options.fill_level, options.parts, symmetric, AcrossRanks::by_row};
}

RankIlu::RankIlu(const Context& context, const SyncFreeOptions& options) : context_(context), options_(options) {}
RankIlu::~RankIlu() = default;

void RankIlu::analyse(const BsrMatrix& a) {
    if (served_ == a.pattern() && factors_.dof == a.dof() && factors_.symmetric == a.symmetric()) return;
    const ProfileScope scope(context_, "symbolic");
    served_.reset();
    solve_.reset();
    factors_ = {};
    scratch_ = {};
    factors_.dof = a.dof();
    factors_.symmetric = a.symmetric();
    Symbolic symbolic =
        taken_symbolic(context_, key_across_ranks(options_, a.pattern(), a.dof(), a.symmetric()), label);
    factors_.filled = std::move(symbolic.filled);
    allocate_values();
    solve_ = std::make_unique<RankSolve>(context_, factors_, std::move(symbolic.slab), *a.pattern()->slab(),
                                         options_.sweeps, label, options_.storage);
    served_ = a.pattern();
}

void RankIlu::allocate_values() {
    if (factors_.values.size() == factors_.value_count()) return;
    factors_.values = Buffer<double>(context_, label, factors_.value_count());
    if (options_.fixed_point_sweeps > 0) scratch_ = general_cpu::fixed_point_scratch(context_, factors_, label);
}

/// Rows of factors as messages: the inverse of the diagonal block, then what the receiver has above the diagonal.
class RankIlu::RowMessages {
public:
    /// `inverse`: the inverses by row; null if they are where the factors have their diagonal blocks.
    RowMessages(const GeneralFactors& factors, double* values, double* inverse)
        : f_(factors), size_(Index(f_.dof) * f_.dof), values_(values), inverse_(inverse) {}

    Index operator()(const RankStages::Exchange& from, Index at) const {
        const Index* const begin = f_.pattern().row_begin() + from.rows[at];
        return (begin[1] - begin[0]) * size_;
    }
    void take(const RankStages::Exchange& from, Index at, const double* message) const {
        const int row = from.rows[at];
        std::copy_n(message, (*this)(from, at), values_ + f_.filled.diagonal[row] * size_);
        std::copy_n(message, size_, diagonal(row));
    }
    void give(const RankStages::Exchange& to, Index at, std::vector<double>& message) const {
        const auto add = [&](const double* block) { message.insert(message.end(), block, block + size_); };
        const int row = to.rows[at], first = int(f_.filled.first);
        add(diagonal(row));
        const RowSlab::Columns& upper = to.with->upper;
        for (Index j = upper.begin[to.at[at]]; j < upper.begin[to.at[at] + 1]; ++j)
            add(values_ + f_.pattern().find(row, upper.column[j] + first) * size_);
    }

private:
    double* diagonal(int row) const {
        return inverse_ ? inverse_ + row * size_ : values_ + f_.filled.diagonal[row] * size_;
    }

    const GeneralFactors& f_;
    Index size_;
    double *values_, *inverse_;
};

void RankIlu::factorise(const BsrMatrix& a, double alpha, PivotInverter& inverter) {
    const auto take = [](const RowMessages& rows) {
        return [&rows](const RankStages::Exchange& from, Index at, const double* message) {
            rows.take(from, at, message);
        };
    };
    const auto give = [](const RowMessages& rows) {
        return [&rows](const RankStages::Exchange& to, Index at, std::vector<double>& message) {
            rows.give(to, at, message);
        };
    };
    if (options_.fixed_point_sweeps > 0) {
        const auto share = [&](double* values, double* inverse) {
            const RowMessages rows(factors_, values, inverse);
            solve_->lower().exchange(*context_.ranks(), rows, take(rows), give(rows));
        };
        return general_cpu::fixed_point(a, alpha, options_.fixed_point_sweeps, options_.pivots.rules, scratch_,
                                        factors_, inverter, share);
    }
    const RowMessages rows(factors_, factors_.values.data(), nullptr);
    const auto compute = [&](const RowRange& range) { general_cpu::factorise(a, alpha, range, factors_, inverter); };
    solve_->lower().for_each(*context_.ranks(), rows, take(rows), compute, give(rows));
}

SetupReport RankIlu::setup(const SystemMatrix& matrix) {
    const BsrMatrix& a = general(matrix);
    auto begin = std::chrono::steady_clock::now();
    analyse(a);
    const double symbolic = seconds_since(begin);
    begin = std::chrono::steady_clock::now();
    allocate_values();
    SetupReport report = factor_with_policy(
        a, options_.pivots.rules, options_.pivots.shift, options_.name,
        [&](double alpha, PivotInverter& inverter) { factorise(a, alpha, inverter); },
        remark_on_pivots(options_, a.symmetric()));
    Index value_bytes = factors_.values.size() * Index(sizeof(double));
    if (is_reduced(options_.storage)) {
        const ProfileScope scope(context_, "rounding");
        judge_rounding(solve_->round(factors_, a), a, options_, report);
        factors_.values = {};
        scratch_ = {};
        const BlockPattern& p = factors_.pattern();
        const Index* const own = p.row_begin() + factors_.filled.first;
        const Index rows = a.pattern()->rows();
        value_bytes = ReducedRows::bytes(options_.storage, rows, own[rows] - own[0], a.dof());
    } else {
        solve_->take(factors_, options_.name);
    }
    report.symbolic_seconds = symbolic;
    report.numeric_seconds = seconds_since(begin);
    report.factor_bytes = value_bytes + factors_.filled.bytes();
    return report;
}

void RankIlu::apply(const Vector& r, Vector& z) const {
    solve_->apply(r, z);
}

Index RankIlu::bytes_per_apply() const {
    return solve_->bytes_per_apply();
}

PreconditionerPlan RankIlu::plan(const SyncFreeOptions& options, const PreconditionerSetting& setting) {
    const std::shared_ptr<const BlockPattern>& a = setting.matrix.pattern();
    const int dof = setting.matrix.dof();
    const auto kept =
        kept_symbolic(setting.context, key_across_ranks(options, a, dof, setting.matrix.symmetric()), label);
    const FilledPattern& filled = kept->symbolic->filled;
    const std::shared_ptr<const RowSlab>& slab = kept->symbolic->slab;
    const Index rows = filled.pattern->rows(), blocks = filled.pattern->blocks();
    PreconditionerPlan plan;
    plan.kept = kept;
    plan.space = setting.matrix.natural_space();
    const Index in_double = blocks * dof * dof * Index(sizeof(double)) +
                            (options.fixed_point_sweeps > 0 ? general_cpu::fixed_point_bytes(rows, blocks, dof) : 0);
    const bool released = is_reduced(options.storage);
    plan.bytes = filled.bytes() + (released ? 0 : in_double) +
                 RankSolve::bytes(filled, slab, *a->slab(), options.sweeps, dof, options.storage);
    const Index tried = options.sweeps ? RankSweeps::setup_bytes(slab, dof) : 0;
    plan.setup_bytes =
        std::max({tried, kept->symbolic->peak - plan.bytes, released ? in_double + Index(sizeof(RoundingLog)) : 0});
    plan.bytes_per_apply = RankSolve::bytes_per_apply(filled, *slab, options.sweeps, dof, options.storage);
    plan.traits = traits_of(options, setting.matrix.symmetric());
    return plan;
}

}  // namespace hyperplane
