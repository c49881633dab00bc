// SPDX-License-Identifier: BSD-3-Clause
#include "precond/struct_ilu/factor_cuda.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/grid/grid_point.hpp"
#include "precond/factors/coefficient_order.hpp"
#include "precond/factors/eliminations.hpp"
#include "precond/kernel_set.hpp"
#include "precond/struct_ilu/intra_row.hpp"
#include "precond/struct_ilu/row_pipeline.hpp"

namespace hyperplane {
namespace wavefront_cuda {
namespace {

rtc::Definitions definitions(const IluPattern& system, const Geometry& g, const FactorShape& shape) {
    rtc::Definitions all = line_definitions(system, g, shape.tile, system.stencil.size(), false);
    const Eliminations pairs(system.stencil, system.shares, system.symmetric);
    std::vector<int> a_entry;
    for (const Int3 o : system.stencil.offsets()) a_entry.push_back(system.a_stencil.find(o));
    all["A_ENTRY"] = rtc::array_of(a_entry);
    all["PAIR_BEGIN"] = rtc::array_of(pairs.begin);
    all["PAIR_L"] = rtc::array_of(pairs.l);
    all["PAIR_U"] = rtc::array_of(pairs.u);
    const auto [begin, u, e] = pairs.by_lower();
    all["CHUNK_BEGIN"] = rtc::array_of(begin);
    all["CHUNK_U"] = rtc::array_of(u);
    all["CHUNK_E"] = rtc::array_of(e);
    all["GROUPS"] = std::to_string(shape.groups);
    all["PIPELINED"] = shape.pipelined ? "1" : "0";
    if (shape.pipelined) {
        const RowPipeline rows(pairs, g.level, g.lower, shape.groups);
        all["GROUP_OF"] = rtc::array_of(rows.group);
        all["KNOWN_AT"] = rtc::array_of(rows.known_at);
        all["ENDS_AT"] = rtc::array_of(rows.ends_at);
        all["UPDATE_STAGE"] = rtc::array_of(rows.update_stage);
    } else if (shape.groups > 1) {
        const IntraRowSchedule rows = shape.schedule(system);
        all["GROUP_OF"] = rtc::array_of(rows.group);
        all["STAGE_OF"] = rtc::array_of(rows.stage);
        all["ROW_STAGES"] = std::to_string(rows.stages);
    }
    all["HALO_J"] = std::to_string(g.halo_j);
    all["HALO_K"] = std::to_string(g.halo_k);
    all["MAX_LEVEL"] = std::to_string(g.max_level);
    all["RING"] = std::to_string(shape.ring);
    all["HALO_WARPS"] = std::to_string(shape.halo_warps);
    all["MATRIX_WARPS"] = std::to_string(shape.matrix_warps);
    all["STAGES"] = std::to_string(shape.stages);
    all["PRODUCER_WARPS"] = std::to_string(shape.halo_warps + shape.matrix_warps);
    all["ZEROED"] = std::to_string(shape.shared / Index(sizeof(double)));
    all["IN_REGISTERS"] = shape.kind == FactorKind::registers ? "1" : "0";
    all["ON_TENSOR_CORES"] = shape.kind == FactorKind::tensor ? "1" : "0";
    all["UNROLLED"] = shape.kind == FactorKind::fallback ? "0" : "1";
    all["SKIP_OUTSIDE"] = system.layout.grid().any_periodic() ? "1" : "0";
    all["SYMMETRIC"] = system.symmetric ? "1" : "0";
    all["SHARES"] = system.shares ? "1" : "0";
    all["BLOCKS"] = std::to_string(shape.blocks);
    all["KEEP"] = shape.keep ? "1" : "0";
    // It saves exchanges among lanes, which pay for the sectors that it loads besides unless a row of a block is a
    // whole number of sectors (docs/log/struct_ilu_factor.md).
    all["OPERANDS_AS_RESULTS"] = system.dof > 4 && system.dof < 8 ? "1" : "0";
    return all;
}

rtc::Source source() {
    return precond_source("precond/struct_ilu/factor.cuh");
}

/// Whether a thread block can have `shared` bytes besides the pivot ratios and points of its consumers.
bool fits(Index shared, int consumers) {
    return shared + 28 * consumers + 1024 <= 227 * 1024;
}

/// Large tiles, so that fewer values of halos are copied; they are halved until they fit. With one unknown they have
/// half as many lines where there would be fewer tiles than multiprocessors. Without a ring two unknowns have the tiles
/// of one (docs/log/struct_ilu_factor.md).
TileShape tile_of_points(const IluPattern& system, int lower, bool with_ring) {
    const int dof = system.dof;
    const bool small = dof == 1 && points_a_level(system) < 60.0;
    if (lower < 6) return {32 / dof, dof == 4 ? 6 : small ? 8 : 16};
    if (dof == 2 && lower > 8) return {8, 2};
    if (dof == 2 && !with_ring) return {32, 8};
    return {32 / dof, with_ring ? 8 : 2};
}

/// The number of consumer warps and resident blocks on tensor cores: as many as leave a thread the registers that it
/// needs, if one producer warp is added.
struct TensorWarps {
    int warps, blocks;

