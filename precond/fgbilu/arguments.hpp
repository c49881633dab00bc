// SPDX-License-Identifier: BSD-3-Clause
// The argument of FGBILU's kernels (precond/fgbilu/factor.cuh, precond/fgbilu/solve.cuh).
#pragma once

#include "precond/factors/pivot_log.hpp"
#include "precond/walks/hyperplane.hpp"

namespace hyperplane {

template <class Value, int entries>
struct FgBiluArguments {
    Hyperplane plane;
    int base;  // slot that column (0, 0) would have in the level; natural layout: 0
    int nx, ny, nz, slots;
    long long stride, a_stride;  // of a coefficient of the factors; of one of A
    Value* inverse;              // D^-1 [row][col][stride]; TOGETHER [stride][row][col]
    Value* triangles;            // E and F, or W and G, with [entry] first; SHARES: A's [entry][row][col][a_stride]
    const double* diagonal;      // A's [row][col][a_stride]
    const double* r;             // [row][slots]
    double* z;
    PivotRatio* ratios;  // [column]
    PivotLog* log;
    double tolerance, boost, alpha;
    const unsigned char *of_triangle, *of_inverse;  // exponents of scaled rows (precond/fgbilu/solve.cuh)
    int delta[entries];                             // core/grid/grid_point.cuh
};
static_assert(sizeof(FgBiluArguments<double, 7>) == 184);

}  // namespace hyperplane
