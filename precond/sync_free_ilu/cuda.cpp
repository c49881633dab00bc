// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/cuda.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "precond/kernel_set.hpp"
#include "precond/sync_free_ilu/on_gpu.hpp"

namespace hyperplane {
namespace {

constexpr const char* factor_label = "factor";

constexpr const char* general_text = "precond/sync_free_ilu/factor.cuh";

rtc::Definitions definitions(const SyncFreeShape& shape) {
    return {{"DOF", std::to_string(shape.dof)},
            {"LANES", std::to_string(shape.lanes)},
            {"BATCH", std::to_string(shape.batch)},
            {"SYMMETRIC", std::to_string(shape.symmetric)},
            {"WARPS", std::to_string(shape.warps())}};
}

unsigned parts_of(Index rows, Index each) {
    return unsigned((rows + each - 1) / each);
}

}  // namespace

SyncFreeShape SyncFreeShape::of(const RowCounts& counts, int dof, bool symmetric, FactorVariant variant, bool sliced) {
    if (dof > 1) {
        SyncFreeShape of_blocks{dof, symmetric, 32, 1};
        if (sliced && variant != FactorVariant::search) of_blocks.blocks = BlockShape::of(counts.most, dof, symmetric);
        return of_blocks;
    }
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

SyncFreeCuda::Search::Search(const Context& context, Buffer<int> by_level, Index rows_of_pattern,
                             const SyncFreeShape& shape)
    : order(std::move(by_level)),
      finished(context, factor_label, rows_of_pattern),
      state(copied_to(context, factor_label, std::vector<TicketState>{{0, 0, 1}})),
      pivots(context, parts_of(order.size(), shape.rows())),
      kernel(context, sync_free_source(general_text), definitions(shape), "general_factor") {}

SyncFreeCuda::SyncFreeCuda(const Context& context, const GpuPattern& pattern, const SyncFreeShape& shape,
                           Orders& orders, Index before)
    : pattern_(pattern),
      shape_(shape),
      rows_(shape.table || shape.blocks ? pattern.pattern->rows() : orders.by_level.size()),
      before_(before) {
    if (shape_.table)
        table_ =
            std::make_unique<TableFactor>(context, pattern, *std::exchange(orders.table, std::nullopt), *shape_.table);
    else if (shape_.blocks)
        blocks_ = std::make_unique<BlockFactor>(context, pattern, *orders.lower, *shape_.blocks);
    else
        search_ = std::make_unique<Search>(context, std::move(orders.by_level), pattern.pattern->rows(), shape_);
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
        .order = search_->order.data(),
        .finished = search_->finished.data(),
        .state = search_->state.data(),
        .ratios = search_->pivots.ratios(),
        .rule = rule_of(rules, shape_.symmetric),
        .log = search_->pivots.log(),
        .shift = alpha,
        .rows = rows_,
        .parts = parts_of(rows_, shape_.rows())};
    search_->kernel.launch({arguments.parts}, unsigned(32 * shape_.warps()), 0, arguments);
    search_->pivots.report(inverter);
}

Index SyncFreeCuda::bytes(const FilledPattern& filled, const OrderSizes& sizes, const SyncFreeShape& shape) {
    if (shape.table) return TableFactor::bytes(filled, *sizes.table, *shape.table);
    if (shape.blocks) return BlockFactor::bytes(*sizes.lower, *shape.blocks);
    const Index rows = filled.pattern->rows();
    return rows * Index(sizeof(Index) + sizeof(int)) + Index(sizeof(TicketState)) +
           PivotRecord::bytes(parts_of(rows, shape.rows()));
}

rtc::Programs SyncFreeCuda::programs(const SyncFreeShape& shape) {
    if (shape.table) return TableFactor::programs(*shape.table);
    if (shape.blocks) return BlockFactor::programs(*shape.blocks);
    return {{sync_free_source(general_text), definitions(shape)}};
}

}  // namespace hyperplane
