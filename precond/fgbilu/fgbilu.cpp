// SPDX-License-Identifier: BSD-3-Clause
#include "precond/fgbilu/fgbilu.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "precond/choice_key.hpp"
#include "precond/factors/pivot_log.hpp"
#include "precond/triangular/jacobi/swept_pair.hpp"

namespace hyperplane {
namespace {

/// The same slots on a grid without periodic axes. A natural layout gets the levels of the stencil.
Layout levels_of(const Layout& layout, const Stencil& stencil) {
    Grid grid = layout.grid();
    grid.periodic = {false, false, false};
    return Layout(layout.kind(), grid, layout.kind() == LayoutKind::natural ? stencil.level_map() : layout.levels());
}

ParameterTable fgbilu_parameters() {
    ParameterTable table{choice_key(
        "style", "blocks",
        "how the work of a hyperplane is distributed. kernels: a parallel loop, on a GPU a launch, for each step over "
        "all elements of all blocks. blocks: one launch for a hyperplane, in which a thread block computes all steps "
        "of its points; on a CPU threads compute lines of points, as in struct_ilu",
        {"kernels", "blocks"})};
    table.insert(table.end(), pivot_parameters().begin(), pivot_parameters().end());
    const ParameterTable solves = triangular_solve_parameters();
    table.insert(table.end(), solves.begin(), solves.end());
    return table;
}

FgBiluOptions fgbilu_options(const Parameters& parameters, const PreconditionerSetting& /*setting*/) {
    FgBiluOptions options;
    options.style =
        parameters.text("preconditioner", "style") == "kernels" ? FgBiluStyle::kernels : FgBiluStyle::blocks;
    options.pivots = pivot_options(parameters);
    options.storage = factor_storage(parameters);
    return options;
}

/// Whether this is style blocks on a CPU: exact elimination, in which a thread takes lines of points through all
/// steps.
bool goes_by_lines(const Parameters& parameters, const PreconditionerSetting& setting) {
    return fgbilu_options(parameters, setting).style == FgBiluStyle::blocks &&
           setting.context.backend() == Backend::cpu;
}

std::unique_ptr<IluPreconditioner> make_by_lines(MakeExactIlu make_exact_ilu, const Parameters& parameters,
                                                 const PreconditionerSetting& setting) {
    const FgBiluOptions options = fgbilu_options(parameters, setting);
    IluOptions same;
    same.pivots = options.pivots;
    same.storage = options.storage;
    same.name = "fgbilu";
    return make_exact_ilu(setting.context, same, chosen_solve(parameters));
}

/// Whether the factors are those of copies in the hyperplane layout.
bool on_copies(const Context& context) {
    return cuda_built && context.ranks() && context.backend() == Backend::cuda;
}

/// The system whose factors are computed, for a matrix in a layout that has the stencil's levels.
IluPattern system_of(const Context& context, const FgBiluOptions& options, const Layout& layout, const Stencil& stencil,
                     int dof, bool symmetric) {
    const bool shares = !stencil.eliminates_off_diagonal();
    IluPattern system{levels_of(layout, stencil), stencil, stencil, dof, symmetric, shares, options.storage};
    if constexpr (cuda_built)
        if (on_copies(context)) {
            system.of_rank = true;
            system.halo = HyperplaneCopy::halo(stencil, !layout.is_part());
            system.layout = levels_of(HyperplaneCopy::layout(layout, stencil, system.halo), stencil);
        }
    return system;
}
IluPattern system_of(const FgBiluOptions& options, const PreconditionerSetting& setting, const Layout& layout) {
    const MatrixShape& a = setting.matrix;
    return system_of(setting.context, options, layout, a.stencil(), a.dof(), a.symmetric());
}

/// The order of coefficients of factors in reduced precision.
CoefficientOrder places_of(const IluPattern& system, bool kernels, const FgBiluTuning& tuning) {
    return kernels && lies_together(system, tuning) ? CoefficientOrder::together : CoefficientOrder::apart;
}

}  // namespace

PreconditionerPlan FgBilu::plan(const FgBiluOptions& options, const PreconditionerSetting& setting) {
    const Stencil& stencil = setting.matrix.stencil();
    PreconditionerPlan plan;
    const bool copies = on_copies(setting.context);
    const Layout layout = setting.layout(copies ? LayoutKind::natural : LayoutKind::hyperplane, stencil.level_map());
    plan.space = layout;
    const IluPattern system = system_of(options, setting, layout);
    const Index factors = IluFactors::bytes_in_double(system);
    plan.bytes = factors + PivotRecord::bytes(most_columns(system.layout)) + stencil.size() * Index(sizeof(Int3));
    if (options.style == FgBiluStyle::kernels) plan.bytes += FgBiluByElement::bytes(system);
    if (is_reduced(options.storage)) {
        plan.setup_bytes = factors + Index(sizeof(RoundingLog));
        const bool kernels = options.style == FgBiluStyle::blocks && setting.context.backend() == Backend::cuda;
        plan.bytes += ReducedFactors::bytes(options.storage, places_of(system, kernels, {}), system.layout.slots(),
                                            stencil.size(), setting.matrix.dof(), setting.matrix.symmetric()) -
                      factors;
    }
    if constexpr (cuda_built)
        if (copies) {
            const Index entries = system.symmetric ? stencil.diagonal() + 1 : stencil.size();
            plan.bytes += HyperplaneCopy::bytes(system.layout, entries * system.dof * system.dof, system.dof) +
                          FgBiluCuda::bytes(system);
        }
    plan.bytes_per_apply = IluFactors::bytes_per_apply(system);
    plan.traits = {.fixed = true, .symmetric = setting.matrix.symmetric()};
    return plan;
}

void FgBilu::prepare(const StructMatrix& a) {
    a_ = &a;
    const Stencil& stencil = a.stencil();
    const IluPattern system = system_of(context_, options_, a.layout(), stencil, a.dof(), a.symmetric());
    if constexpr (cuda_built)
        if (on_copies(context_)) a_ = &HyperplaneCopy::refresh(copy_, a, stencil, !a.layout().is_part());
    if (a.layout().kind() == LayoutKind::hyperplane) {
        const LevelMap have = a.layout().levels(), need = stencil.level_map();
        if (have.y < need.y || have.z < need.z)
            throw UsageError(fmt::format(
                "fgbilu: stencil {} needs levels i + {} j + {} k, the matrix's layout has i + {} j + {} k; build the "
                "matrix in the layout that plan() returns",
                stencil.name(), need.y, need.z, have.y, have.z));
    }
    if (!system_ || !(*system_ == system)) {
        for (std::optional<StructMatrix>* memory : {&factor_, &inverse_}) memory->reset();
        system_.reset();
        reduced_.reset();
        record_.reset();
        by_element_.reset();
        cuda_.reset();
        offsets_ = copied_to(context_, "preconditioner: scratch", stencil.offsets());
        record_ = std::make_unique<PivotRecord>(context_, most_columns(system.layout));
        if (options_.style == FgBiluStyle::kernels)
            by_element_ = std::make_unique<FgBiluByElement>(context_, system);
        else if constexpr (cuda_built)
            cuda_ = std::make_unique<FgBiluCuda>(context_, system, tuning_);
        system_ = system;  // last: it marks everything as allocated
    }
    // These are released after a set-up in reduced precision.
    if (system.shares && !inverse_)
        inverse_.emplace(context_, layout(), point_stencil(), a.dof(), MatrixStorage::full, "factor");
    if (!system.shares && !factor_) factor_.emplace(context_, layout(), stencil, a.dof(), a.storage(), "factor");
}

FgBiluFactors FgBilu::factors() const {
    // Only build, which is not const, writes to the view.
    StructMatrix& held = const_cast<StructMatrix&>(factor_ ? *factor_ : *inverse_);
    const bool together = cuda_ && cuda_->made_together();
    const int diagonal = a_->stencil().diagonal();
    const BlockView own = together ? blocks_together(held.values(0), layout().slots(), held.dof()) : block_view(held);
    FgBiluFactors f;
    f.inverse = factor_ ? own.entry(diagonal) : own;
    if (factor_) f.triangles = own;
    f.view = {layout(), factor_ ? own : block_view(*a_), f.inverse, offsets_.data()};
    f.view.lower = a_->stencil().lower_size();
    f.view.symmetric = a_->symmetric();
    f.view.unit = cuda_ && cuda_->makes_unit();  // after the factorisation
    f.diagonal = block_view(*a_, diagonal);
    f.dof = a_->dof();
    return f;
}

void FgBilu::build(double alpha, PivotInverter& inverter) {
    const FgBiluFactors f = factors();
    if (!(cuda_ && cuda_->reads_matrix())) fgbilu_copy(context_, *a_, f, alpha);
    record_->clear_log();
    record_->clear_ratios();
    if constexpr (cuda_built)
        if (cuda_) cuda_->factor(f, alpha, *record_, options_.pivots.rules);
    if (by_element_) by_element_->factor(f, *record_, options_.pivots.rules);
    if (copy_) inverter.set_first_row(copy_->first_row());
    record_->report(inverter);
}

SetupReport FgBilu::setup(const SystemMatrix& matrix) {
    const StructMatrix& a = structured(matrix);
    prepare(a);
    SetupReport report = factor_with_policy(a, options_.pivots.rules, options_.pivots.shift, "fgbilu",
                                            [&](double alpha, PivotInverter& inverter) { build(alpha, inverter); });
    if (is_reduced(options_.storage)) round_factors(a.layout(), report);
    report.factor_bytes = reduced_ ? reduced_->bytes() : factor_ ? factor_->bytes() : inverse_->bytes();
    return report;
}

void FgBilu::round_factors(const Layout& of_matrix, SetupReport& report) {
    const IluPattern& p = *system_;
    if (!reduced_)
        reduced_.emplace(context_, p.storage, p.layout, p.stencil.offsets(), p.dof, p.symmetric,
                         places_of(p, cuda_ != nullptr, tuning_));
    std::optional<PlanesOfRank> rank;
    if (p.of_rank) rank = {of_matrix, p.halo};
    judge(reduced_->round(factors().view, rank), p.storage, "fgbilu", report);
    factor_.reset();
    inverse_.reset();
}

void FgBilu::apply(const Vector& r, Vector& z) const {
    if constexpr (cuda_built) {
        const auto solve = [&](const double* from, double* to) {
            reduced_ ? cuda_->solve(*reduced_, from, to) : cuda_->solve(factors(), from, to);
        };
        if (copy_) {
            Vector& v = copy_->in_hyperplanes(r);
            solve(v.data(), v.data());
            return copy_->to_natural(z);
        }
        if (cuda_) return solve(r.data(), z.data());
    }
    reduced_ ? FgBiluByElement::solve(*reduced_, r, z) : by_element_->solve(factors(), r, z);
}

TriangleShape FgBilu::exported_shape(const Grid& grid, const Stencil& stencil, int dof, bool symmetric) const {
    return {Layout(LayoutKind::natural, grid, stencil.level_map()), stencil.offsets(), dof, symmetric, true};
}

void FgBilu::export_factors(const TriangleCopy& to) const {
    // The copy of a rank's matrix begins before its first plane.
    fgbilu_export(factors(), to, copy_ ? copy_->planes_before() : 0);
}

Index FgBilu::bytes_per_apply() const {
    return IluFactors::bytes_per_apply(*system_);
}

std::vector<KernelSet> FgBilu::kernels(const FgBiluOptions& options, const PreconditionerSetting& setting) {
    if constexpr (cuda_built) {
        if (options.style == FgBiluStyle::kernels) return {};  // loops over points
        const IluPattern system = system_of(options, setting, plan(options, setting).space.layout());
        return {{"fgbilu", system.layout, setting.matrix.stencil(), setting.matrix.dof(), setting.matrix.symmetric(),
                 options.storage, [system] { return FgBiluCuda::programs(system); }}};
    }
    return {};
}

PreconditionerRow fgbilu_row(MakeExactIlu make_exact_ilu) {
    PreconditionerRow row = fused_row<FgBilu>("fgbilu", fgbilu_options);
    row.regular_splitting = true;
    row.summary = "block ILU(0) or IC(0), a hyperplane at a time, a thread for each element of a block";
    row.explanation =
        "Equal to struct_ilu of fill level 0 and to sequential block ILU(0) to rounding, for every stencil and 1 to 32 "
        "unknowns a point. The points of a hyperplane do not depend on each other: all elements of their blocks are "
        "computed at the same time, one hyperplane after the other, and diagonal blocks are inverted in place by "
        "Gauss-Jordan elimination. With solver richardson it is the paper's linear solver. Symmetric matrices store "
        "and read one triangle. Source: Luo, Edwards, Luo, Mueller, A fine-grained block ILU scheme on regular "
        "structures for GPGPUs, Computers & Fluids 119, 2015.";
    row.parameters = fgbilu_parameters();
    row.on_ranks = true;
    row.only_on_ranks = {{"style", "blocks"}, {"solve_mode", "sync"}};
    row.create = [make_exact_ilu, fused = row.create](
                     const Parameters& parameters,
                     const PreconditionerSetting& setting) -> std::unique_ptr<Preconditioner> {
        if (!goes_by_lines(parameters, setting)) return fused(parameters, setting);
        return make_by_lines(make_exact_ilu, parameters, setting);
    };
    row.plan = [make_exact_ilu, fused = row.plan](const Parameters& parameters, const PreconditionerSetting& setting) {
        if (!goes_by_lines(parameters, setting)) return fused(parameters, setting);
        return make_by_lines(make_exact_ilu, parameters, setting)->plan(setting);
    };
    return row;
}

}  // namespace hyperplane
