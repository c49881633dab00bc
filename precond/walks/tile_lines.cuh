// SPDX-License-Identifier: BSD-3-Clause
// Lines of points along x in tiles, and their slots, for StructILU's solves and its factorisation on a GPU.
//
// A tile is TJ x TK lines on the skewed coordinate J = j + SKEW k and walks the levels l = i + B j + C k; a line has
// one point, i = l - B j - C k, at a level. The upper solve (UPPER) sees the grid from its far corner, p -> n - 1 - p:
// coordinates and levels are of that view, slots are the grid's own. Where HALO_PLANES > 0, so many planes at either
// end of the grid are computed by other ranks; tiles begin behind them.
//
// Definitions: DOF, OFFSET_X, OFFSET_Y, OFFSET_Z {coordinates of the entries' offsets, from the first entry on}, B, C,
// SKEW, TJ, TK, HALO_PLANES, UPPER, NATURAL (the layout), UNROLLED.
#pragma once

#include "core/grid/slots.hpp"
#include "precond/walks/tile.hpp"
#include "precond/walks/unrolled.cuh"

namespace hyperplane {

TABLE offset_x[] = OFFSET_X;
TABLE offset_y[] = OFFSET_Y;
TABLE offset_z[] = OFFSET_Z;

/// A line of points: its place in the grid, the levels at which it has a point, and its slots. The arguments of every
/// kernel have members nx, ny and nz.
struct Line {
    int j, k, start;  // level of its first point
    bool valid;

    template <class Arguments>
    __device__ Line(const Arguments& a, int skewed, int k_) : j(skewed - SKEW * k_), k(k_), start(B * j + C * k_) {
        valid = j >= 0 && j < a.ny && k >= 0 && k < a.nz - HALO_PLANES;
    }
    /// Line `cell` of a tile.
    template <class Arguments>
    __device__ Line(const Arguments& a, const Tile& tile, int cell, bool exists)
        : j(tile.j + cell % TJ - SKEW * (tile.k + cell / TJ)), k(tile.k + cell / TJ), start(B * j + C * k) {
        valid = exists && cell < TJ * TK && j >= 0 && j < a.ny && k < a.nz - HALO_PLANES;
    }

    template <class Arguments>
    __device__ bool active(const Arguments& a, int level) const {
        return valid && unsigned(level - start) < unsigned(a.nx);
    }
    /// Slot of the point of `level`: ((l mod nx) nz + k) ny + j in the grid's own coordinates.
    template <class Arguments>
    __device__ __forceinline__ int slot(const Arguments& a, int level) const {
        if (NATURAL) {
            const int natural = level - start + a.nx * (j + a.ny * k);
            return UPPER ? a.nx * a.ny * a.nz - 1 - natural : natural;
        }
        if (UPPER) {
            const int last = a.nx - 1 + B * (a.ny - 1) + C * (a.nz - 1);
            return (((last - level) % a.nx) * a.nz + a.nz - 1 - k) * a.ny + a.ny - 1 - j;
        }
        return ((level % a.nx) * a.nz + k) * a.ny + j;
    }
    /// Whether the neighbour at offset e of point i lies in the grid.
    template <class Arguments>
    __device__ bool in_grid(const Arguments& a, int i, int e) const {
        return unsigned(i + offset_x[e]) < unsigned(a.nx) && unsigned(j + offset_y[e]) < unsigned(a.ny) &&
               unsigned(k + offset_z[e]) < unsigned(a.nz);
    }
    /// Point i in natural order.
    template <class Arguments>
    __device__ long long point(const Arguments& a, int i) const {
        return i + a.nx * (j + (long long)a.ny * k);
    }
};

/// Moves from the slot of a point to that of the next point of its line; a level has `level_slots`.
__device__ __forceinline__ void to_next_level(int& slot, int level_slots, int slots) {
    if (NATURAL) {
        slot += UPPER ? -1 : 1;
    } else if (UPPER) {
        slot -= level_slots;
        if (slot < 0) slot += slots;
    } else {
        slot = slot_plus(slot, level_slots, slots);
    }
}

/// The row of tiles to which plane k belongs.
__device__ constexpr int tile_row_of(int k) {
    return (k - HALO_PLANES) / TK;
}

/// Number of threads of a tile if each warp has `warp_cells` lines.
__device__ constexpr int tile_threads(int warp_cells) {
    return (TJ * TK + warp_cells - 1) / warp_cells * 32;
}

}  // namespace hyperplane
