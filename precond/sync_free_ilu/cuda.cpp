// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/cuda.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "precond/graph/levels.hpp"
#include "precond/kernel_set.hpp"
#include "precond/sync_free_ilu/on_gpu.hpp"

namespace hyperplane {
namespace {

constexpr const char* label = "factor";

rtc::Source source(const char* main) {
    return {rtc::precond_texts(), main};
}
constexpr const char* text = "precond/sync_free_ilu/factor.cuh";

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

/// Where A's diagonal blocks lie in A.
Buffer<Index> diagonal_places(const Context& context, const BlockPattern& a) {
    Buffer<Index> places(context.host(), label, a.rows());
    for (Index row = 0; row < a.rows(); ++row) places[row] = a.find(row, int(row));
    return moved_to(context, label, std::move(places));
}

}  // namespace

SyncFreeShape SyncFreeShape::of(const FilledPattern& filled, int dof, bool symmetric) {
    if (dof > 1) return {dof, symmetric, 32, 1};
    const BlockPattern& pattern = *filled.pattern;
    // Most rows should have a lane for each entry; few lanes stay idle in the others.
    constexpr int least = 4, most = 32;
    int lanes = least;
    for (; lanes < most; lanes *= 2) {
        Index longer = 0;
        for (Index row = 0; row < pattern.rows(); ++row)
            longer += pattern.row_begin()[row + 1] - pattern.row_begin()[row] > lanes;
        if (longer * 20 <= pattern.rows()) break;
    }
    const double lower = pattern.rows() > 0 ? double(filled.lower) / double(pattern.rows()) : 0.0;
    return {dof, symmetric, lanes,
            std::clamp(int(std::bit_ceil(unsigned(std::lround(lower)))), 2, std::min(lanes, 16))};
}

SyncFreeCuda::SyncFreeCuda(const Context& context, const BsrMatrix& a, const GeneralFactors& factors)
    : shape_(SyncFreeShape::of(factors.filled, factors.dof, factors.symmetric)),
      rows_(factors.pattern().rows()),
      pattern_(factors.pattern().copied_to(context, label)),
      diagonal_(copy_on(context, label, factors.filled.diagonal)),
      order_(moved_to(context, label, levels_of(context.host(), factors.pattern(), Side::lower, label).rows)),
      finished_(context, label, rows_),
      state_(copied_to(context, label, std::vector<TicketState>{{0, 0, 1}})),
      pivots_(context, parts_of(rows_, shape_.rows())),
      kernel_(context, source(text), definitions(shape_), "general_factor") {
    if (factors.filled.place.size() == 0) return;
    place_ = copy_on(context, label, factors.filled.place);
    a_diagonal_ = diagonal_places(context, *a.pattern());
}

void SyncFreeCuda::factor(const BsrMatrix& a, double alpha, const PivotRules& rules, double* values,
                          PivotInverter& inverter) {
    if (rows_ == 0) return;
    pivots_.clear_log();
    const bool same = place_.size() == 0;
    const GeneralFactorArguments arguments{.row_begin = as_pointers(pattern_->row_begin()),
                                           .column = pattern_->column(),
                                           .diagonal = as_pointers(diagonal_.data()),
                                           .values = values,
                                           .a_row_begin = as_pointers(a.here().row_begin()),
                                           .a_values = a.values(),
                                           .place = same ? nullptr : place_.data(),
                                           .a_diagonal = same ? nullptr : as_pointers(a_diagonal_.data()),
                                           .order = order_.data(),
                                           .finished = finished_.data(),
                                           .state = state_.data(),
                                           .ratios = pivots_.ratios(),
                                           .rule = rule_of(rules, shape_.symmetric),
                                           .log = pivots_.log(),
                                           .shift = alpha,
                                           .rows = rows_,
                                           .parts = parts_of(rows_, shape_.rows())};
    kernel_.launch({arguments.parts}, unsigned(32 * shape_.warps()), 0, arguments);
    pivots_.report(inverter);
}

Index SyncFreeCuda::bytes(const FilledPattern& filled, Index a_blocks, const SyncFreeShape& shape) {
    const Index rows = filled.pattern->rows();
    const bool same = filled.place.size() == 0;
    return filled.pattern->bytes() + rows * Index(2 * sizeof(Index) + sizeof(int)) +
           (same ? 0 : a_blocks * Index(sizeof(int)) + rows * Index(sizeof(Index))) + Index(sizeof(TicketState)) +
           PivotRecord::bytes(parts_of(rows, shape.rows()));
}

rtc::Programs SyncFreeCuda::programs(const SyncFreeShape& shape) {
    return {{source(text), definitions(shape)}};
}

}  // namespace hyperplane
