// SPDX-License-Identifier: BSD-3-Clause
// The arguments of the kernels that find the levels of both triangles (precond/general/orders/levels.cuh and
// grid_levels.cuh).
#pragma once

namespace hyperplane {

/// The levels of the points of a grid in natural order, where they are linear in the coordinates.
struct GridLevels {
    int points[3];     ///< along x, y, z; points[0] is 0 if the rows are not taken for such a grid
    int weight[2][3];  ///< of the coordinates, which are counted from the last point in the upper triangle
    int wrong;         ///< whether a row has been found that has another level
};

/// What the thread blocks of a launch share; it is zero before.
struct LevelState {
    unsigned ticket;                 ///< the next part of the rows
    int lower_levels, upper_levels;  ///< the largest depths so far
    GridLevels grid;
};

struct LevelArguments {
    const long long* row_begin;
    const int* column;
    const long long* diagonal;  // [row]: the place of the diagonal block; null: it is searched for
    int *lower, *upper;         // [row]: the level in each triangle, counted from 1; zeros before a launch
    LevelState* state;
    long long rows;
};
static_assert(sizeof(GridLevels) == 40 && sizeof(LevelState) == 52 && sizeof(LevelArguments) == 56);

}  // namespace hyperplane
