// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/solves/rank_solve.hpp"

#include <algorithm>

#include "core/profile.hpp"
#include "precond/factors/rounding_events.hpp"
#include "precond/general/factors/cpu.hpp"

namespace hyperplane {
namespace {

/// Rows of a vector as messages.
struct VectorRows {
    double* values;  ///< of the first row in memory
    Index dof;

    Index size(const RankStages::Exchange& /*from*/, Index /*at*/) const { return dof; }
    void take(const RankStages::Exchange& from, Index at, const double* message) const {
        std::copy_n(message, dof, values + Index(from.rows[at]) * dof);
    }
    void give(const RankStages::Exchange& to, Index at, std::vector<double>& message) const {
        const double* const first = values + Index(to.rows[at]) * dof;
        message.insert(message.end(), first, first + dof);
    }
};

}  // namespace

RankSolve::RankSolve(const Context& context, const GeneralFactors& factors, std::shared_ptr<const RowSlab> slab,
                     const RowSlab& of_vectors, const RankStages& lower, const std::string& label,
                     FactorStorage storage)
    : context_(context),
      slab_(std::move(slab)),
      dof_(factors.dof),
      bytes_per_apply_(general_cpu::bytes_per_apply(slab_->rows, factors.pattern().blocks(), dof_, storage)),
      lower_(lower),
      upper_(context, factors.pattern(), *slab_, Side::upper, label),
      l_(context, factors, lower_.rows(), Side::lower, storage, label),
      u_(context, factors, upper_.rows(), Side::upper, storage, label) {
    if (slab_.get() != &of_vectors) z_ = Vector(context, IndexSpace::plain(slab_), dof_, label);
}

void RankSolve::take(const GeneralFactors& factors, const std::string& /*name*/) {
    l_.take(factors);
    u_.take(factors);
}

Rounding RankSolve::round(const GeneralFactors& factors, const BsrMatrix& a) {
    const Index first = a.space().first_block_row() - factors.filled.first;
    return rounding_by(context_, a.space(), dof_, 3, [&](RoundingLog* log) {
        l_.round(factors, first, *log);
        u_.round(factors, first, *log);
    });
}

void RankSolve::apply(const Vector& r, Vector& z) const {
    if (z_.size() == 0) return solve(r.data(), z.data());
    std::copy_n(r.data(), r.size(), z_.data());
    solve(z_.data(), z_.data());
    std::copy_n(z_.data(), z.size(), z.data());
}

/// Right-hand side and solution are given at the first own row, which the halo of the solution precedes.
void RankSolve::solve(const double* r, double* z) const {
    const Index before = slab_->before * dof_;
    const double* const from_r = r - before;
    double* const values = z - before;
    const VectorRows messages{values, dof_};
    {
        const ProfileScope scope(context_, "lower", bytes_per_apply() / 2);
        const auto rows = [&](const RowRange& range) { l_.solve(range.first, range.last, from_r, values); };
        lower_.for_each(*context_.ranks(), messages, rows);
    }
    const ProfileScope scope(context_, "upper", bytes_per_apply() / 2);
    const auto rows = [&](const RowRange& range) { u_.solve(range.first, range.last, values, values); };
    upper_.for_each(*context_.ranks(), messages, rows);
}

Index RankSolve::bytes(const FilledPattern& filled, const std::shared_ptr<const RowSlab>& slab,
                       const RowSlab& of_vectors, int dof, FactorStorage storage) {
    const Index* const begin = filled.pattern->row_begin() + filled.first;
    const Index vector = IndexSpace::plain(slab).slots_in_memory() * dof * Index(sizeof(double));
    const Index apart = slab.get() == &of_vectors ? 0 : vector;
    return RankStages::bytes(*slab) + StagedTriangle::bytes(slab->rows, begin[slab->rows] - begin[0], dof, storage) +
           BlockPattern::bytes(slab->rows, 0) + apart;
}

}  // namespace hyperplane
