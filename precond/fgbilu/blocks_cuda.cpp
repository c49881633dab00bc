// SPDX-License-Identifier: BSD-3-Clause
#include "precond/fgbilu/blocks_cuda.hpp"

#include <algorithm>

#include "core/grid/grid_point.hpp"
#include "core/grid/slots.hpp"
#include "precond/factors/rank_planes_cuda.hpp"
#include "precond/factors/reduced.hpp"
#include "precond/kernel_set.hpp"
#include "precond/walks/level_columns.hpp"

namespace hyperplane {
namespace {

rtc::Source factor_source(bool points) {
    return precond_source(points ? "precond/fgbilu/factor_points.cuh" : "precond/fgbilu/factor.cuh");
}
rtc::Source solve_source() {
    return precond_source("precond/fgbilu/solve.cuh");
}

/// How points are distributed to thread blocks. If a block has room for several points, their number is such that it
/// reads whole 32-byte sectors.
struct Shape {
    int factor_points, factor_lanes, unit_points, solve_points, parts, pause;
    Index factor_shared = 0;  ///< bytes
    bool ahead;

    Shape(const IluPattern& system, const FgBiluTuning& tuning) {
        const bool together = lies_together(system, tuning);
        const int dof = system.dof, block = dof * dof, lower = system.stencil.lower_size();
        factor_points = block <= 8 ? 256 / block / 8 * 8 : std::clamp((256 / block + 3) / 4 * 4, 1, 1024 / block);
        factor_lanes = block;
        if (factors_points(system, tuning)) {
            // A point's blocks lie in shared memory; two thread blocks of eight points fit up to 27 entries.
            const Index of_point = (Index(64) * (2 * lower + 1) + 2) * Index(sizeof(double));
            for (factor_points = 8; factor_points > 1 && factor_points * of_point > 112 * 1024;) factor_points /= 2;
            factor_lanes = 32, factor_shared = factor_points * of_point;
        }
        unit_points = 256 / dof;
        pause = dof == 3 || dof == 4 ? 150 : 100;  // as measured: docs/log/fgbilu.md
        const int rows = dof > 16 ? 8 : lower == 0 ? 4 : std::clamp(56 / lower, 1, dof);
        parts = tuning.parts > 0 ? std::min(tuning.parts, dof) : (dof + rows - 1) / rows;
        // Every warp executes the instructions that find points, so few threads a point and many small blocks are best;
        // but of A's coefficients, which are not contiguous, a block should read whole sectors.
        const int threads = dof * parts;
        const int of_many = system.shares && !together ? 512 / threads / 4 * 4 : 256 / threads;
        const int lying_together = parts > 1 ? 4 : is_reduced(system.storage) ? 16 : 8;
        const int lying_apart = std::max(16, 128 / threads / 8 * 8);
        const int wanted = dof == 1       ? 256
                           : threads > 16 ? std::max(4, of_many)
                           : together     ? lying_together
                                          : lying_apart;
        // For each point, static shared memory holds DOF + 1 vectors of column sums, the point's own vector and one
        // vector for each part.
        const int fits = 48 * 1024 / int(sizeof(double)) / ((dof + 2 + parts) * dof);
        solve_points = std::clamp(tuning.points > 0 ? tuning.points : wanted, 1, std::min(1024 / threads, fits));
        const int block_threads = threads * solve_points, share = (dof + parts - 1) / parts;
        ahead = lower * share <= (block_threads > 512 ? 14 : block_threads > 256 ? 26 : 56);
    }
};

/// The definitions of the solves' kernels or, unless `solves`, of the factorisation's, which are in double precision in
/// any storage.
rtc::Definitions definitions(const IluPattern& system, const FgBiluTuning& tuning, bool solves) {
    const FactorStorage storage = solves ? system.storage : FactorStorage::double_precision;
    const Shape shape(system, tuning);
    const auto [begin, u, e] = system.eliminations().by_lower();
    const auto number = [](int value) { return std::to_string(value); };
    rtc::Definitions all = grid_point_definitions(system.layout, system.stencil.offsets());
    all.insert({{"DOF", number(system.dof)},
                {"LOWER", number(system.stencil.lower_size())},
                {"SYMMETRIC", number(system.symmetric)},
                {"SHARES", number(system.shares && !is_reduced(storage))},
                {"UNIT", number(is_reduced(storage) || becomes_unit(system))},
                {"TOGETHER", number(solves ? lies_together(system, tuning) : made_together(system, tuning))},
                {"PAIR_BEGIN", rtc::array_of(begin)},
                {"PAIR_U", rtc::array_of(u)},
                {"PAIR_E", rtc::array_of(e)},
                {"FACTOR_POINTS", number(shape.factor_points)},
                {"UNIT_POINTS", number(shape.unit_points)},
                {"SOLVE_POINTS", number(shape.solve_points)},
                {"PARTS", number(shape.parts)},
                {"PAUSE", number(shape.pause)},
                {"AHEAD", number(shape.ahead)},
                {"OVERLAPPED", number(tuning.overlapped)},
                {"HALO_PLANES", number(system.halo)},
                {"STORAGE", number(int(storage))},
                {"OPERANDS_AS_RESULTS", "1"}});
    return all;
}

}  // namespace

FgBiluCuda::Arguments FgBiluCuda::arguments() const {
    const Grid& g = system_.layout.grid();
    Arguments arguments{};
    arguments.nx = g.nx, arguments.ny = g.ny, arguments.nz = g.nz;
    arguments.slots = int(system_.layout.slots());
    slot_deltas(system_.layout, system_.stencil.offsets(), arguments.delta);
    arguments.known_planes = g.nz;
    if (!between_ranks_) return arguments;
    const Communicator& ranks = *context_.ranks();
    arguments.epochs = epochs_.data();
    arguments.known_begin = ranks.rank() > 0 ? 0 : system_.halo;
    arguments.known_planes = g.nz - arguments.known_begin - (ranks.rank() + 1 < ranks.size() ? 0 : system_.halo);
    return arguments;
}

FgBiluCuda::Arguments FgBiluCuda::arguments(const FgBiluFactors& f) const {
    Arguments arguments = this->arguments();
    arguments.stride = made_together() ? arguments.slots : f.inverse.col_stride;
    arguments.a_stride = f.diagonal.col_stride;
    arguments.inverse = f.inverse.values;
    arguments.triangles = f.view.triangles.values;
    arguments.diagonal = f.diagonal.values;
    return arguments;
}

/// A kernel that is launched for one level after the other.
struct FgBiluCuda::LevelKernel {
    const Kernel& kernel;
    int points, lanes;  ///< points of a thread block; threads of a point
    Index shared = 0;   ///< bytes
};

void FgBiluCuda::launch_levels(const LevelKernel& of_level, bool upwards, bool overlapped, Arguments& arguments) const {
    const Layout& layout = system_.layout;
    const Grid& grid = layout.grid();
    const bool can_overlap = overlapped && tuning_.overlapped && of_level.kernel.stream().properties().major >= 9;
    const int levels = layout.level_count();
    arguments.begins = true;
    for (int at = 0; at < levels; ++at) {
        const int level = upwards ? at : levels - 1 - at;
        arguments.plane = within_planes(hyperplane_of(layout, level), system_.halo, grid.nz - system_.halo);
        arguments.base =
            layout.kind() == LayoutKind::natural ? 0 : hyperplane_slot(level, 0, 0, grid.nx, grid.ny, grid.nz);
        const unsigned blocks = unsigned((arguments.plane.columns + of_level.points - 1) / of_level.points);
        if (blocks == 0) continue;
        // The first level's kernel must not overlap the kernels before it, whose results it reads.
        of_level.kernel.launch({blocks}, unsigned(of_level.points * of_level.lanes), of_level.shared, arguments,
                               can_overlap && !arguments.begins);
        arguments.begins = false;
    }
}

FgBiluCuda::FgBiluCuda(const Context& context, const IluPattern& system, const FgBiluTuning& tuning)
    : context_(context),
      system_(system),
      tuning_(tuning),
      factor_(context, factor_source(factors_points(system, tuning)), definitions(system, tuning, false),
              factors_points(system, tuning) ? "fgbilu_factor_points" : "fgbilu_factor"),
      lower_(context, solve_source(), definitions(system, tuning, true), "fgbilu_lower"),
      upper_(context, solve_source(), definitions(system, tuning, true), "fgbilu_upper") {
    factor_.allow_shared(Shape(system, tuning).factor_shared);
    if (becomes_unit(system) && !reads_matrix())
        unit_triangles_ = {context, factor_source(false), definitions(system, tuning, false), "fgbilu_unit_triangles"};
    if (system.halo == 0) return;
    between_ranks_ = std::make_unique<EdgesBetweenRanks>(context, system);
    // The first kernel of a lower solve counts the upper one that follows it.
    epochs_ = copied_to(context, "preconditioner: tiles", std::vector<unsigned long long>{1, 0});
}

RankPlanes FgBiluCuda::planes_of(const FgBiluFactors& f) const {
    double* const values = f.triangles.values ? f.triangles.values : f.inverse.values;
    return made_together() ? RankPlanes(context_, system_, values)
                           : RankPlanes(context_, system_, values, f.inverse.col_stride);
}

void FgBiluCuda::factor(const FgBiluFactors& factors, double alpha, PivotRecord& record,
                        const PivotRules& rules) const {
    const Shape shape(system_, tuning_);
    Arguments arguments = this->arguments(factors);
    arguments.ratios = record.ratios();
    arguments.log = record.log();
    arguments.alpha = alpha;
    arguments.tolerance = rules.tolerance;
    arguments.boost = rules.policy == PivotPolicy::boost ? rules.boost : 0.0;
    const bool on_ranks = system_.halo > 0;
    if (on_ranks) planes_of(factors).receive_from_below();
    launch_levels({factor_, shape.factor_points, shape.factor_lanes, shape.factor_shared}, true,
                  reads_matrix() || system_.shares, arguments);
    if (on_ranks) planes_of(factors).send_above();
    if (unit_triangles_) {
        const unsigned points = unsigned(shape.unit_points), slots = unsigned(arguments.slots);
        unit_triangles_.launch({(slots + points - 1) / points}, points * system_.dof, 0, arguments);
    }
    if (on_ranks && system_.symmetric && !system_.shares) planes_of(factors).exchange_downwards();
}

void FgBiluCuda::solve(bool lower, Arguments& arguments, const double* r, double* z) const {
    const Shape shape(system_, tuning_);
    arguments.r = r;
    arguments.z = z;
    const auto queue = [&](const EpochRecord* before, EpochRecord* after) {
        arguments.before = before;
        arguments.after = after;
        launch_levels({lower ? lower_ : upper_, shape.solve_points, system_.dof * shape.parts}, lower, true, arguments);
    };
    between_ranks_ ? between_ranks_->solve(!lower, queue) : queue(nullptr, nullptr);
}

void FgBiluCuda::solve(const FgBiluFactors& factors, const double* r, double* z) const {
    Arguments arguments = this->arguments(factors);
    solve(true, arguments, r, z);
    solve(false, arguments, z, z);
}

void FgBiluCuda::solve(const ReducedFactors& f, const double* r, double* z) const {
    Arguments arguments = this->arguments();
    const auto* values = reinterpret_cast<const char*>(f.values<float>().values);
    arguments.stride = lies_together(system_, tuning_) ? arguments.slots : f.values<float>().col_stride;
    arguments.triangles = values;
    arguments.inverse = values + system_.stencil.diagonal() * f.entry_stride() * bytes_of(system_.storage);
    arguments.of_inverse = f.of_inverse().values;
    arguments.of_triangle = f.of_lower().values;
    solve(true, arguments, r, z);
    arguments.of_triangle = f.of_upper().values;
    solve(false, arguments, z, z);
}

Index FgBiluCuda::bytes(const IluPattern& system) {
    return system.halo == 0 ? 0 : EdgesBetweenRanks::bytes(system) + 2 * Index(sizeof(unsigned long long));
}

rtc::Programs FgBiluCuda::programs(const IluPattern& system) {
    const FgBiluTuning tuning;
    return {{solve_source(), definitions(system, tuning, true)},
            {factor_source(factors_points(system, tuning)), definitions(system, tuning, false)}};
}

}  // namespace hyperplane
