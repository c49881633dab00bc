// SPDX-License-Identifier: BSD-3-Clause
#include "precond/walks/tiles.hpp"

#include <algorithm>
#include <limits>

namespace hyperplane::wavefront_cuda {

Geometry::Geometry(const IluPattern& system) : lower(system.stencil.lower_size()), skew(system.stencil.line_skew()) {
    for (const Int3 o : system.stencil.offsets()) {
        x.push_back(o.x), y.push_back(o.y), z.push_back(o.z);
        level.push_back(system.layout.levels().level(o));
    }
    for (int m = 0; m < lower; ++m) {
        halo_j = std::max(halo_j, -(y[m] + skew * z[m]));
        halo_k = std::max(halo_k, -z[m]);
        max_level = std::max(max_level, -level[m]);
    }
    while (ring <= max_level) ring *= 2;
}

TileShape TileShape::of(double wanted) {
    TileShape tile{32, 1};
    while (tile.j > 8 && tile.j * 2 > wanted) tile.j /= 2;
    while (tile.cells() * 2 <= wanted) tile.k *= 2;
    return tile;
}

Tiles::Tiles(const Layout& layout, int skew, TileShape shape_, int halo) : shape(shape_) {
    const Grid& g = layout.grid();
    const auto [tj, tk] = shape;
    const LevelMap levels = layout.levels();
    const int width = g.ny + skew * (g.nz - 1);
    tiles_j = (width + tj - 1) / tj;
    const int end = g.nz - halo, tiles_k = (end - halo + tk - 1) / tk;
    at.assign(std::size_t(tiles_j) * tiles_k, -1);
    struct Keyed {
        int key;
        Tile tile;
        int place;
    };
    std::vector<Keyed> found;
    for (int K = 0; K < tiles_k; ++K)
        for (int J = 0; J < tiles_j; ++J) {
            Tile tile{J * tj, halo + K * tk, std::numeric_limits<int>::max(), -1};
            for (int k = tile.k; k < std::min(end, tile.k + tk); ++k) {
                const int first = std::max(0, tile.j - skew * k), last = std::min(g.ny, tile.j + tj - skew * k) - 1;
                if (first > last) continue;
                tile.first = std::min(tile.first, levels.level({0, first, k}));
                tile.last = std::max(tile.last, levels.level({g.nx - 1, last, k}));
            }
            if (tile.last < 0) continue;
            const int key = levels.y * tile.j + (levels.z - levels.y * skew) * tile.k;
            found.push_back({key, tile, K * tiles_j + J});
        }
    // A tile depends on tiles of smaller or equal J and K. These have smaller keys, or equal keys and earlier places.
    std::stable_sort(found.begin(), found.end(), [](auto& a, auto& b) { return a.key < b.key; });
    for (const Keyed& one : found) {
        at[one.place] = int(tiles.size());
        tiles.push_back(one.tile);
    }
}

DeviceTiles::DeviceTiles(const Context& context, const Tiles& host)
    : tiles(copied_to(context, "preconditioner: tiles", host.tiles)),
      at(copied_to(context, "preconditioner: tiles", host.at)) {}

int consumer_threads(int cells, int point_threads) {
    const int warp_cells = 32 / point_threads;
    return (cells + warp_cells - 1) / warp_cells * 32;
}

double points_a_level(const IluPattern& system) {
    constexpr double multiprocessors = 132;
    return double(system.layout.slots()) / system.layout.level_count() / multiprocessors;
}

rtc::Definitions line_definitions(const IluPattern& system, const Geometry& g, TileShape tile, int entries,
                                  bool upper) {
    const auto n = [](Index value) { return std::to_string(value); };
    const auto some = [&](const std::vector<int>& values) {
        return rtc::array_of({values.begin(), values.begin() + entries});
    };
    return {{"DOF", n(system.dof)},
            {"LOWER", n(g.lower)},
            {"OFFSET_X", some(g.x)},
            {"OFFSET_Y", some(g.y)},
            {"OFFSET_Z", some(g.z)},
            {"B", n(system.layout.levels().y)},
            {"C", n(system.layout.levels().z)},
            {"SKEW", n(g.skew)},
            {"TJ", n(tile.j)},
            {"TK", n(tile.k)},
            {"HALO_PLANES", n(system.halo)},
            {"UPPER", n(upper)},
            {"NATURAL", n(system.layout.kind() == LayoutKind::natural)}};
}

}  // namespace hyperplane::wavefront_cuda
