// SPDX-License-Identifier: BSD-3-Clause
// y = A x of a general matrix whose block rows have a warp each, on a GPU: a part of bsr_product.cuh.
//
// The lanes have the columns that bsr_product.cuh says, and add them in the same pairs. They read the columns of up to
// 32 blocks at once and hand them on, so that only the first loads of x wait for them. Of each pair of lanes each keeps
// half of the rows when their sums are added, so a block of DOF rows takes about DOF exchanges in place of 5 DOF.
#pragma once

#include "core/matrix/bsr_pieces.cuh"

namespace hyperplane {

/// The rows [first, first + count) of a block, of which a lane has sums; none where count is not positive.
struct LaneRows {
    int first, count;
};

/// The sums of a warp's lanes, added pairwise, lanes that are `distance` apart first, then those half as far apart.
/// A lane ends with the sum of the first one of `rows`, if there is one.
template <int count, int distance>
__device__ __forceinline__ double added_by_warp(const double (&sum)[count], int lane, LaneRows& rows) {
    if constexpr (distance == 0) {
        static_assert(count == 1);
        return sum[0];
    } else {
        constexpr int low = (count + 1) / 2;
        const bool upper = lane & distance;
        double kept[low];
#pragma unroll
        for (int k = 0; k < low; ++k) {
            const double later = k + low < count ? sum[k + low < count ? k + low : 0] : 0.0;
            const double given = upper ? sum[k] : later, mine = upper ? later : sum[k];
            kept[k] = mine + __shfl_xor_sync(0xffffffffu, given, distance);
        }
        rows = upper ? LaneRows{rows.first + low, rows.count - low} : LaneRows{rows.first, min(rows.count, low)};
        return added_by_warp<low, distance / 2>(kept, lane, rows);
    }
}

/// A warp's block row.
__device__ __forceinline__ void add_row_by_warp(const BsrProductArguments& a, long long row) {
    constexpr int group = 32 / DOF, batch = 32 / group * group;  // blocks at a time, and those whose columns are read
    if (row >= a.rows) return;
    const int lane = threadIdx.x % 32, c = lane % DOF, first = lane / DOF;
    const long long begin = __ldg(a.row_begin + row), end = __ldg(a.row_begin + row + 1);
    if (end - begin > a.longest) return;
    double sum[DOF] = {};
    for (long long base = begin; base < end; base += batch) {
        const int blocks = int(min(end - base, (long long)batch));
        const int column = lane < blocks ? load_once(a.column + base + lane) : 0;
        const double* const values = a.values + base * DOF * DOF;
        for (int least = 0; least < blocks; least += group) {
            const int at = least + first;
            const int its_column = __shfl_sync(0xffffffffu, column, at % 32);
            const bool there = first < group && at < blocks;
            // Apart from the sums, so that the compiler has all loads under way before the first sum waits.
            double value[DOF], x;
            if (there) {
#pragma unroll
                for (int r = 0; r < DOF; ++r) value[r] = load_once(values + (at * DOF + r) * DOF + c);
                x = __ldg(a.x + (long long)its_column * DOF + c);
            }
            if (there)
#pragma unroll
                for (int r = 0; r < DOF; ++r) sum[r] = __fma_rn(value[r], x, sum[r]);
        }
    }
    LaneRows mine{0, DOF};
    const double total = added_by_warp<DOF, 16>(sum, lane, mine);
    if (mine.count > 0) a.y[row * DOF + mine.first] = total;
}

}  // namespace hyperplane
