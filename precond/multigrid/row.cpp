// SPDX-License-Identifier: BSD-3-Clause
// The row of the registry: keys, plan, and smoothers made from the rows of other preconditioners.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/error.hpp"
#include "core/matrix/struct_matrix_cuda.hpp"
#include "precond/multigrid/multigrid.hpp"
#include "precond/multigrid/setup_cuda.hpp"

namespace hyperplane {
namespace {

const std::string section = "preconditioner", smoother_section = "smoother";

ParameterTable multigrid_parameters() {
    using enum ParameterType;
    return {
        {section,
         "cycle",
         choice,
         "v",
         "how often a cycle visits the next grid: once (v), twice (w), or by an F-cycle and then a V-cycle (f). An "
         "F-cycle is not symmetric, so cg does not take it",
         "",
         {},
         {},
         {"v", "w", "f"}},
        {section, "pre_smoothing", integer, "1", "smoothing steps before the visit of the next grid", "", Bound{0},
         Bound{20}},
        {section, "post_smoothing", integer, "1",
         "smoothing steps after it; cg needs as many as before, for a symmetric cycle", "", Bound{0}, Bound{20}},
        {section, "strength", real, "0.5",
         "an axis is coarsened if its couplings are at least this times those of the axis with the strongest ones; 0 "
         "coarsens all axes, 1 the strongest alone",
         "", Bound{0.0}, Bound{1.0}},
        {section, "coarsest_points", integer, "150",
         "a grid of at most so many points is the last one, whose matrix is inverted densely", "", Bound{1},
         Bound{double(multigrid::most_dense_unknowns)}},
        {section, "grids", integer, "32", "at most so many grids, the finest included", "", Bound{1}, Bound{32}},
        {section,
         "damping",
         real,
         "auto",
         "omega, the part of a smoother's correction that is used. auto: min(1, 1.7 / lambda) on each grid, with "
         "lambda "
         "the largest eigenvalue of M^-1 A that the power method finds; 1 for incomplete factorisations of M-matrices",
         "",
         Bound{0.0, true},
         Bound{2.0, true},
         {"auto"}},
        {section, "power_steps", integer, "12", "steps of the power method on each grid, for damping = auto", "",
         Bound{1}, Bound{1000}},
        factor_storage_parameter({std::begin(all_factor_storages), std::end(all_factor_storages)},
                                 "of the smoothers' factors, unless smoother.storage says otherwise, and of "
                                 "interpolation weights, which are in single precision for half_scaled, too"),
        {section, "storage_from", integer, "0",
         "the first grid for which storage = single or half_scaled holds; finer ones are stored in double precision",
         "", Bound{0}, Bound{32}},
        {section, "coarse_smoother", text, "same",
         "the smoother of all grids but the finest: same, which is that of [smoother] with its keys, or another "
         "preconditioner with its keys' defaults for smoothing"},
        {smoother_section, "name", text, "struct_ilu",
         "the smoother: any preconditioner but multigrid (hyperplane list preconditioners), with its keys"},
    };
}

MultigridOptions multigrid_options(const Parameters& parameters) {
    MultigridOptions options;
    const std::string& cycle = parameters.text(section, "cycle");
    options.cycle = cycle == "w" ? CycleKind::w : cycle == "f" ? CycleKind::f : CycleKind::v;
    options.pre_smoothing = int(parameters.integer(section, "pre_smoothing"));
    options.post_smoothing = int(parameters.integer(section, "post_smoothing"));
    if (options.pre_smoothing + options.post_smoothing == 0)
        throw UsageError(parameters.where(section, "post_smoothing") +
                         ": a cycle without smoothing does not reduce errors that vary from point to point; set "
                         "pre_smoothing or post_smoothing to 1 or more");
    const int from = int(parameters.integer(section, "storage_from"));
    if (is_reduced(factor_storage(parameters)))
        options.coarsening.rounded_from = from;
    else if (from > 0)
        throw UsageError(parameters.where(section, "storage_from") +
                         " means nothing with preconditioner.storage = double; leave it out, or set "
                         "preconditioner.storage = single");
    options.coarsening.strength = parameters.real(section, "strength");
    options.coarsening.coarsest_points = int(parameters.integer(section, "coarsest_points"));
    options.coarsening.grids = int(parameters.integer(section, "grids"));
    if (parameters.text(section, "damping") != "auto") options.smoothing.damping = parameters.real(section, "damping");
    options.smoothing.power_steps = int(parameters.integer(section, "power_steps"));
    return options;
}

/// A smoother's row and its keys, as keys of [preconditioner].
struct SmootherPlan {
    PreconditionerRow row;
    Parameters parameters;

