// SPDX-License-Identifier: BSD-3-Clause
#include "hyperplane/linear_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "apps/library/matched_rows.hpp"
#include "apps/library/settings.hpp"
#include "apps/library/sparse_pattern.hpp"
#include "apps/library/stencil_values.hpp"
#include "apps/library/wording.hpp"
#include "core/device/place.hpp"
#include "core/graph/orderings.hpp"
#include "core/interfaces/solver.hpp"
#include "core/matrix/bsr_matrix.hpp"
#include "core/timer.hpp"
#include "precond/registry.hpp"
#include "precond/scaling/scaled.hpp"
#include "solvers/eisenstat_cg.hpp"
#include "solvers/registry.hpp"

namespace hyperplane {

/// The shape of a matrix, known before its values are set, and the matrix's name in messages of solvers.
struct GivenShape {
    MatrixShape shape;
    const char* name;
    std::shared_ptr<const BlockPattern> pattern = nullptr;  ///< of a SparseMatrix, as the program gives it
    std::shared_ptr<const MatchedRows> matched = nullptr;   ///< if its rows are exchanged
};

namespace {

GivenShape given_shape(const StencilMatrix& a) {
    return {shape_of(a.shape()), "StencilMatrix (StencilShape::symmetric)"};
}

/// The values say whether the matrix is symmetric, as in a deck, and how its rows are matched.
GivenShape given_shape(const SparseMatrix& a, const Context& context, const Parameters& parameters) {
    if (context.backend() == Backend::cuda) device::wait_for_all_work(context.stream().properties().ordinal);
    const auto pattern = pattern_of(context, a);
    const Context& where = lies_there(context, a) ? context : pattern->context();
    const BsrMatrix matrix(where, pattern, a.block, false, a.values.data());
    if (!asks_for_matching(parameters)) return {{pattern, a.block, equals_transpose(matrix)}, "SparseMatrix", pattern};
    auto matched = std::make_shared<const MatchedRows>(matrix);
    const bool symmetric = equals_transpose(*matched->with_rows_of(matrix, false));
    return {{matched->pattern(), a.block, symmetric},
            "SparseMatrix with ordering.rows = matching",
            pattern,
            std::move(matched)};
}

void check_length(const char* function, const char* name, std::size_t length, Index rows) {
    if (Index(length) != rows)
        throw UsageError(fmt::format("{}: {} has {} elements, the matrix {} rows", function, name, length, rows));
}

PreconditionerPlan checked_plan(const PreconditionerRow& row, const Parameters& parameters,
                                const PreconditionerSetting& setting) {
    check_storage(row, parameters);
    check_matrix(row, scaled_setting(parameters, setting));
    return plan_scaled(row, parameters, setting);
}

/// The solver, if it can work with the matrix and the preconditioner.
std::unique_ptr<Solver> checked_solver(const GivenShape& matrix, const PreconditionerRow& row,
                                       const PreconditionerTraits& traits, const Parameters& parameters,
                                       const Context& context) {
    auto solver = find_row(solvers(), "solver", parameters.text("solver", "name")).create(parameters, context);
    solver->check_operator(matrix.name, matrix.shape.symmetric());
    solver->check(name_with_causes(row, parameters, traits), traits);
    return solver;
}

Context context_of(const SolverSettings& settings) {
    if (!settings.gpu) return Context::cpu(settings.threads);
    if (*settings.gpu < 0)
        throw UsageError(
            fmt::format("SolverSettings::gpu is {}; GPUs are numbered from 0 (hyperplane list devices), and "
                        "a solver without the number of one works on the CPU",
                        *settings.gpu));
    return Context::cuda(*settings.gpu, settings.threads);
}

/// The reason as a sentence. What interrupts a solve is no signal here, but the program's own function.
std::string explanation_of(const SolveReport& report) {
    if (report.reason != StopReason::interrupted) return explain(report);
    return "the function SolverSettings::interrupted asked to stop; solve again from x as it is now to go on";
}

}  // namespace

struct LinearSolver::State {
    /// `shape_in(context, parameters)` is called when the keys have been checked; `kind` is that of the shape.
    State(const SolverSettings& settings, MatrixKind kind,
          const std::function<GivenShape(const Context&, const Parameters&)>& shape_in)
        : parameters(parameters_of(settings, kind)),
          interrupted(settings.interrupted),
          context(context_of(settings)),
          given(shape_in(context, parameters)),
          setting{context, given.shape, asks_for_eisenstat(parameters)},
          row(find_preconditioner(parameters.text("preconditioner", "name"))),
          plan(checked_plan(row, parameters, setting)),
          preconditioner(create_scaled(row, parameters, setting)),
          solver(checked_solver(given, row, plan.traits, parameters, context)),
          b(context, plan.space, given.shape.dof(), "right-hand side"),
          x(context, plan.space, given.shape.dof(), "solution") {}

