#include "precond/struct_ilu_cuda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "core/error.hpp"

namespace hyperplane {
namespace rtc {
extern const KernelText struct_ilu_solve_cuh, struct_ilu_factor_cuh, struct_ilu_factor_blocks_cuh,
    struct_ilu_factor_rows_cuh, struct_ilu_factor_kernel_cuh;
}

namespace {

/// Numbers both kernels are specialised on.
struct Geometry {
    int lower, skew, halo_j = 0, halo_k = 0, max_level = 0, ring = 1;
    std::vector<int> x, y, z, level;  ///< of every entry

    explicit Geometry(const StructIluSystem& system)
        : lower(system.stencil.lower_size()), skew(system.stencil.line_skew()) {
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
};

std::vector<int> first(const std::vector<int>& values, int count) {
    return {values.begin(), values.begin() + count};
}

/// Terms of a row by group: the newest, of level l - 1, in group 0; the older ones evenly in groups of about as
/// many (StructILU paper, table 2).
struct Groups {
    std::vector<int> terms, begin{0};

    Groups(const StructIluSystem& system, const Geometry& g, bool pipelined) {
        std::vector<int> older;
        for (int m = 0; m < g.lower; ++m)
            (g.level[m] == -1 || !pipelined || system.shares ? terms : older).push_back(m);
        const int newest = int(terms.size());
        begin.push_back(newest);
        if (older.empty()) return;
        const int wanted = std::max(newest, 3);
        const int groups = std::min(4, (int(older.size()) + wanted - 1) / wanted);
        for (int group = 0, taken = 0; group < groups; ++group) {
            const int upto = int(older.size()) * (group + 1) / groups;
            for (; taken < upto; ++taken) terms.push_back(older[taken]);
            begin.push_back(int(terms.size()));
        }
    }
    int count() const { return int(begin.size()) - 1; }
};

/// A tile's shape and what of it lies in shared memory.
struct Shape {
    int tile_j, tile_k, stages, lookahead, halo_threads;
    Index shared;
    int worker_threads, groups, loaders, blocks;

    int threads() const { return (groups + loaders) * worker_threads + halo_threads; }

