// SPDX-License-Identifier: BSD-3-Clause
// Every problem with every preconditioner, each choice of its keys, and every solver: either the first linear system is
// solved, which a dense solve confirms, or the pair is refused for a reason that this test knows. Names come from the
// registries, so a new row is tried as soon as it exists; its reasons for refusals are rows below.
#include <gtest/gtest.h>

#include <map>

#include "apps/run/build_case.hpp"
#include "apps/run/linear_system.hpp"
#include "core/error.hpp"
#include "core/matrix/bsr_matrix.hpp"
#include "core/vector/blas1.hpp"
#include "on_device.hpp"
#include "precond/cusparse_ilu/cusparse_ilu.hpp"
#include "preconditioner_choices.hpp"
#include "problems/registry.hpp"
#include "reference/dense.hpp"
#include "solver_names.hpp"
#include "solvers/registry.hpp"

namespace hyperplane {
namespace {

/// The smallest decks; problems that are not listed get a grid only.
std::string problem_text(const std::string& name) {
    static const std::map<std::string, std::string> known{
        {"navier_stokes", "[problem]\nname = navier_stokes\n[grid]\ncells = 5 5 4\n"},
        {"matrix", "[problem]\nname = matrix\nfile = data/transport.mtx\n"},
        {"matrix_market", "[problem]\nname = matrix_market\nmatrix = data/transport.mtx\n[grid]\ncells = 9 8 7\n"},
        {"euler", "[problem]\nname = euler\n[grid]\ncells = 6 5 5\n"},
        {"cahn_hilliard", "[problem]\nname = cahn_hilliard\n[grid]\ncells = 6 5 5\n[time]\ntime_step = 1e-6\n"},
    };
    const auto found = known.find(name);
    return found != known.end() ? found->second : "[problem]\nname = " + name + "\n[grid]\ncells = 7 5 4\n";
}

/// What is tried: a problem and a preconditioner, of which one key may be set to one of its choices, and, for
/// multigrid, a smoother.
struct Combination {
    std::string problem, preconditioner, key, choice, smoother = "";

