// SPDX-License-Identifier: BSD-3-Clause
// Makes the tables of a factorisation (precond/general/orders/tables.hpp), a warp a slice, and what precedes a
// factorisation by them: A's values in the pattern of its factors.
//
// Definitions: SYMMETRIC, OFFSET (the type of an offset).

#include "precond/general/pattern/search.cuh"
#include "precond/sync_free_ilu/table_arguments.hpp"

namespace hyperplane {

constexpr int batch = 4;  // steps of a row whose entries are looked up together

__device__ __forceinline__ UpperRow upper_row(const TableMakerArguments& a, long long row) {
    const unsigned long long both = __ldg(reinterpret_cast<const unsigned long long*>(a.upper + row));
    return {unsigned(both), unsigned(both >> 32)};
}

extern "C" __global__ void __launch_bounds__(128) note_upper_rows(const __grid_constant__ TableMakerArguments a) {
    const long long row = (long long)blockIdx.x * 128 + threadIdx.x;
    if (row < a.all_rows) a.upper[row] = {unsigned(__ldg(a.diagonal + row)), unsigned(__ldg(a.row_begin + row + 1))};
}

/// A slice of short rows. The lanes of a row have its entries, and an entry each of the row k that a step eliminates,
/// in which they look theirs up by shuffles; where row k has more entries than they are, in memory.
__device__ __forceinline__ void make_short(const TableMakerArguments& a, const TableSlice& slice, int lane) {
    const int r = lane / slice.lanes, l = lane % slice.lanes, first_lane = lane - l;
    const bool active = r < slice.rows;
    const long long position = (long long)slice.first + (active ? r : 0), row = __ldg(a.order + position);
    const UpperRow own = upper_row(a, row);
    const long long begin = row > 0 ? upper_row(a, row - 1).end : 0;
    const long long diagonal = own.diagonal, end = own.end, home = SYMMETRIC ? diagonal : begin;
    const int below = int(diagonal - begin), lanes = int(end - home);
    if (active && l == 0) {
        TableRow made;
        made.diagonal = diagonal;
        made.row = int(row);
        made.below = (unsigned short)below;
        made.lanes = (unsigned short)lanes;
        a.rows[position] = made;
    }
    const int mine = l < lanes ? __ldg(a.column + home + l) : -1;
    for (int first = 0; first < slice.width; first += batch) {
        long long pivot[batch];
        int count[batch], column[batch], found[batch];  // of row k: entries after the diagonal, the lane's; the match
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            const int k = first + b < below ? __ldg(a.column + begin + first + b) : -1;
            const UpperRow other = k < 0 ? UpperRow{0, 1} : upper_row(a, k);
            pivot[b] = other.diagonal;
            count[b] = int(other.end - other.diagonal) - 1;
        }
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            constexpr int none = 0x7fffffff;
            column[b] = l < count[b] ? __ldg(a.column + pivot[b] + 1 + l) : none;
            found[b] = 0;
        }
        for (int half = slice.lanes / 2; half > 0; half /= 2)
#pragma unroll
            for (int b = 0; b < batch; ++b)
                if (__shfl_sync(~0u, column[b], first_lane + found[b] + half - 1) < mine) found[b] += half;
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            const bool meets = __shfl_sync(~0u, column[b], first_lane + found[b]) == mine;
            found[b] = meets ? found[b] + 1 : 0;
            const bool searches = mine >= 0 && (SYMMETRIC || l > first + b);
            if (count[b] > slice.lanes && searches) {
                const long long there = find(a.column, pivot[b] + 1, pivot[b] + 1 + count[b], mine);
                found[b] = there < 0 ? 0 : int(there - pivot[b]);
            }
            if (!active || first + b >= slice.width) continue;
            const int at = (first + b) * slice.rows + r;
            if (l == 0) a.pivot[slice.pivots + at] = (unsigned)pivot[b];
            static_cast<OFFSET*>(a.offset)[slice.offsets + at * slice.lanes + l] =
                static_cast<OFFSET>(searches ? found[b] : 0);
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

}  // namespace hyperplane
