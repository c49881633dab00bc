// SPDX-License-Identifier: BSD-3-Clause
// The levels of both triangles of a pattern, without synchronisation between levels (Dufrechou and Ezzatti's analysis
// for synchronisation-free solves, which Freire, Dufrechou and Ezzatti use for their factorisation): a row waits until
// the depths of all rows that it depends on are known, and its own is one more than the largest.
//
// A thread has a row; a row of more than `short_row` blocks is gone through by the whole warp. Thread blocks take rows
// by tickets in the order in which dependencies come first, and lanes have rows in that order, too. So whoever waits,
// waits for a row of a resident thread block. Tickets alternate between the triangles, whose levels are found at the
// same time. Within a warp no lane waits in a loop of its own: each round, every lane looks once and goes on as far as
// depths are known.
//
// A row's dependencies are gone through from the farthest to the nearest, because the farthest are known first, so that
// a row often waits for the last one alone. Looking at several rows a round is slower: those that wait load the memory.
// Grids in natural order, of which only few rows of those that are resident could go on, are recognised before.

#include "precond/general/orders/grid_levels.cuh"
#include "precond/general/orders/known_depth.cuh"
#include "precond/general/orders/levels_arguments.hpp"

namespace hyperplane {

constexpr int threads = 128, short_row = 64, looks = 4;  // of a lane at a long row

/// The first place in [begin, end) whose column is larger than `column`, or not smaller than it if `or_equal`.
__device__ __forceinline__ long long place_after(const int* columns, long long begin, long long end, int column,
                                                 bool or_equal) {
    while (begin < end) {
        const long long middle = begin + (end - begin) / 2;
        const int there = __ldg(columns + middle);
        if (there > column || (or_equal && there == column))
            end = middle;
        else
            begin = middle + 1;
    }
    return begin;
}

/// The part of a row that it depends on, as far as it has not been looked at.
struct Waiting {
    long long row, at;
    int left, depth;  // one more than the largest known one
    bool done;

    /// Looks at one row; the next one is `step` places away in the pattern.
    __device__ __forceinline__ void look(const LevelArguments& a, const int* depths, int step) {
        const int other = left > 0 ? known_depth(depths + __ldg(a.column + at)) : 0;
        if (other == 0) return;
        depth = max(depth, other + 1);
        at += step;
        --left;
    }
    __device__ __forceinline__ void finish(int* depths) {
        if (done || left > 0) return;
        publish_depth(depths + row, depth);
        done = true;
    }
};

/// One round on the first long row that is not done.
__device__ __forceinline__ void look_together(const LevelArguments& a, const int* depths, int step, Waiting& mine,
                                              unsigned long_rows) {
    const int owner = __ffs(long_rows) - 1, lane = threadIdx.x % 32;
    const long long at = __shfl_sync(~0u, mine.at, owner);
    const int left = __shfl_sync(~0u, mine.left, owner);
    int other[looks], largest = 0, known = 0;
#pragma unroll
    for (int look = 0; look < looks; ++look) {
        const int which = look * 32 + lane;
        other[look] = which < left ? known_depth(depths + __ldg(a.column + at + (long long)which * step)) : -1;
    }
#pragma unroll
    for (int look = 0; look < looks; ++look) {
        const bool all = __all_sync(~0u, other[look] != 0);
        if (!all || known < look * 32) continue;
        largest = max(largest, other[look]);
        known += 32;
    }
    for (int distance = 16; distance > 0; distance /= 2)
        largest = max(largest, __shfl_xor_sync(~0u, largest, distance));
    if (lane != owner) return;
    known = min(known, left);
    if (known > 0) mine.depth = max(mine.depth, largest + 1);
    mine.at += (long long)known * step;
    mine.left -= known;
}

extern "C" __global__ void __launch_bounds__(threads) find_levels(const __grid_constant__ LevelArguments a) {
    __shared__ unsigned ticket;
    if (threadIdx.x == 0) ticket = atomicAdd(&a.state->ticket, 1u);
    __syncthreads();
    const bool upper = ticket % 2 == 1;
    const int step = upper ? -1 : 1;
    int* const depths = upper ? a.upper : a.lower;
    const long long index = (long long)(ticket / 2) * threads + threadIdx.x;
    if (const GridLevels& grid = a.state->grid; grid.points[0] > 0 && !grid.wrong) {
        if (index < a.rows) depths[index] = level_in_grid(grid, int(index), upper);
        if (index == 0)
            *(upper ? &a.state->upper_levels : &a.state->lower_levels) =
                level_in_grid(grid, upper ? 0 : int(a.rows) - 1, upper);
        return;
    }
    Waiting mine = {0, 0, 0, 1, index >= a.rows};
    if (!mine.done) {
        mine.row = upper ? a.rows - 1 - index : index;
        const long long begin = __ldg(a.row_begin + mine.row), end = __ldg(a.row_begin + mine.row + 1);
        const long long own = a.diagonal ? __ldg(a.diagonal + mine.row) + (upper ? 1 : 0)
                                         : place_after(a.column, begin, end, int(mine.row), !upper);
        mine.at = upper ? end - 1 : begin;
        mine.left = int(upper ? end - own : own - begin);
    }
    const bool is_long = mine.left > short_row;
    while (!__all_sync(~0u, mine.done)) {
        if (!is_long) mine.look(a, depths, step);
        if (const unsigned long_rows = __ballot_sync(~0u, is_long && !mine.done))
            look_together(a, depths, step, mine, long_rows);
        mine.finish(depths);
        __syncwarp();
    }
    int deepest = index < a.rows ? mine.depth : 0;
    for (int distance = 16; distance > 0; distance /= 2)
        deepest = max(deepest, __shfl_xor_sync(~0u, deepest, distance));
    if (threadIdx.x % 32 == 0) atomicMax(upper ? &a.state->upper_levels : &a.state->lower_levels, deepest);
}

}  // namespace hyperplane
