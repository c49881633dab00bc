// SPDX-License-Identifier: BSD-3-Clause
// ILU of one unknown a row, by tables that say which entries meet (precond/general/orders/tables.hpp).
//
// Before a launch all values are `unfinished`, a number that is not one, and each entry of U is written once. So a lane
// that needs U_kj polls U_kj itself: there are no flags, no fences, and no second access after a wait. A lane has one
// entry of a short row in a register, and what a batch of steps needs of other rows is loaded together. What remains
// one after another is arithmetic.
//
// Thread blocks are resident, and each warp has every n-th slice, in the order of levels (as in
// precond/general/solves/solve.cuh, where it is said why there is no deadlock). The tables of a slice are prefetched
// while the one before is worked on.
//
// Definitions: SYMMETRIC, OFFSET (the type of an offset), BY_ROW (precond/general/factors/row.cuh).

#include "precond/factors/gauss_jordan.hpp"
#include "precond/general/pattern/search.cuh"
#include "precond/general/solves/waiting.cuh"
#include "precond/sync_free_ilu/polled.cuh"
#include "precond/sync_free_ilu/table_arguments.hpp"

#ifndef BY_ROW
#define BY_ROW 0
#endif

namespace hyperplane {

typedef TableFactorArguments Arguments;
constexpr int threads = 128;
/// Steps whose entries are loaded together; a row has at least as many lanes. Few registers, and so more thread blocks
/// on a multiprocessor, are worth more than larger batches (docs/log/sync_free_ilu.md).
constexpr int batch = 4;
constexpr int blocks_of_multiprocessor = 6;  // 80 registers a thread

__device__ __forceinline__ void prefetch(const void* at) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
}

/// Finishes a diagonal entry with the pivot's inverse, or with 0 if it cannot be used.
__device__ __forceinline__ void finish_pivot(const Arguments& a, double* at, double pivot, double own, long long row,
                                             PivotRatio& ratio) {
    const PivotJudge judge{a.rule, a.log};
    const auto of_row = [&] {
        return largest_of_row(a.given, nullptr, __ldg(a.row_begin + row), __ldg(a.row_begin + row + 1), 1);
    };
    const double used = judge.usable<BY_ROW>(pivot, own, fmax(fabs(pivot), fabs(own)), (u64)row, true, of_row);
    finish(at, inverse_or_zero(used));
    ratio.take(fmin(1.0, judge.ratio(pivot, own)), row);  // others do not wait for this division
}

/// The position of the row that a lane works on.
__device__ __forceinline__ long long position_of(const TableSlice& slice, int lane) {
    const int r = slice.lanes > 0 ? lane / slice.lanes : 0;
    return (long long)slice.first + (r < slice.rows ? r : 0);
}

/// The rows of a slice of short rows.
template <int lanes>
struct ShortRows {
    const Arguments& a;
    const TableSlice& slice;
    const TableRow& row;
    int r, l;  // the row of the slice, and the lane of the row
    bool active;

    __device__ __forceinline__ ShortRows(const Arguments& arguments, const TableSlice& of, const TableRow& own,
                                         int lane)
        : a(arguments), slice(of), row(own), r(lane / lanes), l(lane % lanes), active(r < of.rows) {}

    __device__ __forceinline__ bool eliminates(int step) const { return active && step < int(row.below); }

    /// Eliminates the steps first, ..., first + batch - 1. `x` is the lane's entry.
    __device__ __forceinline__ void eliminate(int first, double& x) const {
        const OFFSET* const offset = static_cast<const OFFSET*>(a.offset) + slice.offsets + l;
        const bool loads_pivot = l < batch && eliminates(first + l);
        unsigned at[batch + 1];
        at[batch] = loads_pivot ? __ldcs(a.pivot + slice.pivots + (first + l) * slice.rows + r) : 0u;
        unsigned meets = 0;
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            at[b] = eliminates(first + b) ? (unsigned)__ldcs(offset + ((first + b) * slice.rows + r) * lanes) : 0u;
            if (at[b] > 0) meets |= 1u << b;
        }
        double u[batch + 1];
#pragma unroll
        for (int b = 0; b < batch; ++b) at[b] += __shfl_sync(~0u, at[batch], b, lanes);
        unsigned left = meets | (loads_pivot ? 1u << batch : 0u);
#pragma unroll
        for (int b = 0; b <= batch; ++b) u[b] = left >> b & 1 ? look_at(a.values + at[b]) : 0.0;
        for (;;) {
#pragma unroll
            for (int b = 0; b <= batch; ++b)
                if (is_finished(u[b])) left &= ~(1u << b);
            if (left == 0) break;
#pragma unroll
            for (int b = 0; b <= batch; ++b)
                if (left >> b & 1) u[b] = look_at(a.values + at[b]);
        }
        __syncwarp();
        double lower = 0.0;
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            const double mine =
                SYMMETRIC ? __shfl_sync(~0u, u[b], 0, lanes) : __shfl_sync(~0u, x, (first + b) % lanes, lanes);
            const double w = mine * __shfl_sync(~0u, u[batch], b, lanes);
            if (!eliminates(first + b)) continue;
            if (SYMMETRIC ? l == b : l == first + b) lower = w, x = SYMMETRIC ? x : w;
            if (meets >> b & 1) x -= w * u[b];
        }
        if (SYMMETRIC && loads_pivot) a.values[row.diagonal - row.below + first + l] = lower;
    }

    __device__ __forceinline__ void factor(PivotRatio& ratio) const {
        const int of_diagonal = SYMMETRIC ? 0 : row.below;
        const long long mine = row.diagonal - of_diagonal + l;
        const bool has = active && l < int(row.lanes);
        const double own = has ? __ldg(a.given + mine) : 0.0;
        double x = l == of_diagonal ? (1.0 + a.shift) * own : own;
        for (int first = 0; first < slice.width; first += batch) eliminate(first, x);
        if (!has) return;
        if (l != of_diagonal)
            finish(a.values + mine, x);
        else
            finish_pivot(a, a.values + mine, x, own, row.row, ratio);
    }
};

