// SPDX-License-Identifier: BSD-3-Clause
// Inverts a matrix's diagonal blocks on a GPU by Gauss-Jordan elimination (FGBILU paper, Algorithm 5) under the rule
// of precond/factors/pivot_rule.hpp without boosts.
//
// Each row of a point is in the registers of one lane, all in the same warp; neighbouring warps have neighbouring
// slots. The report on pivots consists of a count and of firsts in natural order, so it does not depend on how points
// are distributed.
//
// Definitions: DOF, THREADS (of a thread block).

#include "core/grid/slots.hpp"
#include "precond/factors/gauss_jordan.cuh"
#include "precond/factors/pivot_rule.hpp"
#include "precond/jacobi/arguments.hpp"

namespace hyperplane {

using Arguments = InvertDiagonalArguments;

constexpr int warp_points = 32 / DOF;
__device__ constexpr PivotSummary none = no_pivots;

/// The number of a slot's point in natural order.
__device__ long long point_of(const Arguments& a, long long slot) {
    if (a.natural) return slot;
    const int j = int(slot % a.ny), k = int(slot / a.ny % a.nz);
    const long long rest = slot / ((long long)a.ny * a.nz) - (long long)a.level_y * j - (long long)a.level_z * k;
    return natural_slot<long long>(x_of_rest(rest, a.nx), j, k, a.nx, a.ny);
}

/// The value that lane `at` has.
__device__ __forceinline__ double from_lane(double value, int at) {
    return __shfl_sync(~0u, value, at & 31);
}

/// Replaces x, a row of the block at `slot`, by that row of the inverse, or by zero if a pivot cannot be used. Lane
/// `first` has row 0 of the block. All lanes of a warp must call this together.
__device__ __forceinline__ void invert(const Arguments& a, long long slot, bool active, int row, int first,
                                       double (&x)[DOF], PivotSummary& summary) {
    double largest_here = 0.0, own = 0.0;
#pragma unroll
    for (int c = 0; c < DOF; ++c) {
        largest_here = fmax(largest_here, fabs(x[c]));
        if (c == row) own = x[c];
    }
    double scale = 0.0, ratio = 1.0, unusable = 0.0;
    for (int r = 0; r < DOF; ++r) scale = fmax(scale, from_lane(largest_here, first + r));
    const PivotRule rule{a.tolerance, 0.0, false};
    int usable = active ? DOF : 0;  // number of pivots before the first one that is not usable
#pragma unroll(DOF <= 8 ? DOF : 1)
    for (int p = 0; p < DOF; ++p) {
        const double factor = element<DOF>(x, p);
        const double pivot = from_lane(factor, first + p), diagonal = from_lane(own, first + p);
        if (p < usable) {
            ratio = fmin(ratio, rule.ratio(pivot, diagonal));
            if (!rule.accepts(pivot, diagonal, a.tolerance * scale)) usable = p, unusable = pivot;
        }
        const double inverse = 1.0 / (p < usable ? pivot : 1.0);
        eliminate_rows<DOF>(x, p, row, factor, inverse, (first + p) & 31);
    }
    const bool failed = active && usable < DOF;
    if (failed)
#pragma unroll
        for (int c = 0; c < DOF; ++c) x[c] = 0.0;
    if (failed || (ratio < 1.0 && ratio <= summary.ratio)) {
        const long long point = point_of(a, slot);
        if (ratio < 1.0) summary.take_ratio(ratio, point);
        if (failed) summary.take_failures(1, point * DOF + usable, unusable);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) invert_diagonal(const __grid_constant__ Arguments a) {
    __shared__ PivotSummary all[THREADS];
    const int thread = threadIdx.x, lane = thread % 32, row = lane % DOF, first = lane - row;
    const long long step = (long long)gridDim.x * (THREADS / 32) * warp_points;
    PivotSummary summary = none;
    // All lanes of a warp take part in the same number of iterations.
    for (long long base = ((long long)blockIdx.x * (THREADS / 32) + thread / 32) * warp_points; base < a.slots;
         base += step) {
        const long long slot = base + lane / DOF;
        const bool active = lane < warp_points * DOF && slot < a.slots;
        double x[DOF];
#pragma unroll
        for (int c = 0; c < DOF; ++c) x[c] = active ? a.a[(row * DOF + c) * a.a_stride + slot] : 0.0;
        invert(a, slot, active, row, first, x, summary);
        if (!active) continue;
#pragma unroll
        for (int c = 0; c < DOF; ++c) a.inverse[(row * DOF + c) * a.inverse_stride + slot] = x[c];
    }
    all[thread] = row == 0 ? summary : none;  // the summaries of a point's rows are the same
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) all[thread].take(PivotSummary(all[thread + half]));
    }
    if (thread == 0) a.summary[blockIdx.x] = all[0];
}

}  // namespace hyperplane
