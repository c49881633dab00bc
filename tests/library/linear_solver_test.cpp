// SPDX-License-Identifier: BSD-3-Clause
// The public library: matrices of the reference are handed over, and its residuals judge the solutions.
#include "hyperplane/linear_solver.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "library/on_both.hpp"
#include "reference/block_matrix.hpp"
#include "reference/stencils.hpp"

namespace hyperplane {
namespace {

using Keys = std::map<std::string, std::string>;

const std::vector<reference::Offset> star{{0, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {0, -1, 0},
                                          {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};

/// The reference's matrix as a program hands it over, with the offsets in the reference's order.
StencilMatrix handed_over(const reference::StencilMatrix& from, bool symmetric) {
    const reference::Box& box = from.box;
    StencilShape shape{.extents = {box.nx, box.ny, box.nz},
                       .offsets = {},
                       .unknowns = from.dof,
                       .periodic = box.periodic,
                       .symmetric = symmetric};
    for (const auto& [x, y, z] : from.offsets) shape.offsets.push_back({x, y, z});
    StencilMatrix a(shape);
    for (int point = 0; point < box.points(); ++point)
        for (std::size_t s = 0; s < from.offsets.size(); ++s) {
            const auto held = from.blocks[point].find(from.offsets[s]);
            if (held == from.blocks[point].end()) continue;
            for (int row = 0; row < from.dof; ++row)
                for (int column = 0; column < from.dof; ++column)
                    a.coefficients(int(s), row, column)[point] = held->second(row, column);
        }
    return a;
}

double norm(const std::vector<double>& x) {
    double sum = 0.0;
    for (const double value : x) sum += value * value;
    return std::sqrt(sum);
}

/// Solves with a random right-hand side and compares the result's claims with the reference's residual.
void expect_solved(const reference::StencilMatrix& from, bool symmetric, const Keys& keys) {
    const reference::BlockMatrix assembled = reference::assembled(from);
    const std::vector<double> b = reference::Random(7).vector(assembled.unknowns());
    LinearSolver solver(handed_over(from, symmetric), {.keys = keys, .threads = 2});
    std::vector<double> x(b.size(), 0.0);
    const SolveResult result = solver.solve(b, x);
    const double residual = norm(reference::exact_residual(assembled, b, x));
    EXPECT_TRUE(result.converged) << result.explanation;
    EXPECT_EQ(result.reason, "converged_rtol");
    EXPECT_LE(residual, 1.001e-8 * norm(b));
    EXPECT_NEAR(result.residual, residual, 1e-3 * residual);
    EXPECT_NEAR(result.right_hand_side, norm(b), 1e-12 * norm(b));
    EXPECT_GT(result.iterations, 1);
    EXPECT_GE(std::int64_t(result.history.size()), result.iterations);
    EXPECT_GT(solver.peak_memory(), std::int64_t(8 * b.size()));
}

reference::StencilMatrix spd(std::uint64_t seed = 1) {
    return reference::random_spd_matrix({17, 9, 5}, star, 1, seed);
}

/// The message of the UsageError that `call` throws.
template <class Call>
std::string refusal(const Call& call) {
    try {
        call();
    } catch (const UsageError& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        return error.what();
    }
    ADD_FAILURE() << "nothing was refused";
    return "";
}

void expect_in(const std::string& part, const std::string& text) {
    EXPECT_NE(text.find(part), text.npos) << "'" << part << "' is not in: " << text;
}

/// One equation a point: a diagonal, by default of ones.
StencilMatrix diagonal_matrix(StencilShape shape, double value = 1.0) {
    StencilMatrix a(std::move(shape));
    for (double& on_diagonal : a.coefficients(0)) on_diagonal = value;
    return a;
}

TEST(LinearSolver, SolvesWithEveryCombinationThatACgNeeds) {
    for (const char* solver : {"cg", "pipelined_cg", "gmres", "bicgstab"})
        for (const char* preconditioner : {"struct_ilu", "par_ilu", "multicolor", "fgbilu", "jacobi", "none"}) {
            SCOPED_TRACE(std::string(solver) + " with " + preconditioner);
            expect_solved(spd(), true, {{"solver.name", solver}, {"preconditioner.name", preconditioner}});
        }
}

TEST(LinearSolver, TakesOffsetsInAnyOrderBlocksAndPeriodicAxes) {
    std::vector<reference::Offset> box;  // from the last one to the first
    for (int z : {1, 0, -1})
        for (int y : {1, 0, -1})
            for (int x : {1, 0, -1}) box.push_back({x, y, z});
    const reference::Box grid{9, 5, 7, {true, false, true}};
    for (const char* preconditioner : {"struct_ilu", "multicolor", "subdomain_ildu0"}) {
        SCOPED_TRACE(preconditioner);
        expect_solved(reference::random_matrix(grid, box, 3, 3), false, {{"preconditioner.name", preconditioner}});
    }
    expect_solved(reference::random_spd_matrix(grid, box, 2, 4), true, {{"solver.name", "cg"}});
}

TEST(LinearSolver, UpdateIsTheSameAsANewOne) {
    const StencilMatrix first = handed_over(spd(1), true), second = handed_over(spd(2), true);
    const std::vector<double> b = reference::Random(5).vector(int(first.rows()));
    std::vector<double> x(b.size(), 0.0), y(b.size(), 0.0);
    LinearSolver updated(first);
    (void)updated.solve(b, x);
    updated.update(second);
    x.assign(b.size(), 0.0);
    const SolveResult result = updated.solve(b, x);
    LinearSolver fresh(second);
    EXPECT_EQ(fresh.solve(b, y).history, result.history);
    EXPECT_EQ(x, y);
}

TEST(LinearSolver, BeginsWithTheGivenSolution) {
    LinearSolver solver(handed_over(spd(), true));
    const std::vector<double> b = reference::Random(5).vector(17 * 9 * 5);
    std::vector<double> x(b.size(), 0.0);
    (void)solver.solve(b, x);
    EXPECT_EQ(solver.solve(b, x).iterations, 0);
}

TEST(LinearSolver, GivesTheSameBitsForAnyNumberOfThreads) {
    const std::vector<double> b = reference::Random(5).vector(17 * 9 * 5);
    std::vector<std::vector<double>> solutions;
    for (const int threads : {1, 2, 3}) {
        LinearSolver solver(handed_over(spd(), true), {.keys = {{"solver.name", "cg"}}, .threads = threads});
        solutions.emplace_back(b.size(), 0.0);
        (void)solver.solve(b, solutions.back());
    }
    EXPECT_EQ(solutions[0], solutions[1]);
    EXPECT_EQ(solutions[0], solutions[2]);
}

TEST(LinearSolver, TellsOfASolveThatDoesNotConverge) {
    LinearSolver solver(handed_over(spd(), true),
                        {.keys = {{"solver.max_iterations", "1"}, {"preconditioner.name", "none"}}});
    const std::vector<double> b(17 * 9 * 5, 1.0);
    std::vector<double> x(b.size(), 0.0);
    const SolveResult result = solver.solve(b, x);
    EXPECT_FALSE(result.converged);
    EXPECT_EQ(result.reason, "max_iterations");
    EXPECT_FALSE(result.explanation.empty());
}

TEST(LinearSolver, NamesEveryWrongKey) {
    const StencilMatrix a = diagonal_matrix({.extents = {3, 2, 2}});
    const std::string message = refusal([&] {
        LinearSolver(a,
                     {.keys = {{"solver.rtoll", "1e-8"}, {"solver.max_iterations", "many"}, {"preconditioner", "x"}}});
    });
    expect_in("SolverSettings::keys: unknown key 'solver.rtoll'", message);
    expect_in("solver.rtol,", message);
    expect_in("SolverSettings::keys: solver.max_iterations: expected an integer, got 'many'", message);
    expect_in("unknown key 'preconditioner'", message);
    expect_in(
        "unknown key 'fill_levle'; solver cg and preconditioner jacobi have", refusal([&] {
            LinearSolver(a, {.keys = {{"fill_levle", "1"}, {"solver.name", "cg"}, {"preconditioner.name", "jacobi"}}});
        }));
    for (const int threads : {-1, 4097})
        expect_in("SolverSettings::threads: expected integer >= 0 and <= 4096, got " + std::to_string(threads),
                  refusal([&] { LinearSolver(a, {.threads = threads}); }));
    expect_in("no solver is called 'cgs'; there are cg,", refusal([&] {
                  LinearSolver(a, {.keys = {{"solver.name", "cgs"}}});
              }));
    expect_in("means nothing unless preconditioner.triangular_solve = jacobi", refusal([&] {
                  LinearSolver(a, {.keys = {{"preconditioner.name", "par_ilu"}, {"preconditioner.lower_sweeps", "3"}}});
              }));
}

TEST(LinearSolver, NamesAllWrongKeysAtOnce) {
    const StencilMatrix a = diagonal_matrix({.extents = {3, 2, 2}});
    const std::string message = refusal([&] {
        LinearSolver(a, {.keys = {{"solver.name", "gmers"},
                                  {"preconditioner.name", "jacoby"},
                                  {"scaling.name", "symetric"},
                                  {"rtol", "-3"},
                                  {"atoll", "1"}}});
    });
    expect_in("no solver is called 'gmers'; there are cg,", message);
    expect_in("; did you mean gmres?", message);
    expect_in("no preconditioner is called 'jacoby'", message);
    expect_in("; did you mean jacobi?", message);
    expect_in("no scaling is called 'symetric'", message);
    expect_in("; did you mean symmetric?", message);
    expect_in("solver.rtol: -3 is out of range", message);
    expect_in("unknown key 'atoll'; all solvers and preconditioners have", message);
    expect_in("; did you mean solver.atol?", message);
}

TEST(LinearSolver, SaysWhereAKeyBelongs) {
    const StencilMatrix a = diagonal_matrix({.extents = {3, 2, 2}, .symmetric = true});
    for (const char* key : {"restart", "solver.restart"})
        expect_in("solver.restart belongs to gmres", refusal([&] {
                      LinearSolver(a, {.keys = {{"solver.name", "cg"}, {key, "9"}}});
                  }));
    // With a wrong name of the component, its keys are not called wrong, too.
    const std::string message = refusal([&] {
        LinearSolver(a, {.keys = {{"solver.name", "gmers"}, {"restart", "9"}}});
    });
    expect_in("did you mean gmres?", message);
    EXPECT_EQ(message.find("restart"), message.npos) << message;
}

TEST(LinearSolver, AdvisesWhatAProgramCanDo) {
    const StencilMatrix a = diagonal_matrix({.extents = {3, 2, 2}});
    const auto message = [&](const Keys& keys) { return refusal([&] { LinearSolver(a, {.keys = keys}); }); };
    expect_in("; hand the matrix over as a SparseMatrix, or leave the key out",
              message({{"scaling.name", "symmetric"}}));
    expect_in("(a SparseMatrix is one)", message({{"preconditioner.name", "sync_free_ilu"}}));
    expect_in("or SolverSettings::gpu",
              message({{"preconditioner.name", "subdomain_ildu0"}, {"preconditioner.variant", "spin"}}));
    expect_in("StencilShape::extents: 2 points along periodic axis x are too few", refusal([] {
                  LinearSolver{diagonal_matrix({.extents = {2, 5, 5}, .periodic = {true, false, false}})};
              }));
    expect_in("SolverSettings::gpu is -1; GPUs are numbered from 0", refusal([&] { LinearSolver(a, {.gpu = -1}); }));
}

TEST(LinearSolver, RefusesToWorkAfterAMove) {
    LinearSolver first(diagonal_matrix({.extents = {3, 2, 2}}, 4.0));
    LinearSolver second = std::move(first);
    const std::vector<double> b(12, 2.0);
    std::vector<double> x(12, 0.0);
    // NOLINTBEGIN(bugprone-use-after-move): what this test is about
    expect_in("LinearSolver::solve: this object has been moved from", refusal([&] { (void)first.solve(b, x); }));
    expect_in("LinearSolver::precondition", refusal([&] { first.precondition(b, x); }));
    expect_in("LinearSolver::update", refusal([&] { first.update(diagonal_matrix({.extents = {3, 2, 2}})); }));
    expect_in("LinearSolver::peak_memory", refusal([&] { (void)first.peak_memory(); }));
    expect_in("LinearSolver::setup_seconds", refusal([&] { (void)first.setup_seconds(); }));
    expect_in("LinearSolver::solver", refusal([&] { (void)first.solver(); }));
    expect_in("LinearSolver::preconditioner", refusal([&] { (void)first.preconditioner(); }));
    // NOLINTEND(bugprone-use-after-move)
    first = std::move(second);
    EXPECT_TRUE(first.solve(b, x).converged);
}

TEST(LinearSolver, RefusesCombinationsThatCannotWork) {
    const StencilMatrix a = diagonal_matrix({.extents = {3, 2, 2}});
    expect_in("solver.name = cg needs a symmetric matrix", refusal([&] {
                  LinearSolver(a, {.keys = {{"solver.name", "cg"}}});
              }));
}

TEST(LinearSolver, RefusesMatricesThatAreNotWhatTheySay) {
    StencilMatrix a = diagonal_matrix({.extents = {3, 2, 2}, .symmetric = true});
    a.coefficients(2)[a.number(2, 1, 0)] = 0.5;
    expect_in("point (2, 1, 0), offset (1, 0, 0), equation 0, unknown 0 is 0.5, but there is no such neighbour",
              refusal([&] { LinearSolver{a}; }));
    a.coefficients(2)[a.number(2, 1, 0)] = 0.0;
    a.coefficients(2)[a.number(1, 1, 0)] = 0.5;
    expect_in("StencilShape::symmetric is true, but", refusal([&] { LinearSolver{a}; }));
    a.coefficients(1)[a.number(2, 1, 0)] = 0.5;
    EXPECT_NO_THROW(LinearSolver{a});
}

TEST(LinearSolver, RefusesShapesThatDoNotExist) {
    expect_in("0 x 2 x 2", refusal([] { StencilMatrix({.extents = {0, 2, 2}}); }));
    expect_in("33", refusal([] { StencilMatrix({.extents = {2, 2, 2}, .unknowns = 33}); }));
    expect_in("has no mirror", refusal([] { StencilMatrix({.offsets = {{0, 0, 0}, {1, 0, 0}}}); }));
    expect_in("is missing", refusal([] { StencilMatrix({.offsets = {{1, 0, 0}, {-1, 0, 0}}}); }));
    StencilMatrix a({.extents = {2, 2, 2}});
    expect_in("has 7 offsets and 1 unknowns", refusal([&] { (void)a.coefficients(7); }));
    expect_in("has 7 offsets and 1 unknowns", refusal([&] { (void)a.coefficients(0, 0, 1); }));
}

TEST(LinearSolver, RefusesMatricesThatNoMemoryHolds) {
    for (const int extent : {100000, 2147483647}) {
        try {
            const StencilMatrix made({.extents = {extent, extent, extent}});
            ADD_FAILURE() << "a grid of " << extent << "^3 points was allocated";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::out_of_memory);
            expect_in(std::to_string(extent) + " x " + std::to_string(extent), error.what());
            expect_in("7 offsets and 1 unknowns", error.what());
            expect_in(extent == 100000 ? "5.22e+07 GiB" : "GiB", error.what());
        }
    }
}

TEST(LinearSolver, RefusesVectorsOfAnotherLengthAndOtherShapes) {
    LinearSolver solver(diagonal_matrix({.extents = {3, 2, 2}}));
    const std::vector<double> b(12, 1.0), longer(13, 1.0);
    std::vector<double> x(12, 0.0), shorter(11, 0.0);
    expect_in("b has 13 elements, the matrix 12 rows", refusal([&] { (void)solver.solve(longer, x); }));
    expect_in("x has 11 elements", refusal([&] { (void)solver.solve(b, shorter); }));
    expect_in("another shape", refusal([&] { solver.update(diagonal_matrix({.extents = {2, 3, 2}})); }));
}

TEST(LinearSolver, DoesNotSolveAfterAFailedUpdate) {
    LinearSolver solver(diagonal_matrix({.extents = {3, 2, 2}}));
    const std::vector<double> b(12, 2.0);
    std::vector<double> x(12, 0.0);
    EXPECT_THROW(solver.update(diagonal_matrix({.extents = {3, 2, 2}}, 0.0)), SetupError);
    expect_in("the last update failed", refusal([&] { (void)solver.solve(b, x); }));
    solver.update(diagonal_matrix({.extents = {3, 2, 2}}, 4.0));
    EXPECT_TRUE(solver.solve(b, x).converged);
    EXPECT_EQ(x, std::vector<double>(12, 0.5));
}

TEST(LinearSolver, ReportsWhatIsNotFinite) {
    StencilMatrix a = diagonal_matrix({.extents = {3, 2, 2}, .symmetric = true});
    a.coefficients(0)[5] = std::numeric_limits<double>::quiet_NaN();
    const std::vector<double> b(12, 1.0);
    std::vector<double> x(12, 0.0);
    LinearSolver solver(a, {.keys = {{"solver.name", "cg"}, {"preconditioner.name", "none"}}});
    EXPECT_EQ(solver.solve(b, x).reason, "not_finite");
}

TEST(LinearSolverOnDevice, TakesAsManyIterationsAsTheCpu) {
    const StencilMatrix a = handed_over(spd(), true);
    const std::vector<double> b = reference::Random(5).vector(int(a.rows()));
    testing_support::expect_the_cpus_iterations_on_a_gpu(a, b, {{"solver.name", "cg"}});
}

}  // namespace
}  // namespace hyperplane