    int edge_records(const Geometry& g, int dof) const {
        return (std::min(g.halo_j, tile_j) * tile_k + std::min(g.halo_k, tile_k) * tile_j) * dof;
    }
};

int worker_threads(int cells, int dof) {
    const int warp_cells = 32 / dof;
    return (cells + warp_cells - 1) / warp_cells * 32;
}

constexpr Index shared_limit = 220 * 1024, factor_shared_limit = 200 * 1024;

Index solve_shared(const StructIluSystem& system, const Geometry& g, int groups, int tile_j, int tile_k, int stages) {
    const int dof = system.dof;
    const Index ring = Index(g.ring) * dof * (tile_j + g.halo_j) * (tile_k + g.halo_k);
    const Index threads = worker_threads(tile_j * tile_k, dof);
    const Index exchange = system.shares ? (dof > 1 ? 1 : 0) : 2 * (groups - 1);
    return 8 * (ring + exchange * threads + stages * threads * (g.lower * dof + dof + 2) + 2);
}

/// Points of an average level on each multiprocessor of a large GPU.
double points_a_level(const StructIluSystem& system) {
    constexpr double multiprocessors = 132;
    return double(system.layout.slots()) / system.layout.level_count() / multiprocessors;
}

void shrink(int& tile_j, int& tile_k) {
    (tile_k > 1 ? tile_k : tile_j) = (tile_k > 1 ? tile_k : tile_j) / 2;
}

Shape solve_shape(const StructIluSystem& system, const Geometry& g, const StructIluTuning& tuning) {
    const int dof = system.dof;
    const int groups = Groups(system, g, tuning.pipelined).count();
    int tile_j = tuning.tile_j, tile_k = tuning.tile_k;
    if (tile_j == 0) {
        // Large tiles where points are light: fewer edges and hops. Few points where blocks are heavy, so that
        // tiles of an average level reach all multiprocessors.
        const double most = dof == 1 ? (groups > 2 ? 128 : 256) : 256.0 / dof;
        const double wanted = dof == 1 ? most : std::clamp(1.34 * points_a_level(system), 8.0, std::max(8.0, most));
        tile_j = 32;
        while (tile_j > 8 && tile_j * 2 > wanted) tile_j /= 2;
        tile_k = 1;
        while (tile_j * tile_k * 2 <= wanted) tile_k *= 2;
    }
    while (groups * worker_threads(tile_j * tile_k, dof) > 768 ||
           solve_shared(system, g, groups, tile_j, tile_k, 0) > shared_limit) {
        if (tile_j * tile_k == 1)
            throw UsageError(
                fmt::format("struct_ilu: {} unknowns a point on {} need more shared memory than a GPU has; use a lower "
                            "fill_level or device.backend = cpu",
                            dof, system.stencil.name()));
        shrink(tile_j, tile_k);
    }
    int stages = tuning.stages;
    if (stages < 0) {
        stages = 4;
        const Index comfortable = 100 * 1024;
        while (stages > 2 && solve_shared(system, g, groups, tile_j, tile_k, stages) > comfortable) --stages;
    }
    while (stages > 0 && solve_shared(system, g, groups, tile_j, tile_k, stages) > shared_limit)
        stages = stages > 2 ? stages - 1 : 0;
    const int records = (g.halo_j * tile_k + g.halo_k * (tile_j + g.halo_j)) * dof;
    Shape shape{tile_j, tile_k, stages, tuning.lookahead > 0 ? tuning.lookahead : groups > 2 ? 6 : 3, 0, 0, 0, 0, 0, 1};
    shape.halo_threads = std::min(256, (records + 31) / 32 * 32);
    shape.shared = solve_shared(system, g, groups, tile_j, tile_k, stages);
    shape.worker_threads = worker_threads(tile_j * tile_k, dof);
    shape.groups = groups;
    shape.loaders = tuning.loaders >= 0 ? tuning.loaders : groups > 2 ? 0 : 1;
    if (stages < 2 || shape.threads() > 1024) shape.loaders = 0;
    // Two blocks where they fit without spills; more of them wait more than they work.
    const int registers = dof == 1 ? 40 : 56;
    const Index fit = std::min<Index>(226 * 1024 / (shape.shared + 1024), 65536 / (registers * shape.threads()));
    shape.blocks = tuning.blocks > 0 ? tuning.blocks : int(std::clamp<Index>(fit, 1, 2));
    return shape;
}

/// How the factorisation shares its work out: elementwise for small blocks and stencils (all of a point is in
/// registers), else by rows.
struct FactorShape {
    int tile_j, tile_k;
    bool blockwise, keep;
    Index shared;
    int worker_threads, split, blocks;

