// SPDX-License-Identifier: BSD-3-Clause
#include "precond/triangular/jacobi/preconditioner.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace hyperplane {
namespace {

/// Key of the sweeps' mode where `mode` may be the factorisation's own.
constexpr const char* solve_mode = "solve_mode";

ParameterTable jacobi_sweeps_parameters() {
    ParameterTable table = struct_ilu_parameters();
    const ParameterTable sweeps = triangle_sweep_parameters("mode");
    table.insert(table.end(), sweeps.begin(), sweeps.end());
    return table;
}

}  // namespace

ParameterTable triangle_sweep_parameters(const std::string& mode) {
    using enum ParameterType;
    const std::string section = "preconditioner";
    return {
        {section, "lower_sweeps", integer, "5",
         "Jacobi sweeps for the lower triangle, from zero on; the first gives the solution of its diagonal", "",
         Bound{1}, Bound{10000}},
        {section, "upper_sweeps", integer, "5", "the same for the upper triangle; cg needs as many as lower_sweeps", "",
         Bound{1}, Bound{10000}},
        {section,
         mode,
         choice,
         "sync",
         "sync: a sweep reads the one before, so M is one operator; block_async: blocks of 128 points read whatever "
         "their neighbours have come to, neither fixed nor deterministic, for fgmres alone",
         "",
         {},
         {},
         {"sync", "block_async"}},
        {section,
         "block_order",
         choice,
         "dependency",
         "order in which block_async begins its blocks; dependency: forward for the lower triangle, backward for the "
         "upper one; natural: none, as processor or GPU come to them",
         "",
         {},
         {},
         {"dependency", "forward", "backward", "natural"},
         0,
         false,
         Condition{mode, "block_async"}},
    };
}

SweepOptions triangle_sweep_options(const Parameters& parameters, const std::string& mode) {
    const std::string section = "preconditioner", &order = parameters.text(section, "block_order");
    SweepOptions options;
    options.lower = int(parameters.integer(section, "lower_sweeps"));
    options.upper = int(parameters.integer(section, "upper_sweeps"));
    options.mode = parameters.text(section, mode) == "sync" ? SweepMode::sync : SweepMode::block_async;
    options.order = order == "forward"    ? BlockOrder::forward
                    : order == "backward" ? BlockOrder::backward
                    : order == "natural"  ? BlockOrder::natural
                                          : BlockOrder::dependency;
    return options;
}

PreconditionerTraits JacobiSweeps::traits(const SweepOptions& options, bool symmetric) {
    const bool sync = options.mode == SweepMode::sync;
    return {.fixed = sync,
            .symmetric = sync && symmetric && options.lower == options.upper,
            .varies = sync ? "" : "block_async sweeps"};
}

PreconditionerPlan JacobiSweeps::plan(const PreconditionerPlan& source, const TriangleShape& shape,
                                      const SweepOptions& sweeps) {
    PreconditionerPlan plan = source;
    plan.layout = shape.layout;
    plan.bytes += TriangleSweeps::bytes(shape.layout.slots() * shape.dof);
    plan.bytes_per_apply = TriangleSweeps::bytes_per_apply(shape, sweeps);
    plan.traits = traits(sweeps, shape.symmetric);
    if (sweeps.mode == SweepMode::sync) plan.traits.varies = source.traits.varies;
    return plan;
}

PreconditionerPlan JacobiSweeps::plan(const StructIluOptions& factorisation, const SweepOptions& sweeps,
                                      const PreconditionerSetting& setting) {
    return plan(StructIluTriangles::plan(factorisation, setting), StructIluTriangles::shape(factorisation, setting),
                sweeps);
}

SetupReport JacobiSweeps::setup(const StructMatrix& a) {
    const SetupReport report = source_->setup(a);
    symmetric_ = a.symmetric();
    const TriangleShape shape = source_->shape();
    if (!sweeps_ || !sweeps_->serves(shape)) {
        sweeps_.reset();
        sweeps_ = std::make_unique<TriangleSweeps>(context_, shape, options_);
    }
    check_growth(Direction::lower);
    check_growth(Direction::upper);
    return report;
}

