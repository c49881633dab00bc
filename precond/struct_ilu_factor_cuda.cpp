#include "precond/struct_ilu_factor_cuda.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hyperplane {
namespace rtc {
extern const KernelText struct_ilu_lines_cuh, struct_ilu_factor_cuh, struct_ilu_factor_blocks_cuh,
    struct_ilu_factor_rows_cuh, struct_ilu_factor_kernel_cuh;
}

namespace struct_ilu {
namespace {

constexpr Index shared_limit = 200 * 1024;

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

rtc::Definitions definitions(const StructIluSystem& system, const Geometry& g, const FactorShape& shape) {
    rtc::Definitions all = line_definitions(system, g, shape.tile, system.stencil.size(), false);
    const Pairs pairs(system.stencil, system.shares, system.symmetric);
    std::vector<int> a_entry;
    for (const Int3 o : system.stencil.offsets()) a_entry.push_back(system.a_stencil.find(o));
    all["A_ENTRY"] = rtc::braces(a_entry);
    all["PAIR_BEGIN"] = rtc::braces(pairs.begin);
    all["PAIR_L"] = array_of(pairs.l);
    all["PAIR_U"] = array_of(pairs.u);
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
        all["CHUNK_U"] = array_of(u);
        all["CHUNK_E"] = array_of(e);
    }
    all["SYMMETRIC"] = system.symmetric ? "1" : "0";
    all["SHARES"] = system.shares ? "1" : "0";
    all["BLOCKS"] = std::to_string(shape.blocks);
    all["KEEP"] = shape.keep ? "1" : "0";
    return all;
}

rtc::Texts texts(const FactorShape& shape) {
    return {rtc::struct_ilu_lines_cuh, rtc::struct_ilu_factor_cuh,
            shape.blockwise ? rtc::struct_ilu_factor_blocks_cuh : rtc::struct_ilu_factor_rows_cuh,
            rtc::struct_ilu_factor_kernel_cuh};
}

/// Those of struct_ilu_factor.cuh but for the array at their end.
struct Arguments {
    const double* a;
    double* x;
    const Tile* tiles;
    const int* tile_at;
    int* progress;
    unsigned* ticket;
    PivotLog* log;
    Smallest* smallest;
    double* scratch;
    double shift, tolerance, boost;
    int nx, ny, nz, tiles_j, reach_j, reach_k, a_stride, slots;
};

}  // namespace

FactorShape::FactorShape(const StructIluSystem& system, const Geometry& g, const StructIluTuning& tuning)
    : tile{tuning.tile_j, tuning.tile_k} {
    const int dof = system.dof;
    blockwise = dof <= 8 && g.lower <= 13 && tuning.blockwise;
    split = !blockwise                ? 1
            : tuning.factor_split > 0 ? tuning.factor_split
            : g.lower < 4             ? 1
            : dof == 1                ? (g.lower < 8 ? 4 : 8)
            : dof == 2                ? 4
            : dof == 4                ? 2
                                      : 1;
    const int point_threads = !blockwise ? dof : dof >= 6 ? 32 : dof * dof * split;
    const int limit = blockwise && dof >= 6 ? 256 : 512;
    if (tuning.tile_j == 0) {
        const double wanted = std::clamp(points_a_level(system), 8.0, std::max(8.0, double(limit) / point_threads));
        tile = TileShape::of(wanted);
    }
    // Elementwise, threads are dealt out over the points of a tile evenly.
    while (tile.j & (tile.j - 1)) tile.j &= tile.j - 1;
    while (tile.k & (tile.k - 1)) tile.k &= tile.k - 1;
    const auto fit = [&] {
        const int cells = tile.cells();
        worker_threads = struct_ilu::worker_threads(cells, point_threads);
        const int entries = system.shares || system.symmetric ? g.lower + 1 : 2 * g.lower + 1;
        const int elements = dof >= 6 ? 2 : 1, block = dof >= 6 ? 64 : dof * dof;
        const int columns = cells * (dof >= 6 ? 32 : dof * dof);
        shared = 8 * (blockwise ? Index(entries) * elements * columns + 2 * cells * block
                                : Index(worker_threads) * g.lower * dof);
        return worker_threads <= limit && shared <= shared_limit;
    };
    while (!fit() && tile.cells() > 1) tile.halve();
    if (shared > shared_limit) keep = false, shared = 0;
    const int registers = blockwise && (dof == 1 || dof == 2 || dof == 4) ? 64 : 128;
    blocks = tuning.factor_blocks > 0
                 ? tuning.factor_blocks
                 : int(std::clamp<Index>(
                       std::min<Index>(226 * 1024 / (shared + 16 * 1024), 65536 / (registers * threads())), 1, 8));
}

Index FactorShape::scratch(const StructIluSystem& system, const Geometry& g, const Tiles& tiles) const {
    return keep ? 0 : tiles.count() * g.lower * system.dof * worker_threads;
}