    /// Values of E that do not fit shared memory.
    Index scratch(const StructIluSystem& system, const Geometry& g, const StructIluTiles& tiles) const {
        return keep ? 0 : Index(tiles.tiles.size()) * g.lower * system.dof * worker_threads;
    }
};

FactorShape factor_shape(const StructIluSystem& system, const Geometry& g, const StructIluTuning& tuning) {
    const int dof = system.dof;
    FactorShape shape{tuning.tile_j, tuning.tile_k, dof <= 8 && g.lower <= 13 && tuning.blockwise, true, 0, 0, 1, 1};
    shape.split = !shape.blockwise          ? 1
                  : tuning.factor_split > 0 ? tuning.factor_split
                  : g.lower < 4             ? 1
                  : dof == 1                ? (g.lower < 8 ? 4 : 8)
                  : dof == 2                ? 4
                  : dof == 4                ? 2
                                            : 1;
    const int point_threads = !shape.blockwise ? dof : dof >= 6 ? 32 : dof * dof * shape.split;
    const int limit = shape.blockwise && dof >= 6 ? 256 : 512;
    if (shape.tile_j == 0) {
        const double wanted = std::clamp(points_a_level(system), 8.0, std::max(8.0, double(limit) / point_threads));
        shape.tile_j = 32;
        while (shape.tile_j > 8 && shape.tile_j * 2 > wanted) shape.tile_j /= 2;
        shape.tile_k = 1;
        while (shape.tile_j * shape.tile_k * 2 <= wanted) shape.tile_k *= 2;
    }
    // Elementwise, threads are dealt out over the points of a tile evenly.
    while (shape.tile_j & (shape.tile_j - 1)) shape.tile_j &= shape.tile_j - 1;
    while (shape.tile_k & (shape.tile_k - 1)) shape.tile_k &= shape.tile_k - 1;
    const auto fit = [&] {
        const int cells = shape.tile_j * shape.tile_k;
        shape.worker_threads = worker_threads(cells, point_threads);
        const int entries = system.shares || system.symmetric ? g.lower + 1 : 2 * g.lower + 1;
        const int elements = dof >= 6 ? 2 : 1, block = dof >= 6 ? 64 : dof * dof;
        const int columns = cells * (dof >= 6 ? 32 : dof * dof);
        shape.shared = 8 * (shape.blockwise ? Index(entries) * elements * columns + 2 * cells * block
                                            : Index(shape.worker_threads) * g.lower * dof);
        return shape.worker_threads <= limit && shape.shared <= factor_shared_limit;
    };
    while (!fit() && shape.tile_j * shape.tile_k > 1) shrink(shape.tile_j, shape.tile_k);
    if (shape.shared > factor_shared_limit) shape.keep = false, shape.shared = 0;
    const int registers = shape.blockwise && (dof == 1 || dof == 2 || dof == 4) ? 64 : 128;
    shape.blocks = tuning.factor_blocks > 0
                       ? tuning.factor_blocks
                       : int(std::clamp<Index>(std::min<Index>(226 * 1024 / (shape.shared + 16 * 1024),
                                                               65536 / (registers * (shape.worker_threads + 64))),
                                               1, 8));
    return shape;
}

rtc::Definitions common(const StructIluSystem& system, const Geometry& g, int tile_j, int tile_k) {
    const auto n = [](Index value) { return std::to_string(value); };
    return {{"DOF", n(system.dof)},
            {"LOWER", n(g.lower)},
            {"B", n(system.layout.levels().y)},
            {"C", n(system.layout.levels().z)},
            {"SKEW", n(g.skew)},
            {"TJ", n(tile_j)},
            {"TK", n(tile_k)},
            {"TOGETHER", n(StructIluCuda::together(system.dof))},
            {"NATURAL", n(system.layout.kind() == LayoutKind::natural)}};
}

rtc::Definitions solve_definitions(const StructIluSystem& system, const Geometry& g, const Shape& shape, bool upper,
                                   bool dot, bool pipelined) {
    rtc::Definitions all = common(system, g, shape.tile_j, shape.tile_k);
    const bool wraps = system.layout.grid().any_periodic() && system.shares;
    all["OFFSET_X"] = rtc::braces(first(g.x, g.lower));
    all["OFFSET_Y"] = rtc::braces(first(g.y, g.lower));
    all["OFFSET_Z"] = rtc::braces(first(g.z, g.lower));
    all["OFFSET_LEVEL"] = rtc::braces(first(g.level, g.lower));
    all["HALO_J"] = std::to_string(g.halo_j);
    all["HALO_K"] = std::to_string(g.halo_k);
    all["RING"] = std::to_string(g.ring);
    all["MAX_LEVEL"] = std::to_string(g.max_level);
    all["STAGES"] = std::to_string(shape.stages);
    all["UPPER"] = upper ? "1" : "0";
    all["MIRRORED"] = system.symmetric ? "1" : "0";
    all["SKIP_OUTSIDE"] = wraps ? "1" : "0";
    all["DOT"] = dot ? "1" : "0";
    all["LOADERS"] = std::to_string(shape.loaders);
    all["HALO_THREADS"] = std::to_string(shape.halo_threads);
    all["LOOKAHEAD"] = std::to_string(shape.lookahead);
    const Groups groups(system, g, pipelined);
    all["BLOCKS"] = std::to_string(shape.blocks);
    all["GROUPS"] = std::to_string(groups.count());
    all["TERMS"] = rtc::braces(groups.terms.empty() ? std::vector<int>{0} : groups.terms);
    all["GROUP_BEGIN"] = rtc::braces(groups.begin);
    all["DILU"] = system.shares ? "1" : "0";
    return all;
}

/// The eliminations of each entry, in the order of Algorithm 1.
struct Pairs {
    std::vector<int> begin, l, u;

