// SPDX-License-Identifier: BSD-3-Clause
// The argument of the kernel of wavefront solves (precond/triangular/wavefront/solve.cuh), and the data that its tiles
// share.
#pragma once

#include "core/device/epochs.hpp"
#include "core/vector/eisenstat_coefficients.hpp"
#include "precond/walks/tile.hpp"

namespace hyperplane {

/// The vectors of a step of conjugate gradients in Eisenstat's form, besides `in` and `out`, which are s and u in the
/// upper step, u and the next s in the lower one.
struct EisenstatArguments {
    double *s, *p, *y;
    const double* diagonal;  // of A; null if it is computed from E and D
    const double* known;     // the sums of the step before; in a lower step, those of the upper one
    EisenstatBounds bounds;
};

/// Real: double or float.
template <class Value, int lower, class Real = double>
struct SolveArguments {
    Value* triangles;  // W and G; for D-ILU E and F as [entry][triangle_stride]
    Value* inverse;    // D^-1; D in steps of Eisenstat's form
    const Real* in;    // r, or the lower solve's result
    Real* out;
    const Tile* tiles;
    const int* tile_at;  // [K][J], -1 where a tile has no line
    EpochRecord* edges;  // [tile][i'][cell][component]
    const EpochRecord*
        before;          // [i'][plane][j][component]: from the rank that computes the grid's first planes, or null
    EpochRecord* after;  // the same in the memory of the rank that comes next, or null
    TicketState* state;
    double* partial;  // [sum][tile]
    double* dot;      // the sums
    int nx, ny, nz, tiles_j, tile_count, slots, triangle_stride;
    int distance;                    // of the components of r and z
    const unsigned char* exponents;  // of scaled rows: [slot][row] of W; in the upper solve pairs for G and D^-1
    EisenstatArguments eisenstat;
    int shift[lower];  // slot of p + o minus slot of p, modulo the slots
};
static_assert(sizeof(SolveArguments<const double, 3>) == 208 && sizeof(EisenstatArguments) == 56);

}  // namespace hyperplane