Factorisation::Factorisation(const Context& context, const StructIluSystem& system, const Geometry& g,
                             const StructIluTuning& tuning)
    : system_(system),
      shape_(system, g, tuning),
      tiles_(system.layout, g.skew, shape_.tile),
      reach_j_((g.halo_j + shape_.tile.j - 1) / shape_.tile.j),
      reach_k_((g.halo_k + shape_.tile.k - 1) / shape_.tile.k),
      device_tiles_(context, tiles_),
      progress_(context, "preconditioner: tiles", tiles_.count()),
      ticket_(context, "preconditioner: tiles", 1),
      log_(context, "preconditioner: tiles", 1),
      smallest_(context, "preconditioner: tiles", tiles_.count()),
      scratch_(context, "preconditioner: scratch", shape_.scratch(system, g, tiles_)),
      kernel_(rtc::load(texts(shape_), definitions(system, g, shape_), "struct_ilu_factor")) {
    kernel_.allow_shared(shape_.shared);
}

void Factorisation::factor(const StructMatrix& a, StructMatrix& x, double shift, const PivotRules& rules,
                           PivotInverter& inverter) {
    reset();
    const Grid& g = system_.layout.grid();
    const Arguments head{a.values(0),
                         x.values(0),
                         device_tiles_.tiles.data(),
                         device_tiles_.at.data(),
                         progress_.data(),
                         ticket_.data(),
                         log_.data(),
                         smallest_.data(),
                         scratch_.data(),
                         shift,
                         rules.tolerance,
                         rules.policy == PivotPolicy::boost ? rules.boost : 0.0,
                         g.nx,
                         g.ny,
                         g.nz,
                         tiles_.tiles_j,
                         reach_j_,
                         reach_k_,
                         int(a.stride()),
                         int(system_.layout.slots())};
    std::vector<int> delta;
    for (const Int3 o : system_.stencil.offsets()) delta.push_back(int(system_.layout.slot_delta(o)));
    kernel_.launch({unsigned(tiles_.count())}, unsigned(shape_.threads()), shape_.shared,
                   rtc::argument(head, delta).data());
    report(inverter);
}

void Factorisation::reset() {
    PivotLog log{};
    std::fill_n(log.boosted, PivotLog::capacity, ~std::uint64_t(0));
    log.failed[0] = ~std::uint64_t(0);
    device::copy(&log, log_.data(), sizeof log);
    const std::vector<int> none(tiles_.count(), -1);
    device::copy(none.data(), progress_.data(), Index(none.size() * sizeof(int)));
    device::zero(ticket_.data(), sizeof(unsigned));
}

void Factorisation::report(PivotInverter& inverter) const {
    PivotLog log;
    device::copy(log_.data(), &log, sizeof log);
    std::vector<Smallest> smallest(tiles_.count());
    device::copy(smallest_.data(), smallest.data(), Index(smallest.size() * sizeof(Smallest)));
    const auto event = [&](std::uint64_t row, double value) {
        return PivotEvent{system_.layout.grid().point(Index(row / system_.dof)), int(row % system_.dof), value};
    };
    std::vector<PivotEvent> boosted;
    for (int at = 0; at < log.boosted_size; ++at) boosted.push_back(event(log.boosted[at], log.boosted_value[at]));
    PivotRatio ratio;
    for (const Smallest& one : smallest) ratio.take(one.ratio, one.point);
    inverter.adopt(Index(log.failures), log.failures ? event(log.failed[0], log.failed_value[0]) : PivotEvent{},
                   Index(log.boosts), std::move(boosted), ratio);
}

Index Factorisation::bytes(const StructIluSystem& system, const Geometry& g, const StructIluTuning& tuning) {
    const FactorShape shape(system, g, tuning);
    const Tiles tiles(system.layout, g.skew, shape.tile);
    return tiles.bytes() + tiles.count() * Index(sizeof(int) + sizeof(Smallest)) +
           shape.scratch(system, g, tiles) * Index(sizeof(double)) + Index(sizeof(unsigned) + sizeof(PivotLog));
}

std::vector<rtc::KernelResources> Factorisation::compile(const StructIluSystem& system, const Geometry& g,
                                                         const StructIluTuning& tuning,
                                                         const std::string& architecture) {
    const FactorShape shape(system, g, tuning);
    std::vector<rtc::KernelResources> rows;
    rtc::compile(texts(shape), definitions(system, g, shape), architecture, &rows);
    for (auto& row : rows) row.name = "struct_ilu factor";
    return rows;
}

std::string Factorisation::describe() const {
    return fmt::format("factor tiles {} x {}, {} threads, split {}, {} KiB, {} blocks", shape_.tile.j, shape_.tile.k,
                       shape_.worker_threads, shape_.split, shape_.shared / 1024, shape_.blocks);
}

}  // namespace struct_ilu
}  // namespace hyperplane
