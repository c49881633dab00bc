// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/table_factor.hpp"

#include <algorithm>
#include <utility>

#include "precond/general/pattern/on_gpu.hpp"
#include "precond/kernel_set.hpp"
#include "precond/sync_free_ilu/unfinish.hpp"

namespace hyperplane {
namespace {

constexpr const char* table_label = "factor";
using slices::blocks_for, slices::threads;
constexpr const char *factor_text = "precond/sync_free_ilu/table_factor.cuh",
                     *maker_text = "precond/sync_free_ilu/table_maker.cuh";

const char* type_of_offset(const TableShape& shape) {
    return shape.offset_bytes == 1 ? "unsigned char" : shape.offset_bytes == 2 ? "unsigned short" : "unsigned";
}

rtc::Definitions definitions(const TableShape& shape) {
    return {{"SYMMETRIC", std::to_string(shape.symmetric)}, {"OFFSET", type_of_offset(shape)}};
}

/// Thread blocks of a factorisation at most, of which each has a ratio of pivots.
Index most_blocks(Index count) {
    return std::min<Index>(blocks_for(count), 4096);
}

}  // namespace

TableFactor::TableFactor(const Context& context, const GpuPattern& pattern, TableOrder order, const TableShape& shape)
    : pattern_(*pattern.pattern),
      diagonal_(pattern.diagonal),
      rows_(pattern_.rows()),
      count_(order.slices.size()),
      slices_(std::move(order.slices)),
      table_rows_(context, table_label, rows_, Initially::anything),
      pivot_(context, table_label, order.sizes.pivots, Initially::anything),
      offset_(context, table_label, order.sizes.offsets * shape.offset_bytes, Initially::anything),
      long_rows_(context, table_label, order.sizes.in_long_rows, Initially::anything),
      given_(context, table_label, pattern.is_that_of_a() ? 0 : pattern_.blocks(), Initially::anything),
      pivots_(context, most_blocks(count_)),
      spread_(context, precond_source(maker_text), definitions(shape), "spread_values"),
      unfinish_(context, precond_source(unfinish_text), {}, "unfinish_values"),
      kernel_(
          context, {precond_source(factor_text), definitions(shape)}, "table_factor",
          [&context, count = count_, levels = order.levels](const rtc::AnyKernel& kernel) {
              const int occupancy = kernel.occupancy(threads, 0);
              return unsigned(std::min(slices::resident_blocks(context, occupancy, count, levels), most_blocks(count)));
          }) {
    pivots_.clear_ratios();
    if (rows_ > 0) make(context, order.row, shape);
}

void TableFactor::make(const Context& context, const Buffer<int>& order, const TableShape& shape) {
    const auto kernel = [&](const char* name) {
        return rtc::Kernel<TableMakerArguments>(context, precond_source(maker_text), definitions(shape), name);
    };
    Buffer<UpperRow> upper(context, table_label, rows_, Initially::anything);
    const TableMakerArguments arguments{.slices = slices_.data(),
                                        .order = order.data(),
                                        .row_begin = as_pointers(pattern_.row_begin()),
                                        .column = pattern_.column(),
                                        .diagonal = as_pointers(diagonal_.data()),
                                        .upper = upper.data(),
                                        .rows = table_rows_.data(),
                                        .pivot = pivot_.data(),
                                        .offset = offset_.data(),
                                        .count = count_,
                                        .all_rows = rows_};
    kernel("note_upper_rows").launch({unsigned((rows_ + threads - 1) / threads)}, threads, 0, arguments);
    kernel("make_tables").launch({unsigned(blocks_for(count_))}, threads, 0, arguments);
}

void TableFactor::factor(const BsrMatrix& a, const int* place, double alpha, const PivotRules& rules, double* values,
                         PivotInverter& inverter) {
    if (rows_ == 0) return;
    pivots_.clear_log();
    if (place) {
        const SpreadArguments spread{.row_begin = as_pointers(pattern_.row_begin()),
                                     .a_row_begin = as_pointers(a.here().row_begin()),
                                     .a_values = a.values(),
                                     .place = place,
                                     .values = given_.data(),
                                     .rows = rows_};
        constexpr Index rows_of_block = threads / 8;
        spread_.launch({unsigned((rows_ + rows_of_block - 1) / rows_of_block)}, threads, 0, spread);
    }
    const TableFactorArguments arguments{.slices = slices_.data(),
                                         .rows = table_rows_.data(),
                                         .pivot = pivot_.data(),
                                         .offset = offset_.data(),
                                         .row_begin = as_pointers(pattern_.row_begin()),
                                         .column = pattern_.column(),
                                         .diagonal = as_pointers(diagonal_.data()),
                                         .given = place ? given_.data() : a.values(),
                                         .values = values,
                                         .long_rows = long_rows_.data(),
                                         .ratios = pivots_.ratios(),
                                         .rule = rule_of(rules, a.symmetric()),
                                         .log = pivots_.log(),
                                         .shift = alpha,
                                         .count = unsigned(count_)};
    unfinish(unfinish_, values, pattern_.blocks());
    const auto& [kernel, blocks] = kernel_.of(rules);
    kernel.launch_together({blocks}, threads, 0, arguments);
    pivots_.report(inverter);
}

Index TableFactor::bytes(const FilledPattern& filled, const TableSizes& sizes, const TableShape& shape) {
    const Index count = sizes.slices, given = filled.place.size() == 0 ? 0 : filled.pattern->blocks();
    return count * Index(sizeof(TableSlice)) + filled.pattern->rows() * Index(sizeof(TableRow)) +
           sizes.pivots * Index(sizeof(unsigned)) + sizes.offsets * shape.offset_bytes +
           (sizes.in_long_rows + given) * Index(sizeof(double)) + PivotRecord::bytes(most_blocks(count));
}

rtc::Programs TableFactor::programs(const TableShape& shape) {
    return {{precond_source(maker_text), definitions(shape)},
            {precond_source(unfinish_text), {}},
            {precond_source(factor_text), definitions(shape)}};
}

}  // namespace hyperplane
