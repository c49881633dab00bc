// SPDX-License-Identifier: BSD-3-Clause
// The argument of the kernels of fixed-point sweeps (precond/par_ilu/sweep.cuh).
#pragma once

namespace hyperplane {

/// An entry of the factors.
struct FixedPointEntry {
    const double* a;  ///< A's coefficients [row][col][a_stride], in a staged sweep in the order of factors; or null
    const double* before;  ///< result of the sweep before, or the same as `after`; D^-1 for the diagonal
    double* after;         ///< what the sweep writes; null if a guess writes the entry to a_blocks alone
    int delta;             ///< slot of p + o minus slot of p, modulo the slots, in [0, slots)
};

template <int entries>
struct FixedPointArguments {
    double* a_blocks;  // written by the guess if BY_ROWS: A's entries that sweeps change, in the order of factors
    int* next_run;     // counter of a staged sweep, initially 0
    double *ratio, *failure, *failed;  // FactorSweepsCuda::PivotRecords, written by the last sweep, else null
    double alpha, tolerance, boost;
    long long a_stride;
    int slots, nx, ny, nz;
    int outer, middle, inner, lines;  // extents of the layout's axes; lines of the middle one taken at a time
    FixedPointEntry entry[entries];
};
static_assert(sizeof(FixedPointEntry) == 32);
static_assert(sizeof(FixedPointArguments<7>) == 328);

}  // namespace hyperplane