    void set_up(const StencilMatrix& from) {
        ready = false;
        stencil = from.shape();
        check_values(from, given.shape);
        if (!a) a = make_matrix(context, plan.space, given.shape, "matrix");
        if (a->backend() == Backend::cpu) {
            fill(from, structured(*a));
        } else {
            const auto copy = make_matrix(context.host(), plan.space, given.shape, "host copy");
            fill(from, structured(*copy));
            structured(*a).assign(structured(*copy));
        }
        set_up_preconditioner(*a);
    }

    /// The matrix has the pattern of the first one.
    void set_up(const SparseMatrix& from) {
        const bool there = lies_there(context, from);
        if (a && there != reads_there)
            throw UsageError(
                "LinearSolver::update: the first matrix lay in the host's memory and this one lies in a GPU's, or the "
                "other way round; make a new LinearSolver for it");
        ready = false;
        reads_there = there;
        const Context& where = there ? context : given.pattern->context();
        auto made = std::make_unique<BsrMatrix>(where, given.pattern, given.shape.dof(), given.shape.symmetric(),
                                                from.values.data());
        if (given.matched) made = given.matched->with_rows_of(*made, given.shape.symmetric());
        if (a && given.shape.symmetric() && !equals_transpose(*made))
            throw UsageError(
                "LinearSolver::update: the matrix was symmetric to the last bit, and is not any more; make "
                "a new LinearSolver for it");
        if (made->backend() == context.backend()) {
            set_up_preconditioner(*made);
            a = std::move(made);  // until its set-up the preconditioner may read the earlier matrix
        } else {
            if (!a) a = make_matrix(context, plan.space, given.shape, "matrix");
            general(*a).assign(*made);
            set_up_preconditioner(*a);
        }
    }

    void set_up_preconditioner(const SystemMatrix& of) {
        const auto begin = std::chrono::steady_clock::now();
        preconditioner->setup(of);
        context.synchronize();
        setup_seconds = seconds_since(begin);
        ready = true;
    }

    /// Takes a vector of equations, with an element for each row, from the host's memory or from the GPU's.
    void take_equations(std::span<const double> from, const char* name, Vector& to) const {
        if (!given.matched) return take(from, name, to);
        std::vector<double> values(from.size());
        if (there(from.data(), name))
            context.stream().copy(from.data(), values.data(), Index(from.size_bytes()));
        else
            std::copy(from.begin(), from.end(), values.begin());
        from_natural(given.matched->with_rows_of(values, given.shape.dof()), to);
    }
    /// Takes a vector of unknowns from the host's memory, or from the GPU's.
    void take(std::span<const double> from, const char* name, Vector& to) const {
        if (!there(from.data(), name)) return from_natural(from, to);
        context.stream().copy(from.data(), to.data(), to.size() * Index(sizeof(double)));
    }
    void give(const Vector& from, std::span<double> to, const char* name) const {
        if (there(to.data(), name))
            return context.stream().copy(from.data(), to.data(), from.size() * Index(sizeof(double)));
        const std::vector<double> values = to_natural(from);
        std::copy(values.begin(), values.end(), to.begin());
    }
    bool there(const void* vector, const char* name) const {
        if (!lies_there(context, vector, name)) return false;
        if (stencil)
            throw UsageError(
                fmt::format("{} lies in a GPU's memory; the vectors of a StencilMatrix lie in the host's", name));
        return true;
    }

    void check(const char* function, std::span<const double> in, const char* in_name, std::span<const double> out,
               const char* out_name) const {
        if (!ready) throw UsageError(fmt::format("{}: the last update failed; update the matrix first", function));
        check_length(function, in_name, in.size(), b.size());
        check_length(function, out_name, out.size(), b.size());
        if (context.backend() == Backend::cuda) device::wait_for_all_work(context.stream().properties().ordinal);
    }

