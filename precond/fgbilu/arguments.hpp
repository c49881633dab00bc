// SPDX-License-Identifier: BSD-3-Clause
// The argument of FGBILU's kernels (precond/fgbilu/factor.cuh, precond/fgbilu/solve.cuh).
#pragma once

#include "core/device/epochs.hpp"
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
    // On one of several ranks (HALO_PLANES > 0, precond/fgbilu/between_ranks.cuh):
    const EpochRecord* before;   // from the rank that computes the grid's first planes, or null; upper solve: its last
    EpochRecord* after;          // the same in the memory of the rank that comes next, or null
    unsigned long long* epochs;  // of the lower solve and of the upper one
    int known_begin, known_planes;  // the planes that some rank has
    bool begins;                    // whether this is the first launch of its solve
    int delta[entries];             // core/grid/grid_point.cuh
};
static_assert(sizeof(FgBiluArguments<double, 7>) == 216);

}  // namespace hyperplane
