// SPDX-License-Identifier: BSD-3-Clause
// Each method solves the systems that it is meant for, in the number of iterations that theory predicts.
#include <algorithm>

#include "solvers/systems.hpp"

namespace hyperplane::test {
namespace {

class EveryMethod : public ::testing::TestWithParam<std::string> {};
class NonsymmetricMethod : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Solvers, EveryMethod, ::testing::ValuesIn(testing_support::solver_names()), solver_name);
INSTANTIATE_TEST_SUITE_P(Solvers, NonsymmetricMethod, ::testing::ValuesIn(testing_support::nonsymmetric_solver_names()),
                         solver_name);

/// The reciprocal of a matrix's diagonal.
std::vector<double> inverse_diagonal(const reference::Dense& a) {
    std::vector<double> values(a.rows);
    for (int i = 0; i < a.rows; ++i) values[i] = 1.0 / a(i, i);
    return values;
}

TEST_P(EveryMethod, SolvesASymmetricSystem) {
    auto matrix = spd_matrix(12, 1);
    for (int i = 0; i < 12; ++i) matrix(i, i) += 40.0;  // so that Jacobi's method converges, which richardson needs
    const auto right = random_values(12, 2);
    const auto a = dense(matrix), m = diagonal(inverse_diagonal(matrix));
    const auto outcome = solve(*make_solver(GetParam(), {{"rtol", "1e-12"}}), a, m, vector_of(right));
    EXPECT_EQ(outcome.reason(), StopReason::converged_rtol);
    EXPECT_LT(max_difference(outcome.x, reference::solve(matrix, right)), 1e-12);
}

TEST_P(NonsymmetricMethod, SolvesANonsymmetricSystem) {
    auto matrix = nonsymmetric_matrix(15, 3);
    for (int i = 0; i < 15; ++i) matrix(i, i) *= 2.0 + i;  // rows of different magnitude, so that M matters
    const auto right = random_values(15, 4);
    const auto a = dense(matrix), m = diagonal(inverse_diagonal(matrix));
    const auto outcome = solve(*make_solver(GetParam(), {{"rtol", "1e-12"}}), a, m, vector_of(right));
    EXPECT_EQ(outcome.reason(), StopReason::converged_rtol);
    EXPECT_LT(max_difference(outcome.x, reference::solve(matrix, right)), 1e-12);
}

/// The operators read vectors in the order of their memory, so that both solves are the same computation.
TEST_P(EveryMethod, SolvesOnPlainRowsWithTheSameBits) {
    auto matrix = spd_matrix(12, 11);
    for (int i = 0; i < 12; ++i) matrix(i, i) += 40.0;
    const auto a = dense(matrix), m = diagonal(inverse_diagonal(matrix));
    const auto right = random_values(12, 12);
    const auto on_a_line = solve(*make_solver(GetParam()), a, m, vector_of(right));
    Vector b(Context::cpu(), IndexSpace::plain(4), 3, "test");
    from_natural(right, b);
    int calls = 0;
    SolverState state;
    const auto solver = make_solver(GetParam());
    const auto broken_off = solve(*solver, a, m, b, {}, [&] { return ++calls > 2; }, {.save = &state});
    EXPECT_EQ(broken_off.reason(), StopReason::interrupted);
    const auto outcome = solve(*solver, a, m, b, {}, {}, {.from = &state});
    EXPECT_EQ(outcome.reason(), StopReason::converged_rtol);
    EXPECT_EQ(outcome.x, on_a_line.x);
    EXPECT_EQ(outcome.report.iterations, on_a_line.report.iterations);
}

TEST_P(EveryMethod, StartsFromTheGivenX) {
    const auto matrix = spd_matrix(10, 5);
    const auto right = random_values(10, 6);
    const auto a = dense(matrix), m = dense(reference::gauss_jordan_inverse(matrix));
    const auto outcome =
        solve(*make_solver(GetParam(), {{"rtol", "1e-10"}}), a, m, vector_of(right), random_values(10, 7));
    EXPECT_EQ(outcome.reason(), StopReason::converged_rtol);
    EXPECT_EQ(outcome.report.iterations, 1) << "M^-1 is A^-1";
    EXPECT_LT(max_difference(outcome.x, reference::solve(matrix, right)), 1e-9);
}

TEST_P(EveryMethod, SolvesAgainWithTheSameObject) {
    const auto matrix = spd_matrix(10, 8);
    const auto a = dense(matrix), m = dense(reference::gauss_jordan_inverse(matrix));
    const auto solver = make_solver(GetParam());
    const auto first = solve(*solver, a, m, vector_of(random_values(10, 9)));
    solve(*solver, a, nan_from(m, 1), vector_of(random_values(10, 10)));  // leaves NaN in the work vectors
    solve(*solver, line_laplacian(), identity(), vector_of(random_values(7, 11)));
    const auto again = solve(*solver, a, m, vector_of(random_values(10, 9)));
    EXPECT_EQ(again.x, first.x);
    EXPECT_EQ(again.report.iterations, first.report.iterations);
}

/// The diagonal of an operator on n unknowns with k distinct eigenvalues, all of which contribute to b.
std::vector<double> distinct(int n, int k) {
    std::vector<double> values(n);
    for (int i = 0; i < n; ++i) values[i] = 1.0 + 3.0 * (i % k);
    return values;
}

TEST(Methods, KrylovMethodsEndAfterAsManyStepsAsThereAreEigenvalues) {
    for (const char* name : {"cg", "gmres", "fgmres"})
        for (int k = 1; k <= 7; ++k) {
            const auto outcome = solve(*make_solver(name, {{"rtol", "1e-10"}}), diagonal(distinct(40, k)), identity(),
                                       vector_of(random_values(40, 12)));
            EXPECT_EQ(outcome.reason(), StopReason::converged_rtol);
            EXPECT_EQ(outcome.report.iterations, k) << name;
        }
}

TEST(Methods, GmresTakesNStepsForACyclicShift) {
    const int n = 9;
    const FunctionOperator shift([](const Vector& x, Vector& y) {
        for (Index at = 0; at < x.size(); ++at) y.data()[(at + 1) % x.size()] = x.data()[at];
    });
    std::vector<double> right(n);
    right[0] = 1.0;
    for (const char* name : {"gmres", "fgmres"}) {
        const auto outcome = solve(*make_solver(name), shift, identity(), vector_of(right));
        EXPECT_EQ(outcome.reason(), StopReason::converged_rtol);
        EXPECT_EQ(outcome.report.iterations, n);
        for (int k = 0; k < n; ++k) EXPECT_DOUBLE_EQ(outcome.history[k].recurrence, 1.0) << k;
        const auto restarted = solve(*make_solver(name, {{"restart", "8"}, {"max_iterations", "50"}}), shift,
                                     identity(), vector_of(right));
        EXPECT_EQ(restarted.reason(), StopReason::max_iterations) << "no progress in any cycle of 8";
        EXPECT_EQ(restarted.report.iterations, 50);
    }
}

/// One step of conjugate gradients by hand: A = diag(1, 2), b = (1, 1), so alpha = 2/3.
TEST(Methods, FirstStepOfCgByHand) {
    const auto outcome =
        solve(*make_solver("cg", {{"max_iterations", "1"}}), diagonal({1, 2}), identity(), vector_of({1, 1}));
    EXPECT_EQ(outcome.reason(), StopReason::max_iterations);
    EXPECT_DOUBLE_EQ(outcome.x[0], 2.0 / 3.0);
    EXPECT_DOUBLE_EQ(outcome.x[1], 2.0 / 3.0);
    EXPECT_NEAR(outcome.report.true_residual, std::sqrt(2.0) / 3.0, 1e-15);
}

/// min_y ||b - A (y b)|| by hand: y = b^T A b / ||A b||^2 = 3/5.
TEST(Methods, FirstStepOfGmresByHand) {
    for (const char* name : {"gmres", "fgmres"}) {
        const auto outcome =
            solve(*make_solver(name, {{"max_iterations", "1"}}), diagonal({1, 2}), identity(), vector_of({1, 1}));
        EXPECT_NEAR(outcome.x[0], 0.6, 1e-15);
        EXPECT_NEAR(outcome.x[1], 0.6, 1e-15);
        EXPECT_NEAR(outcome.report.recurrence_residual, std::sqrt(0.2), 1e-15);
    }
}

TEST(Methods, RichardsonIsTheCorrectionIteration) {
    const Keys keys{{"damping", "0.5"}, {"max_iterations", "3"}, {"rtol", "1e-12"}};
    const auto outcome = solve(*make_solver("richardson", keys), diagonal({1, 2}), identity(), vector_of({1, 2}));
    EXPECT_DOUBLE_EQ(outcome.x[0], 0.875);  // 1 - 2^-3
    EXPECT_DOUBLE_EQ(outcome.x[1], 1.0);
    ASSERT_EQ(outcome.history.size(), 4u);
    for (const auto& entry : outcome.history) EXPECT_EQ(entry.recurrence, entry.truth);
}

/// With two unknowns, BiCGSTAB is exact after two iterations, and it may be exact after the first half of an iteration.
TEST(Methods, BicgstabMayEndAtItsHalfStep) {
    const auto exact_half = solve(*make_solver("bicgstab"), diagonal({3, 3, 3}), identity(), vector_of({1, 2, 3}));
    EXPECT_EQ(exact_half.reason(), StopReason::converged_rtol);
    EXPECT_EQ(exact_half.report.iterations, 1);
    EXPECT_EQ(exact_half.history.size(), 2u);
    const auto two = solve(*make_solver("bicgstab"), diagonal({1, 2}), identity(), vector_of({1, 1}));
    EXPECT_EQ(two.reason(), StopReason::converged_rtol);
    EXPECT_EQ(two.report.iterations, 2);
}

/// A 1-D problem that no short cycle solves: restarts cost iterations, but no accuracy.
TEST(Methods, RestartedGmresConvergesMoreSlowly) {
    const auto right = vector_of(random_values(60, 13));
    const auto a = line_laplacian(0.3);
    std::vector<Index> counts;
    for (const char* restart : {"2000", "20", "10"})
        for (const char* name : {"gmres", "fgmres"}) {
            const auto outcome = solve(*make_solver(name, {{"restart", restart}}), a, identity(), right);
            EXPECT_EQ(outcome.reason(), StopReason::converged_rtol) << name << restart;
            EXPECT_LE(residual_norm(a, right, outcome.x), 1e-8 * norm2(right) * (1 + 1e-12));
            counts.push_back(outcome.report.iterations);
        }
    EXPECT_LE(counts[0], 60);
    EXPECT_EQ(counts[0], counts[1]);
    EXPECT_LT(counts[0], counts[2]);
    EXPECT_LT(counts[0], counts[4]);
}

TEST(Methods, FgmresTakesAPreconditionerThatChanges) {
    const auto matrix = nonsymmetric_matrix(30, 14);
    const auto a = dense(matrix);
    const auto right = random_values(30, 15);
    int call = 0;
    const FunctionOperator changing([&](const Vector& x, Vector& y) {
        const auto weights = random_values(30, 100 + call++);
        for (int i = 0; i < 30; ++i) y.data()[i] = x.data()[i] * (1.0 + 0.5 * weights[i]) / matrix(i, i);
    });
    const Keys keys{{"rtol", "1e-10"}, {"max_iterations", "60"}};
    const auto flexible = solve(*make_solver("fgmres", keys), a, changing, vector_of(right));
    EXPECT_EQ(flexible.reason(), StopReason::converged_rtol);
    EXPECT_EQ(flexible.report.restarts_from_true, 0) << "its recurrence knows the true residual";
    EXPECT_LT(max_difference(flexible.x, reference::solve(matrix, right)), 1e-9);
    const auto fixed = solve(*make_solver("gmres", keys), a, changing, vector_of(right));
    EXPECT_FALSE(converged(fixed.reason()) && fixed.report.restarts_from_true == 0)
        << "gmres forms x with another M than its basis has seen";
}

/// With right preconditioning and fused recurrences, the residual of the recurrence is the true one, here for star7.
TEST_P(EveryMethod, RecurrenceIsTheTrueResidual) {
    const auto a = cube_laplacian(8);
    Vector b(a.context(), a.layout(), 1, "test");
    const auto values = random_values(int(b.size()), 16);
    std::copy(values.begin(), values.end(), b.data());
    const auto m = diagonal(std::vector<double>(b.size(), 1.0 / 6.0));
    const auto outcome = solve(*make_solver(GetParam(), {{"true_residual_every", "1"}, {"restart", "7"}}), a, m, b);
    EXPECT_EQ(outcome.reason(), StopReason::converged_rtol);
    EXPECT_EQ(outcome.report.restarts_from_true, 0);
    ASSERT_EQ(Index(outcome.history.size()), outcome.report.iterations + 1);
    for (const auto& entry : outcome.history) EXPECT_NEAR(entry.truth / entry.recurrence, 1.0, 1e-5) << entry.iteration;
    // The solver's residual is computed accurately; the one computed here contains the rounding error of A x.
    EXPECT_NEAR(outcome.report.true_residual / residual_norm(a, b, outcome.x), 1.0, 1e-8);
    EXPECT_DOUBLE_EQ(outcome.history.back().truth, outcome.report.true_residual / outcome.report.b_norm);
}

}  // namespace
}  // namespace hyperplane::test
