// SPDX-License-Identifier: BSD-3-Clause
// One triangle of a general matrix's factors in the order in which a GPU's solves work on it.
//
// Rows are level by level; a row's place in this order is its position. Consecutive rows of one level with similar
// lengths form a slice, which one warp works on. A row has `lanes` groups of dof lanes: block b of the row belongs to
// group b mod lanes, and lane r of the group has row r of the block. Blocks are stored so that each load of a warp
// reads adjacent values:
//
//     column[begin + e * rows * lanes + row of the slice * lanes + group]
//         the position of the block's column; -1 if the row has no such block
//     value[((begin + e * rows * lanes) * dof + c * rows * lanes) * dof + lane]
//         the coefficient of the lane's row of the block in its column c
//
// with e = b div lanes, and e < width. No row of a slice depends on another one of it.
#pragma once

#include "precond/general/orders/level_steps.hpp"
#include "precond/general/orders/levels.hpp"
#include "precond/general/orders/row_counts.hpp"
#include "precond/general/pattern/fill.hpp"

namespace hyperplane {

struct SlicedSizes {
    Index slices = 0;
    Index places = 0;           ///< for blocks, those that stay empty included
    LevelCounts by_level = {};  ///< where solves go by levels

    /// Bounds for a triangle of so many rows and blocks, whatever its pattern.
    static SlicedSizes least(Index rows, Index blocks, int dof);
    static SlicedSizes most(Index rows, Index blocks);
};

/// In the memory of the host or of a GPU.
struct SlicedOrder {
    Buffer<int> row;  ///< [position]
    Buffer<SolveSlice> slices;
    Index places = 0;
    Index levels = 0;
    /// The first slice of each level, and the number of slices, on the host; empty unless solves go by levels.
    std::vector<int> level_begin = {};

    SlicedSizes sizes() const {
        return {slices.size(), places, level_begin.empty() ? LevelCounts{} : counts_of_levels(level_begin)};
    }
};

/// In the host's memory, as `filled` is, with the beginnings of levels; `levels` are those of the triangle. A GPU finds
/// the same order (orders_cuda.hpp).
SlicedOrder sliced_order(const Context& host, const FilledPattern& filled, const RowLevels& levels, Side side, int dof,
                         const std::string& label);
/// Forgets where levels begin, unless solves go this way by levels.
void keep_levels_if_used(SlicedOrder& lower, SlicedOrder& upper, SolveWay way, int dof);

}  // namespace hyperplane
