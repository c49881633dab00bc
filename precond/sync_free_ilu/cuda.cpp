// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/cuda.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "precond/general/pattern/on_gpu.hpp"
#include "precond/kernel_set.hpp"
#include "precond/reproductions/sync_free_rows.hpp"

namespace hyperplane {
namespace {

constexpr const char* factor_label = "factor";

constexpr const char* general_text = "precond/sync_free_ilu/factor.cuh";

rtc::Program program_of(const SyncFreeShape& shape) {
    if (shape.published) return published_program(shape);
    return {sync_free_source(general_text),
            {{"DOF", std::to_string(shape.dof)},
             {"LANES", std::to_string(shape.lanes)},
             {"BATCH", std::to_string(shape.batch)},
             {"SYMMETRIC", std::to_string(shape.symmetric)},
             {"WARPS", std::to_string(shape.warps())}}};
}

unsigned parts_of(Index rows, const SyncFreeShape& shape) {
    return unsigned((rows + shape.rows() - 1) / shape.rows());
}
/// Thread blocks at most, of which each has a ratio of pivots. Those of published variants take many parts each.
unsigned most_blocks(Index rows, const SyncFreeShape& shape) {
    return shape.published ? std::min(parts_of(rows, shape), 4096U) : parts_of(rows, shape);
}
unsigned blocks_of(const Context& context, const rtc::AnyKernel& kernel, Index rows, const SyncFreeShape& shape) {
    const unsigned most = most_blocks(rows, shape);
    if (!shape.published) return most;
    const Index threads = 32 * shape.warps(), multiprocessors = context.stream().properties().multiprocessors;
    return unsigned(std::min<Index>(most, kernel.occupancy(int(threads), 0) * multiprocessors));
}

}  // namespace

SyncFreeShape SyncFreeShape::of(const RowCounts& counts, int dof, bool symmetric, FactorVariant variant, bool sliced) {
    if (dof > 1) {
        SyncFreeShape of_blocks{dof, symmetric, 32, 1};
        if (sliced && variant != FactorVariant::search) of_blocks.blocks = BlockShape::of(counts.most, dof, symmetric);
        return of_blocks;
    }
    if (is_published(variant)) return published_shape(counts, symmetric, variant);
    // Most rows should have a lane for each entry; few lanes stay idle in the others.
    constexpr int least = 4;
    int lanes = least;
    for (int at = 0; at < RowCounts::lengths && counts.longer[at] * 20 > counts.rows; ++at) lanes *= 2;
    const double lower = counts.rows > 0 ? double(counts.lower) / double(counts.rows) : 0.0;
    SyncFreeShape shape{dof, symmetric, lanes,
                        std::clamp(int(std::bit_ceil(unsigned(std::lround(lower)))), 2, std::min(lanes, 16))};
    if (variant == FactorVariant::search) return shape;
    const TableShape table = table_shape(counts, symmetric);
    if (variant == FactorVariant::table || tables_pay(counts, table)) shape.table = table;
    return shape;
}

SyncFreeCuda::Search::Search(const Context& context, Buffer<int> by_level, Index rows, Index rows_of_pattern,
                             const SyncFreeShape& shape)
    : order(std::move(by_level)),
      finished(context, factor_label, rows_of_pattern),
      state(copied_to(context, factor_label, std::vector<TicketState>{{0, 0, 1}})),
      kernel(context, program_of(shape), shape.published ? published_kernel : "general_factor",
             [&context, rows, shape](const rtc::AnyKernel& kernel) { return blocks_of(context, kernel, rows, shape); }),
      parts(parts_of(rows, shape)),
      pivots(context, most_blocks(rows, shape)) {
    if (shape.published) pivots.clear_ratios();  // not every one is written
}

SyncFreeCuda::SyncFreeCuda(const Context& context, const GpuPattern& pattern, const SyncFreeShape& shape,
                           Orders& orders, Index before)
    : pattern_(pattern),
      shape_(shape),
      rows_(shape.by_level() ? orders.by_level.size() : pattern.pattern->rows()),
      before_(before) {
    if (shape_.table)
        table_ =
            std::make_unique<TableFactor>(context, pattern, *std::exchange(orders.table, std::nullopt), *shape_.table);
    else if (shape_.blocks)
        blocks_ = std::make_unique<BlockFactor>(context, pattern, *orders.lower, *shape_.blocks);
    else
        search_ = std::make_unique<Search>(context, std::move(orders.by_level), rows_, pattern.pattern->rows(), shape_);
}

void SyncFreeCuda::factor(const BsrMatrix& a, double alpha, const PivotRules& rules, double* values,
                          PivotInverter& inverter) {
    if (rows_ == 0) return;
    const bool same = pattern_.is_that_of_a();
    if (table_) return table_->factor(a, same ? nullptr : pattern_.place.data(), alpha, rules, values, inverter);
    if (blocks_) return blocks_->factor(a, alpha, rules, values, inverter);
    search_->pivots.clear_log();
    ++launches_;  // the epoch of this one
    if (const std::vector<unsigned long long> given(std::size_t(before_), launches_); before_ > 0)
        search_->finished.context().stream().copy(given.data(), search_->finished.data(),
                                                  before_ * Index(sizeof(launches_)));
    const GeneralFactorArguments arguments{
        .row_begin = as_pointers(pattern_.pattern->row_begin()),
        .column = pattern_.pattern->column(),
        .diagonal = as_pointers(pattern_.diagonal.data()),
        .values = values,
        .others = values,
        .a_row_begin = as_pointers(a.here().row_begin()) - before_,
        .a_values = a.values(),
        .place = same ? nullptr : pattern_.place.data(),
        .a_diagonal = same ? nullptr : as_pointers(pattern_.a_diagonal.data()) - before_,
        .order = shape_.by_level() ? search_->order.data() : nullptr,
        .finished = search_->finished.data(),
        .state = search_->state.data(),
        .ratios = search_->pivots.ratios(),
        .rule = rule_of(rules, shape_.symmetric),
        .log = search_->pivots.log(),
        .shift = alpha,
        .rows = rows_,
        .parts = search_->parts};
    const auto& [kernel, blocks] = search_->kernel.of(rules);
    kernel.launch({blocks}, unsigned(32 * shape_.warps()), 0, arguments);
    search_->pivots.report(inverter);
}

Index SyncFreeCuda::bytes(const FilledPattern& filled, const OrderSizes& sizes, const SyncFreeShape& shape) {
    if (shape.table) return TableFactor::bytes(filled, *sizes.table, *shape.table);
    if (shape.blocks) return BlockFactor::bytes(*sizes.lower, *shape.blocks);
    const Index rows = filled.pattern->rows();
    return rows * Index(sizeof(Index) + (shape.by_level() ? sizeof(int) : 0)) + Index(sizeof(TicketState)) +
           PivotRecord::bytes(most_blocks(rows, shape));
}

rtc::Programs SyncFreeCuda::programs(const SyncFreeShape& shape) {
    if (shape.table) return TableFactor::programs(*shape.table);
    if (shape.blocks) return BlockFactor::programs(*shape.blocks);
    return {program_of(shape)};
}

}  // namespace hyperplane
