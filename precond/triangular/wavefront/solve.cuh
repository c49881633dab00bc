// SPDX-License-Identifier: BSD-3-Clause
// Triangular solves of StructILU on a GPU (Luo et al., StructILU, ICS 2025, sections 4.1, 4.2.1, 4.4).
//
//     M = (I + W) D (I + G)       W = E D^-1,  G = D^-1 F
//     lower   v(p) = r(p) - sum_l W_l(p) v(p+l)
//     upper   z(p) = D^-1(p) v(p) - sum_u G_u(p) z(p+u)
//
// Both solves are unit triangular, so D^-1 is never on the path from level to level. For D-ILU, whose E and F are
// the matrix's own (DILU):
//
//     lower   y(p) = D^-1(p) (r(p) - sum_l E_l(p) y(p+l))
//     upper   z(p) = y(p) - D^-1(p) sum_u F_u(p) z(p+u)
//
// The upper solve is the lower one on the grid seen from its far corner (precond/walks/tile_lines.cuh), where u is a
// lower offset. All coordinates below are of that view.
//
// Task mapping (4.1). A thread block owns a tile and walks its levels. On the skewed coordinate J every dependency
// goes to smaller or equal J and k: tiles depend on each other acyclically, and are taken by a ticket in the order of
// their lowest level, so a thread block waits only for thread blocks that have started already.
//
// Within a tile values pass from level to level through a ring of the last RING levels in shared memory. Between tiles
// they pass as edges: one 16-byte {value, epoch} record each, written and read in one piece. A record belongs to this
// solve if it has this solve's epoch, so there is no flag, no fence and nothing to reset. LOOKAHEAD sets of
// HALO_THREADS poll the records of other tiles and copy them to the ring, each set those of every LOOKAHEAD-th level. A
// set joins the barrier of its own level, then writes, and arrives at the barrier of the next level; while other sets
// write, it polls the records of its next level.
//
// Latency-aware pipelined dot product (4.2.1). The terms of a row are distributed over GROUPS consumer threads. Group 0
// has those of level l - 1, the only ones on the path from level to level; the other groups sum the older terms of
// level l + 1 while group 0 finishes level l, so one barrier a level is enough. Coefficients arrive through STAGES
// levels of asynchronous copies. Single values are copied by PRODUCER_GROUPS groups of producer warps, PRODUCER_LINES
// lines a thread, of RUN lines 16 bytes at once, or each consumer thread copies its own; blocks are copied in bulk by
// one producer warp. STAGES = 0: coefficients are loaded when they are needed.
//
// Definitions, besides those of precond/walks/tile_lines.cuh: LOWER (number of offsets, all of which are lower),
// OFFSET_LEVEL {their levels, which are negative}, HALO_J, HALO_K, RING (a power of two), MAX_LEVEL (-min
// OFFSET_LEVEL), STAGES, DILU, MIRRORED (the upper triangle is read from the lower one), SKIP_OUTSIDE (entries that
// leave the grid are not zero but wrapped), DOT (also r^T M^-1 r of a symmetric M), EISENSTAT (the solve is a step of
// Eisenstat's form, precond/triangular/wavefront/eisenstat.cuh), HALO_THREADS, LOOKAHEAD (a power of
// two), EDGES_WAIT, PRODUCER_GROUPS, PRODUCER_LINES, RUN, BLOCKS (resident on a multiprocessor), GROUPS, TERMS {numbers
// of offsets, sorted by group}, GROUP_BEGIN {where each group begins in TERMS, and the end}, REAL (double or, with one
// unknown, float: the type of r and z, which are widened when they are read), STORAGE
// (precond/factors/reduced_values.cuh), ROWS (0, or warps do not synchronise at every level but go row by row,
// precond/triangular/wavefront/rows.cuh, and a lane loads so many edges at a time), SUMS and SUM_BEGIN (the groups in
// which terms are added; GROUPS and GROUP_BEGIN unless one thread has all).

