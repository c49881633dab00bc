// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/rank_ilu_cuda.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/profile.hpp"
#include "core/ranks/offers_cuda.hpp"
#include "core/ranks/rows_cuda.hpp"
#include "core/timer.hpp"
#include "precond/sync_free_ilu/cpu.hpp"
#include "precond/sync_free_ilu/on_gpu.hpp"
#include "precond/sync_free_ilu/rank_pattern.hpp"
#include "precond/sync_free_ilu/row_classes.hpp"

namespace hyperplane {
namespace {

constexpr const char* label = "factor";

/// The levels of a rank's own rows among themselves: other ranks' rows precede all of them, or follow the levels as
/// those of the whole matrix do.
RowLevels levels_of_own_rows(const Context& host, const FilledPattern& filled, Index rows, Side side) {
    const BlockPattern& p = *filled.pattern;
    Buffer<int> depth(host, label, rows);
    int levels = 0;
    for (Index step = 0; step < rows; ++step) {
        const Index own = side == Side::lower ? step : rows - 1 - step, row = filled.first + own;
        for (Index at = p.row_begin()[row]; at < p.row_begin()[row + 1]; ++at) {
            const Index j = p.column()[at] - filled.first;
            if (j >= 0 && j < rows && (side == Side::lower ? j < own : j > own))
                depth[own] = std::max(depth[own], depth[j]);
        }
        levels = std::max(levels, ++depth[own]);
    }
    RowLevels made = sorted_levels(host, depth, levels, label);
    for (Index at = 0; at < rows; ++at) made.rows[at] += int(filled.first);
    return made;
}

/// What the symbolic part finds in the host's memory.
struct RankOrders {
    FilledPattern filled;
    SyncFreeShape shape;
    RowLevels lower_levels;
    SlicedOrder lower, upper;
};

SyncFreeShape shape_of_rank(const FilledPattern& filled, Index rows, int dof, bool symmetric) {
    RowCounts counts;
    for (Index row = filled.first; row < filled.first + rows; ++row)
        counts.add(entries_of(filled, row), TableRule{symmetric});
    counts.rows = rows;
    counts.blocks = filled.pattern->blocks();
    return SyncFreeShape::of(counts, dof, symmetric, FactorVariant::search);
}

RankOrders orders_of_rank(const Context& host, const BlockPattern& a, int dof, bool symmetric) {
    FilledPattern filled = pattern_of_rank(host, a, label);
    const SyncFreeShape shape = shape_of_rank(filled, a.rows(), dof, symmetric);
    RowLevels lower = levels_of_own_rows(host, filled, a.rows(), Side::lower);
    const RowLevels upper = levels_of_own_rows(host, filled, a.rows(), Side::upper);
    SlicedOrder of_lower = sliced_order(host, filled, lower, Side::lower, dof, label);
    SlicedOrder of_upper = sliced_order(host, filled, upper, Side::upper, dof, label);
    return {std::move(filled), shape, std::move(lower), std::move(of_lower), std::move(of_upper)};
}

SlicedOrder on_gpu(const Context& context, const SlicedOrder& order) {
    return {copy_on(context, label, order.row), copy_on(context, label, order.slices), order.places, order.levels};
}

}  // namespace

void RankIluCuda::analyse(const BsrMatrix& a) {
    if (served_ == a.pattern() && factors_.dof == a.dof() && factors_.symmetric == a.symmetric()) return;
    const ProfileScope scope(context_, "symbolic");
    const std::shared_ptr<const RowSlab>& slab = a.pattern()->slab();
    served_.reset();
    solve_.reset();
    elimination_.reset();
    pattern_.reset();
    given_.clear();
    factors_ = {};
    factors_.dof = a.dof();
    factors_.symmetric = a.symmetric();
    RankOrders made = orders_of_rank(context_.host(), *a.pattern(), a.dof(), a.symmetric());
    factors_.filled = std::move(made.filled);
    factors_.values = Buffer<double>(context_, label, factors_.value_count());
    pattern_ = std::make_unique<GpuPattern>(context_, a, factors_.filled, label);
    pattern_->find_a_diagonal(a, label);
    Orders orders;
    orders.by_level = copy_on(context_, label, made.lower_levels.rows);
    elimination_ = std::make_unique<SyncFreeCuda>(context_, *pattern_, made.shape, orders, slab->before);
    solve_ = std::make_unique<SlicedSolve>(context_, *pattern_, on_gpu(context_, made.lower),
                                           on_gpu(context_, made.upper), a.dof(), slab);
    const int first = int(slab->before);
    for (const RowSlab::Neighbour& other : slab->neighbours) {
        if (other.rank < context_.ranks()->rank() || other.sent.empty()) continue;
        std::vector<Index> blocks;
        for (std::size_t at = 0; at < other.sent.size(); ++at) {
            const Index row = first + other.sent[at];
            blocks.push_back(factors_.filled.diagonal[row]);
            for (Index j = other.upper.begin[at]; j < other.upper.begin[at + 1]; ++j)
                blocks.push_back(factors_.pattern().find(row, other.upper.column[j] + first));
        }
        given_.push_back({other.rank, copied_to(context_, label, blocks),
                          Buffer<double>(context_, label, Index(blocks.size()) * a.dof() * a.dof())});
    }
    context_.synchronize();
    served_ = a.pattern();
}

/// The factors of earlier ranks' rows lie together, in the order in which they are given.
void RankIluCuda::take_factors() {
    const RowSlab& slab = *served_->slab();
    const Index size = Index(factors_.dof) * factors_.dof;
    const Index* const begin = factors_.pattern().row_begin();
    for (const RowSlab::Neighbour& other : slab.neighbours) {
        if (other.rank > context_.ranks()->rank() || other.received == 0) continue;
        const Index row = slab.before + other.slot, place = begin[row], end = begin[row + other.received];
        const cuda::Offer theirs = cuda::take_offer(context_, other.rank, 1);
        context_.stream().copy(theirs.addresses[0], factors_.values.data() + place * size,
                               (end - place) * size * Index(sizeof(double)));
        cuda::acknowledge(context_, other.rank);
    }
}

void RankIluCuda::give_factors() {
    for (Given& given : given_) {
        cuda::collect(context_, given.blocks, Index(factors_.dof) * factors_.dof, factors_.values.data(),
                      given.copy.data());
        cuda::offer(context_, given.rank, {{given.copy.data()}});
    }
    for (const Given& given : given_) cuda::await_acknowledgement(context_, given.rank);
}

void RankIluCuda::factorise(const BsrMatrix& a, double alpha, PivotInverter& inverter) {
    inverter.set_first_row(a.space().first_block_row() - a.pattern()->slab()->before);
    take_factors();
    elimination_->factor(a, alpha, options_.pivots.rules, factors_.values.data(), inverter);
    give_factors();
}

SetupReport RankIluCuda::setup(const SystemMatrix& matrix) {
    const BsrMatrix& a = general(matrix);
    auto begin = std::chrono::steady_clock::now();
    analyse(a);
    const double symbolic = seconds_since(begin);
    begin = std::chrono::steady_clock::now();
    SetupReport report = factor_with_policy(
        a, options_.pivots.rules, options_.pivots.shift, options_.name,
        [&](double alpha, PivotInverter& inverter) { factorise(a, alpha, inverter); },
        remark_on_pivots(options_, a.symmetric()));
    solve_->take(factors_.values.data());
    context_.synchronize();
    report.symbolic_seconds = symbolic;
    report.numeric_seconds = seconds_since(begin);
    report.factor_bytes = factors_.values.size() * Index(sizeof(double)) + factors_.filled.bytes();
    return report;
}

Index RankIluCuda::bytes_per_apply() const {
    return general_cpu::bytes_per_apply(served_->rows(), factors_.pattern().blocks(), factors_.dof);
}

PreconditionerPlan RankIluCuda::plan(const SyncFreeOptions& options, const PreconditionerSetting& setting) {
    const BlockPattern& a = *setting.matrix.pattern();
    const RowSlab& slab = *a.slab();
    const int dof = setting.matrix.dof();
    const Index size = Index(dof) * dof * Index(sizeof(double)), halo = Index(slab.halo.size());
    const RankOrders made = orders_of_rank(setting.context.host(), a, dof, setting.matrix.symmetric());
    const OrderSizes sizes{made.lower.sizes(), made.upper.sizes(), std::nullopt};
    Index given = 0;
    for (const RowSlab::Neighbour& other : slab.neighbours)
        if (other.rank > setting.context.ranks()->rank()) given += Index(other.sent.size() + other.upper.column.size());
    PreconditionerPlan plan;
    plan.space = setting.matrix.natural_space();
    plan.bytes = made.filled.pattern->blocks() * size + GpuPattern::bytes(made.filled, a.blocks(), true) +
                 SyncFreeCuda::bytes(made.filled, sizes, made.shape) + SlicedSolve::bytes(a.rows(), sizes, dof) +
                 2 * halo * dof * Index(sizeof(RowRecord)) + RowsBetweenRanks::bytes(slab) +
                 given * (size + Index(sizeof(Index)));
    plan.setup_bytes = 2 * slab.rows_in_memory() * Index(sizeof(int));
    plan.bytes_per_apply = general_cpu::bytes_per_apply(a.rows(), made.filled.pattern->blocks(), dof);
    plan.traits = traits_of(options, setting.matrix.symmetric());
    return plan;
}

std::vector<KernelSet> RankIluCuda::kernels(const PreconditionerSetting& setting) {
    const MatrixShape& a = setting.matrix;
    const FilledPattern filled = pattern_of_rank(setting.context.host(), *a.pattern(), label);
    const SyncFreeShape shape = shape_of_rank(filled, a.block_rows(), a.dof(), a.symmetric());
    return {{"sync_free_ilu", Layout(LayoutKind::natural, Grid::of_rows(a.block_rows()), {}),
             Stencil("general", {{0, 0, 0}}), a.dof(), a.symmetric(), FactorStorage::double_precision, [shape] {
                 rtc::Programs programs = SyncFreeCuda::programs(shape);
                 std::ranges::move(SlicedSolve::programs(shape.dof, true), std::back_inserter(programs));
                 return programs;
             }}};
}

}  // namespace hyperplane
