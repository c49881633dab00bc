// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/solves/rank_solve.hpp"

#include <algorithm>

#include "core/profile.hpp"
#include "precond/factors/rounding_events.hpp"
#include "precond/general/factors/cpu.hpp"

namespace hyperplane {
namespace {

/// The blocks of the own rows, and those of them below the diagonal.
struct OwnBlocks {
    Index all, lower = 0;

    OwnBlocks(const FilledPattern& filled, const RowSlab& slab) {
        const Index* const begin = filled.pattern->row_begin() + filled.first;
        all = begin[slab.rows] - begin[0];
        for (Index row = 0; row < slab.rows; ++row) lower += filled.diagonal[filled.first + row] - begin[row];
    }
};

}  // namespace

RankSolve::RankSolve(const Context& context, const GeneralFactors& factors, std::shared_ptr<const RowSlab> slab,
                     const RowSlab& of_vectors, const std::optional<SweepOptions>& sweeps, const std::string& label,
                     FactorStorage storage)
    : context_(context),
      slab_(std::move(slab)),
      dof_(factors.dof),
      bytes_per_apply_(bytes_per_apply(factors.filled, *slab_, sweeps, dof_, storage)),
      lower_(context, factors.pattern(), *slab_, Side::lower, label) {
    if (sweeps) {
        swept_ = std::make_unique<RankSweeps>(context, factors, slab_, of_vectors, *sweeps, label);
    } else {
        upper_ = RankStages(context, factors.pattern(), *slab_, Side::upper, label);
        l_ = StagedTriangle(context, factors, lower_.rows(), Side::lower, storage, label);
        u_ = StagedTriangle(context, factors, upper_.rows(), Side::upper, storage, label);
        if (slab_.get() != &of_vectors) z_ = Vector(context, IndexSpace::plain(slab_), dof_, label);
    }
}

void RankSolve::take(const GeneralFactors& factors, const std::string& name) {
    if (swept_) return swept_->take(factors, name);
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
    if (swept_) return swept_->apply(r, z);
    if (z_.size() == 0) return solve(r.data(), z.data());
    std::copy_n(r.data(), r.size(), z_.data());
    solve(z_.data(), z_.data());
    std::copy_n(z_.data(), z.size(), z.data());
}

/// Right-hand side and solution are given at the first own row, which the halo of the solution precedes.
void RankSolve::solve(const double* r, double* z) const {
    const int dof = dof_;
    const Index before = slab_->before * dof;
    const double* const from_r = r - before;
    double* const values = z - before;
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

Index RankSolve::bytes(const FilledPattern& filled, const std::shared_ptr<const RowSlab>& slab,
                       const RowSlab& of_vectors, const std::optional<SweepOptions>& sweeps, int dof,
                       FactorStorage storage) {
    const OwnBlocks own(filled, *slab);
    const Index stages = RankStages::bytes(*slab);
    if (sweeps) return stages + RankSweeps::bytes(filled, slab, of_vectors, dof, Backend::cpu);
    const Index vector = IndexSpace::plain(slab).slots_in_memory() * dof * Index(sizeof(double));
    const Index apart = slab.get() == &of_vectors ? 0 : vector;
    return 2 * stages + StagedTriangle::bytes(slab->rows, own.all, dof, storage) + BlockPattern::bytes(slab->rows, 0) +
           apart;
}

Index RankSolve::bytes_per_apply(const FilledPattern& filled, const RowSlab& slab,
                                 const std::optional<SweepOptions>& sweeps, int dof, FactorStorage storage) {
    if (!sweeps) return general_cpu::bytes_per_apply(slab.rows, filled.pattern->blocks(), dof, storage);
    const OwnBlocks own(filled, slab);
    return SweptFactors::bytes_per_apply(slab.rows, own.lower, own.all - slab.rows - own.lower, dof, *sweeps);
}

}  // namespace hyperplane