/// A row of any length by all lanes of a warp, in global memory that no other warp reads.
struct LongRow {
    const Arguments& a;
    const TableSlice& slice;
    int lane;
    long long row, begin, diagonal, end;
    double* x;  // [place - begin]

    __device__ __forceinline__ LongRow(const Arguments& arguments, const TableSlice& of, const TableRow& own,
                                       int of_warp)
        : a(arguments), slice(of), lane(of_warp), row(own.row), diagonal(own.diagonal) {
        begin = __ldg(a.row_begin + row);
        end = __ldg(a.row_begin + row + 1);
        x = a.long_rows + slice.offsets;
    }

    /// X_ij -= w U_kj for the columns that [mine, end) of this row and [other, last) of row k share. The shorter one is
    /// gone through, and the longer one searched.
    __device__ void update(double w, long long mine, long long other, long long last) const {
        const bool through_mine = end - mine <= last - other;
        const long long from = through_mine ? mine : other, to = through_mine ? end : last;
        for (long long at = from + lane; at < to; at += 32) {
            const long long found =
                find(a.column, through_mine ? other : mine, through_mine ? last : end, __ldg(a.column + at));
            if (found < 0) continue;
            x[(through_mine ? at : found) - begin] -= w * await(a.values + (through_mine ? found : at));
        }
        __syncwarp();
    }

    __device__ void factor(PivotRatio& ratio) const {
        for (long long at = begin + lane; at < end; at += 32)
            x[at - begin] = (at == diagonal ? 1.0 + a.shift : 1.0) * __ldg(a.given + at);
        __syncwarp();
        for (long long at = begin; at < diagonal; ++at) {
            const long long first = __ldg(a.pivot + slice.pivots + (at - begin));
            const long long last = __ldg(a.row_begin + __ldg(a.column + at) + 1);
            const long long mirrored = SYMMETRIC ? find(a.column, first + 1, last, int(row)) : 0;
            const double mine = SYMMETRIC ? await(a.values + mirrored) : x[at - begin];
            const double w = mine * await(a.values + first);
            if (lane == 0) a.values[at] = w;
            update(w, SYMMETRIC ? diagonal : at + 1, SYMMETRIC ? mirrored : first + 1, last);
        }
        for (long long at = diagonal + 1 + lane; at < end; at += 32) finish(a.values + at, x[at - begin]);
        if (lane == 0) finish_pivot(a, a.values + diagonal, x[diagonal - begin], __ldg(a.given + diagonal), row, ratio);
    }
};

__device__ __forceinline__ void factor(const Arguments& a, const TableSlice& slice, const TableRow& row, int lane,
                                       PivotRatio& ratio) {
    switch (slice.lanes) {
        case 0: return LongRow(a, slice, row, lane).factor(ratio);
        case 4: return ShortRows<4>(a, slice, row, lane).factor(ratio);
        case 8: return ShortRows<8>(a, slice, row, lane).factor(ratio);
        case 16: return ShortRows<16>(a, slice, row, lane).factor(ratio);
        default: return ShortRows<32>(a, slice, row, lane).factor(ratio);
    }
}

/// Fetches the first tables of a slice.
__device__ __forceinline__ void prefetch_tables(const Arguments& a, const TableSlice& slice, int lane) {
    constexpr int sector = 32, offsets = sector / int(sizeof(OFFSET)), pivots = sector / int(sizeof(unsigned));
    if (lane * offsets < slice.width * slice.rows * slice.lanes)
        prefetch(static_cast<const OFFSET*>(a.offset) + slice.offsets + lane * offsets);
    if (lane * pivots < slice.width * slice.rows) prefetch(a.pivot + slice.pivots + lane * pivots);
}

extern "C" __global__ void __launch_bounds__(threads, blocks_of_multiprocessor)
    table_factor(const __grid_constant__ Arguments a) {
    const int lane = threadIdx.x % 32;
    const unsigned stride = gridDim.x * (threads / 32), last = a.count - 1;
    PivotRatio ratio;
    unsigned at = blockIdx.x * (threads / 32) + threadIdx.x / 32;
    TableSlice slice = a.slices[min(at, last)], next = a.slices[min(at + stride, last)];
    TableRow row = a.rows[position_of(slice, lane)];
    for (; at < a.count; at += stride) {
        const TableSlice after = a.slices[min(at + 2 * stride, last)];
        const TableRow next_row = a.rows[position_of(next, lane)];
        prefetch_tables(a, next, lane);
        factor(a, slice, row, lane, ratio);
        __syncwarp();
        slice = next, next = after, row = next_row;
    }
    write_smallest<threads>(ratio, a.ratios + blockIdx.x);
}

}  // namespace hyperplane
