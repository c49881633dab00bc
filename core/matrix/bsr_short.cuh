// SPDX-License-Identifier: BSD-3-Clause
// y = A x of a general matrix with one unknown and a few entries a row, on a GPU (sm_90): a part of bsr_product.cuh.
//
// A thread has a row, and forms the sums of all LANES lanes of it. A warp has 32 rows at a time, and after these those
// that are as far on as there are warps in the grid, all of which are resident. While it works on the entries of some
// rows, those of its next ones are copied to the other half of its shared memory, and the pointers of the ones after
// these are read; so it waits for nothing but x. No warp waits for another one.
#pragma once

#include "core/matrix/bsr_staged.cuh"

namespace hyperplane {

/// Where a thread's row begins and ends.
struct RowRange {
    long long begin, end;
};

/// A warp's shared memory, and the barriers at which it waits for copies to its two halves.
struct ShortRows {
    double* values;  // [half][capacity]
    int* columns;
    unsigned barriers;
    int capacity, lane;

    __device__ __forceinline__ double* values_of(int half) const { return values + half * capacity; }
    __device__ __forceinline__ int* columns_of(int half) const { return columns + half * capacity; }
    __device__ __forceinline__ unsigned barrier_of(int half) const { return barriers + 8 * half; }
};

__device__ __forceinline__ RowRange row_range(const BsrProductArguments& a, long long first_row, int lane) {
    const long long row = min(first_row + lane, a.rows), begin = __ldg(a.row_begin + row);
    return {begin, row < a.rows ? __ldg(a.row_begin + row + 1) : begin};
}

/// The entry that has the first place in shared memory, of a warp's rows, and how many there are from it on, or more
/// than `most` if there are.
__device__ __forceinline__ long long first_entry(const RowRange& rows) {
    return __shfl_sync(0xffffffffu, rows.begin, 0) & ~(line_blocks - 1LL);
}
__device__ __forceinline__ int entries_of(const RowRange& rows, long long from, int most) {
    return int(min(__shfl_sync(0xffffffffu, rows.end, 31) - from, most + 1LL));
}

/// Asks for the entries of a warp's rows, if there is room for them.
__device__ __forceinline__ void request_rows(const BsrProductArguments& a, const ShortRows& shared, int half,
                                             const RowRange& rows) {
    const long long from = first_entry(rows);
    const int count = entries_of(rows, from, shared.capacity);
    if (count > shared.capacity) return;
    // Copies begin with a multiple of 4; the last entries of the matrix, beyond one, are copied one by one.
    const int skipped = int(__shfl_sync(0xffffffffu, rows.begin, 0) - from) & ~3;
    const int whole = int(min((long long)(count + 3) / 4 * 4, (a.blocks - from) / 4 * 4));
    if (shared.lane == 0) {
        fence_barriers();
        arrive_expecting(shared.barrier_of(half), (whole - skipped) * 12);
        if (whole > skipped) {
            copy_bulk_once_async(shared_address(shared.columns_of(half) + skipped), a.column + from + skipped,
                                 (whole - skipped) * 4, shared.barrier_of(half));
            copy_bulk_once_async(shared_address(shared.values_of(half) + skipped), a.values + from + skipped,
                                 (whole - skipped) * 8, shared.barrier_of(half));
        }
    }
    for (int at = whole + shared.lane; at < count; at += 32) {
        shared.columns_of(half)[at] = a.column[from + at];
        shared.values_of(half)[at] = a.values[from + at];
    }
}

extern "C" __global__ void __launch_bounds__(short_threads) bsr_short(const __grid_constant__ BsrProductArguments a) {
    extern __shared__ __align__(128) double short_entries[];
    constexpr int warps = short_threads / 32;
    __shared__ u64 arrived[2 * warps];
    const int warp = threadIdx.x / 32, capacity = int(a.capacity);
    const ShortRows shared{short_entries + 2 * warp * capacity,
                           reinterpret_cast<int*>(short_entries + 2 * warps * capacity) + 2 * warp * capacity,
                           shared_address(arrived + 2 * warp), capacity, int(threadIdx.x % 32)};
    if (shared.lane < 2) init_barrier(shared.barrier_of(shared.lane), 1);
    __syncwarp();
    const long long step = (long long)gridDim.x * short_threads;
    long long row = (long long)blockIdx.x * short_threads + 32 * warp;  // the warp's first
    RowRange now = row_range(a, row, shared.lane), next = row_range(a, row + step, shared.lane);
    request_rows(a, shared, 0, now);
    int half = 0, parities = 0;
    for (; row < a.rows; row += step) {
        request_rows(a, shared, 1 - half, next);
        const RowRange after = row_range(a, row + 2 * step, shared.lane);
        const long long from = first_entry(now);
        const bool mine = now.end - now.begin <= a.longest;
        double total[1];
        if (entries_of(now, from, capacity) <= capacity) {
            while (!phase_is_complete(shared.barrier_of(half), parities >> half & 1)) {
            }
            parities ^= 1 << half;
            __syncwarp();
            sum_staged(a, shared.values_of(half), shared.columns_of(half), int(now.begin - from),
                       mine ? int(now.end - from) : 0, 0, total);
        } else {
            sum_staged(a, a.values + from, a.column + from, int(now.begin - from), mine ? int(now.end - from) : 0, 0,
                       total);
        }
        if (mine && row + shared.lane < a.rows) a.y[row + shared.lane] = total[0];
        __syncwarp();
        now = next, next = after;
        half = 1 - half;
    }
}

}  // namespace hyperplane
