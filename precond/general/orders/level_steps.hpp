// SPDX-License-Identifier: BSD-3-Clause
// The levels of a triangle as a GPU's solve by levels works on them (precond/general/solves/level_solve.cuh), and when
// it does; also for nvcc.
#pragma once

#include <vector>

#include "core/types.hpp"

namespace hyperplane {

/// How the triangular solves with a general matrix's factors work.
enum class SolveWay {
    automatic,
    sync_free,  ///< rows wait for single rows; on a GPU
    levels,     ///< all wait for each other after each level
};

struct LevelCounts {
    Index levels = 0;
    Index steps = 0;   ///< between which all thread blocks wait for each other
    Index widest = 0;  ///< slices of the widest level
};

/// A level with more slices is one that all thread blocks work on.
inline constexpr Index most_narrow_slices = 32;

/// The first level of each step, and the number of levels. `level_begin`: the first slice of each level, and the number
/// of slices.
std::vector<int> steps_of_levels(const std::vector<int>& level_begin);
LevelCounts counts_of_levels(const std::vector<int>& level_begin);

/// Whether solves of two triangles with so many levels and coefficients go level by level on a GPU, if `way` is asked
/// for.
bool solves_by_levels(SolveWay way, Index levels, Index coefficients);

}  // namespace hyperplane
