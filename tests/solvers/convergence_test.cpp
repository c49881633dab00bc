// SPDX-License-Identifier: BSD-3-Clause
// When a solve ends: the true residual decides, whatever the residual of the recurrence is.
#include "solvers/systems.hpp"

namespace hyperplane::test {
namespace {

class Convergence : public ::testing::TestWithParam<std::string> {
protected:
    /// diag(1 .. 2) with M = I: all methods converge for it, in more than three iterations.
    FunctionOperator a = diagonal([] {
        std::vector<double> values(20);
        for (int i = 0; i < 20; ++i) values[i] = 1.0 + i / 20.0;
        return values;
    }());
    FunctionOperator m = identity();
    Vector b = vector_of(random_values(20, 1));

    std::unique_ptr<Solver> solver(Keys keys = {}) {
        keys.insert(keys.begin(), {"damping", "0.6"});
        return make_solver(GetParam(), keys);
    }
    std::vector<double> scaled(double size) const {
        std::vector<double> values(b.data(), b.data() + b.size());
        for (double& value : values) value *= size;
        return values;
    }
};

INSTANTIATE_TEST_SUITE_P(Solvers, Convergence, ::testing::ValuesIn(testing_support::solver_names()), solver_name);

/// The methods whose residual comes from a recurrence; every residual of richardson is true.
class Recurrence : public Convergence {};

std::vector<std::string> with_a_recurrence() {
    std::vector<std::string> names = testing_support::solver_names();
    std::erase(names, "richardson");
    return names;
}

INSTANTIATE_TEST_SUITE_P(Solvers, Recurrence, ::testing::ValuesIn(with_a_recurrence()), solver_name);

TEST_P(Convergence, ZeroRightHandSideHasTheSolutionZero) {
    const auto outcome = solve(*solver(), a, m, vector_of(std::vector<double>(20)), random_values(20, 2));
    EXPECT_EQ(outcome.reason(), StopReason::converged_rtol);
    EXPECT_EQ(outcome.report.iterations, 0);
    EXPECT_EQ(outcome.report.b_norm, 0.0);
    EXPECT_EQ(outcome.report.true_residual, 0.0);
    EXPECT_EQ(outcome.x, std::vector<double>(20));
    ASSERT_EQ(outcome.history.size(), 1u);
    EXPECT_EQ(outcome.history[0].truth, 0.0);
}

TEST_P(Convergence, ExactGuessTakesNoIteration) {
    const auto exact = random_values(20, 3);
    Vector right = vector_of(exact);
    a.apply(vector_of(exact), right);
    const auto outcome = solve(*solver(), a, m, right, exact);
    EXPECT_EQ(outcome.reason(), StopReason::converged_rtol);
    EXPECT_EQ(outcome.report.iterations, 0);
    EXPECT_EQ(outcome.x, exact);
}

TEST_P(Convergence, GoodEnoughGuessTakesNoIterationAndIsKept) {
    std::vector<double> close(20);
    for (int i = 0; i < 20; ++i) close[i] = b.data()[i] / (1.0 + i / 20.0) * (1.0 + 1e-6);
    const auto outcome = solve(*solver({{"rtol", "1e-5"}}), a, m, b, close);
    EXPECT_EQ(outcome.reason(), StopReason::converged_rtol);
    EXPECT_EQ(outcome.report.iterations, 0);
    EXPECT_EQ(outcome.x, close);
}

TEST_P(Convergence, MeetsAnAbsoluteToleranceWithoutAnIterationTooMany) {
    const auto outcome = solve(*solver({{"rtol", "1e-12"}, {"atol", "1e-3"}}), a, m, b);
    EXPECT_EQ(outcome.reason(), StopReason::converged_atol);
    EXPECT_LE(outcome.report.true_residual, 1e-3);
    EXPECT_GT(outcome.report.true_residual, 1e-12 * outcome.report.b_norm);
    const auto& history = outcome.history;
    EXPECT_GT(history[history.size() - 2].recurrence * outcome.report.b_norm, 1e-3) << "not one iteration too many";
}

TEST_P(Convergence, StopsAtTheFirstIterationThatMeetsTheCriterion) {
    const auto outcome = solve(*solver({{"rtol", "1e-6"}}), a, m, b);
    EXPECT_EQ(outcome.reason(), StopReason::converged_rtol);
    ASSERT_EQ(Index(outcome.history.size()), outcome.report.iterations + 1);
    for (std::size_t at = 0; at + 1 < outcome.history.size(); ++at) EXPECT_GT(outcome.history[at].recurrence, 1e-6);
    EXPECT_LE(outcome.history.back().truth, 1e-6);
    EXPECT_NEAR(residual_norm(a, b, outcome.x), outcome.report.true_residual, 1e-14);
}

/// x = 0 does not solve A x = b, however small b is.
TEST_P(Convergence, RightHandSidesWhoseSquareUnderflowsAreRefused) {
    for (const double size : {1e-150, 1e-165, 1e-200, 1e-310}) {
        const auto outcome = solve(*solver(), a, m, vector_of(scaled(size)));
        EXPECT_EQ(outcome.reason(), StopReason::out_of_range) << size;
        EXPECT_EQ(outcome.report.iterations, 0);
        EXPECT_NEAR(outcome.report.b_norm / size, norm2(b), size > 1e-300 ? 1e-14 : 1e-9);
        EXPECT_EQ(outcome.report.true_residual, outcome.report.b_norm);
        EXPECT_EQ(exit_code(outcome.reason()), ExitCode::diverged);
    }
    EXPECT_NE(explain(solve(*solver(), a, m, vector_of(scaled(1e-165))).report).find("multiply b by 1e16"),
              std::string::npos);
}

TEST_P(Convergence, RightHandSidesWhoseSquareOverflowsAreRefused) {
    for (const double size : {1e155, 1e200, 1e300}) {
        const auto outcome = solve(*solver(), a, m, vector_of(scaled(size)));
        EXPECT_EQ(outcome.reason(), StopReason::out_of_range) << size;
        EXPECT_NEAR(outcome.report.b_norm / size, norm2(b), 1e-14);
        EXPECT_TRUE(outcome.finite());
    }
    EXPECT_NE(explain(solve(*solver(), a, m, vector_of(scaled(1e200))).report).find("multiply b by 1e-20"),
              std::string::npos);
}

/// Of a residual that small the norm is known all the same, so that it may satisfy the criterion.
TEST_P(Convergence, TinySystemsThatAreSolvedConverge) {
    const auto exact = scaled(1e-160);
    Vector right = vector_of(exact);
    a.apply(vector_of(exact), right);
    EXPECT_EQ(solve(*solver(), a, m, right, exact).reason(), StopReason::converged_rtol);
    EXPECT_EQ(solve(*solver({{"atol", "1e-100"}}), a, m, right).reason(), StopReason::converged_atol);
}

/// Between both: ||b|| has a square and rtol ||b|| has none. The solve may end without an answer, but not with a wrong
/// one.
TEST_P(Convergence, TolerancesWhoseSquareUnderflowsAreKeptOrRefused) {
    for (int power = -130; power >= -146; --power) {
        const auto outcome = solve(*solver({{"rtol", "1e-12"}}), a, m, vector_of(scaled(std::pow(10.0, power))));
        std::vector<double> x = outcome.x;
        for (double& value : x) value *= 0x1p480;
        auto right = scaled(std::pow(10.0, power));
        for (double& value : right) value *= 0x1p480;
        const double relative = residual_norm(a, vector_of(right), x) / norm2(vector_of(right));
        if (power >= -132) {
            EXPECT_EQ(outcome.reason(), StopReason::converged_rtol) << power;
        }
        if (outcome.reason() != StopReason::converged_rtol) {
            EXPECT_EQ(outcome.reason(), StopReason::out_of_range) << power;
        } else {
            EXPECT_LE(relative, 1.001e-12) << power;
        }
    }
}

/// A power of two changes no digit, and so no iteration.
TEST_P(Convergence, SmallAndLargeSystemsTakeTheSameIterations) {
    const auto ordinary = solve(*solver(), a, m, b);
    for (const double size : {0x1p-400, 0x1p400}) {
        const auto outcome = solve(*solver(), a, m, vector_of(scaled(size)));
        EXPECT_EQ(outcome.reason(), StopReason::converged_rtol);
        ASSERT_EQ(outcome.history.size(), ordinary.history.size());
        for (std::size_t at = 0; at < ordinary.history.size(); ++at)
            EXPECT_EQ(outcome.history[at].recurrence, ordinary.history[at].recurrence);
        for (std::size_t at = 0; at < ordinary.x.size(); ++at) EXPECT_EQ(outcome.x[at] / size, ordinary.x[at]);
    }
}

TEST_P(Convergence, WithoutIterationsTheGuessIsKept) {
    const auto guess = random_values(20, 4);
    const auto outcome = solve(*solver({{"max_iterations", "0"}}), a, m, b, guess);
    EXPECT_EQ(outcome.reason(), StopReason::max_iterations);
    EXPECT_EQ(outcome.report.iterations, 0);
    EXPECT_EQ(outcome.x, guess);
    EXPECT_EQ(outcome.history.size(), 1u);
}

TEST_P(Convergence, TheResidualOfZeroTakesNoProduct) {
    int products = 0;
    const FunctionOperator counted([&](const Vector& x, Vector& y) { ++products, a.apply(x, y); });
    const auto of = [&](const std::vector<double>& guess) {
        products = 0;
        return solve(*solver({{"max_iterations", "0"}}), counted, m, b, guess);
    };
    const auto from_zero = of(std::vector<double>(20));
    EXPECT_EQ(products, 0);
    EXPECT_EQ(from_zero.report.true_residual, from_zero.report.b_norm);
    EXPECT_EQ(from_zero.history[0].truth, 1.0);
    std::vector<double> tiny(20);
    tiny[7] = 1e-300;  // its square is 0
    of(tiny);
    EXPECT_EQ(products, 1);
}

TEST_P(Convergence, OneIterationLowersTheResidual) {
    const auto outcome = solve(*solver({{"max_iterations", "1"}}), a, m, b);
    EXPECT_EQ(outcome.reason(), StopReason::max_iterations);
    EXPECT_EQ(outcome.report.iterations, 1);
    ASSERT_EQ(outcome.history.size(), 2u);
    EXPECT_LT(outcome.history[1].truth, outcome.history[0].truth);
}

TEST_P(Convergence, LastAllowedIterationMayConverge) {
    const Index needed = solve(*solver(), a, m, b).report.iterations;
    const auto limit = [&](Index iterations) {
        return solve(*solver({{"max_iterations", std::to_string(iterations)}}), a, m, b).reason();
    };
    EXPECT_EQ(limit(needed), StopReason::converged_rtol);
    EXPECT_EQ(limit(needed - 1), StopReason::max_iterations);
}

TEST_P(Convergence, HistoryShowsTrueResidualsAsOftenAsAsked) {
    const auto plain = solve(*solver(), a, m, b);
    const auto shown = solve(*solver({{"true_residual_every", "2"}}), a, m, b);
    EXPECT_EQ(shown.x, plain.x) << "looking must not change the solve";
    ASSERT_GT(shown.history.size(), 4u);
    for (const auto& entry : shown.history) {
        const bool due = entry.iteration % 2 == 0 || entry.iteration == shown.report.iterations;
        EXPECT_EQ(std::isfinite(entry.truth), due || GetParam() == "richardson") << entry.iteration;
    }
}

TEST_P(Convergence, InterruptKeepsTheNewestIterate) {
    int asked = 0;
    const auto outcome = solve(*solver(), a, m, b, {}, [&] { return ++asked > 3; });
    EXPECT_EQ(outcome.reason(), StopReason::interrupted);
    EXPECT_EQ(outcome.report.iterations, 3) << "asked before the first iteration and after each";
    const auto limited = solve(*solver({{"max_iterations", "3"}}), a, m, b);
    EXPECT_EQ(outcome.x, limited.x);
    EXPECT_LT(outcome.report.true_residual, outcome.report.b_norm / 2);
}

TEST_P(Recurrence, ToleranceBelowRoundingIsFalseConvergence) {
    const auto laplacian = line_laplacian();
    const auto outcome =
        solve(*solver({{"rtol", "1e-17"}, {"restart", "100"}}), laplacian, m, vector_of(random_values(50, 5)));
    EXPECT_EQ(outcome.reason(), StopReason::false_convergence);
    EXPECT_GE(outcome.report.restarts_from_true, 2);
    EXPECT_LT(outcome.report.recurrence_residual, 1e-17 * outcome.report.b_norm);
    EXPECT_LT(outcome.report.true_residual, 1e-12 * outcome.report.b_norm) << "x is as good as rounding allows";
}

/// Without a tolerance the recurrence falls until its square loses its digits; then b - A x decides, as at any
/// tolerance that rounding does not allow. That of pipelined_cg, which renews its vectors, need not fall so far.
TEST_P(Recurrence, ARecurrenceThatUnderflowsIsFalseConvergence) {
    const auto small = diagonal(std::vector<double>(20, 1e-6));  // r^T M^-1 r underflows before r^T r
    for (const double size : {1.0, 1e-100}) {
        const auto outcome =
            solve(*solver({{"rtol", "0"}, {"max_iterations", "5000"}}), a, small, vector_of(scaled(size)));
        if (GetParam() != "pipelined_cg" || outcome.reason() != StopReason::max_iterations) {
            EXPECT_EQ(outcome.reason(), StopReason::false_convergence) << size << " " << to_string(outcome.reason());
        }
        EXPECT_LT(outcome.report.true_residual, 1e-14 * outcome.report.b_norm);
    }
}

/// An operator whose products have relative errors of 1e-6 that differ each time, so no recurrence can follow b - A x.
TEST_P(Recurrence, ProductsThatDoNotRepeatAreFalseConvergence) {
    unsigned seed = 50;
    const auto noisy = spoiled(a, 1, [&](Vector& y) {
        const auto noise = random_values(20, seed++);
        for (int i = 0; i < 20; ++i) y.data()[i] *= 1.0 + 1e-6 * noise[i];
    });
    const auto outcome = solve(*solver({{"rtol", "1e-12"}}), noisy, m, b);
    EXPECT_EQ(outcome.reason(), StopReason::false_convergence);
    EXPECT_GE(outcome.report.restarts_from_true, 2);
    EXPECT_LT(outcome.report.true_residual, 1e-4 * outcome.report.b_norm);
}

/// A preconditioner with one error of 1e-3: the recurrence of gmres drifts, and one restart from the true residual
/// corrects it.
TEST(Confirmation, OneRestartFromTheTrueResidualRepairsAPassingFault) {
    const auto a = line_laplacian(0.2);
    int calls = 0;
    const FunctionOperator passing([&](const Vector& x, Vector& y) {
        copy(x, y);
        if (++calls == 3) scale(1.001, y);
    });
    const auto b = vector_of(random_values(30, 6));
    const auto outcome = solve(*make_solver("gmres", {{"restart", "100"}}), a, passing, b);
    EXPECT_EQ(outcome.reason(), StopReason::converged_rtol);
    EXPECT_EQ(outcome.report.restarts_from_true, 1);
    EXPECT_LE(residual_norm(a, b, outcome.x), 1e-8 * norm2(b));
}

TEST(Confirmation, UnconfirmedAtTheLastIterationIsNotConverged) {
    const auto a = line_laplacian();
    const auto b = vector_of(random_values(50, 7));
    const auto unlimited = solve(*make_solver("cg", {{"rtol", "1e-17"}}), a, identity(), b);
    Index first = 0;
    while (unlimited.history[first].recurrence > 1e-17) ++first;
    const auto outcome =
        solve(*make_solver("cg", {{"rtol", "1e-17"}, {"max_iterations", std::to_string(first)}}), a, identity(), b);
    EXPECT_EQ(outcome.report.iterations, first);
    EXPECT_EQ(outcome.reason(), StopReason::max_iterations);
}

}  // namespace
}  // namespace hyperplane::test
