// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multicolor/multicolor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "precond/triangular/jacobi/swept_pair.hpp"

namespace hyperplane {
namespace {

ParameterTable multicolor_parameters() {
    ParameterTable table = pivot_parameters();
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

MulticolorOptions multicolor_options(const Parameters& parameters) {
    const std::string& rule = parameters.text("preconditioner", "colours");
    const MulticolorOptions options{rule == "greedy"   ? ColourRule::greedy
                                    : rule == "hashed" ? ColourRule::hashed
                                                       : ColourRule::stencil,
                                    pivot_options(parameters), factor_storage(parameters)};
    if (is_reduced(options.storage) && options.colours != ColourRule::stencil && !sweeps_triangles(parameters))
        throw UsageError(parameters.where("preconditioner", "storage") +
                         ": with these colours factors are in double precision alone; leave it out, or set "
                         "preconditioner.colours = stencil");
    return options;
}

bool is_scaled(FactorStorage storage) {
    return storage == FactorStorage::half_scaled;
}

/// Number of 4-byte words of all values in reduced precision.
Index reduced_words(const ColouredShape& shape, int dof, bool symmetric, FactorStorage storage) {
    return (shape.coefficients(dof, symmetric) * bytes_of(storage) + 3) / 4;
}

/// Bytes of the stored factors.
Index factor_bytes(const ColouredShape& shape, int dof, bool symmetric, FactorStorage storage) {
    if (!is_reduced(storage)) return shape.coefficients(dof, symmetric) * Index(sizeof(double));
    return 4 * reduced_words(shape, dof, symmetric, storage) +
           (is_scaled(storage) ? shape.exponents(dof, symmetric) : 0);
}

/// Fewest bytes that one application moves: the factors, r and z once each; v is written and read at all colours but
/// the first, where v = r, and the last, where z = D^-1 v is computed immediately. With half_scaled each row of W, D^-1
/// and G has an exponent.
Index fewest_bytes(const ColouredShape& shape, int dof, FactorStorage storage) {
    const Index points = shape.grid.points(), colours = shape.colours;
    const Index kept = !shape.is_linear() ? 2 * points : colours < 3 ? 0 : 2 * points * (colours - 2) / colours;
    return ((shape.entries() + 1) * points * dof * bytes_of(storage) + (is_scaled(storage) ? 3 * points : 0) +
            (2 * points + kept) * Index(sizeof(double))) *
           dof;
}

/// Size of a vector in coloured order. In a set-up such vectors hold the record of pivots.
Index vector_size(const ColouredShape& shape, int dof) {
    return shape.slots * dof;
}

/// Whether the factorisation proceeds, and records pivots, point by point.
bool by_point(const ColouredShape& shape, Backend backend) {
    return backend == Backend::cuda || !shape.is_linear();
}

/// Copies the first values of a buffer.
void copy_to_host(const Buffer<double>& from, std::vector<double>& to) {
    if (from.backend() == Backend::cuda)
        device::copy(from.data(), to.data(), Index(to.size() * sizeof(double)));
    else
        std::copy_n(from.data(), to.size(), to.begin());
}

}  // namespace

PreconditionerPlan Multicolor::plan(const MulticolorOptions& options, const PreconditionerSetting& setting) {
    const ColouredShape shape(setting.matrix.grid(), setting.matrix.stencil(), options.colours);
    PreconditionerPlan plan;
    plan.space = Layout(LayoutKind::natural, setting.matrix.grid(), setting.matrix.stencil().level_map());
    const Index told = by_point(shape, setting.context.backend()) ? 2 * setting.matrix.block_rows() : 0;
    const Index doubles = 2 * vector_size(shape, setting.matrix.dof()) + told;
    plan.bytes = factor_bytes(shape, setting.matrix.dof(), setting.matrix.symmetric(), options.storage) +
                 doubles * Index(sizeof(double)) + shape.bytes() + shape.entries() * Index(sizeof(Index));
    if (is_reduced(options.storage))
        plan.setup_bytes =
            factor_bytes(shape, setting.matrix.dof(), setting.matrix.symmetric(), FactorStorage::double_precision);
    plan.bytes_per_apply = fewest_bytes(shape, setting.matrix.dof(), options.storage);
    plan.traits = {.fixed = true, .symmetric = setting.matrix.symmetric()};
    return plan;
}

void Multicolor::prepare(const StructMatrix& a) {
    if (a.stencil().radius() > 2)
        throw UsageError(fmt::format("multicolor: stencil {} has radius {}, the largest it takes is 2",
                                     a.stencil().name(), a.stencil().radius()));
    const bool served = points_ && a.layout() == layout_ && a.stencil().offsets() == stencil_.offsets() &&
                        a.dof() == dof_ && a.symmetric() == symmetric_;
    if (served) {
        if (factors_.size() == 0)
            factors_ = Buffer<double>(context_, "factor", points_->shape().coefficients(dof_, symmetric_));
        return;
    }
    for (Buffer<double>* memory : {&factors_, &v_, &w_}) *memory = {};
    reduced_ = {};
    exponents_ = {};
    points_.reset();
    const ColouredShape shape(a.grid(), a.stencil(), options_.colours);
    auto points = std::make_unique<ColouredPoints>(context_, shape, a.dof(), a.symmetric());
    std::vector<Index> a_entry;
    for (const Int3 o : shape.offsets) a_entry.push_back(a.stencil().find(o));
    a_entry_ = copied_to(context_, "colours", a_entry);
    if (by_point(shape, a.backend())) {
        ratios_ = std::make_unique<PointValues>(context_, a.grid(), "factor");
        events_ = std::make_unique<PointValues>(context_, a.grid(), "factor");
    }
    v_ = Buffer<double>(context_, "coloured vectors", vector_size(shape, a.dof()));
    w_ = Buffer<double>(context_, "coloured vectors", vector_size(shape, a.dof()));
    layout_ = a.layout();
    stencil_ = a.stencil();
    dof_ = a.dof();
    symmetric_ = a.symmetric();
    factors_ = Buffer<double>(context_, "factor", shape.coefficients(dof_, symmetric_));
    if constexpr (cuda_built)
        if (a.backend() == Backend::cuda && options_.colours == ColourRule::stencil)
            cuda_ = std::make_shared<MulticolorCuda>(*points, layout_, dof_, symmetric_, options_.storage);
    points_ = std::move(points);  // last: it shows that everything is allocated
}

SetupReport Multicolor::setup(const SystemMatrix& matrix) {
    const StructMatrix& a = structured(matrix);
    prepare(a);
    SetupReport report = factor_with_policy(a, options_.pivots.rules, options_.pivots.shift, "multicolor",
                                            [&](double alpha, PivotInverter& inverter) { factor(a, alpha, inverter); });
    report.factor_bytes = factor_bytes(points_->shape(), dof_, symmetric_, options_.storage);
    if (is_reduced(options_.storage)) round_factors(report);
    return report;
}

void Multicolor::round_factors(SetupReport& report) {
    const ColouredShape& shape = points_->shape();
    const FactorStorage storage = options_.storage;
    if (reduced_.size() == 0)
        reduced_ = Buffer<std::uint32_t>(context_, "factor", reduced_words(shape, dof_, symmetric_, storage));
    if (is_scaled(storage) && exponents_.size() == 0)
        exponents_ = Buffer<RowExponent>(context_, "factor", shape.exponents(dof_, symmetric_));
    const Rounding met = rounding_by(context_, layout_.grid(), dof_, 3, [&](RoundingLog* log) {
        const auto round = [&](auto* rounded) {
            multicolor::round(context_.backend(), *points_, dof_, symmetric_, factors_.data(), rounded,
                              exponents_.data(), log);
        };
        is_scaled(storage) ? round(reinterpret_cast<Half*>(reduced_.data()))
                           : round(reinterpret_cast<float*>(reduced_.data()));
    });
    judge(met, storage, "multicolor", report);
    factors_ = {};
}

multicolor::Kept Multicolor::kept() const {
    multicolor::Kept kept{.exponents = exponents_.data()};
    if (!is_reduced(options_.storage))
        kept.doubles = factors_.data();
    else if (is_scaled(options_.storage))
        kept.halves = reinterpret_cast<const Half*>(reduced_.data());
    else
        kept.singles = reinterpret_cast<const float*>(reduced_.data());
    return kept;
}

void Multicolor::factor(const StructMatrix& a, double alpha, PivotInverter& inverter) {
    if (!by_point(points_->shape(), a.backend()))
        return multicolor::factor_pieces(a, *points_, a_entry_.data(), alpha, inverter, factors_.data());
    const Layout natural(LayoutKind::natural, a.grid(), {});
    // The record of pivots uses the memory of the solves' vectors.
    const multicolor::Met met{ratios_->view(natural).values, events_->view(natural).values, v_.data(), w_.data()};
    multicolor::factor(a, *points_, a_entry_.data(), alpha, options_.pivots.rules, met, factors_.data());
    report(inverter);
}

void Multicolor::report(PivotInverter& inverter) const {
    const Grid& grid = layout_.grid();
    const PointValue smallest = ratios_->smallest(Layout(LayoutKind::natural, grid, {}));
    PivotRatio ratio;
    ratio.take(smallest.value, grid.row(smallest.point));
    Index failures = 0, boosts = 0;
    PivotEvent first_failure{};
    std::vector<PivotEvent> first_boosts;
    if (events_->sum() > 0.0) {
        const Index rows = grid.points();
        std::vector<double> kind(std::size_t(rows * dof_)), value(kind.size());
        copy_to_host(v_, kind);
        copy_to_host(w_, value);
        for (Index row = 0; row < rows; ++row)
            for (int c = 0; c < dof_; ++c) {
                const std::size_t at = std::size_t(c * rows + row);
                const PivotEvent event{grid.point(row), c, value[at]};
                if (kind[at] == 2.0 && failures++ == 0) first_failure = event;
                if (kind[at] == 1.0 && boosts++ < Index(SetupReport::max_events)) first_boosts.push_back(event);
            }
    }
    inverter.adopt(failures, first_failure, boosts, first_boosts, ratio);
}

void Multicolor::apply(const Vector& r, Vector& z) const {
    if (options_.colours != ColourRule::stencil) return apply_by_tables(r, z);
    if constexpr (cuda_built)
        if (cuda_) {
            const void* values = is_reduced(options_.storage) ? static_cast<const void*>(reduced_.data())
                                                              : static_cast<const void*>(factors_.data());
            return cuda_->apply(values, exponents_.data(), r, z, v_.data(), w_.data());
        }
    apply_cpu(r, z);
}

void Multicolor::apply_by_tables(const Vector& r, Vector& z) const {
    const multicolor::Sweep sweep{points_->view(), factors_.data(), dof_, view(r), view(z), v_.data(), w_.data()};
    const Backend backend = r.backend();
    for (int colour = 0; colour < colours(); ++colour)
        multicolor::lower(backend, sweep, colour, points_->count(colour));
    for (int colour = colours(); colour-- > 0;) multicolor::upper(backend, sweep, colour, points_->count(colour));
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
    if constexpr (cuda_built) {
        if (options.colours != ColourRule::stencil) return {};  // the others are loops over points
        const Layout layout = plan(options, setting).space.layout();
        return {{"multicolor", layout, setting.matrix.stencil(), setting.matrix.dof(), setting.matrix.symmetric(),
                 options.storage,
                 [layout, stencil = setting.matrix.stencil(), dof = setting.matrix.dof(),
                  symmetric = setting.matrix.symmetric(), storage = options.storage](const std::string& architecture) {
                     return MulticolorCuda::compile(layout, stencil, dof, symmetric, storage, architecture);
                 }}};
    }
    return {};
}

PreconditionerRow multicolor_row() {
    PreconditionerRow row;
    row.name = "multicolor";
    row.summary = "ILU(0) or IC(0) of the points sorted by colour; a step of a solve for each colour";
    row.explanation =
        "Exact incomplete factorisation of the matrix whose points are sorted by colour, such that no neighbours have "
        "the same one: 2 colours for star7, 3 for star13, 4 for diamond13, 7 for diamond25, 8 for box27. A solve has "
        "one step for each colour, in which all its points are computed at the same time, but M is worse than in "
        "natural order. A symmetric matrix is factored as incomplete Cholesky, of which one triangle is stored. "
        "Source: Li and Saad, GPU-accelerated preconditioned iterative linear solvers, J. Supercomput. 63, 2013; Saad, "
        "Iterative Methods, section 12.4.";
    row.parameters = multicolor_parameters();
    row.storages.assign(std::begin(all_factor_storages), std::end(all_factor_storages));
    row.create = [](const Parameters& parameters, const PreconditionerSetting& setting) {
        return make_fused<Multicolor>(multicolor_options(parameters), "multicolor", parameters, setting.context);
    };
    row.plan = [](const Parameters& parameters, const PreconditionerSetting& setting) {
        return plan_fused<Multicolor>(multicolor_options(parameters), "multicolor", parameters, setting);
    };
    row.kernels = [](const Parameters& parameters, const PreconditionerSetting& setting) {
        return kernels_fused<Multicolor>(multicolor_options(parameters), parameters, setting);
    };
    return row;
}

}  // namespace hyperplane