    Pairs(const Stencil& stencil, bool diagonal_only, bool lower_only) {
        const int last = diagonal_only || lower_only ? stencil.diagonal() + 1 : stencil.size();
        for (int e = 0; e < stencil.size(); ++e) {
            begin.push_back(int(l.size()));
            if (e >= last || (diagonal_only && e != stencil.diagonal())) continue;
            for (int low = 0; low < stencil.lower_size(); ++low)
                for (int up = stencil.diagonal() + 1; up < stencil.size(); ++up)
                    if (stencil[low] + stencil[up] == stencil[e]) l.push_back(low), u.push_back(up);
        }
        begin.push_back(int(l.size()));
    }
};

rtc::Definitions factor_definitions(const StructIluSystem& system, const Geometry& g, const FactorShape& shape) {
    rtc::Definitions all = common(system, g, shape.tile_j, shape.tile_k);
    const Pairs pairs(system.stencil, system.shares, system.symmetric);
    std::vector<int> a_entry;
    for (const Int3 o : system.stencil.offsets()) a_entry.push_back(system.a_stencil.find(o));
    all["OFFSET_X"] = rtc::braces(g.x);
    all["OFFSET_Y"] = rtc::braces(g.y);
    all["OFFSET_Z"] = rtc::braces(g.z);
    all["A_ENTRY"] = rtc::braces(a_entry);
    all["PAIR_BEGIN"] = rtc::braces(pairs.begin);
    all["PAIR_L"] = rtc::braces(pairs.l.empty() ? std::vector<int>{0} : pairs.l);
    all["PAIR_U"] = rtc::braces(pairs.u.empty() ? std::vector<int>{0} : pairs.u);
    if (shape.blockwise) {
        std::vector<int> begin, u, e;
        int most = 1;
        for (int l = 0; l < g.lower; ++l) {
            begin.push_back(int(u.size()));
            for (int target = 0; target < system.stencil.size(); ++target)
                for (int pair = pairs.begin[target]; pair < pairs.begin[target + 1]; ++pair)
                    if (pairs.l[pair] == l) u.push_back(pairs.u[pair]), e.push_back(target);
            most = std::max(most, int(u.size()) - begin.back());
        }
        begin.push_back(int(u.size()));
        all["SPLIT"] = std::to_string(shape.split);
        all["MOST"] = std::to_string(most);
        all["CHUNK_BEGIN"] = rtc::braces(begin);
        all["CHUNK_U"] = rtc::braces(u.empty() ? std::vector<int>{0} : u);
        all["CHUNK_E"] = rtc::braces(e.empty() ? std::vector<int>{0} : e);
    }
    all["SYMMETRIC"] = system.symmetric ? "1" : "0";
    all["SHARES"] = system.shares ? "1" : "0";
    all["BLOCKS"] = std::to_string(shape.blocks);
    all["KEEP"] = shape.keep ? "1" : "0";
    return all;
}

rtc::Texts factor_texts(const FactorShape& shape) {
    return {rtc::struct_ilu_factor_cuh,
            shape.blockwise ? rtc::struct_ilu_factor_blocks_cuh : rtc::struct_ilu_factor_rows_cuh,
            rtc::struct_ilu_factor_kernel_cuh};
}

// The structs below are those of the kernel texts, member by member, but for the array at their ends.

struct alignas(16) Edge {
    double value;
    std::uint64_t epoch;
};

struct State {
    unsigned ticket, done;
    std::uint64_t epoch;
};

struct SolveArguments {
    const double *triangles, *inverse, *in;
    double* out;
    const StructIluTiles::Tile* tiles;
    const int* tile_at;
    Edge* edges;
    State* state;
    double *partial, *dot;
    int nx, ny, nz, tiles_j, tile_count, slots, triangle_stride, padding;
};

struct PivotLog {
    static constexpr int capacity = 16;
    std::uint64_t failures, boosts;
    int lock, failed_size, boosted_size, padding;
    std::uint64_t failed[1], boosted[capacity];
    double failed_value[1], boosted_value[capacity];
};

struct Smallest {
    double ratio;
    long long point;
};

struct FactorArguments {
    const double* a;
    double* x;
    const StructIluTiles::Tile* tiles;
    const int* tile_at;
    int* progress;
    unsigned* ticket;
    PivotLog* log;
    Smallest* smallest;
    double* scratch;
    double shift, tolerance, boost;
    int nx, ny, nz, tiles_j, reach_j, reach_k, a_stride, slots;
};

template <class T>
Buffer<T> to_device(const Context& context, const std::vector<T>& values) {
    Buffer<T> buffer(context, "preconditioner: tiles", Index(values.size()));
    device::copy(values.data(), buffer.data(), Index(values.size() * sizeof(T)));
    return buffer;
}

}  // namespace

StructIluTiles::StructIluTiles(const Layout& layout, int skew, int tj, int tk) : tile_j(tj), tile_k(tk) {
    const Grid& g = layout.grid();
    const LevelMap levels = layout.levels();
    const int width = g.ny + skew * (g.nz - 1);
    tiles_j = (width + tj - 1) / tj;
    const int tiles_k = (g.nz + tk - 1) / tk;
    at.assign(std::size_t(tiles_j) * tiles_k, -1);
    struct Keyed {
        int key;
        Tile tile;
        int place;
    };
    std::vector<Keyed> found;
    for (int K = 0; K < tiles_k; ++K)
        for (int J = 0; J < tiles_j; ++J) {
            Tile tile{J * tj, K * tk, std::numeric_limits<int>::max(), -1};
            for (int k = tile.k; k < std::min(g.nz, tile.k + tk); ++k) {
                const int begin = std::max(0, tile.j - skew * k), end = std::min(g.ny, tile.j + tj - skew * k);
                if (begin >= end) continue;
                tile.first = std::min(tile.first, levels.level({0, begin, k}));
                tile.last = std::max(tile.last, levels.level({g.nx - 1, end - 1, k}));
            }
            if (tile.last < 0) continue;
            const int key = levels.y * tile.j + (levels.z - levels.y * skew) * tile.k;
            found.push_back({key, tile, K * tiles_j + J});
        }
    // A tile depends on tiles of smaller or equal J and K, whose keys are smaller or which lie before it.
    std::stable_sort(found.begin(), found.end(), [](auto& a, auto& b) { return a.key < b.key; });
    for (const Keyed& one : found) {
        at[one.place] = int(tiles.size());
        tiles.push_back(one.tile);
    }
}

struct StructIluCuda::Device {
    StructIluSystem system;
    Geometry geometry;
    Shape shape;
    FactorShape factor_shape;
    StructIluTiles tiles, factor_tiles;
    rtc::Kernel lower, upper, dotting, factor;  // `dotting` is the sweep that yields the dot product
    StructIluTuning tuning;
    Buffer<StructIluTiles::Tile> tile_list, factor_tile_list;
    Buffer<int> tile_at, factor_tile_at, progress;
    Buffer<Edge> edges;
    Buffer<State> state;
    Buffer<double> partial;
    Buffer<unsigned> ticket;
    Buffer<PivotLog> log;
    Buffer<Smallest> smallest;
    Buffer<double> scratch;

