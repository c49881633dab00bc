// SPDX-License-Identifier: BSD-3-Clause
#include "precond/triangular/wavefront/solve_shape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"

namespace hyperplane::wavefront_cuda {
namespace {

constexpr Index shared_limit = 220 * 1024, more_than_half = 114 * 1024;  // of a multiprocessor

/// Whether levels are i + j + k, those of stencils along the axes (star7, star13): fewer and larger than any others.
bool has_large_levels(const IluPattern& system) {
    return system.stencil.level_map().z == 1;
}

/// Whether terms of older levels are summed in groups of their own. With one unknown in double precision, five groups
/// (diamond25, box27) leave threads for small tiles only: without groups a solve takes 5 to 20 % less, from 48 to 336
/// points a side (docs/log/struct_ilu_solve.md).
bool groups_pay(const IluPattern& system, int count) {
    return system.dof > 1 || is_reduced(system.storage) || count <= 4;
}

/// Bytes of shared memory that precond/triangular/wavefront/tile_memory.cuh, points.cuh and blocks.cuh use. With
/// `vectors` more vectors there may be a second ring, too.
Index solve_shared(const IluPattern& system, const Geometry& g, int groups, TileShape tile, int stages, int vectors,
                   int levels) {
    const int dof = system.dof;
    const bool reduced = is_reduced(system.storage), halves = system.storage == FactorStorage::half_scaled;
    const Index ring = (Index(levels) * dof * (tile.j + g.halo_j) * (tile.k + g.halo_k) + 1) / 2 * 2;
    const Index threads = consumer_threads(tile.cells(), dof);
    const Index before = ring * (vectors > 0 ? 2 : 1) + 2 * (groups - 1) * threads;
    const Index exponents = halves ? 4 * groups * threads : 0;  // bytes of a stage
    if (dof == 1)
        return 8 * before + stages * (exponents + threads * ((reduced ? 4 : 8) * (g.lower + 1) + 8 * (1 + vectors)));
    const Index block = dof * dof, run = system.layout.kind() == LayoutKind::natural ? 1 : tile.j;
    const Index value = bytes_of(system.storage), per_copy = 16 / value;
    const Index chunk = block % per_copy ? (run * block + 2 * per_copy - 2) / per_copy * per_copy : run * block;
    return 8 * before + stages * (exponents + 8 * (threads + 1) + (g.lower + 1) * tile.cells() / run * chunk * value);
}

/// Whether one thread can sum several groups of terms, with the bits of threads that sum one each.
bool one_may_sum(const IluPattern& system) {
    return system.dof == 1 && !is_reduced(system.storage);
}

/// Whether one thread does, at the level itself. It is the default where levels have few points and a row has few older
/// terms (diamond13), from about 310 points a side on: a tile of 32 x 8 lines alone on its multiprocessor takes less
/// time then than with threads that sum ahead, or rows that do not synchronise (docs/log/struct_ilu_solve.md).
bool one_sums(const IluPattern& system, const StructIluTuning& tuning, int groups) {
    if (groups == 1 || !one_may_sum(system)) return false;
    if (tuning.pipelined >= 0) return tuning.pipelined == 0;
    return tuning.rows <= 0 && groups <= 3 && system.halo == 0 && !has_large_levels(system) &&
           points_a_level(system) > 120.0;
}

/// Records of edges that a lane loads at a time where warps of a tile do not synchronise at every level (rows.cuh);
/// 0 where they do. By default they do not with one unknown in double precision and the stencils whose levels have few
/// points and older terms (diamond13, diamond25, box27): such levels are paced by the copies of their coefficients,
/// which run beside other warps' sums here (docs/log/struct_ilu_solve.md).
int rows_of(const IluPattern& system, const Geometry& g, const StructIluTuning& tuning, int vectors) {
    constexpr int at_once = 4;
    const bool possible = system.dof == 1 && !is_reduced(system.storage) && system.halo == 0 && vectors == 0 &&
                          !tuning.edges_wait && g.halo_k <= 3 && g.halo_j * (g.halo_k + 1) <= 20;
    const bool other_tuning = tuning.pipelined >= 0 || tuning.lookahead > 0 || tuning.producer_groups >= 0 ||
                              tuning.producer_lines > 0 || (tuning.stages >= 0 && tuning.stages < 3);
    if (!possible || tuning.rows == 0) return 0;
    if (tuning.rows > 0) return tuning.rows;
    return !other_tuning && !has_large_levels(system) && Groups(system, g, 1).count() > 1 ? at_once : 0;
}

/// Levels in the ring of such a tile, which allow a row to be some levels ahead of those that read it.
int ring_of_rows(const Geometry& g) {
    constexpr int ahead = 6;
    int levels = g.ring;
    while (levels < g.max_level + ahead) levels *= 2;
    return levels;
}

/// Whether a tile of 32 x 8 lines is better alone on its multiprocessor than beside another one: of two, one polls for
/// what the other computes. That holds until levels have points for twice as many lines, in one tile.
bool is_alone(const IluPattern& system, int groups) {
    return groups == 1 && has_large_levels(system) && !is_reduced(system.storage) && !system.of_rank &&
           points_a_level(system) <= 200.0;
}

/// Tiles as large as possible, because then fewer values pass between tiles, as long as there are about as many of them
/// as multiprocessors (docs/log/struct_ilu_solve.md).
TileShape tile_of_points(const IluPattern& system, int groups) {
    const bool large = points_a_level(system) > 150.0;
    if (groups > 4) return {32, 4};
    if (groups > 2) return {32, 5};
    if (groups == 2) return {32, !has_large_levels(system) && large ? 10 : 8};
    return {32, large && !is_alone(system, groups) ? 16 : 8};
}

/// Where warps do not synchronise, a tile with few rows has short levels, which counts on small grids and with many
/// terms. The first-level cache, through which coefficients are copied, needs some memory beside the stages.
TileShape tile_of_rows(const IluPattern& system, const Geometry& g) {
    const bool few_terms = Groups(system, g, 1).count() <= 3;
    return {32, few_terms && points_a_level(system) > 10.0 ? 8 : 4};
}
int stages_of_rows(TileShape tile) {
    return tile.k > 4 ? 6 : 8;
}

/// A tile has as many points as are needed for copies in flight to use a multiprocessor's share of the memory
/// bandwidth, but not more than an average level has for each multiprocessor. In reduced precision it has more points,
/// and is longer along J.
TileShape tile_of_blocks(const IluPattern& system, const Geometry& g) {
    const int dof = system.dof;
    const bool more = is_reduced(system.storage) && g.lower <= 3 && dof > 2;
    const int values = more                       ? (dof <= 4 ? 128 * dof : 256)
                       : g.lower > 6              ? 64
                       : dof > 4 && g.lower > 3   ? 80
                       : dof == 2 && g.lower <= 3 ? 384
                                                  : 128;
    const int cells =
        int(std::clamp(1.34 * points_a_level(system), std::min(8.0, double(values) / dof), double(values) / dof));
    // Tiles of 32 lines of box27 are one row of them until levels have many points (docs/log/struct_ilu_solve.md).
    const bool row = g.lower > 12 && cells == 32 && points_a_level(system) <= 60.0 && !is_reduced(system.storage);
    const int wide = more       ? (dof <= 4 ? 32 : std::max(1, 64 / dof))
                     : dof == 2 ? (g.lower <= 3 || row ? 32 : 16)
                     : dof <= 4 ? 8
                                : std::max(1, 32 / dof);
    TileShape tile{std::min(wide, std::max(1, cells)), 1};
    tile.k = std::max(1, (cells + (more ? tile.j / 2 : 0)) / tile.j);
    return tile;
}

/// Number of sets of threads that poll edges: four for diamond13 with one unknown and for a tile that is alone, two for
/// other stencils with one unknown and where levels have many points. Otherwise one, since more sets would take shared
/// memory or, with three and four unknowns, registers (docs/log/struct_ilu_solve.md).
int lookahead_of(const IluPattern& system, int groups, bool alone) {
    const bool flat = has_large_levels(system);
    if (system.dof == 1) return alone || (groups == 2 && !flat) ? 4 : 2;
    return flat && (system.dof <= 2 || system.dof > 4) ? 2 : 1;
}

/// Number of neighbouring lines whose values one 16-byte copy can copy together, if slots are aligned to that. In
/// double precision this gains where copies pace a level, and nothing where levels have so many points that the memory
/// does (docs/log/struct_ilu_solve.md).
int run_of_points(const IluPattern& system, const Geometry& g, TileShape tile, int groups, int wanted) {
    if (system.layout.kind() == LayoutKind::natural || system.storage == FactorStorage::half_scaled) return 1;
    const bool single = system.storage == FactorStorage::single_precision;
    const bool paced = !system.of_rank && points_a_level(system) < (groups == 1 ? 500.0 : 150.0);  // not timed on ranks
    const int run = single ? 4 : wanted > 0 ? wanted : paced ? 2 : 1;
    const bool whole = tile.j % run == 0 && g.skew % run == 0 && system.layout.grid().ny % run == 0;
    return whole ? run : 1;
}

/// Levels of single values in shared memory. Steps of Eisenstat's form copy twice as many bytes a level: large tiles
/// have enough of them in flight with four, and more or fewer take longer (docs/log/struct_ilu_solve.md).
int stages_of_points(int groups, bool flat, TileShape tile, int vectors) {
    if (groups > 2) return 3;
    return flat && (vectors == 0 || tile.cells() <= 256) ? 6 : 4;
}

/// Levels of blocks in shared memory: in double precision as many as six where an average level has some points for
/// each multiprocessor. Solves take up to 9 % less than with three, those of star13 with two unknowns on 96^3 points a
/// fifth; where there are few points they take 8 % more. With up to three unknowns two thread blocks must stay resident
/// and star7 has four levels; four unknowns gain nothing (docs/log/struct_ilu_solve.md).
template <class SharedOf>
int stages_of_blocks(const IluPattern& system, const Geometry& g, const SharedOf& shared_of) {
    constexpr int few = 3;
    constexpr Index room_of_two = 226 * 1024;
    const int dof = system.dof;
    if (is_reduced(system.storage) || dof == 4 || points_a_level(system) <= 8.0) return few;
    int stages = dof == 3 && g.lower <= 3 ? 4 : 6;
    while (stages > few && dof <= 3 && 2 * (shared_of(stages) + 1024) > room_of_two) --stages;
    return stages;
}

}  // namespace

Groups::Groups(const IluPattern& system, const Geometry& g, int pipelined) {
    sort(g, (pipelined != 0 || one_may_sum(system)) && !system.shares);
    if (pipelined <= 0 && !groups_pay(system, count())) sort(g, false);
}

void Groups::sort(const Geometry& g, bool ahead) {
    std::vector<int> older;
    terms.clear();
    for (int m = 0; m < g.lower; ++m) (g.level[m] == -1 || !ahead ? terms : older).push_back(m);
    const int newest = int(terms.size());
    begin = {0, newest};
    if (older.empty()) return;
    const int wanted = std::max(newest, 3);
    const int groups = std::min(4, (int(older.size()) + wanted - 1) / wanted);
    for (int group = 0, taken = 0; group < groups; ++group) {
        const int upto = int(older.size()) * (group + 1) / groups;
        for (; taken < upto; ++taken) terms.push_back(older[taken]);
        begin.push_back(int(terms.size()));
    }
}

SolveShape::SolveShape(const IluPattern& system, const Geometry& g, const StructIluTuning& tuning, int vectors)
    : tile{tuning.tile_j, tuning.tile_k} {
    const int dof = system.dof;
    const bool flat = has_large_levels(system);
    groups = Groups(system, g, tuning.pipelined).count();
    const bool by_one = one_sums(system, tuning, groups), small = by_one && !flat;
    if (by_one) groups = 1;
    ring = g.ring;
    rows = by_one ? 0 : rows_of(system, g, tuning, vectors);
    if (tuning.tile_j == 0)
        tile = rows > 0   ? tile_of_rows(system, g)
               : small    ? TileShape{32, 8}
               : dof == 1 ? tile_of_points(system, groups)
                          : tile_of_blocks(system, g);
    constexpr int fewest_of_rows = 3;
    if (rows > 0 &&
        (tile.j != 32 || solve_shared(system, g, 1, tile, fewest_of_rows, 0, ring_of_rows(g)) > shared_limit)) {
        rows = 0;
        if (tuning.tile_j == 0) tile = tile_of_points(system, groups);
    }
    if (rows > 0) groups = 1, ring = ring_of_rows(g);
    while (groups * wavefront_cuda::consumer_threads(tile.cells(), dof) > (dof == 1 ? 768 : 640) ||
           solve_shared(system, g, groups, tile, 0, vectors, ring) > shared_limit) {
        if (tile.cells() == 1)
            throw UsageError(
                fmt::format("struct_ilu: {} unknowns a point on {} need more shared memory than a GPU has; use a lower "
                            "fill_level or device.backend = cpu",
                            dof, system.stencil.name()));
        tile.halve();
    }
    const auto shared_of = [&](int levels) { return solve_shared(system, g, groups, tile, levels, vectors, ring); };
    stages = tuning.stages >= 0 ? tuning.stages
             : dof > 1          ? stages_of_blocks(system, g, shared_of)
             : rows > 0         ? stages_of_rows(tile)
                                : stages_of_points(groups, flat || small, tile, vectors);
    // Older terms are summed a level ahead, or values are loaded a level ahead, and a third level is being copied.
    const int fewest = dof > 1 || rows > 0 ? fewest_of_rows : 1;
    while (stages > 0 && (stages < fewest || shared_of(stages) > shared_limit))
        stages = stages > fewest ? stages - 1 : 0;
    const int records = (g.halo_j * tile.k + g.halo_k * (tile.j + g.halo_j)) * dof;
    halo_threads = std::min(256, (records + 31) / 32 * 32);
    if (rows > 0) halo_threads = 32 * g.halo_k + ((tile.k + g.halo_k) * g.halo_j + 31) / 32 * 32;
    const bool alone = dof == 1 && rows == 0 && (vectors > 0 ? tile.cells() <= 256 : small || is_alone(system, groups));
    lookahead = rows > 0 ? 1 : tuning.lookahead > 0 ? tuning.lookahead : lookahead_of(system, groups, alone);
    shared = shared_of(stages);
    consumer_threads = wavefront_cuda::consumer_threads(tile.cells(), dof);
    while (lookahead > 1 && groups * consumer_threads + lookahead * halo_threads + 32 > 1024) lookahead /= 2;
    // One producer warp copies blocks in bulk; single values are copied by whole groups of producer warps or by the
    // consumer threads.
    producer_threads = dof > 1    ? (stages > 0 ? 32 : 0)
                       : rows > 0 ? 0
                                  : consumer_threads * (tuning.producer_groups >= 0 ? tuning.producer_groups
                                                        : groups > 2                ? 0
                                                                                    : 1);
    if (dof == 1 && producer_threads > 0) {
        run = vectors > 0 ? 1 : run_of_points(system, g, tile, groups, tuning.run);
        producer_lines = tuning.producer_lines > 0 ? std::max(tuning.producer_lines, run) : run;
        if (run == 1 && threads() > 1024) producer_lines = 2;
        if (consumer_threads % (32 * producer_lines) == 0)
            producer_threads /= producer_lines;
        else
            producer_lines = run = 1;
        if (stages < 2 || threads() > 1024) producer_threads = 0, producer_lines = run = 1;
    }
    // Two resident thread blocks if they fit without register spills. More would spend most of the time waiting for
    // each other.
    const int registers = rows > 0 ? 96 : vectors > 0 ? 56 : dof == 1 ? 40 : dof <= 4 ? 72 : 128;
    const Index fit = std::min<Index>(226 * 1024 / (shared + 1024), 65536 / (registers * threads()));
    blocks =
        tuning.blocks > 0 ? tuning.blocks : int(std::clamp<Index>(fit, 1, alone || (dof == 1 && groups > 2) ? 1 : 2));
    // A kernel may take so few registers that two blocks would be resident, and wait for each other.
    if (blocks == 1 && (vectors > 0 || alone || tuning.blocks == 1)) shared = std::max(shared, more_than_half);
}

int SolveShape::edge_records(const Geometry& g, int dof) const {
    return (std::min(g.halo_j, tile.j) * tile.k + std::min(g.halo_k, tile.k) * tile.j) * dof;
}

}  // namespace hyperplane::wavefront_cuda
