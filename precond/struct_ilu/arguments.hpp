// SPDX-License-Identifier: BSD-3-Clause
// The argument of the kernel of StructILU's factorisation (precond/struct_ilu/factor.cuh).
#pragma once

#include "precond/factors/pivot_log.hpp"
#include "precond/walks/tile.hpp"

namespace hyperplane {

/// An entry of the factors.
struct FactorEntry {
    const double* a;  ///< A's coefficients, or null if A does not have the entry
    double* x;        ///< coefficients of the factors; for D-ILU entry 0 is D^-1
    int delta;        ///< slot of p + o minus slot of p, modulo the slots, in [0, slots)
};

template <int entries>
struct FactorArguments {
    const double* a;  // [A's entry][row][col][a_stride]
    double* x;        // W, D^-1 and G; for D-ILU D^-1 alone
    const Tile* tiles;
    const int* tile_at;  // [K][J]
    int* progress;       // [tile]: last level completed
    unsigned* ticket;
    PivotLog* log;
    PivotRatio* smallest;            // [tile]
    double* scratch;                 // [tile][LOWER][DOF][consumer_threads]
    double shift, tolerance, boost;  // boost = 0: pivots are not boosted but fail
    int nx, ny, nz, tiles_j, reach_j, reach_k, a_stride, slots;
    FactorEntry entry[entries];
};
static_assert(sizeof(FactorEntry) == 24);
static_assert(sizeof(FactorArguments<7>) == 296);

}  // namespace hyperplane
