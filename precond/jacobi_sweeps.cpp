#include "precond/jacobi_sweeps.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace hyperplane {
namespace {

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
         {"dependency", "forward", "backward", "natural"}},
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
    if (options.mode == SweepMode::sync && parameters.is_given(section, "block_order"))
        throw UsageError(parameters.where(section, "block_order") +
                         ": synchronous sweeps have no order of blocks; leave it out, or set preconditioner." + mode +
                         " = block_async");
    return options;
}

PreconditionerTraits JacobiSweeps::traits(const SweepOptions& options, bool symmetric) {
    const bool sync = options.mode == SweepMode::sync;
    return {.fixed = sync, .symmetric = sync && symmetric && options.lower == options.upper};
}

PreconditionerPlan JacobiSweeps::plan(const StructIluOptions& factorisation, const SweepOptions& sweeps,
                                      const PreconditionerSetting& setting) {
    const Stencil filled = setting.stencil.filled(factorisation.fill_level);
    PreconditionerPlan plan = StructIlu::plan(factorisation, setting);
    // In natural order the blocks of asynchronous sweeps come in the order of dependencies.
    plan.layout = Layout(LayoutKind::natural, setting.grid, filled.level_map());
    plan.bytes += TriangleSweeps::bytes(plan.layout.slots() * setting.dof) + filled.size() * Index(sizeof(Int3));
    const bool unit = StructIlu::unit_triangular(factorisation, setting);
    plan.bytes_per_apply = TriangleSweeps::bytes_per_apply(
        {plan.layout, filled, setting.dof, setting.symmetric, unit, factorisation.storage}, sweeps);
    plan.traits = traits(sweeps, setting.symmetric);
    return plan;
}

SetupReport JacobiSweeps::setup(const StructMatrix& a) {
    a_ = &a;
    const SetupReport report = factorisation_.setup(a);
    offsets_ = copied_to(context_, "sweeps", factorisation_.stencil().offsets());
    if (!sweeps_ || !sweeps_->serves(triangles())) {
        sweeps_.reset();
        sweeps_ = std::make_unique<TriangleSweeps>(context_, triangles(), options_);
    }
    check_growth(Direction::lower);
    check_growth(Direction::upper);
    return report;
}

TriangleShape JacobiSweeps::triangles() const {
    const NarrowFactors* narrow = factorisation_.narrow_factors();
    return {a_->layout(),
            factorisation_.stencil(),
            a_->dof(),
            a_->symmetric(),
            factorisation_.unit_triangular(),
            narrow ? narrow->storage() : FactorStorage::double_precision};
}

TriangleFactors JacobiSweeps::factors() const {
    const NarrowFactors* narrow = factorisation_.narrow_factors();
    if (!narrow) return factorisation_.view(offsets_.data());
    if (narrow->storage() == FactorStorage::single_precision) return narrow->view<float>();
    return narrow->view<Half>();
}

void JacobiSweeps::check_growth(Direction direction) const {
    constexpr double most_at_last = 10.0, most = 1e8;
    const bool lower = direction == Direction::lower;
    const std::vector<double> growth = sweeps_->growth(factors(), direction, most);
    const std::size_t sweeps = lower ? options_.lower : options_.upper;
    if (growth.size() == sweeps && growth.back() <= most_at_last) return;
    throw SetupError(
        fmt::format("{0}: Jacobi sweeps diverge on the {1} triangle: after {2} of {3} {1}_sweeps the error is {4:.2g} "
                    "times that of "
                    "none, since the factor is too far from normal. Use another preconditioner.{1}_sweeps, a larger "
                    "preconditioner.shift, or struct_ilu, whose solves are exact.",
                    name_, lower ? "lower" : "upper", growth.size(), sweeps, growth.back()));
}

void JacobiSweeps::apply(const Vector& r, Vector& z) const {
    sweeps_->apply(factors(), r, z);
}

Index JacobiSweeps::bytes_per_apply() const {
    return TriangleSweeps::bytes_per_apply(triangles(), options_);
}

SweepCounts JacobiSweeps::sweeps() const {
    SweepCounts counts = factorisation_.sweeps();
    counts.apply = options_.lower + options_.upper;
    return counts;
}

PreconditionerRow jacobi_sweeps_row() {
    PreconditionerRow row;
    row.name = "jacobi_sweeps";
    row.summary = "ILU(k) or IC(k) whose triangular solves are a few Jacobi sweeps";
    row.explanation =
        "The factors of struct_ilu; instead of solving with a triangle T of diagonal D, a few sweeps replace x by "
        "D^-1 (b - (T - D) x) at all points at once. Sweeps that diverge, on a factor too far from normal, end the "
        "set-up. With fill_level and pivots it behaves as struct_ilu. "
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
