// SPDX-License-Identifier: BSD-3-Clause
// The levels of a grid's points in natural order, without waiting. There chains are long, and the rows that could go on
// at a time lie far apart; but levels are linear in the coordinates, 1 + a x + b y + c z. So
//
//     1. guess_grid takes the longest of a few rows for an inner point: its distances to the columns before it begin
//        with 1, the next ones lie around the points of a line, and the middle of what follows is that of a plane. The
//        weights a, b and c are the least with which each dependency of that row has a lower level.
//     2. check_grid computes each row's level, and one more than the largest level of those that it depends on. If they
//        are equal in all rows, these are the levels, by induction over the rows.
//
// If not, find_levels (levels.cuh) finds them.

#include "precond/general/orders/levels_arguments.hpp"

namespace hyperplane {

/// The level of a row of a grid in one triangle, counted from 1.
__device__ __forceinline__ int level_in_grid(const GridLevels& grid, int row, int upper) {
    const int line = row / grid.points[0], x = row - line * grid.points[0];
    const int z = line / grid.points[1], y = line - z * grid.points[1];
    const int* const weight = grid.weight[upper];
    if (upper)
        return 1 + weight[0] * (grid.points[0] - 1 - x) + weight[1] * (grid.points[1] - 1 - y) +
               weight[2] * (grid.points[2] - 1 - z);
    return 1 + weight[0] * x + weight[1] * y + weight[2] * z;
}

/// The largest value of a warp's lanes.
__device__ __forceinline__ int largest_of_warp(int own) {
    for (int distance = 16; distance > 0; distance /= 2) own = max(own, __shfl_xor_sync(~0u, own, distance));
    return own;
}

/// Sets points[] from the distances of a row to the columns before it, the nearest first; false if they do not look
/// like those of a grid.
__device__ __forceinline__ bool guess_points(const int* column, long long begin, long long own, int row, int rows,
                                             int (&points)[3]) {
    constexpr int gap = 2, most_runs = 16;  // distances that are no farther apart belong together
    int middle[most_runs], runs = 0, first = 0, last = 0;
    for (long long at = own - 1; at >= begin; --at) {
        const int distance = row - __ldg(column + at);
        if (runs > 0 && distance - last <= gap) {
            last = distance;
            middle[runs - 1] = (first + last) / 2;
            continue;
        }
        if (runs == most_runs) return false;
        first = last = middle[runs++] = distance;
    }
    if (runs == 0 || middle[0] > gap) return false;
    const int line = runs > 1 ? middle[1] : rows;
    const int plane = runs > 2 ? middle[2 + (runs - 3) / 2] : rows;
    if (plane % line != 0 || rows % plane != 0) return false;
    points[0] = line, points[1] = plane / line, points[2] = rows / plane;
    return true;
}

/// The least weight with which `rest` + weight * distance is at least 1.
__device__ __forceinline__ int least_weight(int rest, int distance) {
    return rest >= 1 ? 0 : (1 - rest + distance - 1) / distance;
}

extern "C" __global__ void __launch_bounds__(32) guess_grid(const __grid_constant__ LevelArguments a) {
    constexpr int most_entries = 125;
    const int lane = int(threadIdx.x), rows = int(a.rows);
    const unsigned spread = 2654435769u * unsigned(lane + 1);  // multiples of the golden ratio
    const int sample = int((unsigned long long)spread * (unsigned long long)rows >> 32);
    const int length = int(__ldg(a.row_begin + sample + 1) - __ldg(a.row_begin + sample));
    const int longest = largest_of_warp(length), row = largest_of_warp(length == longest ? sample : -1);
    if (longest > most_entries) return;
    const long long begin = __ldg(a.row_begin + row), end = __ldg(a.row_begin + row + 1);
    long long own = begin;
    while (own < end && __ldg(a.column + own) < row) ++own;
    GridLevels grid = {};
    if (!guess_points(a.column, begin, own, row, rows, grid.points)) return;
    const int line = grid.points[0], plane = line * grid.points[1];
    for (int axis = 0; axis < 3; ++axis) {
        int weight[2] = {0, 0};
        for (long long at = begin + lane; at < end; at += 32) {
            const int column = __ldg(a.column + at), upper = column > row;
            if (column == row) continue;
            const int distance = upper ? column - row : row - column;
            int by[3];  // the distance along each axis
            by[2] = grid.points[2] > 1 ? (distance + plane / 2) / plane : 0;
            const int in_plane = distance - by[2] * plane;
            by[1] = grid.points[1] > 1 ? (in_plane + plane + line / 2) / line - grid.points[1] : 0;
            by[0] = in_plane - by[1] * line;
            if (by[axis] <= 0 || (axis < 2 && by[2] != 0) || (axis < 1 && by[1] != 0)) continue;
            int rest = 0;
            for (int before = 0; before < axis; ++before) rest += grid.weight[upper][before] * by[before];
            weight[upper] = max(weight[upper], least_weight(rest, by[axis]));
        }
        for (int upper = 0; upper < 2; ++upper) grid.weight[upper][axis] = largest_of_warp(weight[upper]);
    }
    if (lane == 0) a.state->grid = grid;
}

extern "C" __global__ void __launch_bounds__(256) check_grid(const __grid_constant__ LevelArguments a) {
    const GridLevels grid = a.state->grid;
    if (grid.points[0] == 0) return;
    const long long stride = (long long)gridDim.x * 256;
    for (long long at = (long long)blockIdx.x * 256 + threadIdx.x; at < a.rows; at += stride) {
        if (*(volatile int*)&a.state->grid.wrong) return;
        const int row = int(at);
        int depth[2] = {1, 1};
        const long long end = __ldg(a.row_begin + row + 1);
        for (long long entry = __ldg(a.row_begin + row); entry < end; ++entry) {
            const int column = __ldg(a.column + entry);
            if (column < row) depth[0] = max(depth[0], level_in_grid(grid, column, 0) + 1);
            if (column > row) depth[1] = max(depth[1], level_in_grid(grid, column, 1) + 1);
        }
        if (depth[0] != level_in_grid(grid, row, 0) || depth[1] != level_in_grid(grid, row, 1))
            *(volatile int*)&a.state->grid.wrong = 1;
    }
}

}  // namespace hyperplane
