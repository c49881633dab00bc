// SPDX-License-Identifier: BSD-3-Clause
// The row of the registry: memory, kernels, and smoothers made from the rows of other preconditioners.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "core/error.hpp"
#include "core/matrix/struct_matrix_cuda.hpp"
#include "core/parameters/nearest.hpp"
#include "precond/multigrid/keys.hpp"
#include "precond/multigrid/most_memory.hpp"
#include "precond/multigrid/setup_cuda.hpp"

namespace hyperplane {

using multigrid::PlannedGrid;

namespace {

/// Adds up what the grids of a hierarchy need.
class HierarchyPlan {
public:
    HierarchyPlan(const MultigridOptions& options, const multigrid::SmootherPlans& smoothers,
                  const PreconditionerSetting& setting)
        : options_(options), smoothers_(smoothers), sum_(smoothers.on(0).plan(setting)) {
        sum_.traits = Multigrid::traits(options, smoothers.traits(setting), setting.matrix.symmetric());
        sum_.bytes = sum_.setup_bytes = sum_.bytes_per_apply = 0;
    }

    /// The grid of this number, with the way to the next one; on the last grid no axis is coarsened.
    void add(int grid, const PlannedGrid& at, const multigrid::Coarsening& grids) {
        const Index before = sum_.bytes;
        const multigrid::CoarseningOptions& coarsening = options_.coarsening;
        const bool keeps = at.keeps_matrix(grid);
        if (keeps) sum_.bytes += multigrid::matrix_bytes(at.setting);
        sum_.bytes += multigrid::double_bytes(at.setting, coarsening, grid, keeps) + at.gather_bytes +
                      multigrid::single_bytes(at.setting, coarsening, grid, grids.any() || smoothers_.coarsest);
        if (grids.any())
            add_smoothed(grid, at, grids);
        else if (smoothers_.coarsest)
            add_smoothed_last(grid, at, *smoothers_.coarsest);
        else
            add_inverted_last(grid, at);
        sum_.parts.emplace_back(multigrid::name_of(grid, at.setting.matrix.grid()), sum_.bytes - before);
    }
    PreconditionerPlan sum() const {
        PreconditionerPlan sum = sum_;
        sum.setup_bytes += couplings_;
        return sum;
    }

private:
    Index visited(int grid, bool last, Index bytes) const {
        return Index(visits_of(options_.cycle, grid, last) * double(bytes));
    }
    /// Bytes that a product with the matrix moves.
    Index product(int grid, const PlannedGrid& at) const {
        return (multigrid::matrix_bytes(at.setting) + 2 * multigrid::vector_bytes(at.setting)) /
               (options_.coarsening.single(grid) ? 2 : 1);
    }
    /// Bytes that an application of a smoother moves.
    static Index apply(const PreconditionerPlan& smoother, const PlannedGrid& at) {
        return smoother.bytes_per_apply > 0 ? smoother.bytes_per_apply
                                            : smoother.bytes + 2 * multigrid::vector_bytes(at.setting);
    }

    void add_smoothed_last(int grid, const PlannedGrid& at, const multigrid::SmootherPlan& smoother) {
        const PreconditionerPlan own = smoother.plan(at.setting);
        sum_.traits.drops_couplings = sum_.traits.drops_couplings || own.traits.drops_couplings;
        sum_.bytes += own.bytes + 2 * multigrid::vector_bytes(at.setting);
        sum_.setup_bytes = std::max(sum_.setup_bytes, own.setup_bytes);
        sum_.bytes_per_apply += visited(grid, true, options_.coarsest_sweeps * (apply(own, at) + product(grid, at)));
    }

    void add_inverted_last(int grid, const PlannedGrid& at) {
        using multigrid::DenseSolve;
        const MatrixShape& a = at.setting.matrix;
        const Backend backend = at.setting.context.backend();
        multigrid::check_coarsest(a.grid(), a.dof());
        sum_.bytes += DenseSolve::bytes(a.unknowns());
        if (backend == Backend::cuda) {
            sum_.host_bytes = DenseSolve::host_bytes(a) + multigrid::matrix_bytes(at.setting);
            sum_.host_use = "the inverse of the coarsest grid";
        }
        sum_.setup_bytes = std::max(sum_.setup_bytes, DenseSolve::setup_bytes(a, backend));
        sum_.bytes_per_apply += visited(grid, true, DenseSolve::bytes(a.unknowns()));
    }

