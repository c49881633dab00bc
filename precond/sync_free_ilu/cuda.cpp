// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/cuda.hpp"

#include <utility>

#include "precond/reproductions/sync_free_rows.hpp"

namespace hyperplane {

SyncFreeShape SyncFreeShape::of(const RowCounts& counts, int dof, bool symmetric, FactorVariant variant, bool sliced) {
    if (dof == 1 && is_published(variant)) return published_shape(counts, symmetric, variant);
    SyncFreeShape shape{SearchShape::of(counts, dof, symmetric)};
    if (variant == FactorVariant::search) return shape;
    if (dof > 1) {
        if (sliced) shape.blocks = BlockShape::of(counts.most, dof, symmetric);
        return shape;
    }
    const TableShape table = table_shape(counts, symmetric);
    if (variant == FactorVariant::table || tables_pay(counts, table)) shape.table = table;
    return shape;
}

SyncFreeCuda::SyncFreeCuda(const Context& context, const GpuPattern& pattern, const SyncFreeShape& shape,
                           Orders& orders, Index before)
    : pattern_(pattern) {
    if (shape.table) {
        table_ =
            std::make_unique<TableFactor>(context, pattern, *std::exchange(orders.table, std::nullopt), *shape.table);
    } else if (shape.blocks) {
        blocks_ = std::make_unique<BlockFactor>(context, pattern, *orders.lower, *shape.blocks);
    } else {
        std::optional<Buffer<int>> by_level;
        if (shape.by_level()) by_level = std::move(orders.by_level);
        std::optional<ResidentKernel> published;
        if (shape.published) published.emplace(ResidentKernel{published_program(shape), published_kernel});
        search_ = std::make_unique<SearchFactor>(context, pattern, shape, std::move(by_level), before, published);
    }
}

void SyncFreeCuda::factor(const BsrMatrix& a, double alpha, const PivotRules& rules, double* values,
                          PivotInverter& inverter) {
    if (search_) return search_->factor(a, alpha, rules, values, inverter);
    if (pattern_.pattern->rows() == 0) return;
    if (blocks_) return blocks_->factor(a, alpha, rules, values, inverter);
    table_->factor(a, pattern_.is_that_of_a() ? nullptr : pattern_.place.data(), alpha, rules, values, inverter);
}

Index SyncFreeCuda::bytes(const FilledPattern& filled, const OrderSizes& sizes, const SyncFreeShape& shape) {
    if (shape.table) return TableFactor::bytes(filled, *sizes.table, *shape.table);
    if (shape.blocks) return BlockFactor::bytes(*sizes.lower, *shape.blocks);
    return SearchFactor::bytes(filled.pattern->rows(), shape, shape.by_level(), shape.published.has_value());
}

rtc::Programs SyncFreeCuda::programs(const SyncFreeShape& shape) {
    if (shape.table) return TableFactor::programs(*shape.table);
    if (shape.blocks) return BlockFactor::programs(*shape.blocks);
    return shape.published ? rtc::Programs{published_program(shape)} : SearchFactor::programs(shape);
}

}  // namespace hyperplane
