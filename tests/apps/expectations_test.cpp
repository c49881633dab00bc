// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/expectations.hpp"

#include <gtest/gtest.h>

#include "apps/deck/schema.hpp"

namespace hyperplane {
namespace {

Parameters expecting(const std::vector<std::pair<std::string, std::string>>& keys) {
    Parameters parameters(program_parameters());
    for (const auto& [key, value] : keys) parameters.set("expect", key, value);
    return parameters;
}

/// Two solves of 10 and 12 iterations that reached 1e-9, max error 0.5.
Outcome good_outcome() {
    Outcome outcome;
    for (Index iterations : {10, 12}) {
        SolveRow row;
        row.step = 1;
        row.report = {.reason = StopReason::converged_rtol,
                      .iterations = iterations,
                      .b_norm = 2.0,
                      .recurrence_residual = 2e-9,
                      .true_residual = 2e-9};
        outcome.solves.push_back(row);
    }
    outcome.errors = {{"max", 0.5}, {"rms", 0.1}};
    return outcome;
}

Outcome failed_outcome(ExitCode code, StopReason reason) {
    Outcome outcome = good_outcome();
    outcome.code = code;
    outcome.solves.back().report.reason = reason;
    return outcome;
}

ExitCode judged(const std::vector<std::pair<std::string, std::string>>& keys, const Outcome& outcome = good_outcome()) {
    return judge(expecting(keys), outcome).code;
}

TEST(Expectations, NoneMeansTheOutcomeDecides) {
    EXPECT_EQ(judged({}), ExitCode::ok);
    EXPECT_EQ(judged({}, failed_outcome(ExitCode::diverged, StopReason::breakdown)), ExitCode::diverged);
}

TEST(Expectations, IterationsBoundEverySolve) {
    EXPECT_EQ(judged({{"min_iterations", "10"}, {"max_iterations", "12"}}), ExitCode::ok);
    EXPECT_EQ(judged({{"max_iterations", "11"}}), ExitCode::expectation);
    EXPECT_EQ(judged({{"min_iterations", "11"}}), ExitCode::expectation);
    EXPECT_EQ(judged({{"iterations", "12"}}), ExitCode::expectation);
    EXPECT_EQ(judge(expecting({{"iterations", "12"}}), good_outcome()).unmet.size(), 1u);
}

TEST(Expectations, ResidualIsRelativeToB) {
    EXPECT_EQ(judged({{"max_relative_residual", "1e-9"}}), ExitCode::ok);
    EXPECT_EQ(judged({{"max_relative_residual", "0.9e-9"}}), ExitCode::expectation);
}

TEST(Expectations, ErrorNeedsAnExactSolution) {
    EXPECT_EQ(judged({{"max_error", "0.5"}, {"min_error", "0.5"}}), ExitCode::ok);
    EXPECT_EQ(judged({{"max_error", "0.49"}}), ExitCode::expectation);
    EXPECT_EQ(judged({{"min_error", "0.51"}}), ExitCode::expectation);
    Outcome unknown = good_outcome();
    unknown.errors.clear();
    EXPECT_EQ(judged({{"max_error", "1"}}, unknown), ExitCode::expectation);
}

TEST(Expectations, AnyErrorNormCanBeMeant) {
    EXPECT_EQ(judged({{"error_norm", "rms"}, {"max_error", "0.1"}, {"min_error", "0.1"}}), ExitCode::ok);
    EXPECT_EQ(judged({{"error_norm", "rms"}, {"max_error", "0.09"}}), ExitCode::expectation);
    EXPECT_EQ(judged({{"error_norm", "l1"}, {"max_error", "1"}}), ExitCode::expectation);
}

TEST(Expectations, DiagnosticsHaveBoundsAtTheEnd) {
    Outcome outcome = good_outcome();
    outcome.diagnostics.series = {{"energy", "1", "", {3.0, 2.0}}};
    EXPECT_EQ(judged({{"diagnostic", "energy"}, {"min_diagnostic", "2"}, {"max_diagnostic", "2"}}, outcome),
              ExitCode::ok);
    EXPECT_EQ(judged({{"diagnostic", "energy"}, {"max_diagnostic", "1.9"}}, outcome), ExitCode::expectation);
    EXPECT_EQ(judged({{"diagnostic", "energy"}, {"min_diagnostic", "2.1"}}, outcome), ExitCode::expectation);
    EXPECT_EQ(judged({{"diagnostic", "entropy"}, {"max_diagnostic", "9"}}, outcome), ExitCode::expectation);
    EXPECT_EQ(judged({{"max_diagnostic", "9"}}, outcome), ExitCode::expectation);
    outcome.diagnostics.series[0].values.back() = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(judged({{"diagnostic", "energy"}, {"max_diagnostic", "9"}}, outcome), ExitCode::expectation);
}

TEST(Expectations, NaNMeetsNothing) {
    Outcome outcome = good_outcome();
    outcome.errors = {{"max", std::numeric_limits<double>::quiet_NaN()}};
    outcome.solves[0].report.true_residual = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(judged({{"max_error", "1e300"}}, outcome), ExitCode::expectation);
    EXPECT_EQ(judged({{"max_relative_residual", "1e300"}}, outcome), ExitCode::expectation);
}

TEST(Expectations, AnExpectedFailureIsASuccess) {
    const Outcome failed = failed_outcome(ExitCode::not_converged, StopReason::max_iterations);
    EXPECT_EQ(judged({{"stop_reason", "max_iterations"}}, failed), ExitCode::ok);
    EXPECT_EQ(judged({{"exit_code", "3"}}, failed), ExitCode::ok);
    EXPECT_EQ(judged({{"exit_code", "4"}}, failed), ExitCode::expectation);
    EXPECT_EQ(judged({{"exit_code", "3"}}), ExitCode::expectation);
    EXPECT_EQ(judged({{"stop_reason", "breakdown"}}), ExitCode::expectation);
}

TEST(Expectations, AnUnexpectedFailureKeepsItsCode) {
    const Outcome failed = failed_outcome(ExitCode::not_converged, StopReason::max_iterations);
    EXPECT_EQ(judged({{"max_iterations", "5"}}, failed), ExitCode::not_converged);
}

TEST(Expectations, APreemptedRunIsNotJudged) {
    const Outcome stopped = failed_outcome(ExitCode::checkpointed, StopReason::interrupted);
    EXPECT_EQ(judged({{"max_iterations", "5"}, {"exit_code", "0"}}, stopped), ExitCode::checkpointed);
}

TEST(Expectations, StepsAndNewtonSteps) {
    Outcome outcome = good_outcome();
    outcome.end = "steady_state";
    outcome.steps = {{.step = 1, .accepted = true, .newton_steps = 4},
                     {.step = 2, .newton_steps = 2},
                     {.step = 2, .attempt = 2, .accepted = true, .steady_residual = 1e-7, .newton_steps = 3}};
    EXPECT_EQ(judged({{"max_newton_iterations", "4"}, {"steps", "2"}, {"max_steps", "2"}}, outcome), ExitCode::ok);
    EXPECT_EQ(judged({{"max_newton_iterations", "3"}}, outcome), ExitCode::expectation);
    EXPECT_EQ(judged({{"steps", "3"}}, outcome), ExitCode::expectation);
    EXPECT_EQ(judged({{"max_steps", "1"}}, outcome), ExitCode::expectation);
    EXPECT_EQ(judged({{"max_steady_residual", "1e-7"}, {"end", "steady_state"}}, outcome), ExitCode::ok);
    EXPECT_EQ(judged({{"max_steady_residual", "1e-8"}}, outcome), ExitCode::expectation);
    EXPECT_EQ(judged({{"max_steady_residual", "1"}}), ExitCode::expectation);
    EXPECT_EQ(judged({{"end", "steps_taken"}}, outcome), ExitCode::expectation);
    outcome.code = ExitCode::diverged;
    outcome.end = "forbidden_state";
    EXPECT_EQ(judged({{"end", "forbidden_state"}}, outcome), ExitCode::ok);
    EXPECT_EQ(judged({}, outcome), ExitCode::diverged);
}

TEST(Expectations, DiagnosticsDriftAndFall) {
    Outcome outcome = good_outcome();
    for (const double energy : {4.0, 3.0, 3.0})
        outcome.diagnostics.add(Index(outcome.diagnostics.step.size()), 0.0,
                                {{"mass", 2.0 + 1e-10 * energy, ""}, {"energy", energy, ""}});
    EXPECT_EQ(judged({{"max_drift", "mass 1e-9"}, {"never_rising", "energy, mass"}}, outcome), ExitCode::ok);
    EXPECT_EQ(judged({{"max_drift", "mass 1e-11"}}, outcome), ExitCode::expectation);
    EXPECT_EQ(judged({{"max_drift", "mass 1e-9, energy 0.1"}}, outcome), ExitCode::expectation);
    outcome.diagnostics.add(3, 0.0, {{"mass", 2.0, ""}, {"energy", 3.1, ""}});
    EXPECT_EQ(judged({{"never_rising", "energy"}}, outcome), ExitCode::expectation);
    for (const char* wrong : {"weight 1", "mass", "mass one", "mass 1 2"})
        EXPECT_EQ(judged({{"max_drift", wrong}}, outcome), ExitCode::expectation) << wrong;
    EXPECT_NE(judge(expecting({{"never_rising", "weight"}}), outcome).unmet.at(0).find("mass, energy"),
              std::string::npos);
}

TEST(Expectations, ManyUnmetAreCounted) {
    Outcome outcome = good_outcome();
    for (int k = 0; k < 20; ++k) outcome.solves.push_back(outcome.solves[0]);
    const Judgement judgement = judge(expecting({{"max_iterations", "3"}}), outcome);
    ASSERT_EQ(judgement.unmet.size(), 6u);
    EXPECT_NE(judgement.unmet.back().find("17 more times"), std::string::npos);
    EXPECT_EQ(judgement.checked, 22);
}

TEST(Expectations, NamesAreCheckedWithoutAnOutcome) {
    const auto refusal = [](const std::string& key, const std::string& value) {
        Parameters parameters = expecting({{key, value}});
        parameters.add({{"problem", "name", ParameterType::text, "gas", ""}});
        try {
            check_diagnostics(parameters, {"mass", "energy"});
        } catch (const UsageError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(refusal("max_drift", "mass 1e-9,energy 0.1"), "");
    EXPECT_EQ(refusal("never_rising", "mass, energy"), "");
    EXPECT_EQ(refusal("diagnostic", "energy"), "");
    EXPECT_EQ(refusal("diagnostic", "weight"),
              "default: expect.diagnostic: gas has no diagnostic 'weight'; there are mass, energy");
    EXPECT_NE(refusal("max_drift", "mass").find("the bound of mass is missing"), std::string::npos);
    EXPECT_NE(refusal("max_drift", "mass, energy 1").find("the bound of mass is missing"), std::string::npos);
    EXPECT_NE(refusal("never_rising", "energy, , mass").find("a name is missing before a comma"), std::string::npos);
}

}  // namespace
}  // namespace hyperplane