    Parameters parameters;
    std::function<bool()> interrupted;
    Context context;
    GivenShape given;
    std::optional<StencilShape> stencil;  ///< of a matrix on a grid
    PreconditionerSetting setting;
    const PreconditionerRow& row;
    PreconditionerPlan plan;  ///< it may find the pattern of the factors, so it is made once
    std::unique_ptr<Preconditioner> preconditioner;
    std::unique_ptr<Solver> solver;
    std::unique_ptr<SystemMatrix> a;
    Vector b, x;
    double setup_seconds = 0.0;
    bool reads_there = false;  ///< whether the values of a SparseMatrix lie in the GPU's memory
    bool ready = false;        ///< whether matrix and preconditioner belong together
};

LinearSolver::LinearSolver(const StencilMatrix& a, const SolverSettings& settings)
    : state_(with_words_of_the_library([&] {
          auto state = std::make_unique<State>(settings, MatrixKind::structured,
                                               [&](const Context&, const Parameters&) { return given_shape(a); });
          state->set_up(a);
          return state;
      })) {}

LinearSolver::LinearSolver(const SparseMatrix& a, const SolverSettings& settings)
    : state_(with_words_of_the_library([&] {
          auto state = std::make_unique<State>(settings, MatrixKind::general,
                                               [&](const Context& context, const Parameters& parameters) {
                                                   return given_shape(a, context, parameters);
                                               });
          state->set_up(a);
          return state;
      })) {}

LinearSolver::~LinearSolver() = default;
LinearSolver::LinearSolver(LinearSolver&& other) noexcept = default;
LinearSolver& LinearSolver::operator=(LinearSolver&& other) noexcept = default;

LinearSolver::State& LinearSolver::state(const char* function) const {
    if (!state_)
        throw UsageError(
            fmt::format("LinearSolver::{}: this object has been moved from, and has no matrix any more; "
                        "use the one that it was moved to, or assign a new LinearSolver",
                        function));
    return *state_;
}

void LinearSolver::update(const StencilMatrix& a) {
    State& s = state("update");
    if (s.stencil != a.shape())
        throw UsageError("LinearSolver::update: the matrix has another shape; make a new LinearSolver for it");
    with_words_of_the_library([&] { s.set_up(a); });
}

void LinearSolver::update(const SparseMatrix& a) {
    State& s = state("update");
    const Context& context = s.context;
    if (context.backend() == Backend::cuda) device::wait_for_all_work(context.stream().properties().ordinal);
    const std::shared_ptr<const BlockPattern>& before = s.given.pattern;
    if (!before || a.block != s.given.shape.dof() || !has_pattern(context, a, *before) ||
        Index(a.values.size()) != before->blocks() * a.block * a.block)
        throw UsageError("LinearSolver::update: the matrix has another pattern; make a new LinearSolver for it");
    with_words_of_the_library([&] { s.set_up(a); });
}

void LinearSolver::precondition(std::span<const double> r, std::span<double> z) {
    State& s = state("precondition");
    s.check("LinearSolver::precondition", r, "r", z, "z");
    s.take_equations(r, "r", s.b);
    s.preconditioner->apply(s.b, s.x);
    s.give(s.x, z, "z");
    s.context.synchronize();
}

SolveResult LinearSolver::solve(std::span<const double> b, std::span<double> x) {
    State& s = state("solve");
    s.check("LinearSolver::solve", b, "b", x, "x");
    s.take_equations(b, "b", s.b);
    s.take(x, "x", s.x);

    History history;
    history.set_interrupt(s.interrupted);
    s.context.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    history.start();
    const SolveReport report = s.solver->solve(*s.a, *s.preconditioner, s.b, s.x, history);
    s.context.synchronize();

    SolveResult result{.converged = converged(report.reason),
                       .reason = to_string(report.reason),
                       .explanation = explanation_of(report),
                       .iterations = report.iterations,
                       .right_hand_side = report.b_norm,
                       .residual = report.true_residual,
                       .seconds = seconds_since(begin),
                       .history = {}};
    for (const HistoryEntry& entry : history.entries()) result.history.push_back(entry.recurrence);
    s.give(s.x, x, "x");
    s.context.synchronize();
    return result;
}

double LinearSolver::setup_seconds() const {
    return state("setup_seconds").setup_seconds;
}

std::int64_t LinearSolver::peak_memory() const {
    return state("peak_memory").context.ledger().peak();
}

const std::string& LinearSolver::solver() const {
    return state("solver").parameters.text("solver", "name");
}

const std::string& LinearSolver::preconditioner() const {
    return state("preconditioner").parameters.text("preconditioner", "name");
}

std::optional<int> gpu_of(const void* memory) {
    return device::place_of(memory);
}

const char* version() {
    return HYPERPLANE_VERSION;
}

}  // namespace hyperplane