void JacobiSweeps::check_growth(Direction direction) const {
    constexpr double most_at_last = 10.0, most = 1e8;
    const bool lower = direction == Direction::lower;
    const std::vector<double> growth = sweeps_->growth(source_->factors(), direction, most);
    const std::size_t sweeps = lower ? options_.lower : options_.upper;
    if (growth.size() == sweeps && growth.back() <= most_at_last) return;
    throw SetupError(
        fmt::format("{0}: Jacobi sweeps diverge on the {1} triangle: after {2} of {3} {1}_sweeps the error is {4:.2g} "
                    "times that of "
                    "none, since the factor is too far from normal. Use another preconditioner.{1}_sweeps, a larger "
                    "preconditioner.shift, or {5}, whose solves are exact.",
                    name_, lower ? "lower" : "upper", growth.size(), sweeps, growth.back(),
                    name_ == "jacobi_sweeps" ? "struct_ilu" : "preconditioner.triangular_solve = exact"));
}

void JacobiSweeps::apply(const Vector& r, Vector& z) const {
    sweeps_->apply(source_->factors(), r, z);
}

Index JacobiSweeps::bytes_per_apply() const {
    return TriangleSweeps::bytes_per_apply(source_->shape(), options_);
}

SweepCounts JacobiSweeps::sweeps() const {
    SweepCounts counts = source_->sweeps();
    counts.apply = options_.lower + options_.upper;
    return counts;
}

ParameterTable triangular_solve_parameters() {
    ParameterTable table{{"preconditioner",
                          "triangular_solve",
                          ParameterType::choice,
                          "exact",
                          "exact, or jacobi: lower_sweeps and upper_sweeps Jacobi sweeps, as jacobi_sweeps does",
                          "",
                          {},
                          {},
                          {"exact", "jacobi"}}};
    for (ParameterSpec& spec : triangle_sweep_parameters(solve_mode)) {
        if (!spec.only_with) spec.only_with = {"triangular_solve", "jacobi"};
        table.push_back(spec);
    }
    return table;
}

bool sweeps_triangles(const Parameters& parameters) {
    return parameters.text("preconditioner", "triangular_solve") == "jacobi";
}

SweepOptions triangular_solve_options(const Parameters& parameters) {
    return triangle_sweep_options(parameters, solve_mode);
}

std::unique_ptr<Preconditioner> create_swept(std::unique_ptr<CopiableFactorisation> factorisation,
                                             const std::string& name, const Parameters& parameters,
                                             const PreconditionerSetting& setting) {
    auto source = std::make_unique<CopiedTriangles>(std::move(factorisation), factor_storage(parameters), name);
    return std::make_unique<JacobiSweeps>(setting.context, std::move(source), triangular_solve_options(parameters),
                                          name);
}

PreconditionerPlan plan_swept(const CopiableFactorisation& factorisation, const PreconditionerPlan& plan,
                              const Parameters& parameters, const PreconditionerSetting& setting) {
    TriangleShape shape = factorisation.triangle_shape(setting);
    shape.storage = factor_storage(parameters);
    return JacobiSweeps::plan(CopiedTriangles::plan(plan, shape, setting.context.backend()), shape,
                              triangular_solve_options(parameters));
}

PreconditionerRow jacobi_sweeps_row() {
    PreconditionerRow row;
    row.name = "jacobi_sweeps";
    row.summary = "ILU(k) or IC(k) whose triangular solves are a few Jacobi sweeps";
    row.explanation =
        "The factors of struct_ilu (those of par_ilu take the same sweeps by triangular_solve = jacobi, and so does a "
        "copy of those of multicolor, fgbilu and subdomain_ildu0, which is held beside them); instead of solving with "
        "a triangle T of diagonal D, a few sweeps replace x by D^-1 (b - (T - D) x) at all points at once. Sweeps that "
        "diverge, on a factor too far from normal, end the set-up. With fill_level and pivots it behaves as "
        "struct_ilu. "
        "Source: Anzt, Chow, Dongarra, Iterative sparse triangular solves for preconditioning, Euro-Par 2015.";
    row.parameters = jacobi_sweeps_parameters();
    row.storages.assign(std::begin(all_factor_storages), std::end(all_factor_storages));
    row.create = [](const Parameters& parameters, const PreconditionerSetting& setting) {
        StructIluOptions factorisation = struct_ilu_options(parameters);
        factorisation.name = "jacobi_sweeps";
        return std::unique_ptr<Preconditioner>(
            new JacobiSweeps(setting.context, factorisation, triangle_sweep_options(parameters, "mode")));
    };
    row.plan = [](const Parameters& parameters, const PreconditionerSetting& setting) {
        return JacobiSweeps::plan(struct_ilu_options(parameters), triangle_sweep_options(parameters, "mode"), setting);
    };
    return row;
}

}  // namespace hyperplane