    /// With the keys' defaults for smoothing.
    explicit SmootherPlan(const PreconditionerRow& of) : row(of) {
        parameters.add({{section, "name", ParameterType::text, row.name, ""}});
        parameters.add(row.parameters);
        for (const ParameterSpec& spec : smoother_parameters(row))
            if (!spec.default_value.empty()) parameters.set(section, spec.key, spec.default_value);
    }
    /// With the keys of [smoother].
    SmootherPlan(const PreconditionerRow& of, const Parameters& given) : SmootherPlan(of) {
        for (const ParameterSpec& spec : row.parameters)
            if (given.has(smoother_section, spec.key))
                if (const std::string& value = given.text(smoother_section, spec.key); !value.empty())
                    parameters.set(section, spec.key, value, given.value(smoother_section, spec.key).provenance);
    }

    std::unique_ptr<Preconditioner> make(const StructMatrix& a, double alpha) const {
        const PreconditionerSetting setting{a.context(), {a.grid(), a.stencil(), a.dof(), a.symmetric()}};
        if (alpha == 0.0) return row.create(parameters, setting);
        if (!parameters.has(section, "shift") || parameters.text(section, "shift") != "auto") return nullptr;
        Parameters shifted = parameters;
        shifted.set(section, "shift", fmt::format("{}", alpha));
        return row.create(shifted, setting);
    }

    /// Gives the factors this storage, unless `asked`, the keys of [smoother], name another one.
    void store(FactorStorage storage, bool asked) {
        if (row.storages.empty() || !is_reduced(storage)) return;
        if (asked && parameters.value(section, "storage").provenance.source != Provenance::Source::built_in) return;
        parameters.set(section, "storage", to_string(storage));
    }

    PreconditionerPlan plan(const PreconditionerSetting& setting) const { return row.plan(parameters, setting); }

    multigrid::SmootherChoice choice(const PreconditionerSetting& setting) const {
        return {
            .layout =
                [*this, setting](const Grid& grid, const Stencil& stencil) {
                    const MatrixShape& finest = setting.matrix;
                    return plan({setting.context, {grid, stencil, finest.dof(), finest.symmetric()}}).space.layout();
                },
            .make = [*this](const StructMatrix& a, double alpha) { return make(a, alpha); },
            .traits = plan(setting).traits,
            .regular_splitting = row.regular_splitting};
    }
};

/// The smoother of each grid; the last one is that of all further grids, too.
struct SmootherPlans {
    std::vector<SmootherPlan> list;

    const SmootherPlan& on(int grid) const { return list[std::min(std::size_t(grid), list.size() - 1)]; }
    multigrid::SmootherChoices choices(const PreconditionerSetting& setting) const {
        multigrid::SmootherChoices made;
        for (const SmootherPlan& one : list) made.list.push_back(one.choice(setting));
        return made;
    }
    std::vector<PreconditionerTraits> traits(const PreconditionerSetting& setting) const {
        std::vector<PreconditionerTraits> all;
        for (const SmootherPlan& one : list) all.push_back(one.plan(setting).traits);
        return all;
    }
};

/// The shape of the same matrix on another grid.
MatrixShape with(const MatrixShape& a, const Grid& grid, const Stencil& stencil) {
    return {grid, stencil, a.dof(), a.symmetric()};
}

Index matrix_bytes(const PreconditionerSetting& setting) {
    const MatrixShape& a = setting.matrix;
    const int entries = a.symmetric() ? a.stencil().diagonal() + 1 : a.stencil().size();
    return StructMatrix::bytes(Index(entries) * a.dof() * a.dof(), a.block_rows());
}

/// The most memory that any choice of axes can lead to: each grid is coarsened along one axis.
class MostMemory {
public:
    MostMemory(const SmootherPlans& smoothers, const multigrid::CoarseningOptions& options)
        : smoothers_(smoothers), options_(options) {}

