// SPDX-License-Identifier: BSD-3-Clause
#include "precond/struct_ilu/struct_ilu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/error.hpp"
#include "precond/triangular/levels.hpp"

namespace hyperplane {

const ParameterTable& struct_ilu_parameters() {
    using enum ParameterType;
    const std::string section = "preconditioner";
    static const ParameterTable table = [&] {
        ParameterTable keys{
            {section, "fill_level", integer, "0",
             "ILU(k): fill made of entries of level p and q is kept while p + q + 1 <= k; incomplete Cholesky IC(k) "
             "when the matrix is symmetric",
             "", Bound{0}, Bound{3}}};
        keys.insert(keys.end(), pivot_parameters().begin(), pivot_parameters().end());
        return keys;
    }();
    return table;
}

StructIluOptions struct_ilu_options(const Parameters& parameters) {
    const PivotOptions pivots = pivot_options(parameters);
    StructIluOptions options;
    options.fill_level = int(parameters.integer("preconditioner", "fill_level"));
    options.shift = pivots.shift;
    options.shift_is_auto = pivots.shift_is_auto;
    options.pivots = pivots.rules;
    options.storage = factor_storage(parameters);
    return options;
}

namespace {

const Stencil& point_stencil() {
    static const Stencil point("point", {{0, 0, 0}});
    return point;
}

std::string met_in_sweeps(int sweeps) {
    if (sweeps == 0) return "";
    return fmt::format(
        " It was met after {} sweeps, which may not converge on this matrix; struct_ilu factors exactly.", sweeps);
}

/// The same slots on a grid that does not wrap: sweeps skip what wraps, so fill needs no longer axes.
Layout without_wrap(const Layout& layout) {
    Grid grid = layout.grid();
    grid.periodic = {false, false, false};
    return Layout(layout.kind(), grid, layout.levels());
}

/// Whether elimination changes the diagonal alone, so that E and F are the matrix's (D-ILU).
bool shares_matrix(const Stencil& filled, const Stencil& matrix, [[maybe_unused]] int dof, bool cuda,
                   const StructIluOptions& options) {
    if (!options.tuning.shares || is_narrow(options.storage)) return false;
    if constexpr (cuda_built)
        if (cuda && !StructIluCuda::shares(dof)) return false;
    return filled.size() == matrix.size() && !filled.eliminates_off_diagonal();
}

}  // namespace

bool StructIlu::unit_triangular(const StructIluOptions& options, const PreconditionerSetting& setting) {
    const bool cuda = setting.context.backend() == Backend::cuda;
    const Stencil filled = setting.stencil.filled(options.fill_level);
    return is_narrow(options.storage) || (cuda && !shares_matrix(filled, setting.stencil, setting.dof, cuda, options));
}

PreconditionerPlan StructIlu::plan(const StructIluOptions& options, const PreconditionerSetting& setting) {
    const Stencil filled = setting.stencil.filled(options.fill_level);
    const bool cuda = setting.context.backend() == Backend::cuda;
    const bool shares = shares_matrix(filled, setting.stencil, setting.dof, cuda, options);
    const int entries = shares ? 1 : setting.symmetric ? filled.diagonal() + 1 : filled.size();
    PreconditionerPlan plan;
    // On a processor lines along x stream best (docs/performance.md), on a GPU hyperplanes do.
    plan.layout = Layout(cuda ? LayoutKind::hyperplane : LayoutKind::natural, setting.grid, filled.level_map());
    const Index factors = StructMatrix::bytes(Index(entries) * setting.dof * setting.dof, setting.grid.points());
    plan.bytes = factors;
    const Index block = Index(setting.dof) * setting.dof * plan.layout.slots();
    plan.bytes_per_apply =
        ((2 * filled.lower_size() + 1) * block + 4 * plan.layout.slots() * setting.dof) * Index(sizeof(double));
    if constexpr (cuda_built)
        if (cuda)
            plan.bytes += StructIluCuda::bytes(
                {plan.layout, filled, setting.stencil, setting.dof, setting.symmetric, shares, options.storage});
    Index released = factors;  // once there are factors of fewer bits
    if (options.sweeps > 0) {
        const FactorSweepShape shape{plan.layout, setting.stencil, filled, setting.dof, setting.symmetric, shares};
        const Backend backend = setting.context.backend();
        const bool spare = FactorSweeps::needs_spare(shape, backend, options.sweep_mode);
        const Index more = (spare ? factors : 0) + FactorSweeps::scratch_bytes(shape, backend);
        plan.bytes += more + FactorSweeps::bytes(shape);
        released += more;
    }
    if (is_narrow(options.storage)) {
        const Index slots = plan.layout.slots();
        plan.setup_bytes = released;
        plan.bytes += NarrowFactors::bytes(options.storage, places_on(setting.context.backend()), slots, filled.size(),
                                           setting.dof, setting.symmetric) -
                      plan.setup_bytes;
        plan.bytes_per_apply = NarrowFactors::bytes_of_sweeps(options.storage, slots, filled.size(), setting.dof) +
                               4 * slots * setting.dof * Index(sizeof(double));
    }
    const bool varies = options.sweeps > 0 && options.sweep_mode == FactorSweepMode::async;
    plan.traits = {.fixed = true, .symmetric = setting.symmetric, .varies = varies ? "mode = async" : ""};
    return plan;
}

StructIlu::StructIlu(const Context& context, const StructIluOptions& options) : context_(context), options_(options) {
    if (options.tuning.by_level && is_narrow(options.storage))
        throw UsageError(fmt::format("{}: solves by level read factors of double precision alone", options.name));
}

void StructIlu::prepare(const StructMatrix& a) {
    a_ = &a;
    if (a.stencil().radius() > 2)
        throw UsageError(fmt::format("{}: stencil {} has radius {}, the largest it takes is 2", options_.name,
                                     a.stencil().name(), a.stencil().radius()));
    stencil_ = a.stencil().filled(options_.fill_level);
    if (a.layout().kind() == LayoutKind::hyperplane) {
        const LevelMap have = a.layout().levels(), need = stencil_.level_map();
        if (have.y < need.y || have.z < need.z)
            throw UsageError(
                fmt::format("{}: fill level {} of stencil {} needs levels i + {} j + {} k, the matrix's layout has "
                            "i + {} j + {} k; build the matrix in the layout that plan() returns",
                            options_.name, options_.fill_level, a.stencil().name(), need.y, need.z, have.y, have.z));
    }
    const bool shares = shares_matrix(stencil_, a.stencil(), a.dof(), a.backend() == Backend::cuda, options_);
    const auto fits = [&](const std::optional<StructMatrix>& m, const Stencil& stencil) {
        return m && m->layout() == a.layout() && m->dof() == a.dof() && m->stencil().offsets() == stencil.offsets();
    };
    if (shares) {
        factor_.reset();
        if (!fits(inverse_, point_stencil()))
            inverse_.emplace(context_, without_wrap(a.layout()), point_stencil(), a.dof(), MatrixStorage::full,
                             "factor");
    } else if (inverse_.reset(); !fits(factor_, stencil_) || factor_->storage() != a.storage()) {
        factor_.reset();
        factor_.emplace(context_, without_wrap(a.layout()), stencil_, a.dof(), a.storage(), "factor");
    }
    if constexpr (cuda_built)
        if (a.backend() == Backend::cuda && !(cuda_ && cuda_->serves(system())))
            cuda_ = std::make_shared<StructIluCuda>(context_, system(), options_.tuning);
    if (options_.tuning.by_level) offsets_ = copied_to(context_, "sweeps", stencil_.offsets());
    if (options_.sweeps == 0 && !options_.tuning.by_level) return;
    if (!sweeps_ || !sweeps_->serves(a, stencil_, shares)) {
        sweeps_.reset();
        sweeps_ = std::make_shared<FactorSweeps>(context_, a, stencil_, shares);
    }
    if (options_.sweeps == 0 || !sweeps_->needs_spare(options_.sweep_mode)) {
        spare_.reset();
        return;
    }
    const StructMatrix& shape = held();
    if (!fits(spare_, shape.stencil()) || spare_->storage() != shape.storage()) {
        spare_.reset();
        spare_.emplace(context_, shape.layout(), shape.stencil(), shape.dof(), shape.storage(), "factor");
    }
}

StructIluSystem StructIlu::system() const {
    // Sweeps go level by level in any layout; the natural one need not know the factors' levels.
    const bool natural = a_->layout().kind() == LayoutKind::natural;
    const Layout layout = natural ? Layout(LayoutKind::natural, a_->grid(), stencil_.level_map()) : a_->layout();
    return {layout, stencil_, a_->stencil(), a_->dof(), a_->symmetric(), !factor_, options_.storage};
}

SetupReport StructIlu::setup(const StructMatrix& a) {
    prepare(a);
    SetupReport report = factor_with_policy(
        a, options_.pivots, options_.shift, options_.name,
        [&](double alpha, PivotInverter& inverter) { build(alpha, inverter); }, met_in_sweeps(options_.sweeps));
    if (is_narrow(options_.storage)) narrow(report);
    report.factor_bytes = narrow_ ? narrow_->bytes() : factor_ ? factor_->bytes() : inverse_->bytes();
    return report;
}

void StructIlu::narrow(SetupReport& report) {
    const StructMatrix& a = *a_;
    if (!narrow_ || !narrow_->serves(options_.storage, a.layout(), stencil_.offsets(), a.dof(), a.symmetric())) {
        narrow_.reset();
        narrow_.emplace(context_, options_.storage, a.layout(), stencil_.offsets(), a.dof(), a.symmetric(),
                        places_on(a.backend()));
    }
    judge(narrow_->round(view(nullptr)), options_.storage, options_.name, report);
    factor_.reset();
    spare_.reset();
    if (sweeps_) sweeps_->release_scratch();
}

StructIluCuda::Factors StructIlu::cuda_factors() const {
    const Index slots = a_->layout().slots(), dof = a_->dof();
    if (narrow_ && !factor_) {
        const char* const values = reinterpret_cast<const char*>(narrow_->values<float>().values);
        const Index entry = narrow_->entry_stride();
        return {values, values + stencil_.diagonal() * entry * bytes_of(options_.storage), entry / (dof * dof),
                narrow_->of_lower().values, narrow_->of_upper().values};
    }
    // The matrices are memory only: values lie without padding, in the order of StructIluCuda::place.
    return {triangles().values(0), pivots().values(0) + Index(pivot_entry()) * dof * dof * slots,
            factor_ ? slots : a_->stride()};
}

ConstBlockView StructIlu::blocks(const StructMatrix& x) const {
    if constexpr (cuda_built)
        if (cuda_) {
            const auto at = [&](int entry, Index slot, int row, int col) {
                return StructIluCuda::place(x.layout().slots(), x.dof(), entry, slot, row, col);
            };
            return {x.values(0), at(1, 0, 0, 0), at(0, 1, 0, 0), at(0, 0, 1, 0), at(0, 0, 0, 1)};
        }
    return block_view(x);
}

FactorSweeps::Target StructIlu::target(StructMatrix& x) const {
    const ConstBlockView at = blocks(x);
    const BlockView triangles{x.values(0), at.entry_stride, at.slot_stride, at.row_stride, at.col_stride};
    BlockView inverse = triangles;
    inverse.values += pivot_entry() * inverse.entry_stride;
    return {triangles, inverse};
}

void StructIlu::build_by_sweeps(double alpha, PivotInverter& inverter) {
    const FactorSweeps::Target result = target(held());
    sweeps_->run(*a_, result, spare_ ? target(*spare_) : FactorSweeps::Target{}, options_.sweeps, options_.sweep_mode,
                 alpha, options_.pivots, inverter);
    if (cuda_ && factor_) sweeps_->make_unit(result);
}

void StructIlu::build_by_level(double alpha, PivotInverter& inverter) {
    if (options_.pivots.policy == PivotPolicy::boost)
        throw UsageError(fmt::format(
            "{}: an elimination by levels boosts no pivots; set preconditioner.pivot_policy = fail or shift",
            options_.name));
    const FactorSweeps::Target result = target(held());
    sweeps_->eliminate_by_level(*a_, system().layout, result, alpha, options_.pivots, inverter);
    if (cuda_ && factor_) sweeps_->make_unit(result);
}

void StructIlu::build(double alpha, PivotInverter& inverter) {
    if (options_.sweeps > 0) return build_by_sweeps(alpha, inverter);
    if (options_.tuning.by_level) return build_by_level(alpha, inverter);
    if constexpr (cuda_built)
        if (cuda_) return cuda_->factor(*a_, factor_ ? *factor_ : *inverse_, alpha, options_.pivots, inverter);
    copy_matrix(alpha);
    factor(inverter);
}

double StructIlu::inverse_pivot(Int3 point, int row, int col) const {
    if (narrow_) return narrow_->widened().at(point, stencil_.diagonal(), row, col);
    if constexpr (cuda_built)
        if (cuda_) {
            const Index slots = a_->layout().slots(), slot = a_->layout().slot(point), dof = a_->dof();
            const Index at = StructIluCuda::place(slots, int(dof), 0, slot, row, col);
            double value = 0.0;
            device::copy(static_cast<const double*>(cuda_factors().inverse) + at, &value, sizeof value);
            return value;
        }
    return pivots().at(point, pivot_entry(), row, col);
}

StructMatrix StructIlu::factors_on_host() const {
    if (narrow_) return narrow_->widened();
    const StructMatrix& held = pivots();
    StructMatrix host(Context::cpu(), held.layout(), held.stencil(), held.dof(), held.storage(), "factor");
    if (!cuda_) {
        host.assign(held);
        return host;
    }
    const Index slots = held.layout().slots(), dof = held.dof();
    std::vector<double> raw(std::size_t(held.stored_entries() * dof * dof * slots));
    device::copy(held.values(0), raw.data(), Index(raw.size() * sizeof(double)));
    for (int e = 0; e < held.stored_entries(); ++e)
        for (Index row = 0; row < dof; ++row)
            for (Index col = 0; col < dof; ++col)
                for (Index slot = 0; slot < slots; ++slot)
                    host.values(e, int(row), int(col))[slot] =
                        raw[StructIluCuda::place(slots, int(dof), e, slot, int(row), int(col))];
    return host;
}

FactorView StructIlu::view(const Int3* offsets) const {
    FactorView f{a_->layout(), block_view(triangles()), block_view(pivots(), pivot_entry()), offsets};
    f.lower = stencil_.lower_size();
    f.symmetric = a_->symmetric();
    f.unit = cuda_ && factor_;
    if constexpr (cuda_built)
        if (cuda_) {
            f.inverse = blocks(pivots());
            f.inverse.values = static_cast<const double*>(cuda_factors().inverse);
            if (f.unit) f.triangles = blocks(triangles());
        }
    return f;
}

std::string StructIlu::describe() const {
    if constexpr (cuda_built)
        if (cuda_) return cuda_->describe();
    return {};
}

void StructIlu::solve_by_level(Direction direction, const Vector& in, Vector& out) const {
    hyperplane::solve_by_level(view(offsets_.data()), system().layout, direction, in, out);
}

void StructIlu::lower_solve(const Vector& r, Vector& y) const {
    if (options_.tuning.by_level) return solve_by_level(Direction::lower, r, y);
    if constexpr (cuda_built)
        if (cuda_) return cuda_->lower(cuda_factors(), r, y);
    narrow_ ? narrow_lower_cpu(r, y) : lower_solve_cpu(r, y);
}

void StructIlu::upper_solve(Vector& z) const {
    if (options_.tuning.by_level) return solve_by_level(Direction::upper, z, z);
    if constexpr (cuda_built)
        if (cuda_) return cuda_->upper(cuda_factors(), z);
    narrow_ ? narrow_upper_cpu(z) : upper_solve_cpu(z);
}

Index StructIlu::bytes_per_apply() const {
    if (narrow_)
        return NarrowFactors::bytes_of_sweeps(options_.storage, a_->layout().slots(), stencil_.size(), a_->dof()) +
               4 * a_->unknowns() * Index(sizeof(double));
    const Index block = Index(a_->dof()) * a_->dof() * a_->layout().slots();
    const Index coefficients = (2 * stencil_.lower_size() + 1) * block;  // E, F and D^-1, each once
    const Index vectors = 4 * a_->unknowns();                            // r, y; y, z
    return (coefficients + vectors) * Index(sizeof(double));
}

int StructIlu::vectors_of_dot() const {
    return !options_.tuning.by_level && a_->symmetric() && (cuda_ || a_->layout().kind() == LayoutKind::natural) ? 0
                                                                                                                 : 2;
}

SweepCounts StructIlu::sweeps() const {
    if (options_.sweeps == 0) return {};
    return {.setup = options_.sweeps, .bytes_of_setup_sweep = sweeps_->bytes_of_sweep()};
}

void StructIlu::apply(const Vector& r, Vector& z) const {
    lower_solve(r, z);
    upper_solve(z);
}

PreconditionerRow struct_ilu_row() {
    PreconditionerRow row;
    row.name = "struct_ilu";
    row.aliases = {"ilu"};
    row.summary = "ILU(k), or IC(k) of a symmetric matrix; exact, parallel over hyperplanes";
    row.explanation =
        "Incomplete LU with fill level k on the stencil's level-k pattern, equal to sequential ILU(k) to rounding. "
        "Block pivots are inverted by Gauss-Jordan elimination. Symmetric matrices store and read one triangle. "
        "Source: Luo et al., StructILU, ICS 2025, Algorithms 1 and 2; Saad, Iterative Methods, section 10.3.";
    row.parameters = struct_ilu_parameters();
    row.storages.assign(std::begin(all_factor_storages), std::end(all_factor_storages));
    row.create = [](const Parameters& parameters, const PreconditionerSetting& setting) {
        return std::unique_ptr<Preconditioner>(new StructIlu(setting.context, struct_ilu_options(parameters)));
    };
    row.plan = [](const Parameters& parameters, const PreconditionerSetting& setting) {
        return StructIlu::plan(struct_ilu_options(parameters), setting);
    };
    return row;
}

}  // namespace hyperplane