    Device(const Context& context, const StructIluSystem& s, const StructIluTuning& t)
        : system(s),
          geometry(s),
          shape(solve_shape(s, geometry, t)),
          factor_shape(hyperplane::factor_shape(s, geometry, t)),
          tiles(s.layout, geometry.skew, shape.tile_j, shape.tile_k),
          factor_tiles(s.layout, geometry.skew, factor_shape.tile_j, factor_shape.tile_k),
          tuning(t),
          tile_list(to_device(context, tiles.tiles)),
          factor_tile_list(to_device(context, factor_tiles.tiles)),
          tile_at(to_device(context, tiles.at)),
          factor_tile_at(to_device(context, factor_tiles.at)),
          progress(context, "preconditioner: tiles", Index(factor_tiles.tiles.size())),
          edges(context, "preconditioner: edges",
                Index(tiles.tiles.size()) * s.layout.grid().nx * shape.edge_records(geometry, s.dof)),
          state(to_device(context, std::vector<State>{{0, 0, 1}})),
          partial(context, "preconditioner: tiles", Index(tiles.tiles.size())),
          ticket(context, "preconditioner: tiles", 1),
          log(context, "preconditioner: tiles", 1),
          smallest(context, "preconditioner: tiles", Index(factor_tiles.tiles.size())),
          scratch(context, "preconditioner: scratch", factor_shape.scratch(s, geometry, factor_tiles)) {
        const auto solve = [&](bool up, bool dot) {
            const rtc::Kernel kernel =
                rtc::load({rtc::struct_ilu_solve_cuh}, solve_definitions(system, geometry, shape, up, dot, t.pipelined),
                          "struct_ilu_solve");
            kernel.allow_shared(shape.shared);
            return kernel;
        };
        lower = solve(false, false);
        upper = solve(true, false);
        if (system.symmetric) dotting = solve(!system.shares, true);
        factor = rtc::load(factor_texts(factor_shape), factor_definitions(system, geometry, factor_shape),
                           "struct_ilu_factor");
        factor.allow_shared(factor_shape.shared);
    }

