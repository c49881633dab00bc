// SPDX-License-Identifier: BSD-3-Clause
// What kernels are specialised on and which orders of rows there are, as a plan and a set-up choose them alike.
#pragma once

#include "precond/general/orders/orders.hpp"
#include "precond/sync_free_ilu/cuda.hpp"
#include "precond/sync_free_ilu/options.hpp"

namespace hyperplane {

/// Fixed-point sweeps look entries up in rows, and so do factors of coupled ranks.
inline SyncFreeShape shape_of(const SyncFreeOptions& options, const RowCounts& counts, int dof, bool symmetric) {
    const bool searches = options.fixed_point_sweeps > 0 || options.couples_ranks;
    return SyncFreeShape::of(counts, dof, symmetric, searches ? FactorVariant::search : options.variant,
                             !options.parts && !options.sweeps);
}

/// The orders of rows that a GPU needs.
inline OrderNeeds needs_of(const SyncFreeOptions& options, const SyncFreeShape& shape) {
    const bool elimination = options.fixed_point_sweeps == 0;
    return {.dof = shape.dof,
            .slices = !options.parts && !options.sweeps,
            .way = options.way,
            .table = elimination ? shape.table : std::nullopt,
            .by_level = elimination && shape.by_level()};
}

/// Whether a CPU walks rows in the order of a triangle: by its solve or, the lower one, by an elimination.
inline bool walks(const SyncFreeOptions& options, Side side) {
    return !options.sweeps || (side == Side::lower && options.fixed_point_sweeps == 0);
}

}  // namespace hyperplane
