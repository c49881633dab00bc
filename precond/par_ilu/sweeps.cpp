// SPDX-License-Identifier: BSD-3-Clause
#include "precond/par_ilu/sweeps.hpp"

#include <numeric>
#include <vector>

#include "core/device/for_each_point.hpp"
#include "core/ranks/cuts.hpp"
#include "precond/factors/known_dof.hpp"
#include "precond/factors/rank_planes_cuda.hpp"
#include "precond/par_ilu/sweep_point.hpp"

namespace hyperplane {
namespace {

using par_ilu::SweepRow;

/// Computes all entries of a point, which then replace the old ones.
struct ReplacedRow {
    SweepRow<0> made;
    BlockView triangles, inverse;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        made(p, slot);
        for (int e = made.shares ? made.old.lower : 0; e < (made.shares ? made.old.lower + 1 : made.kept); ++e)
            for (int r = 0; r < made.size(); ++r)
                for (int c = 0; c < made.size(); ++c)
                    (e == made.old.lower ? inverse.at(0, slot, r, c) : triangles.at(e, slot, r, c)) =
                        made.target(e, slot, r, c);
    }
};

/// Replaces D^-1 by (D^-1 + D^-T) / 2.
struct SymmetricPivot {
    BlockView inverse;
    int dof;

    HYPERPLANE_HD void operator()(Int3, Index slot) const {
        for (int r = 0; r < dof; ++r)
            for (int c = 0; c < r; ++c) {
                double &one = inverse.at(0, slot, r, c), &other = inverse.at(0, slot, c, r);
                one = other = 0.5 * (one + other);
            }
    }
};

/// Replaces E by W = E D^-1 and F by G = D^-1 F at a point.
struct MakeUnit {
    Layout layout;
    const Int3* offsets;
    BlockView triangles;
    ConstBlockView inverse;
    int dof, lower, kept;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        double line[max_dof];
        for (int e = 0; e < kept; ++e) {
            const Int3 q = p + offsets[e];
            if (e == lower || !layout.grid().contains(q)) continue;
            const Index there = layout.slot(q);
            for (int i = 0; i < dof; ++i) {
                for (int j = 0; j < dof; ++j) {
                    line[j] = 0.0;
                    for (int k = 0; k < dof; ++k)
                        line[j] += e < lower ? triangles.at(e, slot, i, k) * inverse.at(0, there, k, j)
                                             : inverse.at(0, slot, j, k) * triangles.at(e, slot, k, i);
                }
                for (int j = 0; j < dof; ++j) triangles.at(e, slot, e < lower ? i : j, e < lower ? j : i) = line[j];
            }
        }
    }
};

/// Keeps the pivots of planes that other ranks compute out of the reports: a ratio is never above 1.
struct ForgetHalo {
    VectorView ratio, failure;
    int begin, end;  ///< the rank's own planes

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        if (p.z >= begin && p.z < end) return;
        ratio.at(slot) = 2.0;
        failure.at(slot) = 0.0;
    }
};

/// A's blocks in the type of factors that are written. Only D-ILU uses this, and it does not write to them.
BlockView writable(const ConstBlockView& v) {
    return {const_cast<double*>(v.values), v.entry_stride, v.slot_stride, v.row_stride, v.col_stride};
}

/// Visits all points. If `then` is given, a point's new entries are copied there at once.
void sweep(const Context& context, const SweepRow<0>& s, const FactorTarget* then = nullptr) {
    if (context.backend() == Backend::cpu && par_ilu::go_by_runs(s)) return par_ilu::sweep_runs(context, s, then);
    if (then)
        return for_each_point(context, s.old.layout, "asynchronous sweep of a factorisation",
                              ReplacedRow{s, then->triangles, then->inverse});
    with_known_dof<1, 2, 3, 4, 5, 8>(s.dof, [&](auto m) {
        for_each_point(context, s.old.layout, "sweep of a factorisation", par_ilu::known<m.value>(s));
    });
}

}  // namespace

FactorSweeps::FactorSweeps(const Context& context, const IluPattern& pattern, [[maybe_unused]] FactorSweepOrder order)
    : context_(context),
      shape_(pattern),
      offsets_(copied_to(context, "sweeps", pattern.stencil.offsets())),
      tables_(copied_to(context, "sweeps", update_tables(pattern.a_stencil, pattern.stencil, pattern.eliminations()))),
      ratios_(context, pattern.layout, "sweeps"),
      failures_(context, pattern.layout, "sweeps"),
      failed_(context, pattern.layout, 2, "sweeps") {
    if constexpr (cuda_built)
        if (context.backend() == Backend::cuda && FactorSweepsCuda::serves(shape_))
            cuda_ = std::make_shared<FactorSweepsCuda>(context, shape_, order);
}

Index FactorSweeps::bytes(const IluPattern& shape) {
    const auto tables = update_tables(shape.a_stencil, shape.stencil, shape.eliminations());
    return shape.stencil.size() * Index(sizeof(Int3)) + Index(tables.size() * sizeof(int)) +
           2 * (shape.layout.slots() + shape.layout.slots_in_memory()) * Index(sizeof(double));
}

