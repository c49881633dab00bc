// SPDX-License-Identifier: BSD-3-Clause
#include "hyperplane/linear_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "apps/library/settings.hpp"
#include "core/interfaces/solver.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "core/timer.hpp"
#include "precond/registry.hpp"
#include "solvers/registry.hpp"

namespace hyperplane {
namespace {

Grid grid_of(const StencilShape& shape) {
    Grid grid;
    grid.nx = shape.extents[0];
    grid.ny = shape.extents[1];
    grid.nz = shape.extents[2];
    grid.periodic = shape.periodic;
    return grid;
}

Stencil stencil_of(const StencilShape& shape) {
    std::vector<Int3> offsets;
    for (const auto& [x, y, z] : shape.offsets) offsets.push_back({x, y, z});
    return Stencil::closure(offsets);
}

/// Place of an offset in StencilShape::offsets.
int place_of(const StencilShape& shape, Int3 offset) {
    int place = 0;
    while (shape.offsets[place] != std::array{offset.x, offset.y, offset.z}) ++place;
    return place;
}

/// Calls body(number, point) for every point in natural order.
template <class Body>
void for_points(const Grid& grid, const Body& body) {
    Index number = 0;
    for (int k = 0; k < grid.nz; ++k)
        for (int j = 0; j < grid.ny; ++j)
            for (int i = 0; i < grid.nx; ++i) body(number++, Int3{i, j, k});
}

std::string coefficient_at(Int3 point, Int3 offset, int row, int column) {
    return fmt::format("the coefficient at point ({}, {}, {}), offset ({}, {}, {}), equation {}, unknown {}", point.x,
                       point.y, point.z, offset.x, offset.y, offset.z, row, column);
}

/// Throws UsageError where a coefficient leads outside the grid.
void check_inside(const StencilMatrix& a, const Grid& grid, Int3 offset, int row, int column) {
    const std::span<const double> values = a.coefficients(place_of(a.shape(), offset), row, column);
    for_points(grid, [&](Index at, Int3 point) {
        if (values[at] != 0.0 && !grid.contains(grid.wrapped(point + offset)))
            throw UsageError(fmt::format("{} is {:g}, but there is no such neighbour: it must be 0",
                                         coefficient_at(point, offset, row, column), values[at]));
    });
}

/// Throws UsageError where a coefficient differs from the one that mirrors it. NaN, which a solve reports, does not.
void check_mirrored(const StencilMatrix& a, const Grid& grid, Int3 offset, int row, int column) {
    const std::span<const double> values = a.coefficients(place_of(a.shape(), offset), row, column);
    const std::span<const double> mirrored = a.coefficients(place_of(a.shape(), -offset), column, row);
    for_points(grid, [&](Index at, Int3 point) {
        const Int3 neighbour = grid.wrapped(point + offset);
        if (!grid.contains(neighbour)) return;
        const double value = values[at], other = mirrored[grid.row(neighbour)];
        if (value != other && !(std::isnan(value) && std::isnan(other)))
            throw UsageError(fmt::format("StencilShape::symmetric is true, but {} is {:.17g}, and its mirror {:.17g}",
                                         coefficient_at(point, offset, row, column), value, other));
    });
}

void check_values(const StencilMatrix& a, const Grid& grid, const Stencil& stencil) {
    for (const Int3 offset : stencil.offsets())
        for (int row = 0; row < a.shape().unknowns; ++row)
            for (int column = 0; column < a.shape().unknowns; ++column) {
                check_inside(a, grid, offset, row, column);
                if (a.shape().symmetric) check_mirrored(a, grid, offset, row, column);
            }
}

/// Writes the values into a matrix that the host can write.
void fill(const StencilMatrix& a, StructMatrix& filled) {
    const Layout& layout = filled.layout();
    for (int entry = 0; entry < filled.stored_entries(); ++entry)
        for (int row = 0; row < filled.dof(); ++row)
            for (int column = 0; column < filled.dof(); ++column) {
                const std::span<const double> from =
                    a.coefficients(place_of(a.shape(), filled.stencil()[entry]), row, column);
                double* to = filled.values(entry, row, column);
                for_points(layout.grid(), [&](Index at, Int3 point) { to[layout.slot(point)] = from[at]; });
            }
}

void check_length(const char* name, std::size_t length, Index rows) {
    if (Index(length) != rows)
        throw UsageError(
            fmt::format("LinearSolver::solve: {} has {} elements, the matrix {} rows", name, length, rows));
}

PreconditionerPlan checked_plan(const PreconditionerRow& row, const Parameters& parameters,
                                const PreconditionerSetting& setting) {
    check_storage(row, parameters);
    check_matrix(row, setting);
    return row.plan(parameters, setting);
}

/// The solver, if it can work with the matrix and the preconditioner.
std::unique_ptr<Solver> checked_solver(const PreconditionerRow& row, const Parameters& parameters,
                                       const PreconditionerSetting& setting) {
    auto solver = find_row(solvers(), "solver", parameters.text("solver", "name")).create(parameters, setting.context);
    solver->check_operator("StencilMatrix (StencilShape::symmetric)", setting.matrix.symmetric());
    solver->check(row.name, row.plan(parameters, setting).traits);
    return solver;
}

}  // namespace

struct LinearSolver::State {
    State(const StencilShape& of, const SolverSettings& settings)
        : shape(of),
          parameters(parameters_of(settings)),
          context(settings.gpu ? Context::cuda(*settings.gpu) : Context::cpu(settings.threads)),
          setting{context, MatrixShape(grid_of(shape), stencil_of(shape), shape.unknowns, shape.symmetric)},
          row(find_preconditioner(parameters.text("preconditioner", "name"))),
          space(checked_plan(row, parameters, setting).space),
          preconditioner(row.create(parameters, setting)),
          solver(checked_solver(row, parameters, setting)),
          a(make_matrix(context)),
          b(context, space, shape.unknowns, "right-hand side"),
          x(context, space, shape.unknowns, "solution") {}

