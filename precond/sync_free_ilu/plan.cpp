// SPDX-License-Identifier: BSD-3-Clause
// The memory and the kernels of sync_free_ilu, known from the pattern alone.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/timer.hpp"
#include "precond/general/factors/reduced_rows.hpp"
#include "precond/general/orders/rank_orders.hpp"
#include "precond/general/solves/rank_solve.hpp"
#include "precond/general/solves/solve_cuda.hpp"
#include "precond/general/sweeps/swept.hpp"
#include "precond/sync_free_ilu/factor_rows_cuda.hpp"
#include "precond/sync_free_ilu/part_solve.hpp"
#include "precond/sync_free_ilu/shapes.hpp"
#include "precond/sync_free_ilu/sync_free_ilu.hpp"

namespace hyperplane {
namespace {

constexpr const char* plan_label = "factor";

/// What tells apart kernels of matrices of the same number of rows.
[[maybe_unused]] std::string name_of_kernels(const SyncFreeOptions& options) {
    const std::string factors = options.parts                    ? "subdomain_parts"
                                : options.fixed_point_sweeps > 0 ? "fixed_point"
                                                                 : "sync_free_ilu";
    if (options.sweeps) return factors + (options.sweeps->mode == SweepMode::sync ? "_swept" : "_swept_by_blocks");
    const bool by_level = options.part_variant == SubdomainVariant::level;
    return by_level ? factors : fmt::format("{}_{}", factors, name_of(options.part_variant));
}

/// What the orders of both triangles hold on a CPU, which depends on whether threads share the rows of levels.
Index bytes_of_walks(const Context& host, const SyncFreeOptions& options, const BlockPattern& pattern, int dof) {
    const Index work = RowWalk::work_of_solve(pattern.blocks(), dof);
    Index bytes = 0;
    for (const Side side : {Side::lower, Side::upper})
        if (walks(options, side) && !options.parts)
            bytes += RowWalk(host, pattern, side, work, plan_label, options.way == SolveWay::levels).bytes();
    return bytes;
}

/// The number of rows that the rank has.
Index own_rows(const Symbolic& symbolic) {
    return symbolic.slab ? symbolic.slab->rows : symbolic.filled.pattern->rows();
}

/// The sizes of the orders of a GPU; a plan before may have found them.
[[maybe_unused]] OrderSizes planned_sizes(const Context& gpu, Symbolic& symbolic, const OrderNeeds& needs) {
    if constexpr (cuda_built)
        if (!symbolic.planned || symbolic.planned->needs != needs)
            symbolic.planned = {needs, symbolic.slab ? sizes_of(orders_of_rank(gpu.host(), symbolic.filled,
                                                                               own_rows(symbolic), needs, plan_label))
                                                     : sizes_of_orders(gpu, symbolic.filled, needs, plan_label)};
    return symbolic.planned->sizes;
}

void plan_on_host(const SyncFreeOptions& options, const PreconditionerSetting& setting, const Symbolic& symbolic,
                  const ValueBytes& values, PreconditionerPlan& plan) {
    const FilledPattern& filled = symbolic.filled;
    plan.bytes += filled.bytes() + values.held + (options.parts ? symbolic.parts.bytes() : 0) +
                  bytes_of_walks(setting.context, options, *filled.pattern, setting.matrix.dof());
    plan.setup_bytes = values.in_setup;
}

/// Solves in reduced precision have copies of their rows, and the factors in double are released.
void plan_on_rank(const SyncFreeOptions& options, const PreconditionerSetting& setting, const Symbolic& symbolic,
                  PreconditionerPlan& plan) {
    const std::shared_ptr<const RowSlab>& slab = symbolic.slab;
    const int dof = setting.matrix.dof();
    const BlockCounts factors{symbolic.filled.pattern->rows(), symbolic.filled.pattern->blocks(), dof};
    const bool released = is_reduced(options.storage);
    SyncFreeOptions in_double = options;
    in_double.storage = FactorStorage::double_precision;
    const Index values = bytes_of_values(in_double, factors, Backend::cpu).held;
    plan.bytes += symbolic.filled.bytes() + (released ? 0 : values) + RankStages::bytes(*slab);
    if (!options.sweeps)
        plan.bytes += RankSolve::bytes(symbolic.filled, slab, *setting.matrix.pattern()->slab(), dof, options.storage);
    plan.setup_bytes =
        std::max({Index(0), symbolic.peak - plan.bytes, released ? values + Index(sizeof(RoundingLog)) : 0});
}

[[maybe_unused]] void plan_on_gpu(const SyncFreeOptions& options, const PreconditionerSetting& setting,
                                  Symbolic& symbolic, const ValueBytes& values, PreconditionerPlan& plan) {
    if constexpr (cuda_built) {
        const MatrixShape& a = setting.matrix;
        const FilledPattern& filled = symbolic.filled;
        const RowSlab* const slab = symbolic.slab.get();
        const int dof = a.dof();
        const Index own = own_rows(symbolic), in_memory = filled.pattern->rows();
        const RowCounts counts = row_counts(filled, a.symmetric(), own);
        const SyncFreeShape shape = shape_of(options, counts, dof, a.symmetric());
        const OrderSizes sizes = planned_sizes(setting.context, symbolic, needs_of(options, shape));
        const bool sweeps_to_factors = options.fixed_point_sweeps > 0;
        plan.setup_bytes = values.in_setup;
        plan.bytes += values.held + GpuPattern::bytes(filled, a.pattern()->blocks(), shape.needs_a_diagonal()) +
                      (sweeps_to_factors ? FixedPointCuda::bytes(counts, shape.swept())
                                         : SyncFreeCuda::bytes(filled, sizes, shape));
        if (slab) plan.bytes += FactorRowsCuda::bytes(setting.context, *slab, dof, sweeps_to_factors);
        if (options.parts) {
            plan.bytes += part_solve::bytes(options.part_variant, symbolic, dof, options.storage);
        } else if (!options.sweeps) {
            plan.bytes += SlicedSolve::bytes(own, sizes, dof, options.storage) +
                          (slab ? SlicedSolve::bytes_between_ranks(*slab, dof) : 0);
            plan.setup_bytes += 2 * in_memory * Index(sizeof(int));
        }
    }
}

}  // namespace

PreconditionerPlan SyncFreeIlu::plan(const SyncFreeOptions& options, const PreconditionerSetting& setting) {
    const MatrixShape& a = setting.matrix;
    const Backend backend = setting.context.backend();
    const auto kept = kept_symbolic(setting.context.host(), key_of(options, a), plan_label);
    const FilledPattern& filled = kept->symbolic->filled;
    const Index rows = own_rows(*kept->symbolic), blocks = filled.pattern->blocks();
    const bool ranks = options.couples_ranks;
    PreconditionerPlan plan;
    plan.kept = kept;
    plan.space = a.natural_space();
    plan.traits = traits_of(options, a.symmetric());
    plan.traits.drops_couplings = a.pattern()->slab() && !options.couples_ranks;
    plan.bytes_per_apply = options.sweeps ? SweptFactors::bytes_per_apply(filled, rows, a.dof(), *options.sweeps)
                                          : general_cpu::bytes_per_apply(rows, blocks, a.dof(), options.storage);
    const BlockCounts factors{filled.pattern->rows(), blocks, a.dof()};
    const ValueBytes values = bytes_of_values(options, factors, backend);
    if (options.sweeps)
        plan.bytes = SweptFactors::bytes(filled, a.dof(), *options.sweeps, backend, kept->symbolic->slab,
                                         a.pattern()->slab().get());
    if (backend == Backend::cuda) {
        const auto begin = std::chrono::steady_clock::now();
        plan_on_gpu(options, setting, *kept->symbolic, values, plan);
        kept->symbolic->planned_seconds += seconds_since(begin);
    } else if (ranks)
        plan_on_rank(options, setting, *kept->symbolic, plan);
    else
        plan_on_host(options, setting, *kept->symbolic, values, plan);
    return plan;
}

std::vector<KernelSet> SyncFreeIlu::kernels([[maybe_unused]] const SyncFreeOptions& options,
                                            [[maybe_unused]] const PreconditionerSetting& setting) {
    if constexpr (cuda_built) {
        // The pattern is filled here, because it decides how many threads have a row.
        const MatrixShape& a = setting.matrix;
        const auto kept = kept_symbolic(setting.context.host(), key_of(options, a), plan_label);
        const FilledPattern& filled = kept->symbolic->filled;
        const SyncFreeShape shape =
            shape_of(options, row_counts(filled, a.symmetric(), own_rows(*kept->symbolic)), a.dof(), a.symmetric());
        const rtc::Programs of_sweeps = options.sweeps && !options.couples_ranks
                                            ? SweptFactors::programs(filled, a.dof(), *options.sweeps)
                                            : rtc::Programs{};
        return kernels_of_general(name_of_kernels(options), a, options.storage, [shape, options, of_sweeps] {
            rtc::Programs programs = options.fixed_point_sweeps > 0 ? FixedPointCuda::programs(shape.swept())
                                                                    : SyncFreeCuda::programs(shape);
            const auto add = [&](const rtc::Programs& more) { std::ranges::copy(more, std::back_inserter(programs)); };
            if (!options.couples_ranks) add(level_programs());
            add(of_sweeps);
            if (options.sweeps) return programs;
            add(options.couples_ranks ? SlicedSolve::programs_of_ranks(shape.dof, options.storage)
                : options.parts       ? part_solve::programs(options.part_variant, shape.dof, options.storage)
                                      : SlicedSolve::programs(shape.dof, options.way, options.storage));
            return programs;
        });
    }
    return {};
}

}  // namespace hyperplane