    Index of(const PreconditionerSetting& finest) {
        stencils_.insert_or_assign(0, finest.matrix.stencil());
        return from(finest, 0, 0);
    }

private:
    /// From a grid on, which is the result of coarsening along the axes of `mask` in any order.
    Index from(PreconditionerSetting setting, int mask, int grid) {
        const Grid grid_points = setting.matrix.grid();
        const std::array<int, 4> key{grid_points.nx, grid_points.ny, grid_points.nz, mask};
        if (const auto known = known_.find(key); known != known_.end()) return known->second;
        setting.matrix = with(setting.matrix, grid_points, stencils_.at(mask));
        const Index points = setting.matrix.block_rows(), unknowns = setting.matrix.unknowns();
        const Index vector = unknowns * Index(sizeof(double));
        const Index own = (grid > 0 ? matrix_bytes(setting) + 2 * vector : 0);
        Index most = 0;
        const bool is_last = points <= options_.coarsest_points || grid + 1 >= options_.grids;
        const Index smoothed = is_last ? 0 : smoothers_.on(grid).plan(setting).bytes + 2 * vector;
        for (int axis = 0; axis < 3 && !is_last; ++axis) {
            const Stencil& stencil = setting.matrix.stencil();
            if (!multigrid::can_coarsen(grid_points, axis, stencil.radius())) continue;
            multigrid::Axes axes{false, false, false};
            axes[axis] = true;
            const multigrid::Coarsening grids(grid_points, axes);
            const int next = mask | 1 << axis;
            if (!stencils_.count(next)) stencils_.emplace(next, multigrid::coarse_stencil(stencil, grids));
            PreconditionerSetting coarse = setting;
            coarse.matrix = with(setting.matrix, grids.coarse, stencil);
            most = std::max(most, smoothed + multigrid::Interpolation::bytes(grids, options_.rounds(grid)) +
                                      from(coarse, next, grid + 1));
        }
        if (most == 0) most = multigrid::DenseSolve::bytes(std::min(unknowns, multigrid::most_dense_unknowns));
        return known_[key] = own + most;
    }

    const SmootherPlans& smoothers_;
    const multigrid::CoarseningOptions& options_;
    std::map<int, Stencil> stencils_;
    std::map<std::array<int, 4>, Index> known_;
};

class MultigridRow {
public:
    MultigridRow(const std::vector<PreconditionerRow>& smoothers, CheckSmoother check)
        : smoothers_(smoothers), check_(std::move(check)) {}

    std::unique_ptr<Preconditioner> create(const Parameters& parameters, const PreconditionerSetting& setting) const {
        return std::make_unique<Multigrid>(multigrid_options(parameters),
                                           smoothers_of(parameters, setting).choices(setting),
                                           setting.matrix.symmetric());
    }

    /// Of a hierarchy that is coarsened along all axes, as it is where no coupling is weak.
    PreconditionerPlan plan(const Parameters& parameters, const PreconditionerSetting& setting) const {
        const SmootherPlans smoothers = smoothers_of(parameters, setting);
        const MultigridOptions options = multigrid_options(parameters);
        PreconditionerPlan sum = smoothers.on(0).plan(setting);
        sum.traits = Multigrid::traits(options, smoothers.traits(setting), setting.matrix.symmetric());
        sum.bytes = sum.setup_bytes = sum.bytes_per_apply = 0;
        for_each_grid(
            setting, options.coarsening,
            [&](int grid, const PreconditionerSetting& setting, const multigrid::Coarsening& grids) {
                const Index unknowns = setting.matrix.unknowns();
                const Index vector = unknowns * Index(sizeof(double));
                if (grid > 0) sum.bytes += matrix_bytes(setting) + 2 * vector;
                if (!grids.any()) {
                    multigrid::check_coarsest(setting.matrix.grid(), setting.matrix.dof());
                    sum.bytes += multigrid::DenseSolve::bytes(unknowns);
                    sum.bytes_per_apply += multigrid::DenseSolve::bytes(unknowns);
                    return;
                }
                const PreconditionerPlan own = smoothers.on(grid).plan(setting);
                const Index p = multigrid::Interpolation::bytes(grids, options.coarsening.rounds(grid));
                sum.bytes += own.bytes + p + 2 * vector;
                sum.setup_bytes = std::max(sum.setup_bytes, own.setup_bytes);
                const Index m = own.bytes_per_apply > 0 ? own.bytes_per_apply : own.bytes + 2 * vector;
                sum.bytes_per_apply +=
                    (options.pre_smoothing + options.post_smoothing) * (m + matrix_bytes(setting) + 2 * vector) + 2 * p;
            });
        sum.most_when = "couplings are so weak along some axes that multigrid coarsens one axis at a time";
        sum.most_bytes = std::max(sum.bytes, MostMemory(smoothers, options.coarsening).of(setting));
        return sum;
    }

