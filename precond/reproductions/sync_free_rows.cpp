// SPDX-License-Identifier: BSD-3-Clause
#include "precond/reproductions/sync_free_rows.hpp"

#include <algorithm>
#include <bit>

#include "precond/kernel_set.hpp"

namespace hyperplane {
namespace {

constexpr int warp = 32;

/// The threads of a row in ILU_adapt (section IV-C): they depend on the average number of entries of a row, which is
/// known without a look at the rows. A thread has an entry of the average row.
int adapted_lanes(const RowCounts& counts) {
    const Index average = (counts.blocks + counts.rows - 1) / std::max<Index>(1, counts.rows);
    return int(std::bit_ceil(std::uint64_t(std::clamp<Index>(average, 1, warp))));
}

}  // namespace

SyncFreeShape published_shape(const RowCounts& counts, bool symmetric, FactorVariant variant) {
    SyncFreeShape shape{{1, symmetric, variant == FactorVariant::adapt ? adapted_lanes(counts) : warp, 1}};
    shape.published = variant;
    return shape;
}

rtc::Program published_program(const SyncFreeShape& shape) {
    return {precond_source("precond/reproductions/sync_free_rows.cuh"),
            {{"DOF", "1"},
             {"LANES", std::to_string(shape.lanes)},
             {"SEARCHES", shape.published == FactorVariant::shared ? "0" : "1"},
             {"SYMMETRIC", std::to_string(shape.symmetric)},
             {"WARPS", std::to_string(shape.warps())}}};
}

}  // namespace hyperplane
