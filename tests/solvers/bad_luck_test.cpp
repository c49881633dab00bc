// SPDX-License-Identifier: BSD-3-Clause
// NaN, indefinite operators, breakdown and divergence: each ends with its own stop reason and a usable x.
#include <algorithm>

#include "solvers/systems.hpp"

namespace hyperplane::test {
namespace {

class BadLuck : public ::testing::TestWithParam<std::string> {
protected:
    FunctionOperator a = diagonal([] {
        std::vector<double> values(30);
        for (int i = 0; i < 30; ++i) values[i] = 1.0 + i / 30.0;
        return values;
    }());
    FunctionOperator m = identity();
    Vector b = vector_of(random_values(30, 1));

    std::unique_ptr<Solver> solver(Keys keys = {}) {
        keys.insert(keys.begin(), {"damping", "0.6"});
        return make_solver(GetParam(), keys);
    }
    /// Number of iterations after `products` products; bicgstab needs two for one, and counts a first half as one.
    Index iterations(int products) const { return GetParam() == "bicgstab" ? (products + 1) / 2 : products; }
};

INSTANTIATE_TEST_SUITE_P(Solvers, BadLuck, ::testing::ValuesIn(testing_support::solver_names()), solver_name);

/// The first product belongs to the first residual, unless x is zero.
TEST_P(BadLuck, NanInTheOperatorIsToldAtAnyIteration) {
    for (const double guess : {0.0, 1e-9}) {
        const int before = guess == 0.0 ? 1 : 2;  // the number of the first iteration's product
        for (int call = 1; call < 8 + before; ++call) {
            const auto outcome = solve(*solver(), nan_from(a, call), m, b, std::vector<double>(30, guess));
            EXPECT_EQ(outcome.reason(), StopReason::not_finite) << call;
            EXPECT_TRUE(outcome.finite()) << call;
            EXPECT_EQ(outcome.report.iterations, iterations(std::max(0, call - before))) << call;
            if (call > 3) {
                EXPECT_LT(residual_norm(a, b, outcome.x), norm2(b)) << "x holds what was reached, " << call;
            }
        }
    }
}

TEST_P(BadLuck, NanInThePreconditionerIsToldAtAnyIteration) {
    for (int call = 1; call <= 8; ++call) {
        const auto outcome = solve(*solver(), a, nan_from(m, call), b);
        EXPECT_EQ(outcome.reason(), StopReason::not_finite) << call;
        EXPECT_TRUE(outcome.finite()) << call;
        EXPECT_EQ(outcome.report.iterations, iterations(call - 1)) << call;
        EXPECT_TRUE(std::isfinite(outcome.report.true_residual)) << "A is sound: the end is b - A x all the same";
        EXPECT_NEAR(outcome.report.true_residual, residual_norm(a, b, outcome.x), 1e-14);
    }
}

TEST_P(BadLuck, InfinityInThePreconditionerIsTold) {
    const auto infinite = spoiled(m, 2, [](Vector& y) { y.data()[0] = std::numeric_limits<double>::infinity(); });
    const auto outcome = solve(*solver(), a, infinite, b);
    EXPECT_EQ(outcome.reason(), StopReason::not_finite);
    EXPECT_TRUE(outcome.finite());
}

TEST_P(BadLuck, NanInTheRightHandSideOrGuessIsTold) {
    auto right = random_values(30, 2);
    right[7] = nan;
    const auto outcome = solve(*solver(), a, m, vector_of(right));
    EXPECT_EQ(outcome.reason(), StopReason::not_finite);
    EXPECT_EQ(outcome.report.iterations, 0);
    EXPECT_TRUE(outcome.finite());
    EXPECT_EQ(solve(*solver(), a, m, b, right).reason(), StopReason::not_finite);
}

/// A NaN must be found without products beyond those of the iteration in which it occurs.
TEST_P(BadLuck, NanIsFoundWithoutFurtherProducts) {
    int after = 0;
    const auto counting = spoiled(a, 4, [&](Vector& y) {
        y.data()[0] = nan;
        ++after;
    });
    solve(*solver(), counting, m, b);
    EXPECT_LE(after, 2) << "the product that brought it, and b - A x at the end";
}

TEST_P(BadLuck, AZeroPreconditionerLeavesXAsItWas) {
    const auto zero = diagonal(std::vector<double>(30));
    const auto outcome = solve(*solver({{"max_iterations", "5"}}), a, zero, b);
    const std::string name = GetParam();
    EXPECT_EQ(outcome.reason(), testing_support::needs_symmetry(name) ? StopReason::indefinite_preconditioner
                                : name == "richardson"                ? StopReason::max_iterations
                                                                      : StopReason::breakdown);
    EXPECT_EQ(outcome.x, std::vector<double>(30));
}

TEST_P(BadLuck, AZeroOperatorLeavesXFinite) {
    const auto zero = diagonal(std::vector<double>(30));
    const auto outcome = solve(*solver({{"max_iterations", "5"}}), zero, m, b);
    const std::string name = GetParam();
    EXPECT_EQ(outcome.reason(), testing_support::needs_symmetry(name) ? StopReason::indefinite_operator
                                : name == "richardson"                ? StopReason::max_iterations
                                                                      : StopReason::breakdown);
    EXPECT_TRUE(outcome.finite());
}

/// A is singular and b is not in its range: no solution exists, and the solve must not report convergence.
TEST_P(BadLuck, ASingularSystemWithoutSolutionDoesNotConverge) {
    std::vector<double> values(30, 1.0);
    values[4] = 0.0;
    values[5] = 2.0;
    const auto outcome = solve(*solver({{"max_iterations", "200"}}), diagonal(values), m, b);
    EXPECT_FALSE(converged(outcome.reason()));
    EXPECT_TRUE(outcome.finite());
    if (GetParam() == "gmres" || GetParam() == "fgmres") {
        EXPECT_EQ(outcome.reason(), StopReason::breakdown);
    }
}

TEST(Cg, TellsAnIndefiniteOperator) {
    const auto outcome = solve(*make_solver("cg"), diagonal({1, 2, -3, 4}), identity(), vector_of({1, 1, 1, 1}));
    EXPECT_EQ(outcome.reason(), StopReason::indefinite_operator);
    EXPECT_TRUE(outcome.finite());
    const auto negative = solve(*make_solver("cg"), diagonal({-1, -2}), identity(), vector_of({1, 1}));
    EXPECT_EQ(negative.reason(), StopReason::indefinite_operator);
    EXPECT_EQ(negative.report.iterations, 0);
}

TEST(Cg, TellsAnIndefinitePreconditioner) {
    const auto outcome = solve(*make_solver("cg"), diagonal({1, 2, 3}), diagonal({1, -2, 1}), vector_of({1, 1, 1}));
    EXPECT_EQ(outcome.reason(), StopReason::indefinite_preconditioner);
    EXPECT_EQ(outcome.report.iterations, 0);
    EXPECT_DOUBLE_EQ(outcome.report.true_residual, std::sqrt(3.0));
}

/// For a skew matrix x^T A x = 0 for every x, so r_0^T v = 0 in the first iteration; gmres is not affected.
TEST(Bicgstab, BreaksDownOnASkewMatrix) {
    reference::Dense skew(10, 10);
    const auto values = random_values(100, 3);
    for (int i = 0; i < 10; ++i)
        for (int j = 0; j < i; ++j) {
            skew(i, j) = values[i * 10 + j];
            skew(j, i) = -skew(i, j);
        }
    const auto a = dense(skew);
    const auto b = vector_of(random_values(10, 4));
    const auto outcome = solve(*make_solver("bicgstab"), a, identity(), b);
    EXPECT_EQ(outcome.reason(), StopReason::breakdown);
    EXPECT_EQ(outcome.report.iterations, 0);
    EXPECT_TRUE(outcome.finite());
    EXPECT_EQ(solve(*make_solver("gmres"), a, identity(), b).reason(), StopReason::converged_rtol);
}

/// A = [[1, -1], [1, 0]], b = (1, 0): after the first half s = (0, -1), A s = (1, 0) and t^T s = 0.
TEST(Bicgstab, BreaksDownWhereOmegaIsZero) {
    reference::Dense a(2, 2);
    a.values = {1, -1, 1, 0};
    const auto outcome = solve(*make_solver("bicgstab"), dense(a), identity(), vector_of({1, 0}));
    EXPECT_EQ(outcome.reason(), StopReason::breakdown);
    EXPECT_EQ(outcome.report.iterations, 1) << "a half counts as one";
    EXPECT_EQ(outcome.history.size(), 2u);
    EXPECT_DOUBLE_EQ(outcome.x[0], 1.0) << "the half step is kept";
    EXPECT_DOUBLE_EQ(outcome.report.true_residual, 1.0);
}

/// Constructed so that r_1 is orthogonal to r_0, rho = 0 in the second iteration. The method continues with r_0 = r_1.
TEST(Bicgstab, TakesANewR0WhereRhoIsZero) {
    reference::Dense a(3, 3);
    a.values = {1, 0, 1,   // as below, but A r_1 = (1, -1, 1) / 2
                1, 1, 0,   //
                0, 1, 2};  //
    const auto outcome = solve(*make_solver("bicgstab"), dense(a), identity(), vector_of({1, 0, 0}));
    EXPECT_EQ(outcome.reason(), StopReason::converged_rtol);
    ASSERT_GT(outcome.report.iterations, 1);
    EXPECT_LE(outcome.report.iterations, 4);
    EXPECT_DOUBLE_EQ(outcome.history[1].truth, std::sqrt(0.5)) << "the new r_0 is the true residual";
    EXPECT_EQ(outcome.report.restarts_from_true, 0) << "nothing had drifted";
}

/// The interrupt comes in the iteration in which rho is rounding error; the continued solve must take the new r_0, too.
TEST(Bicgstab, TakesANewR0AfterAnInterrupt) {
    reference::Dense a(3, 3);
    a.values = {1, 0, 1, 1, 1, 0, 0, 1, 2};
    const auto whole = solve(*make_solver("bicgstab"), dense(a), identity(), vector_of({1, 0, 0}));
    for (Index stop = 0; stop < whole.report.iterations; ++stop) {
        SCOPED_TRACE(stop);
        SolverState state;
        Index asked = 0;
        const auto first = solve(*make_solver("bicgstab"), dense(a), identity(), vector_of({1, 0, 0}), {},
                                 [&] { return asked++ >= stop; }, {.save = &state, .from = nullptr});
        ASSERT_EQ(first.reason(), StopReason::interrupted);
        const auto rest = solve(*make_solver("bicgstab"), dense(a), identity(), vector_of({1, 0, 0}), {}, {},
                                {.save = nullptr, .from = &state});
        EXPECT_EQ(rest.reason(), whole.reason());
        EXPECT_EQ(rest.x, whole.x);
        EXPECT_EQ(rest.report.iterations, whole.report.iterations);
    }
}

/// The same for a matrix with r_1^T A r_1 = 0, for which the new r_0 is no better.
TEST(Bicgstab, BreaksDownWhereANewR0IsOrthogonalToo) {
    reference::Dense a(3, 3);
    a.values = {1, 0, 1,   // A e_1 = e_1 + e_2, so s = -e_2,
                1, 1, 0,   // A s = -(e_2 + e_3), omega = 1/2,
                0, 1, 0};  // r_1 = (e_3 - e_2) / 2
    const auto outcome = solve(*make_solver("bicgstab"), dense(a), identity(), vector_of({1, 0, 0}));
    EXPECT_EQ(outcome.reason(), StopReason::breakdown);
    EXPECT_EQ(outcome.report.iterations, 1);
    EXPECT_DOUBLE_EQ(outcome.report.true_residual, std::sqrt(0.5));
}

/// The Hessenberg matrix is singular: A = [[0, 1], [0, 0]] and b = (1, 0), so A v_0 = 0.
TEST(Gmres, BreaksDownWhereTheHessenbergMatrixIsSingular) {
    reference::Dense a(2, 2);
    a.values = {0, 1, 0, 0};
    for (const char* name : {"gmres", "fgmres"}) {
        const auto outcome = solve(*make_solver(name), dense(a), identity(), vector_of({1, 0}));
        EXPECT_EQ(outcome.reason(), StopReason::breakdown) << name;
        EXPECT_EQ(outcome.report.iterations, 0);
        EXPECT_EQ(outcome.x, (std::vector<double>{0, 0}));
    }
}

/// Happy breakdown: b is an eigenvector, so that the Krylov space ends after one step and contains the solution.
TEST(Gmres, HappyBreakdownIsConvergence) {
    for (const char* name : {"gmres", "fgmres"}) {
        const auto outcome =
            solve(*make_solver(name, {{"rtol", "1e-15"}}), diagonal({5, 2, 3}), identity(), vector_of({0, 4, 0}));
        EXPECT_EQ(outcome.reason(), StopReason::converged_rtol) << name;
        EXPECT_EQ(outcome.report.iterations, 1);
        EXPECT_DOUBLE_EQ(outcome.x[1], 2.0);
    }
}

TEST(Richardson, EndsWhenItDiverges) {
    const auto outcome = solve(*make_solver("richardson", {{"damping", "3"}, {"divergence_tolerance", "1e4"}}),
                               diagonal({1, 2, 3}), identity(), vector_of({1, 1, 1}));
    EXPECT_EQ(outcome.reason(), StopReason::diverged);
    EXPECT_EQ(outcome.report.iterations, 5) << "8^5 = 32768 > 1e4 sqrt(3) > 8^4";
    EXPECT_TRUE(outcome.finite());
    EXPECT_NEAR(outcome.report.true_residual, 32768.0, 1100.0);
}

TEST(Richardson, DivergenceThatOverflowsIsNotFinite) {
    const auto outcome = solve(*make_solver("richardson", {{"damping", "1e200"}, {"divergence_tolerance", "1e300"}}),
                               diagonal({1, 2, 3}), identity(), vector_of({1, 1, 1}));
    EXPECT_EQ(outcome.reason(), StopReason::not_finite);
}

/// x = 1e310 overflows, although no scalar and no residual of the recurrences does; gmres and fgmres do not add such a
/// correction to x.
TEST(Krylov, ASolutionThatOverflowsIsNoticed) {
    const std::pair<const char*, StopReason> ends[] = {{"cg", StopReason::not_finite},
                                                       {"bicgstab", StopReason::not_finite},
                                                       {"gmres", StopReason::false_convergence},
                                                       {"fgmres", StopReason::false_convergence}};
    for (const auto& [name, reason] : ends) {
        const auto outcome = solve(*make_solver(name), diagonal({1e-160, 2e-160, 3e-160}), identity(),
                                   vector_of({1e150, -1e150, 2e150}));
        EXPECT_EQ(outcome.reason(), reason) << name << " " << to_string(outcome.reason());
    }
}

/// A random matrix has eigenvalues on all sides of zero, so the residual of bicgstab grows at times.
TEST(Bicgstab, EndsWhenItDiverges) {
    reference::Dense a(40, 40);
    a.values = random_values(1600, 9);
    const auto outcome = solve(*make_solver("bicgstab", {{"divergence_tolerance", "1.5"}}), dense(a), identity(),
                               vector_of(random_values(40, 10)));
    EXPECT_EQ(outcome.reason(), StopReason::diverged);
    EXPECT_GT(outcome.report.recurrence_residual, 1.5 * outcome.report.b_norm);
}

TEST(Cg, EndsWhenItDiverges) {
    std::vector<double> values(40);
    for (int i = 0; i < 40; ++i) values[i] = std::pow(10.0, i / 8.0);
    const auto outcome = solve(*make_solver("cg", {{"divergence_tolerance", "1.5"}}), diagonal(values), identity(),
                               vector_of(random_values(40, 11)));
    EXPECT_EQ(outcome.reason(), StopReason::diverged) << "the 2-norm of cg's residual may rise";
}

}  // namespace
}  // namespace hyperplane::test
