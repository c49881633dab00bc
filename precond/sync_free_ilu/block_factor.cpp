// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/block_factor.hpp"

#include <algorithm>

#include "precond/general/pattern/on_gpu.hpp"
#include "precond/kernel_set.hpp"
#include "precond/sync_free_ilu/unfinish.hpp"

namespace hyperplane {
namespace {

constexpr Index levels_ahead = 3;  // a row that waits looks at more values than one of one unknown
constexpr const char* blocks_text = "precond/sync_free_ilu/block_factor.cuh";

rtc::Program program_of(const BlockShape& shape) {
    return {precond_source(blocks_text),
            {{"DOF", std::to_string(shape.dof)},
             {"MOST", std::to_string(shape.most)},
             {"SYMMETRIC", std::to_string(shape.symmetric)}}};
}

/// Thread blocks of a factorisation at most, of which each has a ratio of pivots.
Index most_blocks(Index slices, const BlockShape& shape) {
    const Index warps = shape.threads() / 32;
    return std::min<Index>((slices + warps - 1) / warps, 4096);
}

}  // namespace

std::optional<BlockShape> BlockShape::of(Index most, int dof, bool symmetric) {
    constexpr int sizes[] = {8, 15};
    if (dof < least_dof || dof > most_dof) return {};
    for (const int size : sizes)
        if (most <= size) return BlockShape{dof, symmetric, size};
    return {};
}

BlockFactor::BlockFactor(const Context& context, const GpuPattern& pattern, const SlicedOrder& lower,
                         const BlockShape& shape)
    : pattern_(pattern),
      shape_(shape),
      count_(lower.slices.size()),
      slices_(lower.slices.data()),
      order_(lower.row.data()),
      pivots_(context, most_blocks(count_, shape)),
      unfinish_(context, precond_source(unfinish_text), {}, "unfinish_values"),
      kernel_(context, program_of(shape), "block_factor",
              [&context, shape, count = count_, levels = lower.levels](const rtc::AnyKernel& kernel) {
                  const int occupancy = kernel.occupancy(shape.threads(), 0);
                  return unsigned(std::min(slices::resident_blocks(context, occupancy, count, levels, levels_ahead),
                                           most_blocks(count, shape)));
              }) {
    pivots_.clear_ratios();
}

void BlockFactor::factor(const BsrMatrix& a, double alpha, const PivotRules& rules, double* values,
                         PivotInverter& inverter) {
    if (count_ == 0) return;
    pivots_.clear_log();
    const bool same = pattern_.is_that_of_a();
    const BlockFactorArguments arguments{.slices = slices_,
                                         .order = order_,
                                         .row_begin = as_pointers(pattern_.pattern->row_begin()),
                                         .column = pattern_.pattern->column(),
                                         .diagonal = as_pointers(pattern_.diagonal.data()),
                                         .values = values,
                                         .a_row_begin = as_pointers(a.here().row_begin()),
                                         .a_values = a.values(),
                                         .place = same ? nullptr : pattern_.place.data(),
                                         .a_diagonal = same ? nullptr : as_pointers(pattern_.a_diagonal.data()),
                                         .ratios = pivots_.ratios(),
                                         .rule = rule_of(rules, shape_.symmetric),
                                         .log = pivots_.log(),
                                         .shift = alpha,
                                         .count = unsigned(count_)};
    unfinish(unfinish_, values, pattern_.pattern->blocks() * shape_.dof * shape_.dof);
    const auto& [kernel, blocks] = kernel_.of(rules);
    kernel.launch_together({blocks}, unsigned(shape_.threads()), 0, arguments);
    pivots_.report(inverter);
}

Index BlockFactor::bytes(const SlicedSizes& lower, const BlockShape& shape) {
    return PivotRecord::bytes(most_blocks(lower.slices, shape));
}

rtc::Programs BlockFactor::programs(const BlockShape& shape) {
    return {{precond_source(unfinish_text), {}}, program_of(shape)};
}

}  // namespace hyperplane
