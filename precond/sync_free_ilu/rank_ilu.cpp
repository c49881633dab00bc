// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/rank_ilu.hpp"

#include <algorithm>

#include "precond/general/factors/reduced_rows.hpp"

namespace hyperplane {
namespace {

constexpr const char* label = "factor";

}  // namespace

void RankIlu::find_pattern(const BsrMatrix& a) {
    Symbolic symbolic = taken_symbolic(context_, key_of(options_, a, AcrossRanks::by_row), label);
    factors_.filled = std::move(symbolic.filled);
    allocate_values();
    solve_ = std::make_unique<RankSolve>(context_, factors_, std::move(symbolic.slab), *a.pattern()->slab(),
                                         options_.sweeps, label, options_.storage);
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

void RankIlu::hand_on() {
    if (!is_reduced(options_.storage)) solve_->take(factors_, options_.name);
}

Index RankIlu::factor_bytes() const {
    if (!is_reduced(options_.storage)) return GeneralIlu::factor_bytes();
    const BlockPattern& p = factors_.pattern();
    const Index first = factors_.filled.first, rows = Index(solve_->lower().rows().size());
    return general_cpu::bytes_of_rows(options_.storage, rows, p.row_begin()[first + rows] - p.row_begin()[first],
                                      factors_.dof) +
           factors_.filled.bytes();
}

PreconditionerPlan RankIlu::plan(const SyncFreeOptions& options, const PreconditionerSetting& setting) {
    const std::shared_ptr<const BlockPattern>& a = setting.matrix.pattern();
    const int dof = setting.matrix.dof();
    const auto kept = kept_symbolic(setting.context, key_of(options, setting.matrix, AcrossRanks::by_row), label);
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
