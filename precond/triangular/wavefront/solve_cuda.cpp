// SPDX-License-Identifier: BSD-3-Clause
#include "precond/triangular/wavefront/solve_cuda.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/grid/grid_point.hpp"
#include "precond/kernel_set.hpp"

namespace hyperplane {
namespace wavefront_cuda {
namespace {

/// The terms of a row, sorted into groups. Group 0 has the newest ones, of level l - 1; the older ones are distributed
/// evenly to groups of about that size (StructILU paper, table 2), or belong to group 0, too.
struct Groups {
    std::vector<int> terms, begin{0};

    Groups(const IluPattern& system, const Geometry& g, int pipelined) {
        sort(g, pipelined != 0 && !system.shares);
        if (pipelined < 0 && !pays(system)) sort(g, false);
    }
    int count() const { return int(begin.size()) - 1; }

private:
    void sort(const Geometry& g, bool ahead) {
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
    /// With one unknown in double precision, five groups (diamond25, box27) leave threads for small tiles only: without
    /// groups a solve takes 5 to 20 % less, from 48 to 336 points a side (docs/log/struct_ilu_solve.md).
    bool pays(const IluPattern& system) const { return system.dof > 1 || is_reduced(system.storage) || count() <= 4; }
};

constexpr Index shared_limit = 220 * 1024, more_than_half = 114 * 1024;  // of a multiprocessor

constexpr int eisenstat_vectors = 3;  ///< s, p, and y or A's diagonal

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

/// Records of edges that a lane loads at a time where warps of a tile do not meet at every level (rows.cuh); 0 where
/// they meet. By default they do not with one unknown in double precision and the stencils of many terms (diamond25,
/// box27), whose levels are paced by the copies of their coefficients (docs/log/struct_ilu_solve.md).
int rows_of(const IluPattern& system, const Geometry& g, const StructIluTuning& tuning, int vectors) {
    constexpr int at_once = 4;
    const bool possible = system.dof == 1 && !is_reduced(system.storage) && system.halo == 0 && vectors == 0 &&
                          !tuning.edges_meet && g.halo_k <= 3 && g.halo_j * (g.halo_k + 1) <= 20;
    const bool other_tuning = tuning.pipelined >= 0 || tuning.lookahead > 0 || tuning.loaders >= 0 ||
                              tuning.loader_lines > 0 || (tuning.stages >= 0 && tuning.stages < 3);
    if (!possible || tuning.rows == 0) return 0;
    if (tuning.rows > 0) return tuning.rows;
    return !other_tuning && Groups(system, g, 1).count() > 3 ? at_once : 0;
}

/// Levels in the ring of such a tile, which allow a row to be some levels ahead of those that read it.
int ring_of_rows(const Geometry& g) {
    constexpr int ahead = 6;
    int levels = g.ring;
    while (levels < g.max_level + ahead) levels *= 2;
    return levels;
}

enum class Kind { solve, solve_and_dot, step_of_eisenstat, solve_in_single };

rtc::Definitions definitions(const IluPattern& system, const Geometry& g, const SolveShape& shape, bool upper,
                             Kind kind, const StructIluTuning& tuning) {
    rtc::Definitions all = line_definitions(system, g, shape.tile, g.lower, upper);
    const bool wraps = system.layout.grid().any_periodic() && system.shares;
    all["UNROLLED"] = "1";
    all["OFFSET_LEVEL"] = rtc::array_of({g.level.begin(), g.level.begin() + g.lower});
    all["HALO_J"] = std::to_string(g.halo_j);
    all["HALO_K"] = std::to_string(g.halo_k);
    all["RING"] = std::to_string(shape.ring);
    all["MAX_LEVEL"] = std::to_string(g.max_level);
    all["STAGES"] = std::to_string(shape.stages);
    all["MIRRORED"] = system.symmetric ? "1" : "0";
    all["SKIP_OUTSIDE"] = wraps ? "1" : "0";
    all["DOT"] = kind == Kind::solve_and_dot ? "1" : "0";
    all["EISENSTAT"] = kind == Kind::step_of_eisenstat ? "1" : "0";
    all["PRODUCER_GROUPS"] = std::to_string(shape.producer_threads * shape.producer_lines / shape.consumer_threads);
    all["PRODUCER_LINES"] = std::to_string(shape.producer_lines);
    all["RUN"] = std::to_string(shape.run);
    all["HALO_THREADS"] = std::to_string(shape.halo_threads);
    all["LOOKAHEAD"] = std::to_string(shape.lookahead);
    all["EDGES_WAIT"] = std::to_string(tuning.edges_meet);
    const Groups groups(system, g, tuning.pipelined);
    all["BLOCKS"] = std::to_string(shape.blocks);
    all["GROUPS"] = std::to_string(shape.groups);
    all["TERMS"] = rtc::array_of(groups.terms);
    all["GROUP_BEGIN"] = rtc::array_of(shape.rows > 0 ? std::vector<int>{0, g.lower} : groups.begin);
    all["ROWS"] = std::to_string(shape.rows);
    all["SUMS"] = std::to_string(groups.count());
    all["SUM_BEGIN"] = rtc::array_of(groups.begin);
    all["DILU"] = system.shares ? "1" : "0";
    all["STORAGE"] = std::to_string(int(system.storage));
    all["REAL"] = kind == Kind::solve_in_single ? "float" : "double";
    return all;
}

rtc::Source source() {
    return {rtc::precond_texts(), "precond/triangular/wavefront/solve.cuh"};
}

/// Tiles as large as possible, because then fewer values pass between tiles, as long as there are about as many of them
/// as multiprocessors (docs/log/struct_ilu_solve.md).
TileShape tile_of_points(const IluPattern& system, int groups) {
    const bool large = points_a_level(system) > 150.0;
    if (groups > 4) return {32, 4};
    if (groups > 2) return {32, 5};
    if (groups == 2) return {32, system.stencil.level_map().z > 1 && large ? 10 : 8};
    return {32, large ? 16 : 8};
}

/// Where warps do not meet, a tile with few rows has short levels, and the first-level cache, through which
/// coefficients are copied, keeps some memory beside its stages.
constexpr TileShape tile_of_rows{32, 4};

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
    const int wide = more       ? (dof <= 4 ? 32 : std::max(1, 64 / dof))
                     : dof == 2 ? (g.lower > 3 ? 16 : 32)
                     : dof <= 4 ? 8
                                : std::max(1, 32 / dof);
    TileShape tile{std::min(wide, std::max(1, cells)), 1};
    tile.k = std::max(1, (cells + (more ? tile.j / 2 : 0)) / tile.j);
    return tile;
}

/// Number of sets of threads that poll edges: four for diamond13 with one unknown, two for other stencils with one
/// unknown and where levels have many points. Otherwise one, since more sets would take shared memory or, with three
/// and four unknowns, registers (docs/log/struct_ilu_solve.md).
int lookahead_of(const IluPattern& system, int groups) {
    const bool flat = system.stencil.level_map().z == 1;
    if (system.dof == 1) return groups == 2 && !flat ? 4 : 2;
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

/// Steps of Eisenstat's form, and the solves beside them, have large tiles later than other solves: at 256^3 a step
/// took 1.79 ms with tiles of 32 x 16 lines and 1.55 with 32 x 8, on an H100 (docs/log/struct_ilu_solve.md).
StructIluTuning with_tiles(const IluPattern& system, StructIluTuning tuning, bool eisenstat) {
    if (eisenstat && tuning.tile_j == 0) tuning.tile_j = 32, tuning.tile_k = points_a_level(system) > 256.0 ? 16 : 8;
    return tuning;
}

/// The shape of steps of Eisenstat's form. Their tiles are those of the solves, whose edges they use: three vectors
/// more take stages of copies, not lines, since tiles of one unknown are far from filling shared memory without stages.
SolveShape step_shape(const IluPattern& system, const Geometry& g, const StructIluTuning& tuning, bool eisenstat) {
    return {system, g, tuning, eisenstat ? eisenstat_vectors : 0};
}

/// Levels of single values in shared memory. Steps of Eisenstat's form copy twice as many bytes a level: large tiles
/// have enough of them in flight with four, and more or fewer take longer (docs/log/struct_ilu_solve.md).
int stages_of_points(int groups, bool flat, TileShape tile, int vectors) {
    if (groups > 2) return 3;
    return flat && (vectors == 0 || tile.cells() <= 256) ? 6 : 4;
}

}  // namespace

bool computes_dot(const IluPattern& system) {
    return system.symmetric && !system.of_rank && system.layout.kind() == LayoutKind::hyperplane;
}

SolveShape::SolveShape(const IluPattern& system, const Geometry& g, const StructIluTuning& tuning, int vectors)
    : tile{tuning.tile_j, tuning.tile_k} {
    const int dof = system.dof;
    groups = Groups(system, g, tuning.pipelined).count();
    ring = g.ring;
    rows = rows_of(system, g, tuning, vectors);
    if (tuning.tile_j == 0)
        tile = rows > 0 ? tile_of_rows : dof == 1 ? tile_of_points(system, groups) : tile_of_blocks(system, g);
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
    const bool flat = system.stencil.level_map().z == 1;  // levels have many points
    stages = tuning.stages >= 0 ? tuning.stages
             : dof > 1          ? 3
             : rows > 0         ? 8
                                : stages_of_points(groups, flat, tile, vectors);
    // Older terms are summed a level ahead, or values are loaded a level ahead, and a third level is being copied.
    const int fewest = dof > 1 || rows > 0 ? fewest_of_rows : 1;
    while (stages > 0 &&
           (stages < fewest || solve_shared(system, g, groups, tile, stages, vectors, ring) > shared_limit))
        stages = stages > fewest ? stages - 1 : 0;
    const int records = (g.halo_j * tile.k + g.halo_k * (tile.j + g.halo_j)) * dof;
    halo_threads = std::min(256, (records + 31) / 32 * 32);
    if (rows > 0) halo_threads = 32 * g.halo_k + ((tile.k + g.halo_k) * g.halo_j + 31) / 32 * 32;
    lookahead = rows > 0 ? 1 : tuning.lookahead > 0 ? tuning.lookahead : lookahead_of(system, groups);
    shared = solve_shared(system, g, groups, tile, stages, vectors, ring);
    consumer_threads = wavefront_cuda::consumer_threads(tile.cells(), dof);
    while (lookahead > 1 && groups * consumer_threads + lookahead * halo_threads + 32 > 1024) lookahead /= 2;
    // One producer warp copies blocks in bulk; single values are copied by whole groups of producer warps or by the
    // consumer threads.
    producer_threads = dof > 1    ? (stages > 0 ? 32 : 0)
                       : rows > 0 ? 0
                                  : consumer_threads * (tuning.loaders >= 0 ? tuning.loaders
                                                        : groups > 2        ? 0
                                                                            : 1);
    if (dof == 1 && producer_threads > 0) {
        run = vectors > 0 ? 1 : run_of_points(system, g, tile, groups, tuning.run);
        producer_lines = tuning.loader_lines > 0 ? std::max(tuning.loader_lines, run) : run;
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
    blocks = tuning.blocks > 0 ? tuning.blocks : int(std::clamp<Index>(fit, 1, dof == 1 && groups > 2 ? 1 : 2));
    // A step of Eisenstat's form may take so few registers that two blocks would be resident, and wait for each other.
    if (vectors > 0 && blocks == 1) shared = std::max(shared, more_than_half);
}

int SolveShape::edge_records(const Geometry& g, int dof) const {
    return (std::min(g.halo_j, tile.j) * tile.k + std::min(g.halo_k, tile.k) * tile.j) * dof;
}

Solves::Solves(const Context& context, const IluPattern& system, const Geometry& g, const StructIluTuning& tuning,
               bool eisenstat)
    : context_(context),
      system_(system),
      geometry_(g),
      tuning_(with_tiles(system, tuning, eisenstat)),
      shape_(system, g, tuning_),
      step_shape_(step_shape(system, g, tuning_, eisenstat)),
      tiles_(system.layout, g.skew, shape_.tile, system.halo),
      device_tiles_(context, tiles_),
      edges_(context, "preconditioner: edges",
             tiles_.count() * system.layout.grid().nx * shape_.edge_records(g, system.dof)),
      state_(copied_to(context, "preconditioner: tiles", std::vector<SolveState>{{0, 0, 1}})),
      partial_(context, "preconditioner: tiles", tiles_.count() * (eisenstat ? eisenstat_sums : 1)) {
    const auto loaded = [&](const SolveShape& shape, bool upper, Kind kind) {
        return load(shape, definitions(system, g, shape, upper, kind, tuning));
    };
    lower_ = loaded(shape_, false, Kind::solve);
    upper_ = loaded(shape_, true, Kind::solve);
    if (computes_dot(system)) dotting_ = loaded(shape_, !system.shares, Kind::solve_and_dot);
    if (eisenstat) {
        lower_step_ = loaded(step_shape_, false, Kind::step_of_eisenstat);
        upper_step_ = loaded(step_shape_, true, Kind::step_of_eisenstat);
    }
    if (system.halo > 0) between_ranks_ = std::make_unique<EdgesBetweenRanks>(context, system);
}

Solves::Kernel Solves::load(const SolveShape& shape, const rtc::Definitions& definitions) const {
    const Kernel kernel(context_, source(), definitions, "struct_ilu_solve");
    kernel.allow_shared(shape.shared);
    return kernel;
}

FactorAddresses addresses_of(const IluFactors& factors) {
    const Index slots = factors.matrix().layout().slots(), dof = factors.matrix().dof();
    const Index distance = factors.matrix().layout().slots_in_memory();
    if (const ReducedFactors* reduced = factors.reduced())
        return {
            reduced->values<float>().values, factors.inverse_address(), reduced->entry_stride() / (dof * dof), distance,
            reduced->of_lower().values,      reduced->of_upper().values};
    return {factors.triangles().values(0), factors.inverse_address(),
            factors.pattern().shares ? factors.matrix().stride() : slots, distance};
}

FactorAddresses addresses_of(const ScaledTriangle& scaled) {
    return {scaled.entries(), scaled.pivots(), scaled.slots(), scaled.slots()};
}

void Solves::lower(const FactorAddresses& f, const double* in, double* out, double* dot) {
    launch(dot && system_.shares ? dotting_ : lower_, shape_, false, f, in, out, dot);
}

void Solves::upper(const FactorAddresses& f, const double* in, double* out, double* dot) {
    launch(dot && !system_.shares ? dotting_ : upper_, shape_, true, f, in, out, dot);
}

void Solves::lower(const FactorAddresses& f, const float* in, float* out) {
    if (!lower_single_)
        lower_single_ = load(shape_, definitions(system_, geometry_, shape_, false, Kind::solve_in_single, tuning_));
    launch(lower_single_, shape_, false, f, in, out, nullptr);
}

void Solves::upper(const FactorAddresses& f, float* z) {
    if (!upper_single_)
        upper_single_ = load(shape_, definitions(system_, geometry_, shape_, true, Kind::solve_in_single, tuning_));
    launch(upper_single_, shape_, true, f, z, z, nullptr);
}

void Solves::upper_step(const ScaledTriangle& scaled, const double* before, const EisenstatBounds& bounds,
                        const EisenstatVectors& v) {
    launch(upper_step_, step_shape_, true, addresses_of(scaled), v.w.data(), v.u.data(), nullptr,
           {v.s.data(), v.p.data(), v.y.data(), nullptr, before, bounds});
}

void Solves::lower_step(const ScaledTriangle& scaled, const EisenstatVectors& v, double* sums) {
    launch(lower_step_, step_shape_, false, addresses_of(scaled), v.u.data(), v.w.data(), sums,
           {v.s.data(), v.p.data(), v.y.data(), scaled.diagonal(), nullptr, {}});
}

void Solves::launch(const Kernel& kernel, const SolveShape& shape, bool upper, const FactorAddresses& f, const void* in,
                    void* out, double* dot, const EisenstatArguments& eisenstat) {
    const Grid& g = system_.layout.grid();
    Arguments arguments{.triangles = f.triangles,
                        .inverse = f.inverse,
                        .in = static_cast<const double*>(in),
                        .out = static_cast<double*>(out),
                        .tiles = device_tiles_.tiles.data(),
                        .tile_at = device_tiles_.at.data(),
                        .edges = edges_.data(),
                        .before = nullptr,
                        .after = nullptr,
                        .state = state_.data(),
                        .partial = partial_.data(),
                        .dot = dot,
                        .nx = g.nx,
                        .ny = g.ny,
                        .nz = g.nz,
                        .tiles_j = tiles_.tiles_j,
                        .tile_count = int(tiles_.count()),
                        .slots = int(system_.layout.slots()),
                        .triangle_stride = int(f.stride),
                        .distance = int(f.distance),
                        .exponents = upper ? f.of_upper : f.of_lower,
                        .eisenstat = eisenstat,
                        .shift = {}};
    std::vector<Int3> offsets;
    for (int m = 0; m < system_.stencil.lower_size(); ++m)
        offsets.push_back(upper ? -system_.stencil[m] : system_.stencil[m]);
    slot_deltas(system_.layout, offsets, arguments.shift);
    const auto queue = [&](const Edge* before, Edge* after) {
        arguments.before = before;
        arguments.after = after;
        kernel.launch({unsigned(tiles_.count())}, unsigned(shape.threads()), shape.shared, arguments);
    };
    if (between_ranks_)
        between_ranks_->solve(upper, queue);
    else
        queue(nullptr, nullptr);
}

Index Solves::bytes(const IluPattern& system, const Geometry& g, const StructIluTuning& tuning, bool eisenstat) {
    const SolveShape shape(system, g, with_tiles(system, tuning, eisenstat));
    const Tiles tiles(system.layout, g.skew, shape.tile, system.halo);
    const Index edges = system.layout.grid().nx * shape.edge_records(g, system.dof);
    const Index sums = eisenstat ? eisenstat_sums : 1;
    return tiles.bytes() + tiles.count() * (edges * Index(sizeof(Edge)) + sums * Index(sizeof(double))) +
           Index(sizeof(SolveState)) + EdgesBetweenRanks::bytes(system);
}

rtc::Programs Solves::programs(const IluPattern& system, const Geometry& g, const StructIluTuning& tuning,
                               bool eisenstat) {
    const auto program = [&](const char* title, const SolveShape& shape, bool upper, Kind kind) {
        return rtc::Program{source(), definitions(system, g, shape, upper, kind, tuning), title};
    };
    const StructIluTuning tuned = with_tiles(system, tuning, eisenstat);
    const SolveShape shape(system, g, tuned);
    rtc::Programs all{program("lower", shape, false, Kind::solve), program("upper", shape, true, Kind::solve)};
    if (computes_dot(system)) all.push_back(program("r^T z", shape, !system.shares, Kind::solve_and_dot));
    if (eisenstat) {
        const SolveShape step = step_shape(system, g, tuned, true);
        all.push_back(program("lower step of Eisenstat's form", step, false, Kind::step_of_eisenstat));
        all.push_back(program("upper step of Eisenstat's form", step, true, Kind::step_of_eisenstat));
    }
    return all;
}

rtc::Programs Solves::single_programs(const IluPattern& system, const Geometry& g, const StructIluTuning& tuning) {
    const SolveShape shape(system, g, tuning);
    const auto program = [&](const char* title, bool upper) {
        return rtc::Program{source(), definitions(system, g, shape, upper, Kind::solve_in_single, tuning), title};
    };
    return {program("lower", false), program("upper", true)};
}

std::string Solves::describe() const {
    return fmt::format("solve tiles {} x {}, {} stages, {} x {} + {} + {} x {} threads, runs of {}, {} KiB, {} blocks",
                       shape_.tile.j, shape_.tile.k, shape_.stages, shape_.groups, shape_.consumer_threads,
                       shape_.producer_threads, shape_.lookahead, shape_.halo_threads, shape_.run, shape_.shared / 1024,
                       shape_.blocks);
}

}  // namespace wavefront_cuda
}  // namespace hyperplane
