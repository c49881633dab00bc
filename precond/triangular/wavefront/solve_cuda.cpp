// SPDX-License-Identifier: BSD-3-Clause
#include "precond/triangular/wavefront/solve_cuda.hpp"

#include <fmt/format.h>

#include "core/grid/grid_point.hpp"
#include "precond/kernel_set.hpp"

namespace hyperplane {
namespace wavefront_cuda {
namespace {

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
    all["EDGES_WAIT"] = std::to_string(tuning.edges_wait);
    const Groups groups(system, g, tuning.pipelined);
    all["BLOCKS"] = std::to_string(shape.blocks);
    all["GROUPS"] = std::to_string(shape.groups);
    all["TERMS"] = rtc::array_of(groups.terms);
    all["GROUP_BEGIN"] = rtc::array_of(shape.groups == 1 ? std::vector<int>{0, g.lower} : groups.begin);
    all["ROWS"] = std::to_string(shape.rows);
    all["SUMS"] = std::to_string(groups.count());
    all["SUM_BEGIN"] = rtc::array_of(groups.begin);
    all["DILU"] = system.shares ? "1" : "0";
    all["STORAGE"] = std::to_string(int(system.storage));
    all["REAL"] = kind == Kind::solve_in_single ? "float" : "double";
    return all;
}

rtc::Source source() {
    return precond_source("precond/triangular/wavefront/solve.cuh");
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

/// The number of sums that a kernel has at most.
Index sums_of(bool eisenstat) {
    return eisenstat ? std::max(eisenstat_upper_sums, eisenstat_lower_sums) : 1;
}

}  // namespace

bool computes_dot(const IluPattern& system) {
    return system.symmetric && !system.of_rank && system.layout.kind() == LayoutKind::hyperplane;
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
      state_(copied_to(context, "preconditioner: tiles", std::vector<TicketState>{{0, 0, 1}})),
      partial_(context, "preconditioner: tiles", tiles_.count() * sums_of(eisenstat)) {
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
                        const EisenstatVectors& v, double* sums) {
    launch(upper_step_, step_shape_, true, addresses_of(scaled), v.s.data(), v.u.data(), sums + eisenstat_rho,
           {v.s.data(), v.p.data(), v.y.data(), scaled.diagonal(), before, bounds});
}

void Solves::lower_step(const ScaledTriangle& scaled, const EisenstatVectors& v, double* sums) {
    launch(lower_step_, step_shape_, false, addresses_of(scaled), v.u.data(), v.u.data(), sums + eisenstat_rr,
           {v.s.data(), v.p.data(), v.y.data(), scaled.diagonal(), sums, {}});
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
    const auto queue = [&](const EpochRecord* before, EpochRecord* after) {
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
    return tiles.bytes() +
           tiles.count() * (edges * Index(sizeof(EpochRecord)) + sums_of(eisenstat) * Index(sizeof(double))) +
           Index(sizeof(TicketState)) + EdgesBetweenRanks::bytes(system);
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