    void add_smoothed(int grid, const PlannedGrid& at, const multigrid::Coarsening& grids) {
        const PreconditionerPlan own = smoothers_.on(grid).plan(at.setting);
        sum_.traits.drops_couplings = sum_.traits.drops_couplings || own.traits.drops_couplings;
        const bool rounds = options_.coarsening.rounds(grid);  // a later set-up has weights in both precisions
        const Stencil next = multigrid::coarse_stencil(at.setting.matrix.stencil(), grids);
        const Index p = at.interpolation_bytes(grids, next, rounds),
                    unrounded = rounds ? at.interpolation_bytes(grids, next, false) : 0;
        sum_.bytes += own.bytes + p + 2 * multigrid::vector_bytes(at.setting) + multigrid::damping_bytes(at.setting);
        if constexpr (cuda_built)
            if (at.setting.context.backend() == Backend::cuda && !at.setting.matrix.grid().any_periodic())
                couplings_ += multigrid::CouplingSums::bytes(at.setting.natural_layout());
        sum_.setup_bytes = std::max({sum_.setup_bytes, own.setup_bytes, unrounded, multigrid::copy_bytes(at.setting)});
        const int steps = options_.pre_smoothing + options_.post_smoothing;
        sum_.bytes_per_apply += visited(grid, false, steps * (apply(own, at) + product(grid, at)) + 2 * p);
    }

    const MultigridOptions& options_;
    const multigrid::SmootherPlans& smoothers_;
    PreconditionerPlan sum_;
    Index couplings_ = 0;  ///< bytes of their sums of all grids, which a later set-up reads at the end
};

class MultigridRow {
public:
    MultigridRow(const std::vector<PreconditionerRow>& others, CheckSmoother check) : check_(std::move(check)) {
        PreconditionerRow own;
        own.name = "multigrid";
        refused_[own.name] = why_no_smoother(own);
        for (const PreconditionerRow& row : others)
            if (const std::string why = why_no_smoother(row); why.empty())
                smoothers_.push_back(row);
            else
                refused_[row.name] = why;
    }

    std::unique_ptr<Preconditioner> create(const Parameters& parameters, const PreconditionerSetting& setting) const {
        const multigrid::SmootherPlans smoothers = smoothers_of(parameters, setting);
        return std::make_unique<Multigrid>(options_of(parameters, setting, smoothers), smoothers.choices(setting),
                                           setting.matrix.symmetric());
    }

    /// Of a hierarchy that is coarsened along all axes, as it is where no coupling is weak.
    PreconditionerPlan plan(const Parameters& parameters, const PreconditionerSetting& setting) const {
        const multigrid::SmootherPlans smoothers = smoothers_of(parameters, setting);
        const MultigridOptions options = options_of(parameters, setting, smoothers);
        HierarchyPlan plan(options, smoothers, setting);
        for_each_grid(
            setting, options.coarsening,
            [&](int grid, const PlannedGrid& at, const multigrid::Coarsening& grids) { plan.add(grid, at, grids); });
        PreconditionerPlan sum = plan.sum();
        sum.most_when = "couplings are so weak along some axes that multigrid coarsens one axis at a time";
        sum.most_bytes =
            std::max(sum.bytes,
                     multigrid::MostMemory(smoothers, options.coarsening).of(PlannedGrid(setting, options.coarsening)));
        return sum;
    }

    /// The kernels of the smoothers, of products on coarse grids, and of what leads from one grid to the next, for the
    /// same hierarchy.
    std::vector<KernelSet> kernels(const Parameters& parameters, const PreconditionerSetting& setting) const {
        const multigrid::SmootherPlans smoothers = smoothers_of(parameters, setting);
        const multigrid::CoarseningOptions coarsening = options_of(parameters, setting, smoothers).coarsening;
        std::vector<KernelSet> all;
        for_each_grid(setting, coarsening, [&](int grid, const PlannedGrid& at, const multigrid::Coarsening& grids) {
            if (!grids.any() && !smoothers.coarsest) return;
            PreconditionerSetting setting = at.setting;
            setting.single_vectors = coarsening.single(grid);
            const multigrid::SmootherPlan& smoother = grids.any() ? smoothers.on(grid) : *smoothers.coarsest;
            for (KernelSet& set : smoother.kernels(setting)) all.push_back(std::move(set));
            if constexpr (cuda_built) {
                const bool single = setting.single_vectors;
                const Layout layout = smoother.plan(setting).space.layout();
                if (grid > 0) all.push_back(product(layout, setting.matrix, false));
                if (single) all.push_back(product(layout, setting.matrix, true));
                if (grids.any()) add_step(setting.matrix, grids, coarsening.rounds(grid), single, all);
            }
        });
        return all;
    }

