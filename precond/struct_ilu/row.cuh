// SPDX-License-Identifier: BSD-3-Clause
// A consumer thread that has one row of each of its points. Definitions: precond/struct_ilu/factor.cuh.
#pragma once

#include "precond/factors/gauss_jordan.cuh"
#include "precond/struct_ilu/tables.cuh"

namespace hyperplane {

constexpr int unroll_pivots = DOF <= 8 ? DOF : 1;
constexpr int unroll_products = DOF <= 16 ? DOF : 1;  // larger numbers take half a minute to compile

/// A thread with one row of a point's blocks. The rows of a point are adjacent lanes of a warp.
struct RowOfPoint {
    const Arguments& a;
    const int thread, row, first_lane;  // lane of the point's row 0
    Line line;
    double ratio = 1.0;
    int ratio_x = 0;

    __device__ RowOfPoint(const Arguments& arguments, const Tile& tile, int thread_, int cell, int row_,
                          bool valid = true)
        : a(arguments), thread(thread_), row(row_), first_lane(thread_ % 32 - row_), line(a, tile, cell, valid) {}

    __device__ bool exists() const { return line.valid; }
    __device__ double smallest_ratio() const { return ratio; }
    __device__ long long smallest_point() const { return line.point(a, ratio_x); }

    /// The pivot to divide by, in a block whose largest coefficient is `scale`; 0 if the pivot cannot be used.
    __device__ double usable(double pivot, double own, double scale, int i, int component) const {
        return judge(a).usable(pivot, own, scale, line.point(a, i) * DOF + component, component == row);
    }
    __device__ void keep_ratio(double pivot, double own, int i) {
        if (const double mine = judge(a).ratio(pivot, own); mine < ratio) ratio = mine, ratio_x = i;
    }

    /// Gauss-Jordan elimination (FGBILU paper, Algorithm 5) over the rows of a point, which are lanes of a warp. `x` is
    /// replaced by this row of the inverse, or by zero if a pivot cannot be used. The ratio of the row's pivot is
    /// computed after the loop (keep_ratio), where no other lane waits for it.
    __device__ void invert(double* x, const double* own, int i, bool active) {
        if (DOF == 1) {
            if (!active) return;
            const double met = x[0], pivot = usable(met, own[0], fmax(fabs(own[0]), fabs(met)), i, 0);
            x[0] = inverse_or_zero(pivot);
            keep_ratio(met, own[0], i);
            return;
        }
        u64 size = 0;
        double mine = 0.0;
#pragma unroll
        for (int c = 0; c < DOF; ++c) {
            size = max(size, max(size_of(own[c]), size_of(x[c])));
            if (c == row) mine = own[c];
        }
        u64 largest = 0;
        for (int r = 0; r < DOF; ++r) largest = max(largest, __shfl_sync(~0u, size, (first_lane + r) & 31));
        const double scale = __longlong_as_double(largest), least = a.tolerance * scale;
        double own_pivot = mine;  // of this row
        bool gave_up = false;
#pragma unroll(unroll_pivots)
        for (int p = 0; p < DOF; ++p) {
            const double here = element<DOF>(x, p);
            const int lane = (first_lane + p) & 31;
            const double met = __shfl_sync(~0u, here, lane), diagonal = __shfl_sync(~0u, mine, lane);
            if (row == p && !gave_up) own_pivot = here;
            double pivot = met;
            if (!judge(a).accepts(met, diagonal, least)) {
                pivot = active && !gave_up ? usable(met, diagonal, scale, i, p) : 1.0;
                if (pivot == 0.0) gave_up = true, pivot = 1.0;
            }
            eliminate_rows<DOF>(x, p, row, here, 1.0 / pivot, lane);
        }
        if (active) keep_ratio(own_pivot, mine, i);
        if (gave_up)
#pragma unroll
            for (int c = 0; c < DOF; ++c) x[c] = 0.0;
    }

    /// Replaces x by this row of the product `inverse` times block; the lanes of a point have the rows of both.
    __device__ void scale_from_left(const double* inverse, double* x) const {
        double scaled[DOF];
#pragma unroll
        for (int c = 0; c < DOF; ++c) scaled[c] = 0.0;
#pragma unroll(unroll_products)
        for (int m = 0; m < DOF; ++m)
#pragma unroll
            for (int c = 0; c < DOF; ++c) scaled[c] += inverse[m] * __shfl_sync(~0u, x[c], (first_lane + m) & 31);
#pragma unroll
        for (int c = 0; c < DOF; ++c) x[c] = scaled[c];
    }
};

}  // namespace hyperplane
