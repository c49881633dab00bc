// SPDX-License-Identifier: BSD-3-Clause
// Gauss-Jordan elimination of blocks in registers, whose loops are unrolled: by one thread, or by the lanes of a warp
// that have a row or a column each. The step is that of precond/factors/gauss_jordan.hpp.
#pragma once

#include "precond/factors/gauss_jordan.hpp"

namespace hyperplane {

/// Replaces x by its inverse. `accept(p, pivot)` returns the pivot to divide by, or 0 if it cannot be used; then x has
/// no meaning, and the result is false. The loop continues even then, so that a warp does not diverge.
template <int m, class Accept>
__device__ __forceinline__ bool invert_unrolled(double (&x)[m][m], const Accept& accept) {
    bool gave_up = false;
#pragma unroll
    for (int p = 0; p < m; ++p) {
        double pivot = 1.0;
        if (!gave_up) {
            pivot = accept(p, x[p][p]);
            if (pivot == 0.0) gave_up = true, pivot = 1.0;
        }
        const double inverse = 1.0 / pivot;
        x[p][p] = 1.0;
#pragma unroll
        for (int c = 0; c < m; ++c) x[p][c] *= inverse;
#pragma unroll
        for (int r = 0; r < m; ++r) {
            if (r == p) continue;
            const double factor = x[r][p];
            x[r][p] = 0.0;
#pragma unroll
            for (int c = 0; c < m; ++c) x[r][c] -= factor * x[p][c];
        }
    }
    return !gave_up;
}

/// Element p of a row in registers. A loop selects it, because registers cannot be indexed by a number that is known
/// only at run time.
template <int m>
__device__ __forceinline__ double element(const double* x, int p) {
    double found = 0.0;
#pragma unroll
    for (int c = 0; c < m; ++c)
        if (c == p) found = x[c];
    return found;
}

/// Step p if a lane has a row: x is row `row`, `factor` its element p, and `lane_of_p` the lane that has row p.
template <int m>
__device__ __forceinline__ void eliminate_rows(double* x, int p, int row, double factor, double inverse,
                                               int lane_of_p) {
#pragma unroll
    for (int c = 0; c < m; ++c) {
        const double scaled = __shfl_sync(~0u, c == p ? 1.0 : x[c], lane_of_p) * inverse;
        x[c] = eliminated(row == p, c == p, x[c], factor, scaled);
    }
}

/// Step p if a lane has a column: x is column `column`, and `factors` is column p.
template <int m>
__device__ __forceinline__ void eliminate_columns(double (&x)[m], int p, int column, const double (&factors)[m],
                                                  double inverse) {
    const double scaled = scaled_by_pivot(column == p, x[p], inverse);
#pragma unroll
    for (int r = 0; r < m; ++r) x[r] = eliminated(r == p, column == p, x[r], factors[r], scaled);
}

}  // namespace hyperplane
