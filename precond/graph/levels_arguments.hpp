// SPDX-License-Identifier: BSD-3-Clause
// The arguments of the kernel that finds the levels of both triangles (precond/graph/levels.cuh).
#pragma once

namespace hyperplane {

/// Counters that the thread blocks of one launch share; they are zero before it.
struct LevelState {
    unsigned ticket;                 ///< the next part of the rows
    int lower_levels, upper_levels;  ///< the largest depths so far
};

struct LevelArguments {
    const long long* row_begin;
    const int* column;
    int *lower, *upper;  // [row]: the level in each triangle, counted from 1; zeros before a launch
    LevelState* state;
    long long rows;
};

}  // namespace hyperplane