    StructMatrix make_matrix(const Context& where) const {
        const MatrixStorage storage = shape.symmetric ? MatrixStorage::lower : MatrixStorage::full;
        return {where, space.layout(), setting.matrix.stencil(), shape.unknowns, storage};
    }

    void set_up(const StencilMatrix& from) {
        ready = false;
        check_values(from, setting.matrix.grid(), setting.matrix.stencil());
        if (a.backend() == Backend::cpu) {
            fill(from, a);
        } else {
            StructMatrix copy = make_matrix(context.host());
            fill(from, copy);
            a.assign(copy);
        }
        const auto begin = std::chrono::steady_clock::now();
        preconditioner->setup(a);
        context.synchronize();
        setup_seconds = seconds_since(begin);
        ready = true;
    }

    StencilShape shape;
    Parameters parameters;
    Context context;
    PreconditionerSetting setting;
    const PreconditionerRow& row;
    IndexSpace space;
    std::unique_ptr<Preconditioner> preconditioner;
    std::unique_ptr<Solver> solver;
    StructMatrix a;
    Vector b, x;
    double setup_seconds = 0.0;
    bool ready = false;  ///< whether matrix and preconditioner belong together
};

LinearSolver::LinearSolver(const StencilMatrix& a, const SolverSettings& settings)
    : state_(std::make_unique<State>(a.shape(), settings)) {
    state_->set_up(a);
}

LinearSolver::~LinearSolver() = default;
LinearSolver::LinearSolver(LinearSolver&& other) noexcept = default;
LinearSolver& LinearSolver::operator=(LinearSolver&& other) noexcept = default;

void LinearSolver::update(const StencilMatrix& a) {
    if (a.shape() != state_->shape)
        throw UsageError("LinearSolver::update: the matrix has another shape; make a LinearSolver of its own for it");
    state_->set_up(a);
}

SolveResult LinearSolver::solve(std::span<const double> b, std::span<double> x) {
    State& s = *state_;
    if (!s.ready) throw UsageError("LinearSolver::solve: the last update failed; update the matrix before solving");
    check_length("b", b.size(), s.a.unknowns());
    check_length("x", x.size(), s.a.unknowns());
    from_natural(b, s.b);
    from_natural(x, s.x);

    History history;
    s.context.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    history.start();
    const SolveReport report = s.solver->solve(s.a, *s.preconditioner, s.b, s.x, history);
    s.context.synchronize();

    SolveResult result{.converged = converged(report.reason),
                       .reason = to_string(report.reason),
                       .explanation = explain(report.reason),
                       .iterations = report.iterations,
                       .right_hand_side = report.b_norm,
                       .residual = report.true_residual,
                       .seconds = seconds_since(begin),
                       .history = {}};
    for (const HistoryEntry& entry : history.entries()) result.history.push_back(entry.recurrence);
    const std::vector<double> solution = to_natural(s.x);
    std::copy(solution.begin(), solution.end(), x.begin());
    return result;
}

double LinearSolver::setup_seconds() const {
    return state_->setup_seconds;
}

std::int64_t LinearSolver::peak_memory() const {
    return state_->context.ledger().peak();
}

const std::string& LinearSolver::solver() const {
    return state_->parameters.text("solver", "name");
}

const std::string& LinearSolver::preconditioner() const {
    return state_->parameters.text("preconditioner", "name");
}

const char* version() {
    return HYPERPLANE_VERSION;
}

}  // namespace hyperplane
