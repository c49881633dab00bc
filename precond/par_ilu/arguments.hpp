// SPDX-License-Identifier: BSD-3-Clause
// The argument of the fixed-point sweeps' kernels (precond/par_ilu/sweep.cuh).
#pragma once

namespace hyperplane {

/// An entry of the factors.
struct FixedPointEntry {
    const double* a;       ///< A's [row][col][a_stride], null where A has none; of a staged sweep as factors lie
    const double* before;  ///< of the sweep before, or `after`; of the diagonal D^-1
    double* after;         ///< what the sweep writes
    int delta;             ///< slot of p + o minus slot of p, modulo the slots, in [0, slots)
};

template <int entries>
struct FixedPointArguments {
    double* a_blocks;                  // BY_ROWS, of the guess: A's entries that sweeps change, as factors lie
    int* next_run;                     // of a staged sweep, initially 0
    double *ratio, *failure, *failed;  // the last sweep's report on pivots, as FactorSweeps reads it
    double alpha, tolerance, boost;
    long long a_stride;
    int slots, nx, ny, nz;
    int outer, middle, inner, lines;  // extents of the layout's axes; middle ones taken at a time
    FixedPointEntry entry[entries];
};
static_assert(sizeof(FixedPointEntry) == 32);
static_assert(sizeof(FixedPointArguments<7>) == 328);

}  // namespace hyperplane
