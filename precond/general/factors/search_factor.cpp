// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/factors/search_factor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "precond/general/pattern/on_gpu.hpp"

namespace hyperplane {
namespace {

constexpr const char* search_factor_label = "factor";

rtc::Program search_factor_program(const SearchShape& shape) {
    return {precond_source("precond/general/factors/search_factor.cuh"),
            {{"DOF", std::to_string(shape.dof)},
             {"LANES", std::to_string(shape.lanes)},
             {"BATCH", std::to_string(shape.batch)},
             {"SYMMETRIC", std::to_string(shape.symmetric)},
             {"WARPS", std::to_string(shape.warps())}}};
}

/// Of the rows: what a thread block has at a time.
unsigned parts_of(Index rows, const SearchShape& shape) {
    return unsigned((rows + shape.rows() - 1) / shape.rows());
}
/// Thread blocks at most, of which each has a ratio of pivots.
unsigned most_blocks(Index rows, const SearchShape& shape, bool resident) {
    return resident ? std::min(parts_of(rows, shape), 4096U) : parts_of(rows, shape);
}
unsigned blocks_of(const Context& context, const rtc::AnyKernel& kernel, Index rows, const SearchShape& shape,
                   bool resident) {
    const unsigned most = most_blocks(rows, shape, resident);
    if (!resident) return most;
    const Index threads = 32 * shape.warps(), multiprocessors = context.stream().properties().multiprocessors;
    return unsigned(std::min<Index>(most, kernel.occupancy(int(threads), 0) * multiprocessors));
}

}  // namespace

SearchShape SearchShape::of(const RowCounts& counts, int dof, bool symmetric) {
    if (dof > 1) return {dof, symmetric, 32, 1};
    // Most rows should have a lane for each entry; few lanes stay idle in the others.
    constexpr int least = 4;
    int lanes = least;
    for (int at = 0; at < RowCounts::lengths && counts.longer[at] * 20 > counts.rows; ++at) lanes *= 2;
    const double lower = counts.rows > 0 ? double(counts.lower) / double(counts.rows) : 0.0;
    return {dof, symmetric, lanes,
            std::clamp(int(std::bit_ceil(unsigned(std::lround(lower)))), 2, std::min(lanes, 16))};
}

SearchFactor::SearchFactor(const Context& context, const GpuPattern& pattern, const SearchShape& shape,
                           std::optional<Buffer<int>> by_level, Index before,
                           const std::optional<ResidentKernel>& resident)
    : pattern_(pattern),
      shape_(shape),
      order_(std::move(by_level)),
      rows_(order_ ? order_->size() : pattern.pattern->rows()),
      before_(before),
      finished_(context, search_factor_label, pattern.pattern->rows()),
      state_(copied_to(context, search_factor_label, std::vector<TicketState>{{0, 0, 1}})),
      kernel_(context, resident ? resident->program : search_factor_program(shape),
              resident ? resident->name : "general_factor",
              [&context, rows = rows_, shape, is_resident = resident.has_value()](const rtc::AnyKernel& kernel) {
                  return blocks_of(context, kernel, rows, shape, is_resident);
              }),
      pivots_(context, most_blocks(rows_, shape, resident.has_value())) {
    if (resident) pivots_.clear_ratios();  // not every one is written
}

void SearchFactor::factor(const BsrMatrix& a, double alpha, const PivotRules& rules, double* values,
                          PivotInverter& inverter) {
    if (rows_ == 0) return;
    const bool same = pattern_.is_that_of_a();
    pivots_.clear_log();
    ++launches_;  // the epoch of this one
    if (const std::vector<unsigned long long> given(std::size_t(before_), launches_); before_ > 0)
        finished_.context().stream().copy(given.data(), finished_.data(), before_ * Index(sizeof(launches_)));
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
        .order = order_ ? order_->data() : nullptr,
        .finished = finished_.data(),
        .state = state_.data(),
        .ratios = pivots_.ratios(),
        .rule = rule_of(rules, shape_.symmetric),
        .log = pivots_.log(),
        .shift = alpha,
        .rows = rows_,
        .parts = parts_of(rows_, shape_)};
    const auto& [kernel, blocks] = kernel_.of(rules);
    kernel.launch({blocks}, unsigned(32 * shape_.warps()), 0, arguments);
    pivots_.report(inverter);
}

Index SearchFactor::bytes(Index rows, const SearchShape& shape, bool by_level, bool resident) {
    return rows * Index(sizeof(Index) + (by_level ? sizeof(int) : 0)) + Index(sizeof(TicketState)) +
           PivotRecord::bytes(most_blocks(rows, shape, resident));
}

rtc::Programs SearchFactor::programs(const SearchShape& shape) {
    return {search_factor_program(shape)};
}

}  // namespace hyperplane
