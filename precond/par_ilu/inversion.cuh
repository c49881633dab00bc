// SPDX-License-Identifier: BSD-3-Clause
// The inversion of X_0 in shared memory, for sweeps on tensor cores (precond/par_ilu/tensor.cuh): by one thread a block
// or, if there are more than four unknowns, by one thread for each column.
#pragma once

#include "precond/par_ilu/tables.cuh"

namespace hyperplane {

constexpr int inverting_lanes = DOF <= 4 ? 1 : 8;  // lanes that invert one block

/// One thread inverts a block of a slot in shared memory; `own` is A's block.
template <bool last>
__device__ __forceinline__ void invert_whole(const Arguments& a, double* block, const double* own, int slot) {
    double x[DOF][DOF], diagonal[DOF], scale = 0.0;
#pragma unroll
    for (int r = 0; r < DOF; ++r)
#pragma unroll
        for (int c = 0; c < DOF; ++c) {
            x[r][c] = block[r * DOF + c];
            if (r == c) diagonal[r] = own[r * DOF + c];
            scale = fmax(scale, fmax(fabs(own[r * DOF + c]), fabs(x[r][c])));
        }
    Pivots pivots{last};
    const bool usable = invert(a, x, diagonal, scale, pivots);
#pragma unroll
    for (int r = 0; r < DOF; ++r)
#pragma unroll
        for (int c = 0; c < DOF; ++c) block[r * DOF + c] = usable ? x[r][c] : 0.0;
    if (last) pivots.report(a, slot);
}

/// The same by eight lanes, each of which has a column. All lanes of the warp must call this together. If this is the
/// `last` sweep, it reports on the pivots of `slot`, unless that is negative.
__device__ __forceinline__ void invert_columns(const Arguments& a, double* block, const double* own, int slot,
                                               bool last) {
    const int c = threadIdx.x % 8;
    const PivotRule rule{a.tolerance, a.boost, SYMMETRIC};
    double x[DOF], scale = 0.0;
#pragma unroll
    for (int r = 0; r < DOF; ++r) {
        x[r] = c < DOF ? block[r * DOF + c] : 0.0;
        if (c < DOF) scale = fmax(scale, fmax(fabs(own[r * DOF + c]), fabs(x[r])));
    }
#pragma unroll
    for (int step = 4; step > 0; step /= 2) scale = fmax(scale, __shfl_xor_sync(~0u, scale, step));
    Pivots pivots(last);
    double met = 1.0;  // the pivot of row c
    bool gave_up = false;
#pragma unroll
    for (int p = 0; p < DOF; ++p) {
        double factors[DOF];  // column p
#pragma unroll
        for (int r = 0; r < DOF; ++r) factors[r] = __shfl_sync(~0u, x[r], p, 8);
        if (c == p && !gave_up) met = factors[p];
        double pivot = 1.0;
        if (!gave_up) {
            pivot = factors[p];
            const double diagonal = own[p * DOF + p];
            if (!rule.accepts(pivot, diagonal, a.tolerance * scale)) {
                if (pivots.component < 0) pivots.component = p;
                pivot = last ? 0.0 : rule.guess(diagonal, scale);
            }
            if (pivot == 0.0) gave_up = true, pivot = 1.0;
        }
        eliminate_columns(x, p, c, factors, 1.0 / pivot);
    }
    __syncwarp();
#pragma unroll
    for (int r = 0; r < DOF; ++r)
        if (c < DOF) block[r * DOF + c] = gave_up ? 0.0 : x[r];
    if (!__any_sync(~0u, last)) return;
    // It gave up at the first pivot that failed, so rows after that have none.
    if (c < DOF && (!gave_up || c <= pivots.component)) pivots.smallest = fmin(1.0, rule.ratio(met, own[c * DOF + c]));
#pragma unroll
    for (int step = 4; step > 0; step /= 2)
        pivots.smallest = fmin(pivots.smallest, __shfl_xor_sync(~0u, pivots.smallest, step));
    pivots.bad = __shfl_sync(~0u, met, max(pivots.component, 0), 8);
    if (last && c == 0 && slot >= 0) pivots.report(a, slot);
}

}  // namespace hyperplane