    /// Those of the smoothers, of products on coarse grids, and of what leads from one grid to the next, for the same
    /// hierarchy.
    std::vector<KernelSet> kernels(const Parameters& parameters, const PreconditionerSetting& setting) const {
        const SmootherPlans smoothers = smoothers_of(parameters, setting);
        const multigrid::CoarseningOptions coarsening = multigrid_options(parameters).coarsening;
        std::vector<KernelSet> all;
        for_each_grid(setting, coarsening,
                      [&](int grid, const PreconditionerSetting& setting, const multigrid::Coarsening& grids) {
                          if (!grids.any()) return;
                          const SmootherPlan& smoother = smoothers.on(grid);
                          if (smoother.row.kernels)
                              for (KernelSet& set : smoother.row.kernels(smoother.parameters, setting))
                                  all.push_back(std::move(set));
                          if constexpr (cuda_built)
                              if (grid > 0)
                                  all.push_back(product(smoother.plan(setting).space.layout(), setting.matrix));
                          if constexpr (cuda_built) add_step(setting.matrix, grids, coarsening.rounds(grid), all);
                      });
        return all;
    }

private:
    /// Calls body(grid, setting, coarsening) for the grids of a hierarchy that is coarsened along all axes, where the
    /// setting has that grid's matrix; on the last grid no axis is coarsened.
    template <class Body>
    static void for_each_grid(PreconditionerSetting setting, const multigrid::CoarseningOptions& options,
                              const Body& body) {
        for (int grid = 0;; ++grid) {
            const multigrid::Coarsening grids(setting.matrix.grid(), coarsened(setting, options, grid));
            body(grid, setting, grids);
            if (!grids.any()) return;
            setting.matrix =
                with(setting.matrix, grids.coarse, multigrid::coarse_stencil(setting.matrix.stencil(), grids));
        }
    }

    static KernelSet product(const Layout& layout, const MatrixShape& matrix) {
        return {"spmv",
                layout,
                matrix.stencil(),
                matrix.dof(),
                matrix.symmetric(),
                FactorStorage::double_precision,
                [layout, matrix]() -> rtc::Programs {
                    const MatrixStorage storage = matrix.symmetric() ? MatrixStorage::lower : MatrixStorage::full;
                    if constexpr (cuda_built)
                        return StructMatrixCuda::programs(layout, matrix.stencil(), matrix.dof(), storage);
                    return {};
                }};
    }

    /// The kernels of a step to the next grid, which do not depend on layouts: of the set-up, and of transfers, which
    /// do not depend on the stencil, either.
    static void add_step(const MatrixShape& matrix, const multigrid::Coarsening& grids, bool rounded,
                         std::vector<KernelSet>& all) {
        if (matrix.grid().any_periodic()) return;
        std::string axes;
        for (int axis = 0; axis < 3; ++axis)
            if (grids.axes[axis]) axes += "xyz"[axis];
        const Layout layout(LayoutKind::natural, matrix.grid(), {});
        const multigrid::SetupShape shape{matrix.stencil(), matrix.dof(),
                                          matrix.symmetric() ? MatrixStorage::lower : MatrixStorage::full};
        all.push_back({"multigrid_setup_" + axes, layout, shape.stencil, shape.dof, matrix.symmetric(),
                       FactorStorage::double_precision, [shape, grids]() -> rtc::Programs {
                           if constexpr (cuda_built) return multigrid::setup_programs(shape, grids);
                           return {};
                       }});
        all.push_back({"multigrid_transfer_" + axes, layout, Stencil::closure({Int3{}}), shape.dof, true,
                       rounded ? FactorStorage::single_precision : FactorStorage::double_precision,
                       [grids, dof = shape.dof, rounded]() -> rtc::Programs {
                           if constexpr (cuda_built) return multigrid::TransferCuda::programs(grids, dof, rounded);
                           return {};
                       }});
    }

