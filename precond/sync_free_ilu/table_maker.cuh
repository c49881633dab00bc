// SPDX-License-Identifier: BSD-3-Clause
// Makes the tables of a factorisation (precond/sync_free_ilu/tables.hpp), a warp a slice, and what precedes a
// factorisation by them: A's values in the pattern of its factors, and factors that are unfinished.
//
// Definitions: SYMMETRIC, OFFSET (the type of an offset).

#include "precond/sync_free_ilu/search.cuh"
#include "precond/sync_free_ilu/table_arguments.hpp"

namespace hyperplane {

constexpr int batch = 4;  // steps of a row whose searches go on together

__device__ __forceinline__ void make_short(const TableMakerArguments& a, const TableSlice& slice, int lane) {
    const int r = lane / slice.lanes, l = lane % slice.lanes;
    if (r >= slice.rows) return;
    const long long position = (long long)slice.first + r, row = __ldg(a.order + position);
    const long long begin = __ldg(a.row_begin + row), end = __ldg(a.row_begin + row + 1);
    const long long diagonal = __ldg(a.diagonal + row), home = SYMMETRIC ? diagonal : begin;
    const int below = int(diagonal - begin), lanes = int(end - home);
    if (l == 0) {
        TableRow made;
        made.diagonal = diagonal;
        made.row = int(row);
        made.below = (unsigned short)below;
        made.lanes = (unsigned short)lanes;
        a.rows[position] = made;
    }
    const int mine = l < lanes ? __ldg(a.column + home + l) : -1;
    // The searches of a batch of steps go on together, because each of their looks waits for memory.
    for (int first = 0; first < slice.width; first += batch) {
        long long pivot[batch], from[batch], to[batch], last[batch];
        int k[batch];
#pragma unroll
        for (int b = 0; b < batch; ++b) k[b] = first + b < below ? __ldg(a.column + begin + first + b) : -1;
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            pivot[b] = k[b] < 0 ? 0 : __ldg(a.diagonal + k[b]);
            last[b] = k[b] < 0 ? 0 : __ldg(a.row_begin + k[b] + 1);
        }
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            const bool searches = k[b] >= 0 && mine >= 0 && (SYMMETRIC || l > first + b);
            from[b] = pivot[b] + 1;
            if (!searches) last[b] = from[b];
            to[b] = last[b];
        }
        for (bool more = true; more;) {
            int there[batch];
            more = false;
#pragma unroll
            for (int b = 0; b < batch; ++b)
                there[b] = from[b] < to[b] ? __ldg(a.column + from[b] + (to[b] - from[b]) / 2) : 0;
#pragma unroll
            for (int b = 0; b < batch; ++b) {
                if (from[b] >= to[b]) continue;
                const long long middle = from[b] + (to[b] - from[b]) / 2;
                if (there[b] < mine)
                    from[b] = middle + 1;
                else if (there[b] > mine)
                    to[b] = middle;
                else
                    from[b] = to[b] = middle, last[b] = -1;  // found
                if (from[b] < to[b]) more = true;
            }
        }
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            if (first + b >= slice.width) continue;
            const int at = (first + b) * slice.rows + r;
            if (l == 0) a.pivot[slice.pivots + at] = (unsigned)pivot[b];
            static_cast<OFFSET*>(a.offset)[slice.offsets + at * slice.lanes + l] =
                static_cast<OFFSET>(last[b] < 0 ? from[b] - pivot[b] : 0);
        }
    }
}

__device__ __forceinline__ void make_long(const TableMakerArguments& a, const TableSlice& slice, int lane) {
    const long long row = __ldg(a.order + slice.first), begin = __ldg(a.row_begin + row);
    if (lane == 0) {
        TableRow made = {};
        made.diagonal = __ldg(a.diagonal + row);
        made.row = int(row);
        a.rows[slice.first] = made;
    }
    for (int s = lane; s < slice.width; s += 32)
        a.pivot[slice.pivots + s] = (unsigned)__ldg(a.diagonal + __ldg(a.column + begin + s));
}

extern "C" __global__ void __launch_bounds__(128) make_tables(const __grid_constant__ TableMakerArguments a) {
    const long long at = (long long)blockIdx.x * 4 + threadIdx.x / 32;
    if (at >= a.count) return;
    const TableSlice slice = a.slices[at];
    if (slice.lanes > 0)
        make_short(a, slice, threadIdx.x % 32);
    else
        make_long(a, slice, threadIdx.x % 32);
}

extern "C" __global__ void __launch_bounds__(128) spread_values(const __grid_constant__ SpreadArguments a) {
    const long long row = (long long)blockIdx.x * 16 + threadIdx.x / 8;
    if (row >= a.rows) return;
    const long long begin = __ldg(a.row_begin + row), end = __ldg(a.row_begin + row + 1);
    const unsigned mask = 0xffu << (threadIdx.x % 32 / 8 * 8);
    for (long long at = begin + threadIdx.x % 8; at < end; at += 8) a.values[at] = 0.0;
    __syncwarp(mask);
    const long long to = __ldg(a.a_row_begin + row + 1);
    for (long long at = __ldg(a.a_row_begin + row) + threadIdx.x % 8; at < to; at += 8)
        if (const int place = __ldg(a.place + at); place >= 0) a.values[begin + place] = __ldg(a.a_values + at);
}

extern "C" __global__ void __launch_bounds__(128) unfinish_values(const __grid_constant__ UnfinishArguments a) {
    const long long stride = (long long)gridDim.x * 128;
    for (long long at = (long long)blockIdx.x * 128 + threadIdx.x; at < a.count; at += stride)
        a.values[at] = unfinished;
}

}  // namespace hyperplane
