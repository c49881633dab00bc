// SPDX-License-Identifier: BSD-3-Clause
// Makes the tables of a factorisation (precond/sync_free_ilu/tables.hpp), a warp a slice, and what precedes a
// factorisation by them: A's values in the pattern of its factors, and factors that are unfinished.
//
// Definitions: SYMMETRIC, OFFSET (the type of an offset).

#include "precond/sync_free_ilu/search.cuh"
#include "precond/sync_free_ilu/table_arguments.hpp"

namespace hyperplane {

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
    for (int s = 0; s < slice.width; ++s) {
        const int at = s * slice.rows + r;
        const int k = s < below ? __ldg(a.column + begin + s) : -1;
        const long long first = k < 0 ? 0 : __ldg(a.diagonal + k);
        if (l == 0) a.pivot[slice.pivots + at] = (unsigned)first;
        long long found = -1;
        if (k >= 0 && mine >= 0 && (SYMMETRIC || l > s))
            found = find(a.column, first + 1, __ldg(a.row_begin + k + 1), mine);
        static_cast<OFFSET*>(a.offset)[slice.offsets + at * slice.lanes + l] =
            static_cast<OFFSET>(found < 0 ? 0 : found - first);
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
