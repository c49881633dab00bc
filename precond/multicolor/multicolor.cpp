// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multicolor/multicolor.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/profile.hpp"
#include "precond/choice_key.hpp"
#include "precond/factors/rounding_events.hpp"
#include "precond/reproductions/looked_up_colours.hpp"
#include "precond/triangular/jacobi/swept_pair.hpp"

namespace hyperplane {
namespace {

ParameterTable multicolor_parameters() {
    ParameterTable table = pivot_parameters();
    table.push_back(choice_key(
        "factors", "ilu0",
        "ilu0: exact incomplete factorisation without fill, ILU(0) or IC(0). gauss_seidel: the triangles of the "
        "matrix itself, M = (D + L) D^-1 (D + U), so that an application is a forward and a backward "
        "Gauss-Seidel pass from zero in the order of the colours",
        {"ilu0", "gauss_seidel"}));
    table.push_back(
        choice_key("colours", "stencil",
                   "stencil: the fewest colours of a linear colouring (i + y j + z k) mod C, which follows from the "
                   "stencil alone. Two others, which are looked up in tables and much slower, are for comparison: "
                   "greedy, points in natural order, each with the smallest colour that no neighbour has; hashed, "
                   "colours by random numbers as in cuSPARSE's csrcolor, with many more colours and fewer iterations",
                   {"stencil", "greedy", "hashed"}));
    const ParameterTable solves = triangular_solve_parameters();
    table.insert(table.end(), solves.begin(), solves.end());
    return table;
}

MulticolorOptions multicolor_options(const Parameters& parameters, const PreconditionerSetting& /*setting*/) {
    const std::string& rule = parameters.text("preconditioner", "colours");
    const MulticolorOptions options{parameters.text("preconditioner", "factors") == "gauss_seidel",
                                    rule == "greedy"   ? ColourRule::greedy
                                    : rule == "hashed" ? ColourRule::hashed
                                                       : ColourRule::stencil,
                                    pivot_options(parameters), factor_storage(parameters)};
    if (is_reduced(options.storage) && options.colours != ColourRule::stencil && !sweeps_triangles(parameters))
        throw RefusedKey(parameters, "preconditioner", "storage",
                         ": with these colours factors are in double precision alone; leave it out, or set "
                         "preconditioner.colours = stencil");
    return options;
}

bool is_scaled(FactorStorage storage) {
    return storage == FactorStorage::half_scaled;
}

/// Number of all values in reduced precision, which fill words of four bytes.
Index reduced_values(const ColouredShape& shape, int dof, bool symmetric, FactorStorage storage) {
    const Index values = shape.coefficients(dof, symmetric);
    return is_scaled(storage) ? (values + 1) / 2 * 2 : values;
}

/// Bytes of the stored factors.
Index factor_bytes(const ColouredShape& shape, int dof, bool symmetric, FactorStorage storage) {
    if (!is_reduced(storage)) return shape.coefficients(dof, symmetric) * Index(sizeof(double));
    return StoredValues::bytes(storage, reduced_values(shape, dof, symmetric, storage),
                               shape.exponents(dof, symmetric));
}

/// Fewest bytes that one application moves: the factors, r and z once each; v is written and read at all colours but
/// the first, where v = r, and the last, where z = D^-1 v is computed immediately. With half_scaled each row of W, D^-1
/// and G has an exponent.
Index fewest_bytes(const ColouredShape& shape, int dof, FactorStorage storage) {
    const Index points = shape.points, colours = shape.colours;
    const Index kept = !shape.is_linear() ? 2 * points : colours < 3 ? 0 : 2 * points * (colours - 2) / colours;
    return ((shape.entries() + 1) * points * dof * bytes_of(storage) + (is_scaled(storage) ? 3 * points : 0) +
            (2 * points + kept) * Index(sizeof(double))) *
           dof;
}

/// Whether the factorisation proceeds, and records pivots, point by point.
bool by_point(const ColouredShape& shape, Backend backend) {
    return backend == Backend::cuda || !shape.is_linear();
}

}  // namespace

PreconditionerPlan Multicolor::plan(const MulticolorOptions& options, const PreconditionerSetting& setting) {
    const Layout layout = setting.natural_layout();
    const ColouredShape shape(layout, setting.matrix.stencil(), options.colours);
    PreconditionerPlan plan;
    plan.space = layout;
    const bool by_points = by_point(shape, setting.context.backend());
    const Index doubles = 2 * shape.slots * setting.matrix.dof() + (by_points ? layout.slots() : 0);
    plan.bytes = factor_bytes(shape, setting.matrix.dof(), setting.matrix.symmetric(), options.storage) +
                 doubles * Index(sizeof(double)) + shape.bytes() + shape.entries() * Index(sizeof(Index)) +
                 (by_points ? PivotRecord::bytes(0) + Index(sizeof(Outcome)) : 0);
    if (is_reduced(options.storage)) {
        const int dof = setting.matrix.dof();
        const bool symmetric = setting.matrix.symmetric();
        plan.setup_bytes = factor_bytes(shape, dof, symmetric, FactorStorage::double_precision);
        if constexpr (cuda_built)
            if (setting.context.backend() == Backend::cuda && MulticolorFactorCuda::serves(shape, dof, symmetric) &&
                MulticolorFactorCuda::rounds(layout, dof, options.storage))
                plan.setup_bytes = MulticolorFactorCuda::read_by_later(shape, dof, symmetric) * Index(sizeof(double));
        plan.setup_bytes += Index(sizeof(RoundingLog));
    }
    plan.bytes_per_apply = fewest_bytes(shape, setting.matrix.dof(), options.storage);
    plan.traits = {.fixed = true, .symmetric = setting.matrix.symmetric()};
    return plan;
}

void Multicolor::prepare(const StructMatrix& a) {
    provide(a);
    provide_factors();
}

void Multicolor::provide(const StructMatrix& a) {
    if (a.stencil().radius() > 2)
        throw UsageError(fmt::format("multicolor: stencil {} has radius {}, the largest it takes is 2",
                                     a.stencil().name(), a.stencil().radius()));
    const bool served = points_ && a.layout() == layout_ && a.stencil().offsets() == stencil_.offsets() &&
                        a.dof() == dof_ && a.symmetric() == symmetric_;
    if (served) return;
    for (Buffer<double>* memory : {&factors_, &v_, &w_}) *memory = {};
    reduced_ = {};
    points_.reset();
    const ColouredShape shape(a.layout(), a.stencil(), options_.colours);
    auto points = std::make_unique<ColouredPoints>(context_, shape, a.dof(), a.symmetric());
    std::vector<Index> a_entry;
    for (const Int3 o : shape.offsets) a_entry.push_back(a.stencil().find(o));
    a_entry_ = copied_to(context_, "colours", a_entry);
    if (by_point(shape, a.backend())) {
        ratios_ = std::make_unique<PointValues>(context_, a.layout(), "factor");
        record_ = std::make_unique<PivotRecord>(context_, 0);
        outcome_ = Buffer<Outcome>(context_, "preconditioner: pivots", 1);
    }
    // A solve on a GPU by threads that have a whole point writes all places of v and w before it reads them.
    const bool writes_all = a.backend() == Backend::cuda && shape.is_linear() && a.dof() == 1 && !a.layout().is_part();
    for (Buffer<double>* memory : {&v_, &w_})
        *memory = Buffer<double>(context_, "coloured vectors", shape.slots * a.dof(),
                                 writes_all ? Initially::anything : Initially::zero);
    layout_ = a.layout();
    stencil_ = a.stencil();
    dof_ = a.dof();
    symmetric_ = a.symmetric();
    if constexpr (cuda_built)
        if (a.backend() == Backend::cuda && options_.colours == ColourRule::stencil)
            cuda_ = std::make_shared<MulticolorCuda>(context_, *points, layout_, dof_, symmetric_, options_.storage);
    factor_cuda_.reset();
    if constexpr (cuda_built)
        if (a.backend() == Backend::cuda && MulticolorFactorCuda::serves(shape, dof_, symmetric_))
            factor_cuda_ = std::make_shared<MulticolorFactorCuda>(context_, shape, dof_, symmetric_);
    points_ = std::move(points);
}

void Multicolor::provide_factors() {
    const ColouredShape& shape = points_->shape();
    const FactorStorage storage = options_.storage;
    const Initially holds =
        factor_cuda_ && MulticolorFactorCuda::writes_all(layout_, dof_) ? Initially::anything : Initially::zero;
    if (factors_.size() == 0)
        factors_ = Buffer<double>(context_, "factor",
                                  rounds_at_once() ? MulticolorFactorCuda::read_by_later(shape, dof_, symmetric_)
                                                   : shape.coefficients(dof_, symmetric_),
                                  holds);
    if (is_reduced(storage) && reduced_.empty())
        reduced_ = StoredValues(context_, storage, reduced_values(shape, dof_, symmetric_, storage),
                                shape.exponents(dof_, symmetric_), "factor", holds);
}

bool Multicolor::can_queue_setup(const StructMatrix& a) const {
    return a.backend() == Backend::cuda && options_.colours == ColourRule::stencil && !a.context().ranks();
}

bool Multicolor::queue_setup(const StructMatrix& a) {
    if (!can_queue_setup(a)) return false;
    queued_ = &a;
    prepare(a);
    const ProfileScope scope(context_, "factorisation");  // finish_setup() counts its bytes
    queue_factor(a, options_.pivots.shift);
    return true;
}

void Multicolor::queue_factor([[maybe_unused]] const StructMatrix& a, [[maybe_unused]] double alpha) {
    if constexpr (cuda_built) {
        static const Outcome empty{empty_pivot_log(), {empty_pivot_log(), 0}, {1.0, 0}};
        Outcome* const outcome = outcome_.data();
        context_.stream().copy(&empty, outcome, sizeof empty);
        factor_by_points(a, alpha, &outcome->pivots, rounds_at_once() ? &outcome->roundings : nullptr);
        const Layout& natural = ratios_->layout();
        cuda::queue_smallest(context_, natural, ratios_->view(natural).values, &outcome->smallest);
        if (!is_reduced(options_.storage)) return;
        if (!rounds_at_once()) round_factors(&outcome->roundings);
        factors_ = {};
    }
}

QueuedSetup::Finished Multicolor::finish_setup() {
    const StructMatrix& a = *queued_;
    Finished all;
    Outcome met{};
    bool first = true;
    all.report = factor_with_policy(
        a, options_.pivots.rules, options_.pivots.shift, "multicolor", [&](double alpha, PivotInverter& inverter) {
            if (!first) {
                provide_factors();
                queue_factor(a, alpha);
                all.repeated = true;
            }
            first = false;
            context_.stream().copy(outcome_.data(), &met, sizeof met);
            const Index first_row = a.space().first_block_row();
            inverter.set_first_row(first_row);
            inverter.adopt(met.pivots,
                           {met.smallest.value, a.grid().row(ratios_->layout().point(met.smallest.slot)) - first_row});
        });
    if (is_reduced(options_.storage))
        judge(events_of(met.roundings, layout_.grid(), dof_, 3), options_.storage, "multicolor", all.report);
    all.report.factor_bytes = factor_bytes(points_->shape(), dof_, symmetric_, options_.storage);
    return all;
}

SetupReport Multicolor::setup(const SystemMatrix& matrix) {
    const StructMatrix& a = structured(matrix);
    if (queue_setup(a)) return finish_setup().report;
    prepare(a);
    SetupReport report;
    const auto factorise = [&](RoundingLog* roundings) {
        report =
            factor_with_policy(a, options_.pivots.rules, options_.pivots.shift, "multicolor",
                               [&](double alpha, PivotInverter& inverter) { factor(a, alpha, inverter, roundings); });
    };
    if (!rounds_at_once()) factorise(nullptr);
    if (is_reduced(options_.storage)) {
        const Rounding met = rounding_by(context_, layout_, dof_, 3, [&](RoundingLog* log) {
            rounds_at_once() ? factorise(log) : round_factors(log);
        });
        judge(met, options_.storage, "multicolor", report);
        factors_ = {};
    }
    report.factor_bytes = factor_bytes(points_->shape(), dof_, symmetric_, options_.storage);
    return report;
}

void Multicolor::round_factors(RoundingLog* log) {
    reduced_.with_values([&](auto* rounded) {
        multicolor::round(context_, layout_, *points_, dof_, symmetric_, factors_.data(), rounded, reduced_.exponents(),
                          log);
    });
}

void Multicolor::factor(const StructMatrix& a, double alpha, PivotInverter& inverter, RoundingLog* roundings) {
    if (!by_point(points_->shape(), a.backend()))
        return multicolor::factor_pieces(a, *points_, a_entry_.data(), alpha, inverter, !options_.gauss_seidel,
                                         factors_.data());
    const Layout& natural = ratios_->layout();
    inverter.set_first_row(a.space().first_block_row());
    record_->clear_log();
    if (roundings) clear(context_, roundings);
    factor_by_points(a, alpha, record_->log(), roundings);
    const PointValue smallest = ratios_->smallest(natural);
    record_->report(inverter, {smallest.value, a.grid().row(smallest.point) - a.space().first_block_row()});
}

void Multicolor::factor_by_points(const StructMatrix& a, double alpha, PivotLog* pivots,
                                  [[maybe_unused]] RoundingLog* roundings) {
    double* const ratios = ratios_->view(ratios_->layout()).values;
    if constexpr (cuda_built)
        if (factor_cuda_)
            return factor_cuda_->factor({a, *points_, alpha, rule_of(options_.pivots.rules, symmetric_),
                                         !options_.gauss_seidel, pivots, ratios, factors_.data(),
                                         roundings ? static_cast<float*>(reduced_.data()) : nullptr, roundings});
    multicolor::factor(a, *points_, a_entry_.data(), alpha, options_.pivots.rules, pivots, !options_.gauss_seidel,
                       ratios, factors_.data());
}

void Multicolor::apply(const Vector& r, Vector& z) const {
    if (options_.colours != ColourRule::stencil)
        return solve_by_tables(*points_, factors_.data(), r, z, v_.data(), w_.data());
    if constexpr (cuda_built)
        if (cuda_) return cuda_->apply(stored(), r, z, v_.data(), w_.data());
    apply_cpu(r, z);
}

bool Multicolor::apply(const SingleVector& r, SingleVector& z) const {
    return solve_singles(r, {}, z);
}

bool Multicolor::solve_singles([[maybe_unused]] const SingleVector& r, [[maybe_unused]] ResultOfSolve result,
                               [[maybe_unused]] SingleVector& z) const {
    if constexpr (cuda_built)
        if (cuda_ && MulticolorCuda::has_single(layout_, options_.storage)) {
            cuda_->apply(stored(), r, z, reinterpret_cast<float*>(v_.data()), reinterpret_cast<float*>(w_.data()),
                         result);
            return true;
        }
    return false;
}

bool Multicolor::solve_to([[maybe_unused]] const Vector& r, [[maybe_unused]] double omega, [[maybe_unused]] bool adds,
                          [[maybe_unused]] Vector& z) const {
    if constexpr (cuda_built)
        if (cuda_ && !layout_.is_part()) {
            cuda_->apply(stored(), r, z, v_.data(), w_.data(), {adds ? adds_result : scales_result, omega});
            return true;
        }
    return false;
}

bool Multicolor::solve_to(const SingleVector& r, double omega, bool adds, SingleVector& z) const {
    return solve_singles(r, {adds ? adds_result : scales_result, omega}, z);
}

TriangleShape Multicolor::exported_shape(const Grid& grid, const Stencil& stencil, int dof, bool symmetric) const {
    const std::vector<Int3> couplings = coupling_offsets(grid, stencil);
    std::vector<Int3> offsets = couplings;
    offsets.push_back({0, 0, 0});
    offsets.insert(offsets.end(), couplings.begin(), couplings.end());
    TriangleShape shape{Layout(LayoutKind::natural, grid, stencil.level_map()), offsets, dof, symmetric, true};
    shape.zeros = int(couplings.size()) / 2;
    return shape;
}

void Multicolor::export_factors(const TriangleCopy& to) const {
    multicolor::copy_triangles(points_->view(), factors_.data(), to);
}

Index Multicolor::bytes_per_apply() const {
    return fewest_bytes(points_->shape(), dof_, options_.storage);
}

std::vector<KernelSet> Multicolor::kernels(const MulticolorOptions& options, const PreconditionerSetting& setting) {
    std::vector<KernelSet> sets;
    if constexpr (cuda_built) {
        if (options.colours != ColourRule::stencil) return sets;  // the others are loops over points
        const Layout layout = plan(options, setting).space.layout();
        const MatrixShape& a = setting.matrix;
        const auto add = [&](const char* family, bool single_vectors) {
            sets.push_back({family, layout, a.stencil(), a.dof(), a.symmetric(), options.storage,
                            [layout, a, storage = options.storage, single_vectors] {
                                rtc::Programs all =
                                    MulticolorCuda::programs(layout, a.stencil(), a.dof(), a.symmetric(), storage,
                                                             MulticolorCuda::usual_threads, single_vectors);
                                const ColouredShape shape(layout, a.stencil(), ColourRule::stencil);
                                if (MulticolorFactorCuda::serves(shape, a.dof(), a.symmetric()))
                                    all.push_back(MulticolorFactorCuda::program(shape, a.dof(), a.symmetric()));
                                return all;
                            }});
        };
        add(layout.is_part() ? "multicolor_part" : "multicolor", false);
        if (setting.single_vectors && MulticolorCuda::has_single(layout, options.storage))
            add("multicolor of single vectors", true);
    }
    return sets;
}

PreconditionerRow multicolor_row() {
    PreconditionerRow row = fused_row<Multicolor>("multicolor", multicolor_options);
    row.regular_splitting = true;
    row.summary = "ILU(0) or IC(0) of the points sorted by colour; a step of a solve for each colour";
    row.explanation =
        "Exact incomplete factorisation of the matrix whose points are sorted by colour, such that no neighbours have "
        "the same one: 2 colours for star7, 3 for star13, 4 for diamond13, 7 for diamond25, 8 for box27. A solve has "
        "one step for each colour, in which all its points are computed at the same time, but M is worse than in "
        "natural order. A symmetric matrix is factored as incomplete Cholesky, of which one triangle is stored. With "
        "factors = gauss_seidel it is symmetric Gauss-Seidel in the same order. "
        "Source: Li and Saad, GPU-accelerated preconditioned iterative linear solvers, J. Supercomput. 63, 2013; Saad, "
        "Iterative Methods, section 12.4.";
    row.parameters = multicolor_parameters();
    row.general_counterpart =
        "a general matrix is factored by colours with sync_free_ilu and ordering.name = multicolor";
    row.on_ranks = true;
    row.uneven_on_ranks = true;  // one between two others has places of both
    row.only_on_ranks = {{"solve_mode", "sync"}};
    return row;
}

}  // namespace hyperplane
