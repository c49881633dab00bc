// SPDX-License-Identifier: BSD-3-Clause
// The argument of the wavefront solves' kernel, and what its tiles share (precond/triangular/wavefront/solve.cuh).
#pragma once

#include "precond/walks/tile.hpp"

namespace hyperplane {

/// A value that other tiles need, and the epoch of the solve that it belongs to; written and read in one piece.
struct alignas(16) Edge {
    double value;
    unsigned long long epoch;
};

/// Of all solves with one triangle.
struct SolveState {
    unsigned ticket, done;     ///< tiles that have been taken, that are complete
    unsigned long long epoch;  ///< number of the solve
};

template <class Value, int lower>
struct SolveArguments {
    Value* triangles;  // W and G, as factors lie; E and F of one unknown a point: [entry][triangle_stride]
    Value* inverse;    // D^-1
    const double* in;  // r, or the lower solve's result
    double* out;
    const Tile* tiles;
    const int* tile_at;  // [K][J], -1 where a tile has no line
    Edge* edges;         // [tile][i'][cell][component]
    SolveState* state;
    double* partial;  // [tile]
    double* dot;
    int nx, ny, nz, tiles_j, tile_count, slots, triangle_stride;
    const unsigned char*
        exponents;     // of scaled rows, [slot][row] of W; in the upper solve pairs, of G's and D^-1's rows
    int shift[lower];  // slot of p + o minus slot of p, modulo the slots
};
static_assert(sizeof(Edge) == 16 && sizeof(SolveState) == 16);
static_assert(sizeof(SolveArguments<const double, 3>) == 136);

}  // namespace hyperplane