    TensorWarps(int entries, int pairs, int dof) : warps(7), blocks(1) {
        const int values = 4 * entries + pairs + (dof > 6 ? 8 : 0);
        if (values <= 40)
            warps = dof > 4 ? 8 : 7, blocks = 2;
        else if (values <= 90)
            warps = 11;
    }
};

/// The tile of `warps` warps with one point each, or with two points each if there are at most four unknowns.
TileShape tile_of_warps(int warps, int dof, int lower) {
    if (dof > 4) return {warps, 1};
    return warps == 11 || lower == 12 ? TileShape{warps, 2} : TileShape{2 * warps, 1};
}

}  // namespace

FactorShape::FactorShape(const IluPattern& system, const Geometry& g, const StructIluTuning& tuning)
    : tile{tuning.factor_j, tuning.factor_k} {
    const int dof = system.dof;
    const int entries = system.shares || system.symmetric ? g.lower + 1 : 2 * g.lower + 1;
    constexpr int most_values = 56;  // doubles that a thread can keep in registers
    // With four unknowns a thread's registers can hold a row of star7's blocks; a multiprocessor then has more points.
    const bool like_star7 = g.lower <= 3 && g.max_level == 1;
    const bool by_rows = dof <= 2 || (dof == 4 && like_star7 && tuning.factor_ring);
    const int kept = by_rows ? entries * dof : 2 * entries;
    kind = dof > 8 || kept > most_values || !tuning.in_registers ? FactorKind::fallback
           : by_rows                                             ? FactorKind::registers
                                                                 : FactorKind::tensor;
    if (kind == FactorKind::registers)
        shape_points(system, g, tuning, entries);
    else
        shape_others(system, g, tuning, entries);
}

IntraRowSchedule FactorShape::schedule(const IluPattern& system) const {
    const Eliminations pairs(system.stencil, system.shares, system.symmetric);
    const int lower = system.stencil.lower_size(), entries = system.symmetric ? lower + 1 : 2 * lower + 1;
    return row_waiting > 0 ? IntraRowSchedule::fastest(pairs, lower, entries, groups, row_waiting)
                           : IntraRowSchedule::by_levels(pairs, lower, entries, groups);
}

void FactorShape::shape_points(const IluPattern& system, const Geometry& g, const StructIluTuning& tuning,
                               int entries) {
    const int dof = system.dof;
    const Index staged = entries + (system.shares && !system.symmetric ? g.lower : 0);  // and F of the neighbours
    const Eliminations pairs(system.stencil, false, system.symmetric);
    // Two groups share the many eliminations of box27 where a level has points for every multiprocessor's warps.
    const bool many = dof == 1 && pairs.count() > 100 && points_a_level(system) > 60.0;
    groups = tuning.factor_groups > 0 ? tuning.factor_groups : many ? 2 : 1;
    row_waiting = tuning.factor_waiting;
    if (system.shares || dof > 2 || !tuning.factor_ring || g.lower < 6) groups = 1;
    pipelined = groups > 1 && tuning.factor_pipeline && !system.symmetric;
    if (groups > 1 && !pipelined && schedule(system).stages == 1) groups = 1;
    const auto size = [&](TileShape t, bool with_ring) {
        const Index values = (system.shares ? 1 : g.lower + 1) * dof * dof;
        const Index halo = (t.j + g.halo_j) * (t.k + g.halo_k),
                    threads = wavefront_cuda::consumer_threads(t.cells(), dof), stage = stages * staged * dof * threads,
                    exchange = groups > 1 ? ((system.symmetric || pipelined ? 2 : 1) * g.lower + 1) * dof * threads : 0;
        return Index(sizeof(double)) * ((with_ring ? g.ring * values * halo : 0) + stage + exchange);
    };
    const bool asked = tile.j > 0;
    const auto try_tiles = [&](bool with_ring) {
        stages = dof >= 2 && with_ring ? 2 : 3;
        if (!asked) tile = tile_of_points(system, g.lower, with_ring);
        const auto consumers = [&] { return groups * wavefront_cuda::consumer_threads(tile.cells(), dof); };
        constexpr int most_consumers = 704;  // so that producers find room among 1024 threads
        while ((!fits(size(tile, with_ring), consumers()) || consumers() > most_consumers) && tile.cells() > 16 / dof)
            tile.halve();
        consumer_threads = wavefront_cuda::consumer_threads(tile.cells(), dof);
        shared = size(tile, with_ring);
        return fits(shared, groups * consumer_threads);
    };
    // With few eliminations, loading a neighbour's values again costs less than keeping them in shared memory. With two
    // for each lower entry, as star13 has, and two unknowns it does so where levels have points for every
    // multiprocessor's warps.
    const bool large = points_a_level(system) > 40.0,
               two_each = Eliminations(system.stencil, false, false).count() <= 2 * g.lower;
    const bool few = !system.shares && (g.lower < 6 ? dof <= 2 : dof == 2 && !system.symmetric && two_each && large);
    if (tuning.factor_ring && !few && try_tiles(true))
        ring = g.ring;
    else
        groups = 1, pipelined = false, try_tiles(false);
    if (ring > 0) {
        const int halo = g.halo_j * tile.k + g.halo_k * (tile.j + g.halo_j);
        const int values = halo * (system.shares ? 1 : g.lower + 1) * dof * dof;
        halo_warps = std::clamp(values / (dof <= 2 ? 192 : 320), 1, 4);
    }
    // Number of values of a level that a lane copies. With two unknowns more warps would take registers from consumers.
    const int each = dof == 1 ? 20 : dof == 2 ? 40 : 84;
    const int warps = consumer_threads / 32, wanted = int(warps * staged * dof + each - 1) / each;
    matrix_warps = wanted <= warps ? std::max(wanted, 1) : (wanted + warps - 1) / warps * warps;
    const int kept = entries * dof / groups, registers = kept > 26 ? 128 : kept > 14 ? 96 : 64;
    const Index fit = std::min<Index>(226 * 1024 / (shared + 4 * 1024), 65536 / (registers * threads()));
    // Twelve lower entries, as diamond25 has, gain from the registers of two resident thread blocks, although shared
    // memory holds one. Why was not examined.
    const bool two = dof == 1 && g.lower == 12 && !system.shares && !system.symmetric && points_a_level(system) > 60.0;
    blocks = tuning.factor_blocks > 0 ? tuning.factor_blocks : two ? 2 : int(std::clamp<Index>(fit, 1, 8));
}

void FactorShape::shape_others(const IluPattern& system, const Geometry& g, const StructIluTuning& tuning,
                               int entries) {
    const int dof = system.dof;
    // On tensor cores a warp has one point, or two if there are at most four unknowns.
    const int point_threads = kind == FactorKind::fallback ? dof : dof <= 4 ? 16 : 32;
    const int pairs = Eliminations(system.stencil, false, system.symmetric).count();
    const TensorWarps tensor(entries, pairs, dof);
    const int limit = kind == FactorKind::tensor ? 32 * tensor.warps : 512;
    if (tile.j == 0) {
        if (kind == FactorKind::tensor)
            tile = tile_of_warps(tensor.warps, dof, g.lower);
        else
            tile = TileShape::of(std::clamp(points_a_level(system), 8.0, std::max(8.0, double(limit) / point_threads)));
    }
    const int block = dof * dof;
    const auto fit = [&] {
        consumer_threads = wavefront_cuda::consumer_threads(tile.cells(), point_threads);
        shared = 8 * (kind == FactorKind::tensor ? Index(entries) * tile.cells() * ((block + 1) / 2 * 2 + 2)
                                                 : Index(consumer_threads) * g.lower * dof);
        // There is only one stage if two would leave too little memory for the first-level cache.
        stages = kind == FactorKind::tensor && 2 * shared * tensor.blocks <= 150 * 1024 ? 2 : 1;
        shared *= stages;
        return consumer_threads <= (tuning.factor_j > 0 ? 512 : limit) && fits(shared, consumer_threads);
    };
    while (!fit() && tile.cells() > 1) tile.halve();
    if (!fits(shared, consumer_threads)) keep = false, shared = 0;
    blocks = tuning.factor_blocks > 0 ? tuning.factor_blocks : kind == FactorKind::tensor ? tensor.blocks : 1;
}

Index FactorShape::scratch(const IluPattern& system, const Geometry& g, const Tiles& tiles) const {
    return keep ? 0 : tiles.count() * g.lower * system.dof * consumer_threads;
}

Factorisation::Factorisation(const Context& context, const IluPattern& system, const Geometry& g,
                             const StructIluTuning& tuning)
    : system_(system),
      shape_(system, g, tuning),
      tiles_(system.layout, g.skew, shape_.tile, system.halo),
      reach_j_((g.halo_j + shape_.tile.j - 1) / shape_.tile.j),
      reach_k_((g.halo_k + shape_.tile.k - 1) / shape_.tile.k),
      device_tiles_(context, tiles_),
      progress_(context, "preconditioner: tiles", tiles_.count()),
      ticket_(context, "preconditioner: tiles", 1),
      record_(context, tiles_.count()),
      scratch_(context, "preconditioner: scratch", shape_.scratch(system, g, tiles_)),
      kernel_(context, source(), definitions(system, g, shape_), "struct_ilu_factor") {
    kernel_.allow_shared(shape_.shared);
}

void Factorisation::factor(const StructMatrix& a, StructMatrix& x, double shift, const PivotRules& rules,
                           PivotInverter& inverter) {
    // An entry that leaves the grid is zero and is multiplied by the value of some other point, which must be a number.
    if (spoilt_) kernel_.stream().zero(x.values(0) - x.space().halo_slots(), x.bytes());
    reset();
    if (system_.halo > 0) planes_of(x).receive_from_below();
    const Grid& g = system_.layout.grid();
    const Index before = a.space().halo_slots();  // the pattern's slot 0 is the first one in memory
    Arguments arguments{.a = a.values(0) - before,
                        .x = x.values(0),
                        .tiles = device_tiles_.tiles.data(),
                        .tile_at = device_tiles_.at.data(),
                        .progress = progress_.data(),
                        .ticket = ticket_.data(),
                        .log = record_.log(),
                        .smallest = record_.ratios(),
                        .scratch = scratch_.data(),
                        .shift = shift,
                        .tolerance = rules.tolerance,
                        .boost = rules.policy == PivotPolicy::boost ? rules.boost : 0.0,
                        .nx = g.nx,
                        .ny = g.ny,
                        .nz = g.nz,
                        .tiles_j = tiles_.tiles_j,
                        .reach_j = reach_j_,
                        .reach_k = reach_k_,
                        .a_stride = int(a.stride()),
                        .slots = int(system_.layout.slots()),
                        .entry = {}};
    const Stencil& filled = system_.stencil;
    check_entries(std::size_t(filled.size()), std::size(arguments.entry));
    for (int e = 0; e < filled.size(); ++e) {
        const int own = system_.a_stencil.find(filled[e]);
        arguments.entry[e] = {own >= 0 && a.stores(own) ? a.values(own) - before : nullptr,
                              x.values(0) + place_together<Index>(system_.layout.slots(), system_.dof, e, 0, 0, 0),
                              int(system_.layout.slot_delta(filled[e]))};
    }
    kernel_.launch({unsigned(tiles_.count())}, unsigned(shape_.threads()), shape_.shared, arguments);
    record_.report(inverter);
    if (system_.halo > 0) {
        planes_of(x).send_above();
        if (system_.symmetric && !system_.shares) planes_of(x).exchange_downwards();
    }
    spoilt_ = inverter.failures() > 0;
}

RankPlanes Factorisation::planes_of(StructMatrix& x) const {
    return {x.context(), system_, x.values(0)};
}

void Factorisation::reset() {
    record_.clear_log();
    const std::vector<int> none(tiles_.count(), -1);
    kernel_.stream().copy(none.data(), progress_.data(), Index(none.size() * sizeof(int)));
    kernel_.stream().zero(ticket_.data(), sizeof(unsigned));
}

Index Factorisation::bytes(const IluPattern& system, const Geometry& g, const StructIluTuning& tuning) {
    const FactorShape shape(system, g, tuning);
    const Tiles tiles(system.layout, g.skew, shape.tile, system.halo);
    return tiles.bytes() + tiles.count() * Index(sizeof(int)) + PivotRecord::bytes(tiles.count()) +
           shape.scratch(system, g, tiles) * Index(sizeof(double)) + Index(sizeof(unsigned));
}

rtc::Programs Factorisation::programs(const IluPattern& system, const Geometry& g, const StructIluTuning& tuning) {
    return {{source(), definitions(system, g, FactorShape(system, g, tuning))}};
}

std::string Factorisation::describe() const {
    const char* kind = shape_.kind == FactorKind::registers ? "points in registers"
                       : shape_.kind == FactorKind::tensor  ? "points on tensor cores"
                                                            : "rows";
    return fmt::format("factor {}{}, tiles {} x {}, ring {}, {} x {} + {} threads, {} KiB, {} blocks", kind,
                       shape_.pipelined ? ", rows of two levels" : "", shape_.tile.j, shape_.tile.k, shape_.ring,
                       shape_.groups, shape_.consumer_threads, 32 * (shape_.halo_warps + shape_.matrix_warps),
                       shape_.shared / 1024, shape_.blocks);
}

}  // namespace wavefront_cuda
}  // namespace hyperplane