#include "precond/triangular/wavefront/level_barriers.cuh"
#if EISENSTAT
#include "precond/triangular/wavefront/eisenstat.cuh"
#endif
#if ROWS > 0
#include "precond/triangular/wavefront/rows.cuh"
#endif

namespace hyperplane {

/// Sums the older terms of each level, while group 0 finishes the level before it.
template <int group>
__device__ double sum_ahead(const Arguments& a, const Tile& tile, int thread) {
    const int begin = tile.first - MAX_LEVEL;
    Consumer<group> w(a, tile, thread, begin + 1);
    double* const exchange = shared + ring_size + (group - 1) * consumer_threads + thread;
    double dot = 0.0;
    for (int level = begin; level <= tile.last; ++level) {
        const int next = level + 1;
        const bool active = w.begin_level(next);
        double sum = 0.0;
        if (rhs_early && active && group == rhs_group) sum = w.right_hand_side(dot);
        __syncwarp();
        sync_level(level);  // all values of level - 1 are in the ring
        w.wait_for_copies();
        if (!rhs_early && active && group == rhs_group) sum = w.right_hand_side(dot);
        if (active) exchange[(next & 1) * (GROUPS - 1) * consumer_threads] = sum + w.terms(next);
        w.end_level(active);
    }
    return dot;
}

/// Adds the newest terms and finishes each level.
__device__ double finish_levels(const Arguments& a, const Tile& tile, int index, u64 epoch, int thread) {
    const int begin = tile.first - MAX_LEVEL;
    Consumer<0> w(a, tile, thread, begin);
    EpochRecord* const edges = a.edges + (long long)index * a.nx * plane_records + w.row;
    EpochRecord* const below = w.exists && w.tk >= TK - edge_k ? edges + edge_cell_below(w.tj, w.tk) * DOF : nullptr;
    EpochRecord* const right = w.exists && w.tj >= TJ - edge_j ? edges + edge_cell_right(w.tj, w.tk) * DOF : nullptr;
    const int first_after = a.nz - 2 * HALO_PLANES;     // the first plane of which the next rank needs values,
    const int level_of_after = C * first_after % a.nx;  // which is its plane 0
    EpochRecord* after = nullptr;
    if (HALO_PLANES > 0 && a.after && w.exists && w.line.k >= first_after)
        after = edge_between_ranks(a, a.after, w.line.k - first_after, w.line.j) + w.row;
    double* const exchange = shared + ring_size + thread;
    double dot = 0.0;
    int plane = (begin % a.nx + a.nx) % a.nx;
    for (int level = begin; level <= tile.last; ++level) {
        const bool active = w.begin_level(level);
        double rhs = 0.0, sum = 0.0;
        if (rhs_early && active && rhs_group == 0) rhs = w.right_hand_side(dot);
        __syncwarp();
        sync_level(level);  // values of level - 1 are in the ring, older terms of this level in the exchange
        w.wait_for_copies();
        if (!rhs_early && active && rhs_group == 0) rhs = w.right_hand_side(dot);
        if (active) {
            if (!DILU || !UPPER) sum = rhs;
#pragma unroll
            for (int g = 1; g < GROUPS; ++g) sum += exchange[((level & 1) * (GROUPS - 1) + g - 1) * consumer_threads];
#if GROUPS < SUMS
            sum = w.less_groups(level, sum);
#else
            sum += w.terms(level);
#endif
        }
        const double y = w.completed(active, sum, rhs, dot);
        if (scales && DOF > 1 && STAGES == 0) __syncwarp();  // the point's other rows have read what is overwritten
        if (active) {
            const double passed = w.passed(y);
            ring_at(level, w.row, w.tk + HALO_K, w.tj + HALO_J) = passed;
            if (below) store_record(below + (long long)plane * plane_records, passed, epoch);
            if (right) store_record(right + (long long)plane * plane_records, passed, epoch);
#if HALO_PLANES > 0
            if (after) {
                const int there = plane - level_of_after + (plane < level_of_after ? a.nx : 0);
                store_record<Reach::all_gpus>(after + (long long)there * records_between_ranks(a), passed, epoch);
            }
#endif
            a.out[(long long)w.row * a.distance + w.slot] = Real(y);
        }
        w.end_level(active);
        if (++plane == a.nx) plane = 0;
    }
    return dot;
}

template <int group>
__device__ double sum_ahead_of(const Arguments& a, const Tile& tile, int of, int thread) {
    if (of == group) return sum_ahead<group>(a, tile, thread);
    if constexpr (group + 1 < GROUPS) return sum_ahead_of<group + 1>(a, tile, of, thread);
    return 0.0;
}

/// Writes the sums of `values` over all threads of the thread block to to[m * distance], in an order that does not
/// depend on which thread block ends last. `sums` is shared memory.
__device__ __forceinline__ void sum_over_threads(const double* values, double (*sums)[threads / 32], double* to,
                                                 int distance) {
    const int thread = threadIdx.x;
#pragma unroll
    for (int m = 0; m < sum_count; ++m) {
        double value = values[m];
        for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
        if (thread % 32 == 0) sums[m][thread / 32] = value;
    }
    __syncthreads();
    if (thread >= sum_count) return;
    double sum = 0.0;
    for (int w = 0; w < threads / 32; ++w) sum += sums[thread][w];
    to[(long long)thread * distance] = sum;
}

extern "C" __global__ void __launch_bounds__(threads, BLOCKS) struct_ilu_solve(const __grid_constant__ Arguments a) {
    __shared__ int ticket;
    __shared__ double sums[sum_count > 0 ? sum_count : 1][threads / 32];
    const int thread = threadIdx.x;
    if (thread == 0) ticket = atomicAdd(&a.state->ticket, 1u);
    for (int at = thread; at < (ROWS > 0 ? ring_size : shared_size); at += threads) shared[at] = 0.0;
    __syncthreads();
    init_barriers(thread);
    const u64 epoch = a.state->epoch;
    __syncthreads();
    const int index = ticket;
    const Tile tile = a.tiles[index];
    double dots[sum_count > 0 ? sum_count : 1] = {};
    if (thread < consumer_threads) {
#if EISENSTAT
        eisenstat_levels(a, tile, index, epoch, thread, dots);
#elif ROWS > 0
        dots[0] = finish_rows(a, tile, index, epoch, thread);
#else
        dots[0] = finish_levels(a, tile, index, epoch, thread);
    } else if (thread < GROUPS * consumer_threads) {
        if constexpr (GROUPS > 1)
            dots[0] = sum_ahead_of<1>(a, tile, thread / consumer_threads, thread % consumer_threads);
#endif
    } else if (thread < GROUPS * consumer_threads + producer_threads) {
        if constexpr (producer_threads > 0) produce(a, tile, thread - GROUPS * consumer_threads);
    } else if constexpr (HALO_THREADS > 0) {
        const int at = thread - GROUPS * consumer_threads - producer_threads;
#if ROWS > 0
        receive_rows(a, tile, epoch, at);
#else
        receive_edges(a, tile, epoch, at / HALO_THREADS, at % HALO_THREADS);
#endif
    }
    if (sum_count > 0) {
        sum_over_threads(dots, sums, a.partial + index, a.tile_count);
        __threadfence();
        __syncthreads();
    }
    // The last thread block to arrive here finishes the sums and resets the state.
    if (!__syncthreads_or(thread == 0 && atomicAdd(&a.state->done, 1u) == unsigned(a.tile_count) - 1)) return;
    if (sum_count > 0) {
        __threadfence();
#pragma unroll
        for (int m = 0; m < sum_count; ++m) {
            dots[m] = 0.0;
            for (int at = thread; at < a.tile_count; at += threads)
                dots[m] += __ldcg(a.partial + (long long)m * a.tile_count + at);
        }
        sum_over_threads(dots, sums, a.dot, 1);
    }
    if (thread == 0) {  // ready for the next solve
        a.state->ticket = 0;
        a.state->done = 0;
        a.state->epoch = epoch + 1;
    }
}

}  // namespace hyperplane