    SmootherPlans smoothers_of(const Parameters& parameters, const PreconditionerSetting& setting) const {
        const bool named = parameters.has(smoother_section, "name");
        const std::string name = named ? parameters.text(smoother_section, "name") : "struct_ilu";
        const SmootherPlan finest(find_row(smoothers_, "smoother", name), parameters);
        const std::string& other = parameters.text(section, "coarse_smoother");
        const bool same = other == "same";
        const SmootherPlan coarse = same ? finest : SmootherPlan(find_row(smoothers_, "smoother", other));
        SmootherPlans plans;
        const int from = int(parameters.integer(section, "storage_from"));
        for (int grid = 0; grid <= std::max(1, from); ++grid) {
            plans.list.push_back(grid == 0 ? finest : coarse);
            if (grid >= from) plans.list.back().store(factor_storage(parameters), grid == 0 || same);
            check(plans.list.back(), grid == 0 || same ? "smoother.name" : "preconditioner.coarse_smoother", setting);
        }
        return plans;
    }

    void check(const SmootherPlan& smoother, const char* key, const PreconditionerSetting& setting) const {
        try {
            check_(smoother.row, smoother.parameters, setting);
        } catch (const UsageError& error) {
            throw UsageError(fmt::format("{} = {}: {}", key, smoother.row.name, error.what()));
        }
    }

    static multigrid::Axes coarsened(const PreconditionerSetting& setting, const multigrid::CoarseningOptions& options,
                                     int grid) {
        multigrid::Axes axes{false, false, false};
        if (setting.matrix.block_rows() <= options.coarsest_points || grid + 1 >= options.grids) return axes;
        for (int axis = 0; axis < 3; ++axis)
            axes[axis] = multigrid::can_coarsen(setting.matrix.grid(), axis, setting.matrix.stencil().radius());
        return axes;
    }

    std::vector<PreconditionerRow> smoothers_;
    CheckSmoother check_;
};

}  // namespace

ParameterTable smoother_parameters(const PreconditionerRow& row) {
    ParameterTable table = row.parameters;
    const bool boosts = std::any_of(table.begin(), table.end(), [](const ParameterSpec& spec) {
        return spec.key == "pivot_policy" &&
               std::find(spec.choices.begin(), spec.choices.end(), "boost") != spec.choices.end();
    });
    for (ParameterSpec& spec : table) {
        spec.section = smoother_section;
        if (spec.key == "pivot_policy") spec.default_value = boosts ? "boost" : "shift";
        if (spec.key == "pivot_tolerance" && boosts) spec.default_value = "1e-10";
        if (spec.key == "pivot_boost" && boosts) spec.default_value = "1";
    }
    return table;
}

PreconditionerRow multigrid_row(const std::vector<PreconditionerRow>& smoothers, const CheckSmoother& check) {
    const MultigridRow made(smoothers, check);
    PreconditionerRow row;
    row.name = "multigrid";
    row.summary = "a multigrid cycle, from the matrix alone; iterations do not grow with the grid";
    row.explanation =
        "One application is one cycle over a hierarchy of grids. From each grid the next one follows from the matrix "
        "alone: axes with strong couplings are coarsened by two, interpolation follows the coefficients (Dendy, Black "
        "box multigrid, J. Comput. Phys. 48, 1982), and the coarse matrix is P^T A P. The smoother is any other "
        "preconditioner, named in the section [smoother] with its keys; there, pivots that cannot be used are replaced "
        "where they are by default. The matrix of the last grid is inverted densely; constants in its null space are "
        "projected out.";
    row.parameters = multigrid_parameters();
    row.storages.assign(std::begin(all_factor_storages), std::end(all_factor_storages));
    row.create = [made](const Parameters& parameters, const PreconditionerSetting& setting) {
        return made.create(parameters, setting);
    };
    row.plan = [made](const Parameters& parameters, const PreconditionerSetting& setting) {
        return made.plan(parameters, setting);
    };
    row.kernels = [made](const Parameters& parameters, const PreconditionerSetting& setting) {
        return made.kernels(parameters, setting);
    };
    return row;
}

}  // namespace hyperplane