    /// The planes of the finest grid that no cut between ranks may divide.
    int planes_together(const Parameters& parameters, const PreconditionerSetting& setting) const {
        return smoothers_of(parameters, setting).on(0).planes_together(setting);
    }

private:
    static MultigridOptions options_of(const Parameters& parameters, const PreconditionerSetting& setting,
                                       const multigrid::SmootherPlans& smoothers) {
        MultigridOptions options = multigrid::options_of(parameters, setting);
        if (setting.context.ranks())
            options.coarsening.planes_together = [smoothers, setting](const Grid& grid, const Stencil& stencil,
                                                                      int number) {
                const MatrixShape& finest = setting.matrix;
                return smoothers.on(number).planes_together(
                    {setting.context, {grid, stencil, finest.dof(), finest.symmetric()}});
            };
        return options;
    }
    /// Calls body(number, grid, coarsening) for the grids of a hierarchy that is coarsened along all axes; on the last
    /// grid no axis is coarsened.
    template <class Body>
    static void for_each_grid(const PreconditionerSetting& setting, const multigrid::CoarseningOptions& options,
                              const Body& body) {
        PlannedGrid at(setting, options);
        for (int grid = 0;; ++grid) {
            const MatrixShape& a = at.setting.matrix;
            const multigrid::Coarsening grids(a.grid(), coarsened(a, options, grid));
            body(grid, at, grids);
            if (!grids.any()) return;
            at = at.next(grids, multigrid::coarse_stencil(a.stencil(), grids), options, grid + 1);
        }
    }

    static MatrixStorage storage_of(const MatrixShape& matrix) {
        return matrix.symmetric() ? MatrixStorage::lower : MatrixStorage::full;
    }
    /// Products and residuals, of vectors in single precision if `single`.
    static KernelSet product(const Layout& layout, const MatrixShape& matrix, bool single) {
        return {single ? "spmv in single precision" : "spmv",
                layout,
                matrix.stencil(),
                matrix.dof(),
                matrix.symmetric(),
                single ? FactorStorage::single_precision : FactorStorage::double_precision,
                [layout, matrix, single]() -> rtc::Programs {
                    if constexpr (cuda_built) {
                        const auto programs = single ? SingleMatrixCuda::programs : StructMatrixCuda::programs;
                        return programs(layout, matrix.stencil(), matrix.dof(), storage_of(matrix));
                    }
                    return {};
                }};
    }

    /// The kernels of a step to the next grid, which do not depend on layouts: of the set-up, and of transfers, which
    /// do not depend on the stencil, either.
    static void add_step(const MatrixShape& matrix, const multigrid::Coarsening& grids, bool rounded, bool single,
                         std::vector<KernelSet>& all) {
        if (matrix.grid().any_periodic()) return;
        std::string axes;
        for (int axis = 0; axis < 3; ++axis)
            if (grids.axes[axis]) axes += "xyz"[axis];
        const Layout layout(LayoutKind::natural, matrix.grid(), {});
        const multigrid::SetupShape shape{matrix.stencil(), matrix.dof(), storage_of(matrix)};
        all.push_back({"multigrid_setup_" + axes, layout, shape.stencil, shape.dof, matrix.symmetric(),
                       FactorStorage::double_precision, [shape, grids]() -> rtc::Programs {
                           if constexpr (cuda_built) return multigrid::setup_programs(shape, grids);
                           return {};
                       }});
        all.push_back({(single ? "multigrid_single_transfer_" : "multigrid_transfer_") + axes, layout,
                       Stencil::closure({Int3{}}), shape.dof, true,
                       rounded ? FactorStorage::single_precision : FactorStorage::double_precision,
                       [grids, dof = shape.dof, rounded, single]() -> rtc::Programs {
                           if constexpr (cuda_built)
                               return multigrid::TransferCuda::programs(grids, dof, rounded, single);
                           return {};
                       }});
    }

    multigrid::SmootherPlans smoothers_of(const Parameters& parameters, const PreconditionerSetting& setting) const {
        if (setting.context.ranks() && parameters.text(multigrid::section, "vectors") == "single")
            throw UsageError(
                parameters.where(multigrid::section, "vectors") +
                ": several ranks exchange vectors in double precision; set preconditioner.vectors = double, "
                "or take one rank");
        const bool named = parameters.has(multigrid::smoother_section, "name");
        const multigrid::SmootherPlan finest(named ? find(parameters, multigrid::smoother_section, "name")
                                                   : find_row(smoothers_, "smoother", "struct_ilu"),
                                             parameters);
        const bool same = parameters.text(multigrid::section, "coarse_smoother") == "same";
        const multigrid::SmootherPlan coarse =
            same ? finest : multigrid::SmootherPlan(find(parameters, multigrid::section, "coarse_smoother"));
        multigrid::SmootherPlans plans;
        const int from = int(parameters.integer(multigrid::section, "storage_from"));
        for (int grid = 0; grid <= std::max(1, from); ++grid) {
            plans.list.push_back(grid == 0 ? finest : coarse);
            if (grid >= from) plans.list.back().store(factor_storage(parameters), grid == 0 || same);
            check(plans.list.back(), setting);
        }
        if (parameters.text(multigrid::section, "coarsest") == "jacobi") {
            plans.coarsest.emplace(find_row(smoothers_, "smoother", "jacobi"));
            plans.coarsest->parameters.set(multigrid::section, "l1", "true");
        }
        return plans;
    }

