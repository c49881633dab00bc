// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/rank_ilu_cuda.hpp"

#include <algorithm>
#include <utility>

#include "core/ranks/links_cuda.hpp"
#include "precond/general/orders/rank_orders.hpp"
#include "precond/general/orders/row_counts.hpp"
#include "precond/general/pattern/on_gpu.hpp"
#include "precond/general/solves/rank_solve.hpp"

namespace hyperplane {
namespace {

constexpr const char* rank_gpu_label = "factor";

/// Of the rank's `rows` own rows.
RowCounts counts_of_rank(const FilledPattern& filled, Index rows, bool symmetric) {
    RowCounts counts;
    for (Index row = filled.first; row < filled.first + rows; ++row)
        counts.add(entries_of(filled, row), TableRule{symmetric});
    counts.rows = rows;
    counts.blocks = filled.pattern->blocks();
    return counts;
}

SyncFreeShape shape_of_rank(const RowCounts& counts, int dof, bool symmetric) {
    return SyncFreeShape::of(counts, dof, symmetric, FactorVariant::search);
}
FixedPointShape sweep_shape_of_rank(const SyncFreeShape& shape) {
    return {shape.dof, shape.symmetric, shape.lanes};
}

}  // namespace

void RankIluCuda::forget() {
    solve_.reset();
    swept_.reset();
    elimination_.reset();
    fixed_point_.reset();
    between_.reset();
    pattern_.reset();
}

void RankIluCuda::find_pattern(const BsrMatrix& a) {
    const Context host = context_.host();
    const int dof = a.dof();
    const Index rows = a.pattern()->rows();
    links_of(context_);  // all ranks make them together, also those that exchange nothing
    Symbolic symbolic = taken_symbolic(host, key_of(options_, a, AcrossRanks::by_row), rank_gpu_label);
    factors_.filled = std::move(symbolic.filled);
    allocate_values();
    slab_ = std::move(symbolic.slab);
    pattern_ = std::make_unique<GpuPattern>(context_, a, factors_.filled, rank_gpu_label);
    pattern_->find_a_diagonal(a, rank_gpu_label);
    const bool sweeps_to_factors = options_.fixed_point_sweeps > 0;
    between_ =
        std::make_unique<FactorRowsCuda>(context_, factors_.filled, *slab_, dof, sweeps_to_factors, rank_gpu_label);
    const SyncFreeShape shape = shape_of_rank(counts_of_rank(factors_.filled, rows, a.symmetric()), dof, a.symmetric());
    const RankOrders made = orders_of_rank(host, factors_.filled, rows, dof, rank_gpu_label);
    if (sweeps_to_factors) {
        fixed_point_ = std::make_unique<FixedPointCuda>(context_, *pattern_, sweep_shape_of_rank(shape),
                                                        OwnRows{slab_->before, rows});
    } else {
        Orders orders;
        orders.by_level = copy_on(context_, rank_gpu_label, made.lower_levels.rows);
        elimination_ = std::make_unique<SyncFreeCuda>(context_, *pattern_, shape, orders, slab_->before);
    }
    if (options_.sweeps)
        swept_ = std::make_unique<RankSweeps>(context_, factors_, slab_, *a.pattern()->slab(), *options_.sweeps,
                                              rank_gpu_label);
    else
        solve_ = std::make_unique<SlicedSolve>(context_, *pattern_, copied_to_gpu(context_, made.lower, rank_gpu_label),
                                               copied_to_gpu(context_, made.upper, rank_gpu_label), dof,
                                               options_.storage, slab_);
    context_.synchronize();
}

void RankIluCuda::factorise(const BsrMatrix& a, double alpha, PivotInverter& inverter) {
    inverter.set_first_row(a.space().first_block_row() - slab_->before);
    const PivotRules& rules = options_.pivots.rules;
    if (fixed_point_) {
        const auto share = [&](double* values, double* inverse) { between_->exchange(values, inverse); };
        return fixed_point_->factor(a, alpha, options_.fixed_point_sweeps, rules, scratch_, factors_.values, inverter,
                                    share);
    }
    between_->take(factors_.values.data());
    elimination_->factor(a, alpha, rules, factors_.values.data(), inverter);
    between_->give(factors_.values.data());
}

Rounding RankIluCuda::rounded(const BsrMatrix& a) {
    rounded_.emplace(*pattern_, options_.storage, a.dof(), rank_gpu_label);
    return rounded_->round(*pattern_, factors_.values.data(), a, slab_->before);
}

void RankIluCuda::hand_on() {
    if (swept_) return swept_->take(factors_, options_.name);
    solve_->take(rounded_ ? rounded_->stored() : StoredView{factors_.values.data()});
    rounded_.reset();
}

Index RankIluCuda::bytes_per_apply() const {
    return RankSolve::bytes_per_apply(factors_.filled, *slab_, options_.sweeps, factors_.dof, options_.storage);
}

PreconditionerPlan RankIluCuda::plan(const SyncFreeOptions& options, const PreconditionerSetting& setting) {
    const std::shared_ptr<const BlockPattern>& a = setting.matrix.pattern();
    const Context host = setting.context.host();
    const int dof = setting.matrix.dof();
    const bool symmetric = setting.matrix.symmetric(), sweeps_to_factors = options.fixed_point_sweeps > 0;
    const auto kept = kept_symbolic(host, key_of(options, setting.matrix, AcrossRanks::by_row), rank_gpu_label);
    const FilledPattern& filled = kept->symbolic->filled;
    const std::shared_ptr<const RowSlab>& slab = kept->symbolic->slab;
    const Index blocks = filled.pattern->blocks(), in_memory = filled.pattern->rows();
    const RowCounts counts = counts_of_rank(filled, a->rows(), symmetric);
    const SyncFreeShape shape = shape_of_rank(counts, dof, symmetric);
    PreconditionerPlan plan;
    plan.kept = kept;
    plan.space = setting.matrix.natural_space();
    const ValueBytes of_values = bytes_of_values(options, {in_memory, blocks, dof}, Backend::cuda);
    plan.bytes = of_values.held + GpuPattern::bytes(filled, a->blocks(), true) +
                 FactorRowsCuda::bytes(setting.context, *slab, dof, sweeps_to_factors);
    const RankOrders made = orders_of_rank(host, filled, a->rows(), dof, rank_gpu_label);
    const OrderSizes sizes{made.lower.sizes(), made.upper.sizes(), std::nullopt};
    if (sweeps_to_factors)
        plan.bytes += FixedPointCuda::bytes(counts, sweep_shape_of_rank(shape));
    else
        plan.bytes += SyncFreeCuda::bytes(filled, sizes, shape);
    if (options.sweeps) {
        plan.bytes += RankSweeps::bytes(filled, slab, *a->slab(), dof, Backend::cuda);
        plan.setup_bytes = RankSweeps::setup_bytes(slab, dof);
    } else {
        plan.bytes +=
            SlicedSolve::bytes(a->rows(), sizes, dof, options.storage) + SlicedSolve::bytes_between_ranks(*slab, dof);
        plan.setup_bytes = of_values.in_setup + 2 * in_memory * Index(sizeof(int));
    }
    plan.bytes_per_apply = RankSolve::bytes_per_apply(filled, *slab, options.sweeps, dof, options.storage);
    plan.traits = traits_of(options, symmetric);
    return plan;
}

std::vector<KernelSet> RankIluCuda::kernels(const SyncFreeOptions& options, const PreconditionerSetting& setting) {
    const MatrixShape& a = setting.matrix;
    const auto kept = kept_symbolic(setting.context.host(), key_of(options, a, AcrossRanks::by_row), rank_gpu_label);
    const SyncFreeShape shape = shape_of_rank(
        counts_of_rank(kept->symbolic->filled, a.pattern()->rows(), a.symmetric()), a.dof(), a.symmetric());
    const bool solves = !options.sweeps, swept = options.fixed_point_sweeps > 0;
    const FactorStorage storage = options.storage;
    return kernels_named(swept ? "fixed_point" : "sync_free_ilu", a, storage, [shape, solves, swept, storage] {
        rtc::Programs programs =
            swept ? FixedPointCuda::programs(sweep_shape_of_rank(shape)) : SyncFreeCuda::programs(shape);
        if (solves) std::ranges::move(SlicedSolve::programs_of_ranks(shape.dof, storage), std::back_inserter(programs));
        return programs;
    });
}

}  // namespace hyperplane