Index FactorSweeps::scratch_bytes([[maybe_unused]] const Context& context, [[maybe_unused]] const IluPattern& shape) {
    if constexpr (cuda_built)
        if (context.backend() == Backend::cuda)
            return FactorSweepsCuda::scratch_size(context, shape) * Index(sizeof(double));
    return 0;
}

Index FactorSweeps::bytes_of_sweep() const {
    const int stored = shape_.symmetric ? shape_.stencil.diagonal() + 1 : shape_.stencil.size();
    Index blocks = stored;
    for (const int e : shape_.eliminations().changed_entries())
        blocks += 1 + (shape_.a_stencil.find(shape_.stencil[e]) >= 0);
    return blocks * shape_.dof * shape_.dof * shape_.layout.slots() * Index(sizeof(double));
}

bool FactorSweeps::needs_spare([[maybe_unused]] const IluPattern& shape, [[maybe_unused]] Backend backend,
                               FactorSweepMode mode) {
    if constexpr (cuda_built)
        if (mode == FactorSweepMode::async && backend == Backend::cuda) return !FactorSweepsCuda::serves(shape);
    return true;
}

void FactorSweeps::run(const StructMatrix& a, const FactorTarget& result, const FactorTarget& spare, int sweeps,
                       FactorSweepMode mode, double alpha, const PivotRules& rules, PivotInverter& inverter,
                       bool unit) {
    if constexpr (cuda_built)
        if (cuda_ && mode == FactorSweepMode::sync && unit && cuda_->goes_by_levels(sweeps)) {
            cuda_->make_by_levels(a, result, spare, sweeps, alpha, rules, records());
            return report(a, inverter);
        }
    cuda_ ? run_kernels(a, result, spare, sweeps, mode, alpha, rules)
          : run_loops(a, result, spare, sweeps, mode, alpha, rules);
    if (mode == FactorSweepMode::async && shape_.symmetric && shape_.dof > 1) make_pivots_symmetric(result);
    if (unit) make_unit(result);
    report(a, inverter);
}

void FactorSweeps::run_loops(const StructMatrix& a, const FactorTarget& result, const FactorTarget& spare, int sweeps,
                             FactorSweepMode mode, double alpha, const PivotRules& rules) {
    const Context& context = a.context();
    if (mode == FactorSweepMode::async) {
        sweep(context, row(a, spare, result, alpha, rules, false, false));
        for (int left = sweeps - 1; left >= 0; --left)
            sweep(context, row(a, result, spare, alpha, rules, true, left == 0), &result);
        return;
    }
    for (int left = sweeps; left >= 0; --left) {
        const FactorTarget &to = left % 2 == 0 ? result : spare, &from = left % 2 == 0 ? spare : result;
        sweep(context, row(a, from, to, alpha, rules, left < sweeps, left == 0));
        share_halos(to, false);
    }
}

void FactorSweeps::share_halos(const FactorTarget& factors, [[maybe_unused]] bool changed_alone) const {
    if constexpr (cuda_built)
        if (shape_.of_rank && shape_.halo > 0) {
            // Where E and F are A's, D^-1 is entry 0, and the only one that is stored.
            std::vector<int> entries(std::size_t(shape_.kept()));
            std::iota(entries.begin(), entries.end(), 0);
            if (changed_alone && !shape_.shares) entries = shape_.eliminations().changed_entries();
            double* const first = shape_.shares ? factors.inverse.values : factors.triangles.values;
            return RankPlanes(context_, shape_, first).exchange(entries);
        }
    if (!shape_.layout.has_neighbours_outside()) return;
    std::vector<double*> blocks;
    const auto add = [&](const BlockView& view, int e) {
        for (int r = 0; r < shape_.dof; ++r)
            for (int c = 0; c < shape_.dof; ++c) blocks.push_back(&view.at(e, 0, r, c));
    };
    const int lower = shape_.stencil.lower_size();
    for (int e = 0; e < shape_.kept() && !shape_.shares; ++e)
        if (e != lower) add(factors.triangles, e);
    add(factors.inverse, 0);
    exchange_halos(context_, shape_.layout, shape_.stencil.planes(), blocks);
}

void FactorSweeps::make_pivots_symmetric(const FactorTarget& factors) const {
    for_each_point(offsets_.context(), shape_.layout, "symmetric pivots", SymmetricPivot{factors.inverse, shape_.dof});
}

