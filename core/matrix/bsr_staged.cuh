// SPDX-License-Identifier: BSD-3-Clause
// y = A x of a general matrix whose blocks are copied to shared memory in bulk, on a GPU (sm_90 and later;
// core/matrix/bsr_product.cuh, which has the definitions).
#pragma once

#include "core/device/async_copies.cuh"
#include "core/matrix/bsr_pieces.cuh"

namespace hyperplane {

constexpr int team = staged_team(LANES, DOF), own = LANES / team;  // threads of a row, lanes of a thread

/// sum[0] + ... + sum[lanes - 1] of each row, in the order of pairs of lanes.
template <int lanes>
__device__ __forceinline__ void add_pairs(const double (&sum)[lanes][DOF], double (&total)[DOF]) {
    if constexpr (lanes > 1) {
        double half[lanes / 2][DOF];
#pragma unroll
        for (int l = 0; l < lanes / 2; ++l)
#pragma unroll
            for (int r = 0; r < DOF; ++r) half[l][r] = sum[l][r] + sum[l + lanes / 2][r];
        add_pairs(half, total);
    } else {
#pragma unroll
        for (int r = 0; r < DOF; ++r) total[r] = sum[0][r];
    }
}

/// The rows of the staged blocks [begin, end) of a block row, whose team's thread `member` has the lanes member,
/// member + team, ...; the whole team receives them.
__device__ __forceinline__ void sum_staged(const BsrProductArguments& a, const double* values, const int* column,
                                           int begin, int end, int member, double (&total)[DOF]) {
    constexpr int group = LANES / DOF, rounds = own < 8 ? 8 / own : DOF == 3 && LANES == 16 ? 2 : 1;
    double sum[own][DOF] = {};
    for (int base = begin; base < end; base += group * rounds) {
        double x[rounds][own];
#pragma unroll
        for (int round = 0; round < rounds; ++round)
#pragma unroll
            for (int l = 0; l < own; ++l) {
                const int lane = l * team + member, b = lane / DOF, at = base + round * group + b;
                if (b < group && at < end) x[round][l] = __ldg(a.x + (long long)column[at] * DOF + lane % DOF);
            }
#pragma unroll
        for (int round = 0; round < rounds; ++round)
#pragma unroll
            for (int l = 0; l < own; ++l) {
                const int lane = l * team + member, b = lane / DOF, at = base + round * group + b;
                if (b < group && at < end)
#pragma unroll
                    for (int r = 0; r < DOF; ++r)
                        sum[l][r] = __fma_rn(values[(at * DOF + r) * DOF + lane % DOF], x[round][l], sum[l][r]);
            }
    }
    add_pairs(sum, total);
#pragma unroll
    for (int distance = team / 2; distance > 0; distance /= 2)
#pragma unroll
        for (int r = 0; r < DOF; ++r) total[r] += __shfl_xor_sync(0xffffffffu, total[r], distance, team);
}

/// The rows of the staged blocks [begin, end) of one block row, by a warp, as sum_of_piece adds them; lane r receives
/// row r.
__device__ __forceinline__ Sum sum_of_staged_row(const BsrProductArguments& a, const double* values, const int* column,
                                                 int begin, int end, int lane) {
    constexpr int group = 32 / DOF;
    const int c = lane % DOF, first = lane / DOF;
    Sum sum[DOF];
    if (first < group)
        for (int at = begin + first; at < end; at += group) {
            const double factor = __ldg(a.x + (long long)column[at] * DOF + c);
#pragma unroll
            for (int r = 0; r < DOF; ++r) add_fused(sum[r], values[(at * DOF + r) * DOF + c], factor);
        }
    return added_by_lanes<32>(sum, lane);
}

/// The number of the last of the ascending `begins` [first, count) that is at most `most`; the first one always is.
__device__ __forceinline__ int last_within(const long long* begins, int first, int count, long long most) {
    while (count - first > 1) {
        const int middle = (first + count) / 2;
        if (__ldg(begins + middle) <= most)
            first = middle;
        else
            count = middle;
    }
    return first;
}

/// All threads ask for the blocks [start, from + count); block `from`, a multiple of staged_line(LANES, DOF), has the
/// first place in shared memory. What is copied begins with a multiple of 4, so that addresses are multiples of 16.
__device__ __forceinline__ void request(const BsrProductArguments& a, long long start, long long from, int count,
                                        double* values, int* column, unsigned barrier) {
    constexpr int size = DOF * DOF;
    const int skipped = staged_line(LANES, DOF) > 4 ? int(start - from) & ~3 : 0;
    from += skipped, count -= skipped, values += skipped * size, column += skipped;
    // Bulk copies take multiples of 4 blocks, so the last blocks of the matrix, if fewer are left, are copied singly.
    const int whole = int(min((long long)(count + 3) / 4 * 4, (a.blocks - from) / 4 * 4));
    if (threadIdx.x == 0) {
        fence_barriers();
        arrive_expecting(barrier, whole * (8 * size + 4));
        if (whole > 0) {
            copy_bulk_once_async(shared_address(column), a.column + from, whole * 4, barrier);
            copy_bulk_once_async(shared_address(values), a.values + from * size, whole * 8 * size, barrier);
        }
    }
    for (int at = whole + threadIdx.x; at < count; at += staged_threads(DOF)) column[at] = a.column[from + at];
    for (int at = whole * size + threadIdx.x; at < count * size; at += staged_threads(DOF))
        values[at] = a.values[from * size + at];
}

__device__ __forceinline__ void add_staged_rows(const BsrProductArguments& a, long long thread_block) {
    extern __shared__ __align__(128) double staged_values[];
    __shared__ u64 arrived;
    int* const column = reinterpret_cast<int*>(staged_values + a.capacity * DOF * DOF);
    constexpr int most_rows = staged_rows(LANES, DOF);
    const long long first_row = thread_block * most_rows;
    const int rows = int(min((long long)most_rows, a.rows - first_row)), member = threadIdx.x % team;
    const long long* const begins = a.row_begin + first_row;
    const unsigned barrier = shared_address(&arrived);
    if (threadIdx.x == 0) init_barrier(barrier, 1);
    const long long stop = __ldg(begins + rows);
    int parity = 0;
    for (int first = 0; first < rows;) {  // more than once where shared memory does not hold all rows
        const long long start = __ldg(begins + first), from = start & ~(staged_line(LANES, DOF) - 1LL);
        int past = rows;
        long long all = stop;
        if (stop > from + a.capacity) {
            past = last_within(begins, first, rows, from + a.capacity);
            all = __ldg(begins + past);
        }
        if (past == first) {  // nor this row
            const long long end = __ldg(begins + first + 1);
            if (threadIdx.x < 32) {
                const bool by_warp = is_added_by_warp(a, end - start);
                const bool mine = (threadIdx.x < LANES || by_warp) && end - start <= a.longest;
                const Sum sum = by_warp ? sum_of_piece(a, start, end, threadIdx.x)
                                        : sum_of<LANES>(a, start, mine ? end : start, threadIdx.x % LANES);
                if (mine && threadIdx.x < DOF) store(a, first_row + first, threadIdx.x, sum);
            }
            ++first;
            continue;
        }
        request(a, start, from, int(all - from), staged_values, column, barrier);
        const int row = first + threadIdx.x / team;
        const bool there = row < past;
        const long long begin = there ? __ldg(begins + row) : from, end = there ? __ldg(begins + row + 1) : from;
        const bool by_warp = there && is_added_by_warp(a, end - begin);
        const bool mine = there && end - begin <= a.longest && !by_warp;
        __syncthreads();
        while (!phase_is_complete(barrier, parity)) {
        }
        parity ^= 1;
        double total[DOF];
        sum_staged(a, staged_values, column, int(begin - from), mine ? int(end - from) : 0, member, total);
        if (mine)
#pragma unroll
            for (int r = 0; r < DOF; ++r)
                if (r % team == member) a.y[(first_row + row) * DOF + r] = total[r];
        add_rows_by_warp(a, by_warp && member == 0, first_row + row, begin - from, end - from,
                         [&](long long first_block, long long last, int lane) {
                             return sum_of_staged_row(a, staged_values, column, int(first_block), int(last), lane);
                         });
        first = past;
        if (first < rows) __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(staged_threads(DOF))
    bsr_staged(const __grid_constant__ BsrProductArguments a) {
    add_staged_rows(a, blockIdx.x);
}

extern "C" __global__ void __launch_bounds__(staged_threads(DOF))
    bsr_staged_long(const __grid_constant__ BsrProductArguments a) {
    if (blockIdx.x < a.piece_groups)
        add_piece(a, (long long)blockIdx.x * (staged_threads(DOF) / 32) + threadIdx.x / 32);
    else
        add_staged_rows(a, blockIdx.x - a.piece_groups);
}

}  // namespace hyperplane
