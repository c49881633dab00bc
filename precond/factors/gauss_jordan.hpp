// SPDX-License-Identifier: BSD-3-Clause
// Inverse of a small dense block by Gauss-Jordan elimination without row exchanges (FGBILU paper, Algorithm 5). Step p
// replaces, with i = 1 / x_pp,
//
//     x_pc <- x_pc i        x_pp <- i        x_rc <- x_rc - x_rp x_pc i        x_rp <- -x_rp i        r, c != p
//
// The variants differ in which thread has which elements:
//
//     a thread a block                 invert_in_place, below
//     a thread a block, in registers   invert_unrolled, precond/factors/gauss_jordan.cuh
//     a lane a row                     eliminate_rows, precond/factors/gauss_jordan.cuh
//     a lane a column                  eliminate_columns, precond/factors/gauss_jordan.cuh
//     two elements a lane              Lane::eliminate, precond/factors/tensor_blocks.cuh
//     every LANES-th element a lane    RowOf::invert, precond/general/factors/row.cuh
//     a lane a row, by shuffles        Lane::finish_row, precond/sync_free_ilu/block_factor.cuh
//     a thread an element              invert, precond/fgbilu/factor.cuh
//     a loop over points a step        ScaleCross and others, precond/reproductions/fgbilu_by_element.cpp (Algorithm 4)
//
// All but the last two compute the same bits, unless a compiler leaves a product unfused: they multiply row p by i
// first. The last two multiply x_rp by x_pc first. Here products are fused by name, so a CPU has the bits of a GPU.
//
// With row exchanges, inverse_of (precond/general/factors/exported.cpp) inverts blocks that are exported, and Inversion
// (precond/multigrid/dense_inverse.cpp) the matrix of multigrid's coarsest grid. Where that matrix is symmetric and
// positive definite, it is inverted from its factors L D L' (precond/multigrid/positive_inverse.cpp on a CPU,
// precond/multigrid/positive_inverse_cuda.cu on a GPU).
#pragma once

#include "core/host_device.hpp"
#ifndef __CUDACC_RTC__
#include <cmath>
#endif

namespace hyperplane {

/// An element of row p after step p; x is the element before the step.
HYPERPLANE_HD_INLINE double scaled_by_pivot(bool in_column_p, double x, double inverse) {
    return (in_column_p ? 1.0 : x) * inverse;
}
/// Any element after step p: `x` is the element before the step, `factor` is x_rp before it, and `scaled` is x_pc after
/// it.
HYPERPLANE_HD_INLINE double eliminated(bool in_row_p, bool in_column_p, double x, double factor, double scaled) {
    return in_row_p ? scaled : fma(-factor, scaled, in_column_p ? 0.0 : x);
}

/// The inverse of a block of one element, given the pivot to divide by, or 0 where none can be used.
HYPERPLANE_HD_INLINE double inverse_or_zero(double pivot) {
    return pivot == 0.0 ? 0.0 : 1.0 / pivot;
}

/// Replaces the m x m row-major block `a` by its inverse. `accept(row, pivot)` is called for every pivot and returns
/// the value to divide by, or 0 to stop. Returns the row at which it stopped, or -1.
template <class Accept>
HYPERPLANE_HD int invert_in_place(int m, double* a, const Accept& accept) {
    for (int p = 0; p < m; ++p) {
        const double pivot = accept(p, a[p * m + p]);
        if (pivot == 0.0) return p;
        const double inverse = 1.0 / pivot;
        a[p * m + p] = 1.0;
        for (int col = 0; col < m; ++col) a[p * m + col] *= inverse;
        for (int row = 0; row < m; ++row) {
            if (row == p) continue;
            const double factor = a[row * m + p];
            a[row * m + p] = 0.0;
            for (int col = 0; col < m; ++col) a[row * m + col] = fma(-factor, a[p * m + col], a[row * m + col]);
        }
    }
    return -1;
}

}  // namespace hyperplane