void FactorSweeps::run_kernels([[maybe_unused]] const StructMatrix& a, [[maybe_unused]] const FactorTarget& result,
                               [[maybe_unused]] const FactorTarget& spare, [[maybe_unused]] int sweeps,
                               [[maybe_unused]] FactorSweepMode mode, [[maybe_unused]] double alpha,
                               [[maybe_unused]] const PivotRules& rules) {
    if constexpr (cuda_built) {
        if (const Index size = FactorSweepsCuda::scratch_size(context_, shape_); scratch_.size() != size)
            scratch_ = Buffer<double>(context_, "sweeps", size);
        const auto place = [&](const FactorTarget& x) {
            return FactorTarget{shape_.shares ? writable(blocks_of(a)) : x.triangles, x.inverse};
        };
        const FactorTarget places[] = {place(result), place(mode == FactorSweepMode::async ? result : spare)};
        // Entries that never change lie in the result from the start. With one and two unknowns the last sweep writes
        // them while others read them, but with the bits that they already have.
        for (int left = sweeps; left >= 0; --left) {
            cuda_->run({left, sweeps}, a, scratch_.data(), places[0], places[(left + 1) % 2], places[left % 2], alpha,
                       rules, records());
            const bool all = left == 0 || (left == sweeps && left % 2 == 0);
            share_halos(places[left % 2], !all);
            if (left == sweeps && !all) share_halos(places[0], false);
        }
    }
}

SweepRow<0> FactorSweeps::row(const StructMatrix& a, const FactorTarget& from, const FactorTarget& to, double alpha,
                              const PivotRules& rules, bool updates, bool last) {
    const int size = shape_.stencil.size(), lower = shape_.stencil.lower_size();
    const ConstBlockView matrix = blocks_of(a);
    SweepRow<0> row{};
    row.old = {shape_.layout,   shape_.shares ? matrix : from.triangles, from.inverse, offsets_.data(), lower,
               shape_.symmetric};
    row.tables = {offsets_.data(), tables_.data(), shape_.stencil};
    row.a = matrix;
    row.triangles = to.triangles;
    row.inverse = to.inverse;
    row.dof = shape_.dof;
    row.kept = shape_.symmetric ? lower + 1 : size;
    row.shares = shape_.shares;
    row.updates = updates;
    row.alpha = alpha;
    row.rule = {rules.tolerance, rules.boost, shape_.symmetric};
    row.last = last;
    row.ratio = ratios_.view(shape_.layout);
    row.failure = failures_.view(shape_.layout);
    row.failed = view(failed_);
    return row;
}

ConstBlockView FactorSweeps::blocks_of(const StructMatrix& a) const {
    const Index before = shape_.of_rank ? a.space().halo_slots() : 0;  // the pattern's slot 0 is the first in memory
    return blocks_at(CoefficientOrder::apart, a.values(0) - before, a.stride(), a.dof());
}

void FactorSweeps::report(const StructMatrix& a, PivotInverter& inverter) {
    if (shape_.halo > 0)
        for_each_point(context_, shape_.layout, "pivots of other ranks",
                       ForgetHalo{ratios_.view(shape_.layout), failures_.view(shape_.layout), shape_.halo,
                                  shape_.layout.grid().nz - shape_.halo});
    const PointValue smallest = ratios_.smallest(shape_.layout), first = failures_.smallest(shape_.layout);
    // Kernels of a rank count the points of a grid of its own.
    const auto row = [&](const PointValue& at) {
        return shape_.of_rank ? inverter.row_of(shape_.layout.grid().row(at.point)) : a.grid().row(at.point);
    };
    PivotRatio ratio;
    ratio.take(smallest.value, row(smallest));
    PivotEvent event{};
    if (first.value < 0.0) {
        Vector copy;
        const Vector& failed = on_host(failed_, copy);
        const auto value = [&](int c) {
            return shape_.of_rank ? failed(first.point, c) : value_at(failed, first.point, c);
        };
        event = {inverter.cell(row(first)), int(value(0)), value(1)};
    }
    const auto failures = Index(-failures_.sum());
    // This number is that of all ranks, and the inverter adds up what ranks report: only the first one reports it.
    if (is_first_rank(context_) || !shape_.layout.is_part()) inverter.adopt(failures, event, 0, {}, ratio);
}

FactorSweepsCuda::PivotRecords FactorSweeps::records() {
    return {ratios_.view(shape_.layout).values, failures_.view(shape_.layout).values, failed_.data()};
}

void FactorSweeps::make_unit(const FactorTarget& factors) {
    if constexpr (cuda_built)
        if (cuda_) return cuda_->make_unit(factors, records());
    for_each_point(offsets_.context(), shape_.layout, "unit triangles",
                   MakeUnit{shape_.layout, offsets_.data(), factors.triangles, factors.inverse, shape_.dof,
                            shape_.stencil.lower_size(),
                            shape_.symmetric ? shape_.stencil.lower_size() + 1 : shape_.stencil.size()});
}

std::vector<KernelSet> FactorSweeps::kernels([[maybe_unused]] const IluPattern& factored) {
    if constexpr (cuda_built)
        if (FactorSweepsCuda::serves(factored))
            return {{factored.of_rank ? "fixed_point of ranks" : "fixed_point", factored.layout, factored.stencil,
                     factored.dof, factored.symmetric, factored.storage,
                     [factored] { return FactorSweepsCuda::programs(factored); }}};
    return {};
}

}  // namespace hyperplane
