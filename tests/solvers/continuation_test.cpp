// SPDX-License-Identifier: BSD-3-Clause
// A solve that is interrupted after any iteration and continues from its state in another solver object has the same
// bits and the same history as one that is not interrupted.
#include "core/error.hpp"
#include "solvers/systems.hpp"

namespace hyperplane::test {
namespace {

class Resumed : public ::testing::TestWithParam<std::string> {
protected:
    /// With these keys, restarts of gmres and true residuals in the history occur between the interrupts.
    std::unique_ptr<Solver> solver(const Keys& more = {}) const {
        Keys keys{{"damping", "0.4"}, {"restart", "5"}, {"true_residual_every", "4"}};
        keys.insert(keys.end(), more.begin(), more.end());
        return make_solver(GetParam(), keys);
    }
    /// Interrupts a solve after iteration `stop` and continues in a new object, with a wrong x that must not matter.
    Outcome broken_at(Index stop, const LinearOperator& a, const LinearOperator& m, const Keys& keys = {}) const {
        SolverState state;
        Index asked = 0;
        const auto first =
            solve(*solver(keys), a, m, b, {}, [&] { return asked++ >= stop; }, {.save = &state, .from = nullptr});
        EXPECT_EQ(first.reason(), StopReason::interrupted);
        EXPECT_GE(first.report.iterations, stop) << "bicgstab is not asked where its half step converges";
        return solve(*solver(keys), a, m, b, random_values(40, 99), {}, {.save = nullptr, .from = &state});
    }
    static void expect_equal(const Outcome& actual, const Outcome& expected) {
        EXPECT_EQ(actual.reason(), expected.reason());
        EXPECT_EQ(actual.x, expected.x);
        EXPECT_EQ(actual.report.iterations, expected.report.iterations);
        EXPECT_EQ(actual.report.true_residual, expected.report.true_residual);
        EXPECT_EQ(actual.report.restarts_from_true, expected.report.restarts_from_true);
        ASSERT_EQ(actual.history.size(), expected.history.size());
        for (std::size_t at = 0; at < actual.history.size(); ++at) {
            const auto &mine = actual.history[at], &other = expected.history[at];
            EXPECT_EQ(mine.iteration, other.iteration);
            EXPECT_EQ(mine.recurrence, other.recurrence);
            EXPECT_TRUE(mine.truth == other.truth || (std::isnan(mine.truth) && std::isnan(other.truth))) << at;
            EXPECT_TRUE(at == 0 || mine.seconds >= actual.history[at - 1].seconds);
        }
    }

    FunctionOperator a = diagonal([] {
        std::vector<double> values(40);
        for (int i = 0; i < 40; ++i) values[i] = 1.0 + i / 20.0;
        return values;
    }());
    FunctionOperator m = diagonal([] {
        std::vector<double> values(40);
        for (int i = 0; i < 40; ++i) values[i] = 0.7 + 0.3 * (i % 3);
        return values;
    }());
    Vector b = vector_of(random_values(40, 1));
};

INSTANTIATE_TEST_SUITE_P(Solvers, Resumed, ::testing::ValuesIn(testing_support::solver_names()), solver_name);

TEST_P(Resumed, GoesOnBitForBitFromAnyIteration) {
    const auto whole = solve(*solver(), a, m, b);
    ASSERT_EQ(whole.reason(), StopReason::converged_rtol);
    ASSERT_GT(whole.report.iterations, 6);
    for (Index stop = 0; stop < whole.report.iterations; ++stop) {
        SCOPED_TRACE(stop);
        expect_equal(broken_at(stop, a, m), whole);
    }
}

/// With a tolerance below rounding, methods restart from the true residual; such restarts are part of the state, too.
TEST_P(Resumed, GoesOnThroughRestartsFromTheTrueResidual) {
    const Keys below_rounding{{"rtol", "1e-17"}, {"max_iterations", "60"}};
    const auto whole = solve(*solver(below_rounding), a, m, b);
    for (Index stop = 5; stop < whole.report.iterations - 8; stop += 3) {
        SCOPED_TRACE(stop);
        expect_equal(broken_at(stop, a, m, below_rounding), whole);
    }
}

TEST_P(Resumed, NothingIsKeptUnlessInterrupted) {
    SolverState state;
    solve(*solver(), a, m, b, {}, {}, {.save = &state, .from = nullptr});
    EXPECT_TRUE(state.items().empty());
}

TEST_P(Resumed, RefusesAStateOfAnotherSolverOrSystem) {
    SolverState state;
    solve(*solver(), a, m, b, {}, [] { return true; }, {.save = &state, .from = nullptr});
    const Continuation from{.save = nullptr, .from = &state};
    const std::string other = GetParam() == "richardson" ? "cg" : "richardson";
    EXPECT_THROW(solve(*make_solver(other), a, m, b, {}, {}, from), FileError);
    EXPECT_THROW(solve(*solver(), identity(), identity(), vector_of({1, 2, 3}), {}, {}, from), FileError);
}

TEST(ResumedGmres, RefusesAStateOfAnotherRestart) {
    SolverState state;
    const auto b = vector_of(random_values(20, 2));
    solve(*make_solver("gmres"), identity(), identity(), b, {}, [] { return true; }, {.save = &state, .from = nullptr});
    EXPECT_THROW(solve(*make_solver("gmres", {{"restart", "7"}}), identity(), identity(), b, {}, {},
                       {.save = nullptr, .from = &state}),
                 FileError);
}

}  // namespace
}  // namespace hyperplane::test
