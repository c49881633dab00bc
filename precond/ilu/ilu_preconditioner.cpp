// SPDX-License-Identifier: BSD-3-Clause
#include "precond/ilu/ilu_preconditioner.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/profile.hpp"
#include "precond/choice_key.hpp"
#include "precond/factors/pivot_log.hpp"

namespace hyperplane {

const ParameterTable& ilu_parameters() {
    using enum ParameterType;
    const std::string section = "preconditioner";
    static const ParameterTable table = [&] {
        ParameterTable keys{{.section = section,
                             .key = "fill_level",
                             .type = integer,
                             .default_value = "0",
                             .description = "ILU(k): fill made of entries of level p and q is kept while p + q + 1 <= "
                                            "k; incomplete Cholesky IC(k) when the matrix is symmetric",
                             .minimum = Bound{0},
                             .maximum = Bound{3}}};
        keys.insert(keys.end(), pivot_parameters().begin(), pivot_parameters().end());
        return keys;
    }();
    return table;
}

ParameterSpec scope_key() {
    return choice_key(
        "scope", "global",
        "on several ranks (run --ranks): global keeps every coupling, so factors and iterations are those of one rank; "
        "rank drops those between ranks, which then solve without waiting for each other, and takes more iterations "
        "the more ranks there are. On one rank both are the same",
        {"global", "rank"});
}

IluOptions ilu_options(const Parameters& parameters, const std::string& name) {
    IluOptions options;
    options.fill_level = int(parameters.integer("preconditioner", "fill_level"));
    options.pivots = pivot_options(parameters);
    options.storage = factor_storage(parameters);
    options.name = name;
    return options;
}

IluPreconditioner::IluPreconditioner(const Context& context, const IluOptions& options,
                                     std::unique_ptr<Factorisation> factorisation,
                                     std::unique_ptr<TriangularSolve> solve)
    : options_(options), factors_(context), factorisation_(std::move(factorisation)), solve_(std::move(solve)) {}

bool IluPreconditioner::on_copies(const Context& context, Backend backend) const {
    return context.ranks() && backend == Backend::cuda && solve_->layout(backend) == LayoutKind::hyperplane;
}

bool IluPreconditioner::on_open_copy(const Context& context, const Layout& layout, Backend backend) const {
    return context.ranks() && backend == Backend::cuda && !on_copies(context, backend) && layout.is_part() &&
           layout.grid().periodic[2];
}

IluPattern IluPreconditioner::pattern(const Context& context, const Layout& layout, const Stencil& a, int dof,
                                      bool symmetric, Backend backend) const {
    const auto on = [&](const Layout& points) {
        return ilu_pattern(points, a, options_.fill_level, dof, symmetric, backend, options_.storage,
                           options_.may_share);
    };
    if constexpr (cuda_built) {
        const auto of_rank = [&](const Layout& points, int halo) {
            IluPattern own = on(points);
            own.of_rank = true;
            own.halo = halo;
            return own;
        };
        if (on_copies(context, backend)) {
            const Stencil filled = a.filled(options_.fill_level);
            const int halo = HyperplaneCopy::halo(filled, drops_couplings(layout));
            return of_rank(HyperplaneCopy::layout(layout, filled, halo), halo);
        }
        if (on_open_copy(context, layout, backend)) return of_rank(OpenCopy::layout(layout), layout.halo());
        if (context.ranks() && backend == Backend::cuda && layout.is_part())
            return of_rank(layout.with_halo_as_own_grid(), layout.halo());
    }
    return on(options_.within_rank ? layout.without_neighbours() : layout);
}

Layout IluPreconditioner::layout(const PreconditionerSetting& setting, Backend backend) const {
    const LevelMap levels = setting.matrix.stencil().filled(options_.fill_level).level_map();
    if (setting.context.ranks()) return setting.layout(LayoutKind::natural, levels);
    return setting.layout(setting.chosen_layout.value_or(solve_->layout(backend)), levels);
}

IluPattern IluPreconditioner::pattern(const PreconditionerSetting& setting, Backend backend) const {
    const MatrixShape& a = setting.matrix;
    return pattern(setting.context, layout(setting, backend), a.stencil(), a.dof(), a.symmetric(), backend);
}

const StructMatrix& IluPreconditioner::factored(const StructMatrix& a) {
    if constexpr (cuda_built) {
        if (on_copies(a.context(), a.backend()))
            return HyperplaneCopy::refresh(copy_, a, a.stencil().filled(options_.fill_level),
                                           drops_couplings(a.layout()));
        if (on_open_copy(a.context(), a.layout(), a.backend())) {
            if (!open_copy_ || !open_copy_->serves(a)) {
                open_copy_.reset();
                open_copy_ = std::make_unique<OpenCopy>(a);
            }
            open_copy_->take(a);
            return open_copy_->matrix();
        }
    }
    open_copy_.reset();
    return a;
}

void IluPreconditioner::check(const StructMatrix& a) const {
    if (a.stencil().radius() > 2)
        throw UsageError(fmt::format("{}: stencil {} has radius {}, the largest it takes is 2", options_.name,
                                     a.stencil().name(), a.stencil().radius()));
    if (a.layout().kind() == LayoutKind::natural) return;
    const LevelMap have = a.layout().levels(), need = a.stencil().filled(options_.fill_level).level_map();
    if (have.y < need.y || have.z < need.z)
        throw UsageError(
            fmt::format("{}: fill level {} of stencil {} needs levels i + {} j + {} k, the matrix's layout has "
                        "i + {} j + {} k; build the matrix in the layout that plan() returns",
                        options_.name, options_.fill_level, a.stencil().name(), need.y, need.z, have.y, have.z));
}

SetupReport IluPreconditioner::setup(const SystemMatrix& matrix) {
    const StructMatrix& a = structured(matrix);
    check(a);
    factors_.allocate(factored(a), pattern(a.context(), a.layout(), a.stencil(), a.dof(), a.symmetric(), a.backend()),
                      a.layout());
    {
        const ProfileScope scope(a.context(), "symbolic");
        solve_->analyse(factors_);
        factorisation_->analyse(factors_);
    }
    SetupReport report = factor_with_policy(
        a, options_.pivots.rules, options_.pivots.shift, options_.name,
        [&](double alpha, PivotInverter& inverter) {
            if (factors_.pattern().of_rank)
                inverter.set_first_row(copy_ ? copy_->first_row()
                                             : a.space().first_block_row() - a.space().halo_slots());
            factorisation_->compute(alpha, options_.pivots.rules, factors_, inverter);
        },
        factorisation_->remark());
    if (is_reduced(options_.storage)) {
        const ProfileScope scope(a.context(), "rounding");
        factors_.round(options_.name, report);
        factorisation_->release_scratch();
    }
    report.factor_bytes = factors_.bytes();
    solve_->accept(factors_, options_.name);
    return report;
}

void IluPreconditioner::apply(const Vector& r, Vector& z) const {
    if constexpr (cuda_built)
        if (copy_) {
            Vector& v = copy_->in_hyperplanes(r);
            exact_solve().lower(factors_, v, v);
            exact_solve().upper(factors_, v);
            return copy_->to_natural(z);
        }
    solve_->apply(factors_, r, z);
}

void IluPreconditioner::apply_dot(const Vector& r, Vector& z, double* rz) const {
    if (!copy_) return solve_->apply_dot(factors_, r, z, rz);
    apply(r, z);
    dot(r, z, rz);
}

PreconditionerPlan IluPreconditioner::plan(const PreconditionerSetting& setting) const {
    const Backend backend = setting.context.backend();
    PreconditionerPlan plan;
    const IluPattern p = pattern(setting, backend);
    plan.space = layout(setting, backend);
    const FactorisationMemory memory = factorisation_->memory(p, setting.context);
    plan.bytes = IluFactors::bytes(p, backend) + memory.kept + solve_->bytes(p, backend);
    if constexpr (cuda_built) {
        const Index entries = p.symmetric ? p.a_stencil.diagonal() + 1 : p.a_stencil.size();
        const Index coefficients = entries * p.dof * p.dof;
        if (on_copies(setting.context, backend)) plan.bytes += HyperplaneCopy::bytes(p.layout, coefficients, p.dof);
        if (on_open_copy(setting.context, layout(setting, backend), backend))
            plan.bytes += OpenCopy::bytes(p.layout, coefficients);
    }
    if (is_reduced(p.storage))
        plan.setup_bytes = IluFactors::bytes_in_double(p) + memory.scratch + Index(sizeof(RoundingLog));
    else
        plan.bytes += memory.scratch;
    plan.bytes_per_apply = solve_->bytes_per_apply(p, backend);
    plan.traits = traits(setting.matrix.symmetric());
    plan.traits.eisenstat = solve_->offers_eisenstat(p, backend);
    plan.traits.drops_couplings = options_.within_rank && layout(setting, backend).is_part();
    return plan;
}

std::vector<KernelSet> IluPreconditioner::kernels(const PreconditionerSetting& setting) const {
    const IluPattern p = pattern(setting, Backend::cuda);
    std::vector<KernelSet> sets = factorisation_->kernels(p), solves = solve_->kernels(p, setting.single_vectors);
    sets.insert(sets.end(), solves.begin(), solves.end());
    return sets;
}

PreconditionerTraits IluPreconditioner::traits(bool symmetric) const {
    PreconditionerTraits traits = solve_->traits(symmetric);
    if (!*traits.varies) traits.varies = factorisation_->varies();
    traits.eisenstat = eisenstat() != nullptr;
    return traits;
}

Index IluPreconditioner::bytes_per_apply() const {
    return solve_->bytes_per_apply(factors_.pattern(), factors_.matrix().backend());
}

ApplicationCheck IluPreconditioner::check_application(const SystemMatrix& a, const Vector& r, const Vector& z,
                                                      const MakeInDouble& /*in_double*/) const {
    if (factors_.pattern().of_rank)
        return {.unchecked = "the factors of ranks on GPUs are on another grid than the vectors"};
    const Buffer<Int3> offsets = copied_to(a.context(), "check", factors_.stencil().offsets());
    return solve_->check(a.context(), factors_.triangle_factors(offsets.data()), r, z);
}

UnitTriangles IluPreconditioner::unit_triangles() const {
    const Context& context = factors_.context();
    const Buffer<Int3> offsets = copied_to(context, "triangles", factors_.stencil().offsets());
    return unit_triangles_of(context, factors_.triangle_factors(offsets.data()), factors_.matrix().dof());
}

SweepCounts IluPreconditioner::sweeps() const {
    SweepCounts counts = factorisation_->sweeps();
    counts.apply = solve_->sweeps();
    return counts;
}

const ExactSolve& IluPreconditioner::exact_solve() const {
    return dynamic_cast<const ExactSolve&>(*solve_);
}

std::string IluPreconditioner::describe() const {
    const std::string solve = solve_->describe(), factorisation = factorisation_->describe();
    return solve.empty() || factorisation.empty() ? solve + factorisation : solve + "; " + factorisation;
}

PreconditionerRow ilu_row(const std::string& name, MakeIlu make) {
    PreconditionerRow row;
    row.name = name;
    row.storages.assign(std::begin(all_factor_storages), std::end(all_factor_storages));
    row.create = make;
    row.plan = [make](const Parameters& parameters, const PreconditionerSetting& setting) {
        return make(parameters, setting)->plan(setting);
    };
    row.kernels = [make](const Parameters& parameters, const PreconditionerSetting& setting) {
        return make(parameters, setting)->kernels(setting);
    };
    return row;
}

}  // namespace hyperplane