    /// What is set up on each grid of multigrid, or else once.
    const std::string& own() const { return smoother.empty() ? preconditioner : smoother; }
    std::string name() const {
        return problem + "_with_" + preconditioner + (key.empty() ? "" : "_" + key + "_" + choice) +
               (smoother.empty() ? "" : "_smoothed_by_" + smoother);
    }
    std::string deck(const std::string& solver) const {
        // By default grids as small as these are solved densely, without a cycle.
        const std::string grids = preconditioner == "multigrid" ? "coarsest_points = 8\n" : "";
        const std::string storage = key == "vectors" ? "storage = single\n" : "";  // they go together
        return problem_text(problem) + "[preconditioner]\nname = " + preconditioner + "\n" + grids + storage +
               (key.empty() ? "" : key + " = " + choice + "\n") +
               (smoother.empty() ? "" : "[smoother]\nname = " + smoother + "\n") + "[solver]\nname = " + solver +
               "\nrtol = 1e-9\nmax_iterations = 300\n";
    }
    friend std::ostream& operator<<(std::ostream& out, const Combination& c) { return out << c.name(); }
};

/// All pairs of a problem and a preconditioner.
std::vector<Combination> pairs() {
    std::vector<Combination> list;
    for (const auto& problem : problems())
        for (const PreconditionerRow& row : preconditioners()) list.push_back({problem.name, row.name, "", ""});
    return list;
}

/// The pair, and each choice of a key that is not the default.
std::vector<Combination> choices_of(const Combination& pair) {
    std::vector<Combination> list;
    for (const auto& [key, value] : testing_support::choices_of(find_preconditioner(pair.preconditioner)))
        list.push_back({pair.problem, pair.preconditioner, key, value});
    return list;
}

/// A reason for a refusal: a pair must be refused if `when` says so, and only then, with a message that contains
/// `text`. The reasons have the order in which the program checks; the first that applies is reported.
struct Refusal {
    std::string text;
    std::function<bool(const Combination&, const std::string& solver, Backend, const SystemShape&)> when;
};

const std::vector<Refusal>& refusals() {
    static const std::vector<Refusal> rows{
        {"preconditioner.block_order means nothing with preconditioner.mode = sync; leave it out, or set "
         "preconditioner.mode = block_async",
         [](const Combination& c, const std::string&, Backend, const SystemShape&) {
             return c.preconditioner == "jacobi_sweeps" && c.key == "block_order";
         }},
        {" means nothing with preconditioner.triangular_solve = exact; leave it out, or set "
         "preconditioner.triangular_solve = jacobi",
         [](const Combination& c, const std::string&, Backend, const SystemShape&) {
             const auto& keys = find_preconditioner(c.preconditioner).parameters;
             return has_key(keys, "preconditioner", "triangular_solve") &&
                    (c.key == "block_order" || c.key == "solve_mode");
         }},
        {"threads of a CPU do not wait for single rows, so there is no sync_free",
         [](const Combination& c, const std::string&, Backend backend, const SystemShape& shape) {
             return shape.pattern && c.key == "solve" && c.choice == "sync_free" && backend == Backend::cpu;
         }},
        {": on a grid, solves follow the wavefront, and there is one way alone",
         [](const Combination& c, const std::string&, Backend, const SystemShape& shape) {
             return !shape.pattern && c.preconditioner == "par_ilu" && c.key == "solve";
         }},
        {": on a grid, par_ilu boosts no pivots",
         [](const Combination& c, const std::string&, Backend, const SystemShape& shape) {
             return !shape.pattern && c.preconditioner == "par_ilu" && c.choice == "boost";
         }},
        {" stores its factors in ",
         [](const Combination& c, const std::string&, Backend, const SystemShape&) {
             const auto& taken = find_preconditioner(c.preconditioner).storages;
             return c.key == "storage" && std::none_of(taken.begin(), taken.end(), [&](FactorStorage storage) {
                        return to_string(storage) == c.choice;
                    });
         }},
        {" takes matrices on a grid alone, and this one is general; use ",
         [](const Combination& c, const std::string&, Backend, const SystemShape& shape) {
             return shape.pattern && !find_preconditioner(c.preconditioner).takes(MatrixKind::general);
         }},
        {" takes general matrices alone, and this one is on a grid",
         [](const Combination& c, const std::string&, Backend, const SystemShape& shape) {
             return !shape.pattern && !find_preconditioner(c.preconditioner).takes(MatrixKind::structured);
         }},
        {" stores its factors in double alone",
         [](const Combination& c, const std::string&, Backend, const SystemShape& shape) {
             return shape.pattern && c.key == "storage" &&
                    (c.preconditioner == "jacobi" || c.preconditioner == "jacobi_sweeps");
         }},
        {": on a general matrix, variant ",
         [](const Combination& c, const std::string&, Backend backend, const SystemShape& shape) {
             return shape.pattern && c.preconditioner == "subdomain_ildu0" && c.key == "variant" &&
                    backend == Backend::cpu;
         }},
        {": a general matrix has no boxes of points",
         [](const Combination& c, const std::string&, Backend, const SystemShape& shape) {
             return shape.pattern && c.preconditioner == "subdomain_ildu0" && c.key == "subdomain";
         }},
        {": on a grid, subdomains are boxes of points",
         [](const Combination& c, const std::string&, Backend, const SystemShape& shape) {
             return !shape.pattern && c.preconditioner == "subdomain_ildu0" && c.key == "parts";
         }},
        {": on a general matrix, ", [](const Combination& c, const std::string&, Backend,
                                       const SystemShape& shape) { return shape.pattern && c.choice == "async"; }},
        {" needs a symmetric matrix",
         [](const Combination& c, const std::string&, Backend, const SystemShape& shape) {
             return find_preconditioner(c.own()).needs_symmetry && !shape.symmetric;
         }},
        {"cusparse_ilu runs on a GPU only; set device.backend = cuda",
         [](const Combination& c, const std::string&, Backend backend, const SystemShape&) {
             return c.own() == "cusparse_ilu" && backend == Backend::cpu && cusparse_unavailable().empty();
         }},
        {"cusparse_ilu cannot be used: ",
         [](const Combination& c, const std::string&, Backend, const SystemShape&) {
             return c.own() == "cusparse_ilu" && !cusparse_unavailable().empty();
         }},
        {"cusparse_ilu keeps the factors of general matrices in double precision alone",
         [](const Combination& c, const std::string&, Backend, const SystemShape& shape) {
             return shape.pattern && c.preconditioner == "cusparse_ilu" && c.key == "storage";
         }},
        {"is a way in which threads of a GPU wait for each other",
         [](const Combination& c, const std::string&, Backend backend, const SystemShape&) {
             return backend == Backend::cpu &&
                    (c.choice == "spin" || c.choice == "dag_vertex" || c.choice == "dag_edge");
         }},
        {" needs a symmetric matrix",
         [](const Combination&, const std::string& solver, Backend, const SystemShape& shape) {
             return testing_support::needs_symmetry(solver) && !shape.symmetric;
         }},
        {" needs a symmetric positive definite preconditioner",
         [](const Combination& c, const std::string& solver, Backend, const SystemShape&) {
             return testing_support::needs_symmetry(solver) && c.preconditioner == "multigrid" && c.choice == "f";
         }},
        {"only fgmres and richardson support that",
         [](const Combination& c, const std::string& solver, Backend, const SystemShape&) {
             return c.choice == "block_async" && solver != "fgmres" && solver != "richardson";
         }},
    };
    return rows;
}

/// Whether a set-up may fail with this message, for matrices that it does not suit.
bool may_fail(const Combination& c, const std::string& message) {
    const ParameterTable& keys = find_preconditioner(c.own()).parameters;
    const bool sweeps = has_key(keys, "preconditioner", "sweeps") || has_key(keys, "preconditioner", "lower_sweeps");
    return sweeps && (message.find("Jacobi sweeps diverge") != message.npos ||
                      message.find("It was found after") != message.npos);
}

/// Whether a solve may end without convergence: stationary corrections converge only with a good M, and a poor M may
/// need more iterations than are allowed.
bool may_stop_short(const std::string& solver, const Combination& c, StopReason reason) {
    const bool poor = c.own() == "none" || c.own() == "jacobi";
    if (reason == StopReason::max_iterations) return solver == "richardson" || poor;
    if (reason == StopReason::diverged || reason == StopReason::not_finite) return solver == "richardson";
    return reason == StopReason::breakdown && solver == "bicgstab" && poor;
}

/// The first system A x = b of a problem in natural order, and x by elimination. In some problems constants are in the
/// null space.
struct Reference {
    CsrMatrix a;
    std::vector<double> b, x;
};

std::vector<double> product(const CsrMatrix& a, const std::vector<double>& x) {
    std::vector<double> y(std::size_t(a.rows), 0.0);
    for (Index row = 0; row < a.rows; ++row)
        for (Index at = a.row_begin[row]; at < a.row_begin[row + 1]; ++at) y[row] += a.value[at] * x[a.column[at]];
    return y;
}

double norm(const std::vector<double>& x) {
    double sum = 0.0;
    for (double value : x) sum += value * value;
    return std::sqrt(sum);
}

Reference reference_of(const Case& a_case, const LinearSystem& system) {
    Reference result{csr_of(*system.a), to_natural(system.b), {}};
    reference::Dense dense(int(result.a.rows), int(result.a.rows));
    for (Index row = 0; row < result.a.rows; ++row)
        for (Index at = result.a.row_begin[row]; at < result.a.row_begin[row + 1]; ++at)
            dense(int(row), int(result.a.column[at])) += result.a.value[at];
    // The x that is orthogonal to constants: if the null space of A consists of constants, A + 1 1^T is regular.
    if (a_case.shape().constant_null_space)
        for (double& value : dense.values) value += 1.0;
    const reference::Dense inverse = reference::pivoted_inverse(dense);
    result.x.assign(result.b.size(), 0.0);
    reference::add_product(inverse, result.b.data(), 1.0, result.x.data());
    return result;
}

/// One elimination is enough for all pairs of a problem, since A and b depend on layout and backend only by rounding.
const Reference& reference_for(const Case& a_case, const LinearSystem& system) {
    static std::map<std::string, Reference> known;
    const auto [entry, fresh] = known.try_emplace(a_case.name("problem"));
    if (fresh) entry->second = reference_of(a_case, system);
    return entry->second;
}

/// The message with which a pair is refused; empty if its case was made.
std::string build(const Combination& c, const std::string& solver, Backend backend, std::optional<Case>& made) {
    try {
        made.emplace(build_case(parse_deck(c.deck(solver), HYPERPLANE_INPUTS "/combination.ini"),
                                {"device.backend=" + to_string(backend)}));
    } catch (const Error& error) {
        EXPECT_TRUE(error.code() == ExitCode::usage || error.code() == ExitCode::no_device) << error.what();
        return error.what();
    }
    return "";
}

void expect_solved(const Combination& c, const std::string& solver, const Case& a_case) {
    LinearSystem system = make_system(a_case);
    Vector u = a_case.make_vector("state: u"), du = a_case.make_vector("state: du");
    assemble_first(a_case, u, system);
    try {
        set_up(*a_case.preconditioner, system);
    } catch (const SetupError& error) {
        EXPECT_TRUE(may_fail(c, error.what())) << error.what();
        return;
    }
    EXPECT_EQ(a_case.preconditioner->traits().symmetric, a_case.plan.traits.symmetric);
    EXPECT_EQ(a_case.preconditioner->traits().fixed, a_case.plan.traits.fixed);
    const SolverOperators operators = operators_of(a_case, *system.a);
    set_zero(du);
    History history;
    const SolveReport report = a_case.solver->solve(operators.a(), operators.m(), system.b, du, history);
    const Reference& expected = reference_for(a_case, system);
    std::vector<double> x = to_natural(du), r = product(expected.a, x);
    if (report.reason != StopReason::converged_rtol) {
        EXPECT_TRUE(may_stop_short(solver, c, report.reason))
            << to_string(report.reason) << " after " << report.iterations
            << " iterations (may_stop_short names the preconditioners that are poor enough for this)";
        return;
    }
    for (std::size_t at = 0; at < r.size(); ++at) r[at] = expected.b[at] - r[at];
    EXPECT_LE(norm(r), 1.01e-9 * norm(expected.b) + 1e-13 * norm(product(expected.a, x)));
    for (std::size_t at = 0; at < x.size(); ++at) x[at] -= expected.x[at];
    EXPECT_LE(norm(x), 1e-5 * norm(expected.x));
}

void expect_solved_or_refused(const Combination& c, Backend backend, const std::vector<std::string>& by) {
    std::optional<Case> shaped;  // of a pair that is never refused
    ASSERT_EQ(build({c.problem, "none", "", ""}, "gmres", backend, shaped), "");
    const SystemShape shape = shaped->shape();
    for (const std::string& solver : by) {
        SCOPED_TRACE(c.name() + " under " + solver + " on " + to_string(backend));
        const Refusal* due = nullptr;
        for (const Refusal& refusal : refusals())
            if (!due && refusal.when(c, solver, backend, shape)) due = &refusal;
        std::optional<Case> made;
        const std::string message = build(c, solver, backend, made);
        if (due) {
            EXPECT_NE(message.find(due->text), message.npos)
                << "to be refused with '" << due->text << "', was: " << (made ? "accepted" : message);
        } else if (!made) {
            ADD_FAILURE() << "refused for a reason that refusals() does not know (if it is right to refuse this, the "
                             "reason becomes a row there): "
                          << message;
        } else {
            expect_solved(c, solver, *made);
        }
    }
}

std::string name_of(const testing::TestParamInfo<Combination>& info) {
    return info.param.name();
}

class Combinations : public testing::TestWithParam<Combination> {};
class CombinationsOnDevice : public testing_support::DeviceTest, public testing::WithParamInterface<Combination> {};

TEST_P(Combinations, AreSolvedOrRefused) {
    for (const Combination& c : choices_of(GetParam()))
        expect_solved_or_refused(c, Backend::cpu, testing_support::solver_names());
}
TEST_P(CombinationsOnDevice, AreSolvedOrRefused) {
    for (const Combination& c : choices_of(GetParam()))
        expect_solved_or_refused(c, Backend::cuda, testing_support::solver_names());
}

INSTANTIATE_TEST_SUITE_P(All, Combinations, testing::ValuesIn(pairs()), name_of);
INSTANTIATE_TEST_SUITE_P(All, CombinationsOnDevice, testing::ValuesIn(pairs()), name_of);

/// Each problem on a grid with multigrid and each smoother.
std::vector<Combination> smoothed() {
    std::vector<Combination> list;
    for (const auto& problem : problems())
        if (problem.name != "matrix")
            for (const PreconditionerRow& row : smoothers())
                list.push_back({problem.name, "multigrid", "", "", row.name});
    return list;
}

class SmoothedCombinations : public testing::TestWithParam<Combination> {};

TEST_P(SmoothedCombinations, AreSolvedOrRefusedByEveryCycle) {
    Combination c = GetParam();
    expect_solved_or_refused(c, Backend::cpu, {"cg", "fgmres"});
    c.key = "cycle";
    for (const char* cycle : {"w", "f"}) {
        c.choice = cycle;
        expect_solved_or_refused(c, Backend::cpu, {"cg", "fgmres"});
    }
}

INSTANTIATE_TEST_SUITE_P(All, SmoothedCombinations, testing::ValuesIn(smoothed()), name_of);

}  // namespace
}  // namespace hyperplane
