// SPDX-License-Identifier: BSD-3-Clause
// The row of the registry: memory, kernels, and smoothers made from the rows of other preconditioners.
#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/matrix/struct_matrix_cuda.hpp"
#include "precond/multigrid/keys.hpp"
#include "precond/multigrid/most_memory.hpp"
#include "precond/multigrid/setup_cuda.hpp"

namespace hyperplane {
namespace {

class MultigridRow {
public:
    MultigridRow(const std::vector<PreconditionerRow>& smoothers, CheckSmoother check)
        : smoothers_(smoothers), check_(std::move(check)) {}

    std::unique_ptr<Preconditioner> create(const Parameters& parameters, const PreconditionerSetting& setting) const {
        return std::make_unique<Multigrid>(multigrid::options_of(parameters),
                                           smoothers_of(parameters, setting).choices(setting),
                                           setting.matrix.symmetric());
    }

    /// Of a hierarchy that is coarsened along all axes, as it is where no coupling is weak.
    PreconditionerPlan plan(const Parameters& parameters, const PreconditionerSetting& setting) const {
        const multigrid::SmootherPlans smoothers = smoothers_of(parameters, setting);
        const MultigridOptions options = multigrid::options_of(parameters);
        PreconditionerPlan sum = smoothers.on(0).plan(setting);
        sum.traits = Multigrid::traits(options, smoothers.traits(setting), setting.matrix.symmetric());
        sum.bytes = sum.setup_bytes = sum.bytes_per_apply = 0;
        for_each_grid(setting, options.coarsening,
                      [&](int grid, const PreconditionerSetting& setting, const multigrid::Coarsening& grids) {
                          const Index unknowns = setting.matrix.unknowns();
                          const Index vector = unknowns * Index(sizeof(double));
                          if (grid > 0) sum.bytes += multigrid::matrix_bytes(setting) + 2 * vector;
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
                          sum.bytes_per_apply += (options.pre_smoothing + options.post_smoothing) *
                                                     (m + multigrid::matrix_bytes(setting) + 2 * vector) +
                                                 2 * p;
                      });
        sum.most_when = "couplings are so weak along some axes that multigrid coarsens one axis at a time";
        sum.most_bytes = std::max(sum.bytes, multigrid::MostMemory(smoothers, options.coarsening).of(setting));
        return sum;
    }

    /// Those of the smoothers, of products on coarse grids, and of what leads from one grid to the next, for the same
    /// hierarchy.
    std::vector<KernelSet> kernels(const Parameters& parameters, const PreconditionerSetting& setting) const {
        const multigrid::SmootherPlans smoothers = smoothers_of(parameters, setting);
        const multigrid::CoarseningOptions coarsening = multigrid::options_of(parameters).coarsening;
        std::vector<KernelSet> all;
        for_each_grid(setting, coarsening,
                      [&](int grid, const PreconditionerSetting& setting, const multigrid::Coarsening& grids) {
                          if (!grids.any()) return;
                          const multigrid::SmootherPlan& smoother = smoothers.on(grid);
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
            setting.matrix = multigrid::with(setting.matrix, grids.coarse,
                                             multigrid::coarse_stencil(setting.matrix.stencil(), grids));
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

    multigrid::SmootherPlans smoothers_of(const Parameters& parameters, const PreconditionerSetting& setting) const {
        const bool named = parameters.has(multigrid::smoother_section, "name");
        const std::string name = named ? parameters.text(multigrid::smoother_section, "name") : "struct_ilu";
        const multigrid::SmootherPlan finest(find_row(smoothers_, "smoother", name), parameters);
        const std::string& other = parameters.text(multigrid::section, "coarse_smoother");
        const bool same = other == "same";
        const multigrid::SmootherPlan coarse =
            same ? finest : multigrid::SmootherPlan(find_row(smoothers_, "smoother", other));
        multigrid::SmootherPlans plans;
        const int from = int(parameters.integer(multigrid::section, "storage_from"));
        for (int grid = 0; grid <= std::max(1, from); ++grid) {
            plans.list.push_back(grid == 0 ? finest : coarse);
            if (grid >= from) plans.list.back().store(factor_storage(parameters), grid == 0 || same);
            check(plans.list.back(), grid == 0 || same ? "smoother.name" : "preconditioner.coarse_smoother", setting);
        }
        return plans;
    }

    void check(const multigrid::SmootherPlan& smoother, const char* key, const PreconditionerSetting& setting) const {
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
