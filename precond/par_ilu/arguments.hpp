// SPDX-License-Identifier: BSD-3-Clause
// The argument of the kernels of fixed-point sweeps (precond/par_ilu/sweep.cuh).
#pragma once

#include "precond/walks/hyperplane.hpp"

namespace hyperplane {

/// An entry of the factors.
struct FixedPointEntry {
    const double* a;  ///< A's coefficients [row][col][a_stride], in a staged sweep in the order of factors; or null
    const double* before;  ///< result of the sweep before, or the same as `after`; D^-1 for the diagonal
    double* after;         ///< what the sweep writes; null if a guess writes the entry to a_blocks alone
    int delta;             ///< slot of p + o minus slot of p, modulo the slots, in [0, slots)
};

/// What a kernel that makes all sweeps of a level has in addition.
struct LevelOfSweeps {
    Hyperplane plane;
    unsigned stride;  ///< of a value of the ring, in coefficients
    int base;         ///< slot that column (0, 0) would have in the level
    int sweeps;
    double* ring;  ///< blocks of the last levels [value][level % RING_LEVELS][k][j][row][col]
};

template <int entries>
struct FactorSweepArguments {
    double* a_blocks;  // written by the guess if BY_ROWS: A's entries that sweeps change, in the order of factors
    int* next_run;     // counter of a staged sweep, initially 0
    double *ratio, *failure, *failed;  // FactorSweepsCuda::PivotRecords, written by the last sweep, else null
    double alpha, tolerance, boost;
    long long a_stride;
    int slots, nx, ny, nz;
    int outer, middle, inner, lines;  // extents of the layout's axes; lines of the middle one taken at a time
    LevelOfSweeps level;              // precond/par_ilu/levels.cuh
    FixedPointEntry entry[entries];
};
static_assert(sizeof(FixedPointEntry) == 32 && sizeof(LevelOfSweeps) == 40);
static_assert(sizeof(FactorSweepArguments<7>) == 368);

}  // namespace hyperplane