    /// The smoother that a key of the deck names.
    const PreconditionerRow& find(const Parameters& parameters, const char* section, const char* key) const {
        const std::string& name = parameters.text(section, key);
        std::vector<std::string> known{"same"};
        for (const PreconditionerRow& row : smoothers_) {
            if (row.is_called(name)) return row;
            known.push_back(row.name);
        }
        const auto refused = refused_.find(name);
        if (refused != refused_.end())
            throw UsageError(parameters.where(section, key) + ": " + refusal_as_smoother(name, refused->second));
        const std::string near = nearest(name, known);
        throw UsageError(fmt::format("{}: no smoother is called '{}'{} (hyperplane help smoother)",
                                     parameters.where(section, key), name,
                                     near.empty() ? "" : "; did you mean " + near + "?"));
    }

    void check(const multigrid::SmootherPlan& smoother, const PreconditionerSetting& setting) const {
        const std::string key = smoother.name_key();
        try {
            check_(smoother.row, smoother.parameters, setting, smoother.name_key());
        } catch (const UsageError& error) {
            const std::string message = smoother.worded(error.what());
            throw UsageError(message.starts_with(key) ? message
                                                      : fmt::format("{} = {}: {}", key, smoother.row.name, message));
        }
        if (setting.context.ranks()) check_on_ranks(smoother, smoother.name_key());
    }

    void check_on_ranks(const multigrid::SmootherPlan& smoother, const char* key) const {
        if (!smoother.row.on_ranks) {
            std::vector<std::string> names;
            for (const PreconditionerRow& other : smoothers_)
                if (other.on_ranks) names.push_back(other.name);
            throw UsageError(fmt::format("{} = {}: {} does not smooth on several ranks; take {}, or one rank", key,
                                         smoother.row.name, smoother.row.name, fmt::join(names, ", ")));
        }
        for (const auto& [of, value] : smoother.row.only_on_ranks)
            if (smoother.parameters.has(multigrid::section, of))
                if (const std::string& given = smoother.parameters.text(multigrid::section, of); given != value)
                    throw UsageError(
                        fmt::format("smoother.{} = {} does not work on several ranks; set smoother.{} = {}, or take "
                                    "one rank",
                                    of, given, of, value));
    }

    static multigrid::Axes coarsened(const MatrixShape& a, const multigrid::CoarseningOptions& options, int grid) {
        multigrid::Axes axes{false, false, false};
        if (multigrid::is_last(a.grid(), a.stencil(), options, grid)) return axes;
        for (int axis = 0; axis < 3; ++axis) axes[axis] = multigrid::can_coarsen(a.grid(), axis, a.stencil().radius());
        return axes;
    }

    std::vector<PreconditionerRow> smoothers_;
    std::map<std::string, std::string> refused_;  ///< of other preconditioners, by name, why they cannot smooth
    CheckSmoother check_;
};

}  // namespace

PreconditionerRow multigrid_row(const std::vector<PreconditionerRow>& others, const CheckSmoother& check) {
    const MultigridRow made(others, check);
    PreconditionerRow row;
    row.name = "multigrid";
    row.on_ranks = true;
    row.uneven_on_ranks = true;
    row.planes_together = [made](const Parameters& parameters, const PreconditionerSetting& setting) {
        return made.planes_together(parameters, setting);
    };
    row.summary = "a multigrid cycle, from the matrix alone; iterations do not grow with the grid";
    row.explanation =
        "One application is one cycle over a hierarchy of grids. From each grid the next one follows from the matrix "
        "alone: axes with strong couplings are coarsened by two, interpolation follows the coefficients (Dendy, Black "
        "box multigrid, J. Comput. Phys. 48, 1982), and the coarse matrix is P^T A P. The smoother is any other "
        "preconditioner that takes matrices on a grid, named in the section [smoother] with its keys; there, pivots "
        "that cannot be used are replaced where they are by default (par_ilu shifts the diagonal instead). The matrix "
        "of the last grid is inverted densely; constants in its null space are projected out. With coarsest = jacobi, "
        "steps of l1 Jacobi take the place of that inverse.";
    row.parameters = multigrid::parameters();
    row.variants = {"coarse_smoother=multicolor"};  // on a GPU wavefronts of small grids take most of a cycle
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