    void solve(const rtc::Kernel& kernel, bool up, const Factors& f, const double* in, double* out, double* dot) {
        const Grid& g = system.layout.grid();
        const SolveArguments head{f.triangles.values(0),
                                  f.inverse,
                                  in,
                                  out,
                                  tile_list.data(),
                                  tile_at.data(),
                                  edges.data(),
                                  state.data(),
                                  partial.data(),
                                  dot,
                                  g.nx,
                                  g.ny,
                                  g.nz,
                                  tiles.tiles_j,
                                  int(tiles.tiles.size()),
                                  int(system.layout.slots()),
                                  int(f.triangles.stride()),
                                  0};
        std::vector<int> shift;
        for (int m = 0; m < geometry.lower; ++m)
            shift.push_back(int(system.layout.slot_delta(up ? -system.stencil[m] : system.stencil[m])));
        kernel.launch({unsigned(tiles.tiles.size())}, unsigned(shape.threads()), shape.shared,
                      rtc::argument(head, shift).data());
    }
};

StructIluCuda::StructIluCuda(const Context& context, const StructIluSystem& system, const StructIluTuning& tuning)
    : device_(std::make_unique<Device>(context, system, tuning)) {}

StructIluCuda::~StructIluCuda() = default;

bool StructIluCuda::serves(const StructIluSystem& system) const {
    return device_->system == system;
}

void StructIluCuda::lower(const Factors& f, const Vector& r, Vector& y, double* dot) {
    const bool here = dot && device_->system.shares;
    device_->solve(here ? device_->dotting : device_->lower, false, f, r.data(), y.data(), dot);
}

void StructIluCuda::upper(const Factors& f, Vector& z, double* dot) {
    const bool here = dot && !device_->system.shares;
    device_->solve(here ? device_->dotting : device_->upper, true, f, z.data(), z.data(), dot);
}

void StructIluCuda::factor(const StructMatrix& a, StructMatrix& x, double shift, const PivotRules& rules,
                           PivotInverter& inverter) {
    Device& d = *device_;
    const Grid& g = d.system.layout.grid();
    const auto& tiles = d.factor_tiles;
    PivotLog log{};
    std::fill_n(log.boosted, PivotLog::capacity, ~std::uint64_t(0));
    log.failed[0] = ~std::uint64_t(0);
    device::copy(&log, d.log.data(), sizeof log);
    const std::vector<int> none(tiles.tiles.size(), -1);
    device::copy(none.data(), d.progress.data(), Index(none.size() * sizeof(int)));
    device::zero(d.ticket.data(), sizeof(unsigned));

    const FactorArguments head{a.values(0),
                               x.values(0),
                               d.factor_tile_list.data(),
                               d.factor_tile_at.data(),
                               d.progress.data(),
                               d.ticket.data(),
                               d.log.data(),
                               d.smallest.data(),
                               d.scratch.data(),
                               shift,
                               rules.tolerance,
                               rules.policy == PivotPolicy::boost ? rules.boost : 0.0,
                               g.nx,
                               g.ny,
                               g.nz,
                               tiles.tiles_j,
                               (d.geometry.halo_j + tiles.tile_j - 1) / tiles.tile_j,
                               (d.geometry.halo_k + tiles.tile_k - 1) / tiles.tile_k,
                               int(a.stride()),
                               int(d.system.layout.slots())};
    std::vector<int> delta;
    for (const Int3 o : d.system.stencil.offsets()) delta.push_back(int(d.system.layout.slot_delta(o)));
    d.factor.launch({unsigned(tiles.tiles.size())}, unsigned(d.factor_shape.worker_threads + 64), d.factor_shape.shared,
                    rtc::argument(head, delta).data());

    device::copy(d.log.data(), &log, sizeof log);
    std::vector<Smallest> smallest(tiles.tiles.size());
    device::copy(d.smallest.data(), smallest.data(), Index(smallest.size() * sizeof(Smallest)));
    const auto event = [&](std::uint64_t row, double value) {
        return PivotEvent{g.point(Index(row / d.system.dof)), int(row % d.system.dof), value};
    };
    std::vector<PivotEvent> boosted;
    for (int at = 0; at < log.boosted_size; ++at) boosted.push_back(event(log.boosted[at], log.boosted_value[at]));
    PivotRatio ratio;
    for (const Smallest& one : smallest) ratio.take(one.ratio, one.point);
    inverter.adopt(Index(log.failures), log.failures ? event(log.failed[0], log.failed_value[0]) : PivotEvent{},
                   Index(log.boosts), std::move(boosted), ratio);
}

Index StructIluCuda::bytes(const StructIluSystem& system, const StructIluTuning& tuning) {
    const Geometry geometry(system);
    const Shape shape = solve_shape(system, geometry, tuning);
    const FactorShape factor = factor_shape(system, geometry, tuning);
    const StructIluTiles tiles(system.layout, geometry.skew, shape.tile_j, shape.tile_k);
    const StructIluTiles factor_tiles(system.layout, geometry.skew, factor.tile_j, factor.tile_k);
    const Index count = Index(tiles.tiles.size()), factor_count = Index(factor_tiles.tiles.size());
    const Index tile = sizeof(StructIluTiles::Tile);
    return count *
               (tile + 8 + system.layout.grid().nx * shape.edge_records(geometry, system.dof) * Index(sizeof(Edge))) +
           factor_count * (tile + 4 + Index(sizeof(Smallest))) + 8 * factor.scratch(system, geometry, factor_tiles) +
           4 * Index(tiles.at.size() + factor_tiles.at.size()) + Index(sizeof(State) + sizeof(PivotLog)) + 4;
}

std::vector<rtc::KernelResources> StructIluCuda::compile(const StructIluSystem& system, const std::string& architecture,
                                                         const StructIluTuning& tuning) {
    const Geometry geometry(system);
    const Shape shape = solve_shape(system, geometry, tuning);
    std::vector<rtc::KernelResources> all, one;
    const auto add = [&](const char* name) {
        for (auto& row : one) row.name = name, all.push_back(row);
    };
    rtc::compile({rtc::struct_ilu_solve_cuh},
                 solve_definitions(system, geometry, shape, false, false, tuning.pipelined), architecture, &one);
    add("struct_ilu lower");
    if (system.symmetric) {
        rtc::compile({rtc::struct_ilu_solve_cuh},
                     solve_definitions(system, geometry, shape, !system.shares, true, tuning.pipelined), architecture,
                     &one);
        add("struct_ilu r^T z");
    }
    rtc::compile({rtc::struct_ilu_solve_cuh}, solve_definitions(system, geometry, shape, true, false, tuning.pipelined),
                 architecture, &one);
    add("struct_ilu upper");
    const FactorShape factor = factor_shape(system, geometry, tuning);
    rtc::compile(factor_texts(factor), factor_definitions(system, geometry, factor), architecture, &one);
    add("struct_ilu factor");
    return all;
}

std::string StructIluCuda::describe() const {
    const Device& d = *device_;
    return fmt::format(
        "solve tiles {} x {}, {} stages, ({} + {}) x {} + {} threads, {} KiB, {} blocks; factor tiles {} x {}, {} "
        "threads, split {}, {} KiB, {} blocks",
        d.shape.tile_j, d.shape.tile_k, d.shape.stages, d.shape.groups, d.shape.loaders, d.shape.worker_threads,
        d.shape.halo_threads, d.shape.shared / 1024, d.shape.blocks, d.factor_shape.tile_j, d.factor_shape.tile_k,
        d.factor_shape.worker_threads, d.factor_shape.split, d.factor_shape.shared / 1024, d.factor_shape.blocks);
}

}  // namespace hyperplane
