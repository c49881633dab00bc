// SPDX-License-Identifier: BSD-3-Clause
#include "precond/subdomain/ildu0.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/profile.hpp"
#include "precond/choice_key.hpp"
#include "precond/subdomain/factor_tensor_cuda.hpp"
#include "precond/triangular/jacobi/swept_pair.hpp"

namespace hyperplane {
namespace {

const std::string section = "preconditioner";

/// Largest number of values in a subdomain's vector, without the margins around it.
constexpr Index most_values = 16 * 1024;

ParameterTable subdomain_parameters() {
    using enum ParameterType;
    ParameterTable table{
        {.section = section,
         .key = "subdomain",
         .type = integers,
         .default_value = "auto",
         .description =
             "points of a subdomain along x, y and z, such as 16 16 8; times the unknowns of a point at most "
             "16384, which fit a GPU's shared memory. auto: boxes of equal size, of about 16 16 8 points for "
             "up to 3 unknowns a point, of fewer for more",
         .minimum = Bound{1},
         .choices = {"auto"},
         .count = 3},
        choice_key("variant", "level",
                   "how subdomains are solved, all with the same M; level: level by level, both solves in one "
                   "kernel; unfused: in two, of a general matrix on a GPU alone. On a GPU alone: spin, a warp for each "
                   "point, which waits for the points that it needs; dag_vertex and dag_edge, levels found in the "
                   "pattern's graph, a thread for each row or nonzero. dag_edge adds in any order, so its last bits "
                   "vary from run to run",
                   {"level", "unfused", "spin", "dag_vertex", "dag_edge"}, Condition{"triangular_solve", "exact"}),
    };
    table.insert(table.end(), pivot_parameters().begin(), pivot_parameters().end());
    const ParameterTable solves = triangular_solve_parameters();
    table.insert(table.end(), solves.begin(), solves.end());
    return table;
}

SubdomainOptions subdomain_options(const Parameters& parameters, const PreconditionerSetting& setting) {
    SubdomainOptions options;
    if (parameters.text(section, "subdomain") != "auto") {
        const std::vector<Index> size = parameters.integers(section, "subdomain");
        const Grid& g = setting.matrix.grid();
        options.size = Int3{int(std::min<Index>(size[0], g.nx)), int(std::min<Index>(size[1], g.ny)),
                            int(std::min<Index>(size[2], g.nz))};
        const Index values = Index(options.size->x) * options.size->y * options.size->z * setting.matrix.dof();
        if (values > most_values)
            throw UsageError(
                fmt::format("{}: {} x {} x {} points of {} unknowns are {} values, and a subdomain's vector has at "
                            "most {}, as many "
                            "as fit a GPU's shared memory; make subdomains smaller",
                            parameters.where(section, "subdomain"), options.size->x, options.size->y, options.size->z,
                            setting.matrix.dof(), values, most_values));
    }
    options.variant = subdomain_variant(parameters.text(section, "variant"));
    if (options.size) {
        constexpr Index most_held = 227 * 1024 / Index(sizeof(double));
        const Partition partition{setting.matrix.grid(), *options.size};
        const SubdomainCells cells(partition, partition.within(setting.matrix.stencil()));
        const Index flags = options.variant == SubdomainVariant::spin ? partition.points() / 2 + 1 : 0;
        const Index held = Index(setting.matrix.dof()) * cells.cells + 2 * cells.margin + 1 + flags;
        if (held > most_held)
            throw UsageError(fmt::format(
                "{}: with the padding that stencil {} needs around it, the vector of {} x {} x {} points takes {} "
                "values of a GPU's shared memory, which holds {}; make subdomains smaller along x and y",
                parameters.where(section, "subdomain"), setting.matrix.stencil().name(), options.size->x,
                options.size->y, options.size->z, held, most_held));
    }
    options.pivots = pivot_options(parameters);
    options.storage = factor_storage(parameters);
    return options;
}

/// Fewest bytes that one application moves: the factors, the exponents of half_scaled, r and z.
Index fewest_bytes(const Stencil& kept, Index dof, Index points, FactorStorage storage) {
    const Index exponents = storage == FactorStorage::half_scaled ? 3 * dof : 0;
    return (kept.size() * dof * dof * bytes_of(storage) + exponents + 2 * dof * Index(sizeof(double))) * points;
}

/// The partition of the grid, or on a GPU of a rank's planes, whose cuts divide no subdomain.
Partition partition_for(const SubdomainOptions& options, Backend backend, const Layout& layout, int dof) {
    Partition partition = options.partition(layout.grid(), dof);
    if (backend == Backend::cuda) partition.grid = layout.as_own_grid().grid();
    return partition;
}

/// The subdomains that a rank has.
Index held_count(const Partition& partition, const Layout& layout) {
    return partition.grid.nz < layout.grid().nz ? partition.subdomains() : partition.held_by(layout).count();
}

/// Throws UsageError if a backend has no such variant. The plan asks, too: a smoother is made in the set-up only.
void require_variant(Backend backend, SubdomainVariant variant) {
    if (backend == Backend::cpu && !goes_by_steps(variant))
        throw UsageError(fmt::format(
            "subdomain_ildu0: variant {} is a way in which threads of a GPU wait for each other; a CPU has one thread "
            "a subdomain. Set preconditioner.variant = level, which gives the same M, or device.backend = cuda.",
            name_of(variant)));
}

}  // namespace

Partition SubdomainOptions::partition(const Grid& grid, int dof) const {
    return size ? Partition{grid, *size} : Partition::by_default(grid, dof);
}

SubdomainIldu0::SubdomainIldu0(const Context& context, const SubdomainOptions& options)
    : context_(context), options_(options) {
    require_variant(context.backend(), options.variant);
}

PreconditionerPlan SubdomainIldu0::plan(const SubdomainOptions& options, const PreconditionerSetting& setting) {
    require_variant(setting.context.backend(), options.variant);
    const Partition partition =
        partition_for(options, setting.context.backend(), setting.natural_layout(), setting.matrix.dof());
    const SubdomainOrder::Rows rows = rows_of(setting.context.backend(), options.variant);
    PreconditionerPlan plan;
    // Subdomains consist of parts of lines along x, which are contiguous in the natural layout.
    const Layout layout = setting.natural_layout();
    plan.space = layout;
    plan.bytes = SubdomainFactors::bytes(partition, held_count(partition, layout), setting.matrix.stencil(),
                                         setting.matrix.dof(), rows, options.storage);
    if constexpr (cuda_built)
        if (setting.context.backend() == Backend::cuda)
            plan.bytes += SubdomainSolveCuda::bytes(partition, partition.within(setting.matrix.stencil()),
                                                    setting.matrix.dof(), options.variant, options.storage);
    plan.setup_bytes =
        SubdomainFactors::setup_bytes(setting.context.backend(), partition, held_count(partition, layout),
                                      setting.matrix.stencil(), setting.matrix.dof(), rows, options.storage);
    plan.bytes_per_apply =
        fewest_bytes(partition.within(setting.matrix.stencil()), setting.matrix.dof(), layout.slots(), options.storage);
    plan.traits = {.fixed = true, .symmetric = setting.matrix.symmetric(), .varies = varying(options.variant)};
    return plan;
}

SetupReport SubdomainIldu0::setup(const SystemMatrix& matrix) {
    const StructMatrix& a = structured(matrix);
    const Partition partition = partition_for(options_, context_.backend(), a.layout(), a.dof());
    layout_ = a.layout();
    symmetric_ = a.symmetric();
    if (!factors_ || !factors_->serves(partition, a)) {
        const ProfileScope scope(context_, "symbolic");
        cuda_.reset();
        factors_.reset();
        factors_.emplace(context_, partition, a, rows_of(context_.backend(), options_.variant), options_.storage);
    }
    if constexpr (cuda_built)
        if (a.backend() == Backend::cuda && !(cuda_ && cuda_->layout() == layout_.kind()))
            cuda_ =
                std::make_shared<SubdomainSolveCuda>(context_, *factors_, layout_.kind(), options_.variant, tuning_);
    const PivotRules& rules = options_.pivots.rules;
    SetupReport report =
        factor_with_policy(a, rules, options_.pivots.shift, "subdomain_ildu0",
                           [&](double alpha, PivotInverter& inverter) { factors_->factor(a, alpha, rules, inverter); });
    if (is_reduced(options_.storage)) judge(factors_->round(layout_), options_.storage, "subdomain_ildu0", report);
    report.factor_bytes = factors_->factor_bytes();
    return report;
}

void SubdomainIldu0::apply(const Vector& r, Vector& z) const {
    if constexpr (cuda_built)
        if (cuda_) return cuda_->apply(*factors_, r, z);
    const bool fused = options_.variant == SubdomainVariant::level;
    solve_subdomains_cpu(*factors_, fused ? SubdomainPasses::fused : SubdomainPasses::unfused, r, z);
}

bool SubdomainIldu0::solve_lower(const Vector& r, Vector& y) const {
    if (options_.variant != SubdomainVariant::unfused) return false;
    if constexpr (cuda_built)
        if (cuda_) {
            cuda_->lower_solve(*factors_, r, y);
            return true;
        }
    solve_subdomains_cpu(*factors_, SubdomainPasses::lower, r, y);
    return true;
}

TriangleShape SubdomainIldu0::exported_shape(const Grid& grid, const Stencil& stencil, int dof, bool symmetric) const {
    return {Layout(LayoutKind::natural, grid, stencil.level_map()),
            options_.partition(grid, dof).within(stencil).offsets(), dof, symmetric, true};
}

Index SubdomainIldu0::bytes_per_apply() const {
    return fewest_bytes(factors_->stencil(), factors_->order().dof, layout_.slots(), options_.storage);
}

std::vector<KernelSet> SubdomainIldu0::kernels(const SubdomainOptions& options, const PreconditionerSetting& setting) {
    if constexpr (cuda_built) {
        const Partition partition = options.partition(setting.matrix.grid(), setting.matrix.dof());
        const Layout layout(LayoutKind::natural, setting.matrix.grid(), setting.matrix.stencil().level_map());
        const std::string family = fmt::format("subdomain_{}_{}x{}x{}", name_of(options.variant), partition.size.x,
                                               partition.size.y, partition.size.z);
        return {{family, layout, setting.matrix.stencil(), setting.matrix.dof(), setting.matrix.symmetric(),
                 options.storage,
                 [partition, within = partition.within(setting.matrix.stencil()), dof = setting.matrix.dof(), options] {
                     rtc::Programs all =
                         SubdomainSolveCuda::programs(partition, within, dof, options.variant, options.storage);
                     if (SubdomainFactorCuda::serves(dof)) all.push_back(SubdomainFactorCuda::program(dof));
                     return all;
                 }}};
    }
    return {};
}

const std::vector<std::pair<std::string, SubdomainTuning>>& subdomain_tunings() {
    static const std::vector<std::pair<std::string, SubdomainTuning>> list{
        {"rings of 16 KiB", {.ring = 16 * 1024}},
        {"64 workers", {.workers = 64}},
        {"64 workers, rings of 16 KiB", {.workers = 64, .ring = 16 * 1024}},
        {"32 workers", {.workers = 32}},
        {"32 workers, rings of 16 KiB", {.workers = 32, .ring = 16 * 1024}}};
    return list;
}

PreconditionerRow subdomain_ildu0_row() {
    PreconditionerRow row = fused_row<SubdomainIldu0>("subdomain_ildu0", subdomain_options);
    row.regular_splitting = true;
    row.summary = "ILU(0) or IC(0) of boxes of the grid or parts of a graph, the couplings between them dropped";
    row.explanation =
        "The grid is cut into boxes, couplings between boxes are left out, and each box is factored by itself as M = "
        "(I + W) D (I + G). On a GPU a thread block keeps the vector of its box in shared memory during both solves, "
        "so that r, z and the factors are moved once and no thread block waits for another; the price is about 1.5 "
        "times the iterations of struct_ilu. Of a general matrix the subdomains are parts of its graph. Source: "
        "Gondhalekar, Haugen, Gibson, Feng, Mapping Sparse Triangular "
        "Solves to GPUs via Fine-grained Domain Decomposition.";
    row.parameters = subdomain_parameters();
    row.on_ranks = true;
    row.only_on_ranks = {{"solve_mode", "sync"}};
    row.planes_together = [](const Parameters& parameters, const PreconditionerSetting& setting) {
        const SubdomainOptions options = subdomain_options(parameters, setting);
        return options.partition(setting.matrix.grid(), setting.matrix.dof()).size.z;
    };
    for (const auto& [name, tuning] : subdomain_tunings())
        row.tunings.push_back(
            {name, [tuning = tuning](Preconditioner& m) { dynamic_cast<SubdomainIldu0&>(m).tune(tuning); }});
    return row;
}

}  // namespace hyperplane
