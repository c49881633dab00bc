// SPDX-License-Identifier: BSD-3-Clause
// What StructILU's solves and its factorisation on a GPU share on the host: numbers of the grid and the stencil, and
// tiles of lines (precond/walks/tile_lines.cuh).
#pragma once

#include <vector>

#include "core/device/context.hpp"
#include "core/device/rtc.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "precond/factors/pattern.hpp"
#include "precond/walks/tile.hpp"

namespace hyperplane::wavefront_cuda {

/// Numbers of the stencil that the kernels of solves and factorisation are compiled for.
struct Geometry {
    int lower, skew, halo_j = 0, halo_k = 0, max_level = 0, ring = 1;
    std::vector<int> x, y, z, level;  ///< of every entry: its offset, and the level of that

    explicit Geometry(const IluPattern& system);
};

/// Lines of a tile along J and k.
struct TileShape {
    int j, k;

    int cells() const { return j * k; }
    void halve() { (k > 1 ? k : j) /= 2; }
    /// A shape of about `wanted` lines: powers of two, with 8 to 32 lines along J.
    static TileShape of(double wanted);
};

/// Lines of points along x, in tiles ordered by their lowest level. The grid has `halo` planes at either end whose
/// lines are in no tile.
struct Tiles {
    TileShape shape;
    int tiles_j = 0;
    std::vector<Tile> tiles;
    std::vector<int> at;  ///< [K][J]: position in `tiles`, -1 where a tile has no line

    Tiles(const Layout& layout, int skew, TileShape shape, int halo);
    Index count() const { return Index(tiles.size()); }
    Index bytes() const { return count() * Index(sizeof(Tile)) + Index(at.size() * sizeof(int)); }
};

/// Tiles in device memory.
struct DeviceTiles {
    Buffer<Tile> tiles;
    Buffer<int> at;

    DeviceTiles(const Context& context, const Tiles& host);
};

/// Number of threads for `cells` lines if the point of a line has `point_threads` threads, all in one warp.
int consumer_threads(int cells, int point_threads);

/// Number of points of an average level for each multiprocessor of a large GPU.
double points_a_level(const IluPattern& system);

/// The definitions of precond/walks/tile_lines.cuh, with the offsets of the first `entries` entries.
rtc::Definitions line_definitions(const IluPattern& system, const Geometry& geometry, TileShape tile, int entries,
                                  bool upper);

}  // namespace hyperplane::wavefront_cuda
