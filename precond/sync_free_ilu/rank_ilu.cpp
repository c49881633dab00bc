// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/rank_ilu.hpp"

#include <algorithm>
#include <chrono>

#include "core/profile.hpp"
#include "core/timer.hpp"
#include "precond/sync_free_ilu/rank_pattern.hpp"
#include "precond/sync_free_ilu/swept.hpp"

namespace hyperplane {
namespace {

constexpr const char* label = "factor";

}  // namespace

RankIlu::RankIlu(const Context& context, const SyncFreeOptions& options) : context_(context), options_(options) {}
RankIlu::~RankIlu() = default;

void RankIlu::analyse(const BsrMatrix& a) {
    if (served_ == a.pattern() && factors_.dof == a.dof() && factors_.symmetric == a.symmetric()) return;
    const ProfileScope scope(context_, "symbolic");
    const std::shared_ptr<const RowSlab>& slab = a.pattern()->slab();
    served_.reset();
    swept_.reset();
    factors_ = {};
    scratch_ = {};
    l_ = {};
    u_ = {};
    lower_ = {};
    upper_ = {};
    factors_.dof = a.dof();
    factors_.symmetric = a.symmetric();
    factors_.filled = pattern_of_rank(context_, *a.pattern(), label);
    factors_.values = Buffer<double>(context_, label, factors_.value_count());
    if (options_.fixed_point_sweeps > 0)
        scratch_ = {Buffer<double>(context_, label, factors_.value_count()),
                    Buffer<double>(context_, label, slab->rows_in_memory() * a.dof() * a.dof())};
    lower_ = RankStages(context_, factors_.pattern(), *slab, Side::lower, label);
    if (options_.sweeps) {
        swept_ = std::make_unique<SweptFactors>(context_, factors_, *options_.sweeps, slab);
    } else {
        upper_ = RankStages(context_, factors_.pattern(), *slab, Side::upper, label);
        l_ = StagedTriangle(context_, factors_, lower_.rows(), Side::lower, label);
        u_ = StagedTriangle(context_, factors_, upper_.rows(), Side::upper, label);
    }
    served_ = a.pattern();
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
            lower_.exchange(*context_.ranks(), rows, take(rows), give(rows));
        };
        return general_cpu::fixed_point(a, alpha, options_.fixed_point_sweeps, options_.pivots.rules, scratch_,
                                        factors_, inverter, share);
    }
    const RowMessages rows(factors_, factors_.values.data(), nullptr);
    const auto compute = [&](const RowRange& range) { general_cpu::factorise(a, alpha, range, factors_, inverter); };
    lower_.for_each(*context_.ranks(), rows, take(rows), compute, give(rows));
}

SetupReport RankIlu::setup(const SystemMatrix& matrix) {
    const BsrMatrix& a = general(matrix);
    auto begin = std::chrono::steady_clock::now();
    analyse(a);
    const double symbolic = seconds_since(begin);
    begin = std::chrono::steady_clock::now();
    SetupReport report = factor_with_policy(
        a, options_.pivots.rules, options_.pivots.shift, options_.name,
        [&](double alpha, PivotInverter& inverter) { factorise(a, alpha, inverter); },
        remark_on_pivots(options_, a.symmetric()));
    if (swept_) {
        swept_->take(factors_, options_.name);
    } else {
        l_.take(factors_);
        u_.take(factors_);
    }
    report.symbolic_seconds = symbolic;
    report.numeric_seconds = seconds_since(begin);
    report.factor_bytes = factors_.values.size() * Index(sizeof(double)) + factors_.filled.bytes();
    return report;
}

void RankIlu::apply(const Vector& r, Vector& z) const {
    if (swept_) return swept_->apply(r, z);
    const int dof = factors_.dof;
    const Index before = served_->slab()->before * dof;
    const double* const from_r = r.data() - before;
    double* const values = z.data() - before;
    const auto size_of = [dof](const RankStages::Exchange&, Index) { return Index(dof); };
    const auto take = [&](const RankStages::Exchange& from, Index at, const double* message) {
        std::copy_n(message, dof, values + Index(from.rows[at]) * dof);
    };
    const auto give = [&](const RankStages::Exchange& to, Index at, std::vector<double>& message) {
        const double* const first = values + Index(to.rows[at]) * dof;
        message.insert(message.end(), first, first + dof);
    };
    {
        const ProfileScope scope(context_, "lower", bytes_per_apply() / 2);
        const auto rows = [&](const RowRange& range) { l_.solve(range.first, range.last, from_r, values); };
        lower_.for_each(*context_.ranks(), size_of, take, rows, give);
    }
    const ProfileScope scope(context_, "upper", bytes_per_apply() / 2);
    const auto rows = [&](const RowRange& range) { u_.solve(range.first, range.last, values, values); };
    upper_.for_each(*context_.ranks(), size_of, take, rows, give);
}

Index RankIlu::bytes_per_apply() const {
    return swept_ ? swept_->bytes_per_apply()
                  : general_cpu::bytes_per_apply(served_->rows(), factors_.pattern().blocks(), factors_.dof);
}

PreconditionerPlan RankIlu::plan(const SyncFreeOptions& options, const PreconditionerSetting& setting) {
    const BlockPattern& a = *setting.matrix.pattern();
    const RowSlab& slab = *a.slab();
    const int dof = setting.matrix.dof();
    const Index all = slab.rows_in_memory(), blocks = blocks_of_rank(a), stages = RankStages::bytes(slab);
    PreconditionerPlan plan;
    plan.space = setting.matrix.natural_space();
    plan.bytes = blocks * dof * dof * Index(sizeof(double)) + BlockPattern::bytes(all, blocks) +
                 all * Index(sizeof(Index)) + a.blocks() * Index(sizeof(int)) + stages;
    if (options.fixed_point_sweeps > 0) plan.bytes += general_cpu::fixed_point_bytes(all, blocks, dof);
    const Index own = blocks - slab.before - Index(slab.upper.column.size());
    const Index halo = plan.space.slots_in_memory() - slab.rows;
    if (options.sweeps) {
        Index lower = 0;
        for (Index row = 0; row < a.rows(); ++row)
            for (Index at = a.row_begin()[row]; at < a.row_begin()[row + 1]; ++at) lower += a.column()[at] < row;
        plan.bytes += SweptFactors::bytes(a.rows(), own, dof) + 2 * halo * dof * Index(sizeof(double));
        plan.bytes_per_apply =
            SweptFactors::bytes_per_apply(a.rows(), lower, own - a.rows() - lower, dof, *options.sweeps);
    } else {
        plan.bytes += stages + StagedTriangle::bytes(a.rows(), own, dof) + BlockPattern::bytes(a.rows(), 0);
        plan.bytes_per_apply = general_cpu::bytes_per_apply(a.rows(), blocks, dof);
    }
    plan.traits = traits_of(options, setting.matrix.symmetric());
    return plan;
}

}  // namespace hyperplane
