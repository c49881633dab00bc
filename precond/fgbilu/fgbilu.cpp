// SPDX-License-Identifier: BSD-3-Clause
#include "precond/fgbilu/fgbilu.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "precond/triangular/jacobi/swept_pair.hpp"

namespace hyperplane {
namespace {

/// Fewest bytes that one application moves: each value of the factors once for each triangle to which it belongs, r and
/// y in the lower solve, y and z in the upper one.
Index fewest_bytes(const Stencil& stencil, int dof, Index points, FactorStorage storage) {
    return ReducedFactors::bytes_of_solves(storage, points, stencil.size(), dof) +
           4 * dof * points * Index(sizeof(double));
}

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

FgBiluOptions fgbilu_options(const Parameters& parameters) {
    FgBiluOptions options;
    options.style =
        parameters.text("preconditioner", "style") == "kernels" ? FgBiluStyle::kernels : FgBiluStyle::blocks;
    options.pivots = pivot_options(parameters);
    options.storage = factor_storage(parameters);
    return options;
}

/// Whether this is style blocks on a CPU: exact elimination, in which a thread takes lines of points through all
/// steps.
bool goes_by_lines(const FgBiluOptions& options, const PreconditionerSetting& setting) {
    return options.style == FgBiluStyle::blocks && setting.context.backend() == Backend::cpu;
}

std::unique_ptr<IluPreconditioner> make_by_lines(MakeExactIlu make_exact_ilu, const FgBiluOptions& options,
                                                 const Parameters& parameters, const Context& context) {
    IluOptions same;
    same.pivots = options.pivots;
    same.storage = options.storage;
    same.name = "fgbilu";
    return make_exact_ilu(context, same, chosen_solve(parameters));
}

/// The order of coefficients of factors in reduced precision.
CoefficientOrder places_of(const FgBiluOptions& options, const FgBiluSystem& system, Backend backend) {
    const bool kernels = options.style == FgBiluStyle::blocks && backend == Backend::cuda;
    return kernels && system.together(options.tuning) ? CoefficientOrder::together : CoefficientOrder::apart;
}

}  // namespace

PreconditionerPlan FgBilu::plan(const FgBiluOptions& options, const PreconditionerSetting& setting) {
    const Stencil& stencil = setting.matrix.stencil();
    const bool shares = !stencil.eliminates_off_diagonal();
    const int entries = shares ? 1 : setting.matrix.symmetric() ? stencil.diagonal() + 1 : stencil.size();
    const Index points = setting.matrix.block_rows(), block = Index(setting.matrix.dof()) * setting.matrix.dof();
    PreconditionerPlan plan;
    const Layout layout(LayoutKind::hyperplane, setting.matrix.grid(), stencil.level_map());
    plan.space = layout;
    const Index factors = StructMatrix::bytes(entries * block, points);
    plan.bytes =
        factors + FgBiluScratch::bytes(levels_of(layout, stencil), stencil, setting.matrix.dof(),
                                       setting.matrix.symmetric(), shares, options.style == FgBiluStyle::kernels);
    if (is_reduced(options.storage)) {
        plan.setup_bytes = factors;
        const FgBiluSystem system{layout, stencil,        setting.matrix.dof(), setting.matrix.symmetric(),
                                  shares, options.storage};
        const CoefficientOrder places = places_of(options, system, setting.context.backend());
        plan.bytes += ReducedFactors::bytes(options.storage, places, points, stencil.size(), setting.matrix.dof(),
                                            setting.matrix.symmetric()) -
                      factors;
    }
    plan.bytes_per_apply = fewest_bytes(stencil, setting.matrix.dof(), points, options.storage);
    plan.traits = {.fixed = true, .symmetric = setting.matrix.symmetric()};
    return plan;
}

void FgBilu::prepare(const StructMatrix& a) {
    a_ = &a;
    const Stencil& stencil = a.stencil();
    if (a.layout().kind() == LayoutKind::hyperplane) {
        const LevelMap have = a.layout().levels(), need = stencil.level_map();
        if (have.y < need.y || have.z < need.z)
            throw UsageError(fmt::format(
                "fgbilu: stencil {} needs levels i + {} j + {} k, the matrix's layout has i + {} j + {} k; build the "
                "matrix in the layout that plan() returns",
                stencil.name(), need.y, need.z, have.y, have.z));
    }
    const bool shares = !stencil.eliminates_off_diagonal();
    layout_ = levels_of(a.layout(), stencil);
    const auto fits = [&](const std::optional<StructMatrix>& m, const Stencil& of) {
        return m && m->layout() == layout_ && m->dof() == a.dof() && m->stencil().offsets() == of.offsets();
    };
    if (shares) {
        factor_.reset();
        if (!fits(inverse_, point_stencil()))
            inverse_.emplace(context_, layout_, point_stencil(), a.dof(), MatrixStorage::full, "factor");
    } else if (inverse_.reset(); !fits(factor_, stencil) || factor_->storage() != a.storage()) {
        factor_.reset();
        factor_.emplace(context_, layout_, stencil, a.dof(), a.storage(), "factor");
    }
    const bool kernels = options_.style == FgBiluStyle::kernels;
    if (!scratch_ || !scratch_->serves(layout_, a, shares)) {
        scratch_.reset();
        scratch_ = std::make_unique<FgBiluScratch>(context_, layout_, a, shares, kernels);
    }
    if constexpr (cuda_built)
        if (const FgBiluSystem system{layout_, stencil, a.dof(), a.symmetric(), shares, options_.storage};
            !kernels && context_.backend() == Backend::cuda && !(cuda_ && cuda_->serves(system)))
            cuda_ = std::make_shared<FgBiluCuda>(system, options_.tuning);
}

FgBiluFactors FgBilu::factors() const {
    // Only build, which is not const, writes to the view.
    StructMatrix& held = const_cast<StructMatrix&>(factor_ ? *factor_ : *inverse_);
    FgBiluFactors f;
    BlockView own = block_view(held);
    if (const Index dof = a_->dof(); cuda_ && cuda_->made_together())
        own = {held.values(0), dof * dof * layout_.slots(), dof * dof, dof, 1};
    f.inverse = own;
    if (factor_) {
        f.triangles = own;
        f.inverse.values += held.stencil().diagonal() * own.entry_stride;
    }
    f.view = {layout_, factor_ ? own : block_view(*a_), f.inverse, scratch_->offsets()};
    f.view.lower = a_->stencil().lower_size();
    f.view.symmetric = a_->symmetric();
    f.view.unit = cuda_ && cuda_->makes_unit();  // true after the factorisation
    f.diagonal = block_view(*a_, a_->stencil().diagonal());
    f.dof = a_->dof();
    return f;
}

void FgBilu::build(double alpha, PivotInverter& inverter) {
    const FgBiluFactors f = factors();
    const Backend backend = context_.backend();
    fgbilu_copy(backend, *a_, f, !factor_, alpha);
    scratch_->reset();
    if constexpr (cuda_built)
        if (cuda_) cuda_->factor(f, *scratch_, options_.pivots.rules);
    if (!cuda_) fgbilu_factor_by_steps(backend, f, *scratch_, options_.pivots.rules);
    scratch_->report(inverter);
}

SetupReport FgBilu::setup(const SystemMatrix& matrix) {
    const StructMatrix& a = structured(matrix);
    prepare(a);
    SetupReport report = factor_with_policy(a, options_.pivots.rules, options_.pivots.shift, "fgbilu",
                                            [&](double alpha, PivotInverter& inverter) { build(alpha, inverter); });
    if (is_reduced(options_.storage)) round_factors(report);
    report.factor_bytes = reduced_ ? reduced_->bytes() : factor_ ? factor_->bytes() : inverse_->bytes();
    return report;
}

void FgBilu::round_factors(SetupReport& report) {
    const StructMatrix& a = *a_;
    if (!reduced_ || !reduced_->serves(options_.storage, layout_, a.stencil().offsets(), a.dof(), a.symmetric())) {
        reduced_.reset();
        const FgBiluSystem system{layout_, a.stencil(), a.dof(), a.symmetric(), !factor_, options_.storage};
        reduced_.emplace(context_, options_.storage, layout_, a.stencil().offsets(), a.dof(), a.symmetric(),
                         places_of(options_, system, context_.backend()));
    }
    judge(reduced_->round(factors().view), options_.storage, "fgbilu", report);
    factor_.reset();
    inverse_.reset();
}

void FgBilu::apply(const Vector& r, Vector& z) const {
    if constexpr (cuda_built)
        if (cuda_)
            return reduced_ ? cuda_->solve(*reduced_, r.data(), z.data()) : cuda_->solve(factors(), r.data(), z.data());
    reduced_ ? fgbilu_solve_by_steps(*reduced_, r, z)
             : fgbilu_solve_by_steps(context_.backend(), factors(), *scratch_, r.data(), z.data());
}

TriangleShape FgBilu::exported_shape(const Grid& grid, const Stencil& stencil, int dof, bool symmetric) const {
    return {Layout(LayoutKind::natural, grid, stencil.level_map()), stencil.offsets(), dof, symmetric, true};
}

void FgBilu::export_factors(const TriangleCopy& to) const {
    hyperplane::copy_triangles(factors().view, to);
}

Index FgBilu::bytes_per_apply() const {
    return fewest_bytes(a_->stencil(), a_->dof(), a_->layout().slots(), options_.storage);
}

std::vector<KernelSet> FgBilu::kernels(const FgBiluOptions& options, const PreconditionerSetting& setting) {
    if constexpr (cuda_built) {
        if (options.style == FgBiluStyle::kernels) return {};  // style kernels consists of loops over points
        const Layout layout = plan(options, setting).space.layout();
        const FgBiluSystem system{layout,
                                  setting.matrix.stencil(),
                                  setting.matrix.dof(),
                                  setting.matrix.symmetric(),
                                  !setting.matrix.stencil().eliminates_off_diagonal(),
                                  options.storage};
        return {{"fgbilu", layout, setting.matrix.stencil(), setting.matrix.dof(), setting.matrix.symmetric(),
                 options.storage, [system, tuning = options.tuning](const std::string& architecture) {
                     return FgBiluCuda::compile(system, tuning, architecture);
                 }}};
    }
    return {};
}

PreconditionerRow fgbilu_row(MakeExactIlu make_exact_ilu) {
    PreconditionerRow row;
    row.name = "fgbilu";
    row.summary = "block ILU(0) or IC(0), a hyperplane at a time, a thread for each element of a block";
    row.explanation =
        "Equal to struct_ilu of fill level 0 and to sequential block ILU(0) to rounding, for every stencil and 1 to 32 "
        "unknowns a point. The points of a hyperplane do not depend on each other: all elements of their blocks are "
        "computed at the same time, one hyperplane after the other, and diagonal blocks are inverted in place by "
        "Gauss-Jordan elimination. With solver richardson it is the paper's linear solver. Symmetric matrices store "
        "and read one triangle. Source: Luo, Edwards, Luo, Mueller, A fine-grained block ILU scheme on regular "
        "structures for GPGPUs, Computers & Fluids 119, 2015.";
    row.parameters = fgbilu_parameters();
    row.storages.assign(std::begin(all_factor_storages), std::end(all_factor_storages));
    row.create = [make_exact_ilu](const Parameters& parameters,
                                  const PreconditionerSetting& setting) -> std::unique_ptr<Preconditioner> {
        const FgBiluOptions options = fgbilu_options(parameters);
        if (goes_by_lines(options, setting)) return make_by_lines(make_exact_ilu, options, parameters, setting.context);
        return make_fused<FgBilu>(options, "fgbilu", parameters, setting.context);
    };
    row.plan = [make_exact_ilu](const Parameters& parameters, const PreconditionerSetting& setting) {
        const FgBiluOptions options = fgbilu_options(parameters);
        if (goes_by_lines(options, setting))
            return make_by_lines(make_exact_ilu, options, parameters, setting.context)->plan(setting);
        return plan_fused<FgBilu>(options, "fgbilu", parameters, setting);
    };
    row.kernels = [](const Parameters& parameters, const PreconditionerSetting& setting) {
        return kernels_fused<FgBilu>(fgbilu_options(parameters), parameters, setting);
    };
    return row;
}

}  // namespace hyperplane
