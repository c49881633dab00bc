// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/time_stepping.hpp"

#include "solvers/march_of_steps.hpp"

namespace hyperplane::test {
namespace {

double logistic_error(TimeScheme scheme, int steps) {
    const Logistic logistic(2.0 / steps);
    March march(logistic, {.scheme = scheme, .steps = steps});
    EXPECT_EQ(march.march(), EndReason::steps_taken);
    EXPECT_DOUBLE_EQ(march.stepper.time(), 2.0);
    return march.error();
}

TEST(TimeStepping, ImplicitEulerIsOfFirstOrder) {
    const double coarse = logistic_error(TimeScheme::implicit_euler, 20),
                 fine = logistic_error(TimeScheme::implicit_euler, 40);
    EXPECT_NEAR(std::log2(coarse / fine), 1.0, 0.1);
    EXPECT_LT(fine, 2e-2);
}

TEST(TimeStepping, Bdf2IsOfSecondOrder) {
    const double coarse = logistic_error(TimeScheme::bdf2, 20), fine = logistic_error(TimeScheme::bdf2, 40);
    EXPECT_NEAR(std::log2(coarse / fine), 2.0, 0.2);
    EXPECT_LT(fine, 1e-3);
}

/// Logistic with steps that are alternately dt and 1.6 dt long.
class Uneven : public Logistic {
public:
    using Logistic::Logistic;
    double time_step(const Vector&) const override { return ++asked_ % 2 ? dt : 1.6 * dt; }

private:
    mutable int asked_ = 0;
};

TEST(TimeStepping, Bdf2IsOfSecondOrderForUnevenSteps) {
    const auto error = [](int steps) {
        const Uneven uneven(2.0 / (1.3 * steps));
        March march(uneven, {.scheme = TimeScheme::bdf2, .steps = 0, .end_time = 2.0});
        EXPECT_EQ(march.march(), EndReason::end_time_reached);
        EXPECT_NEAR(march.rows[3].dt / march.rows[2].dt, 1.6, 1e-12);
        return march.error();
    };
    EXPECT_NEAR(std::log2(error(20) / error(40)), 2.0, 0.25);
}

/// The rates of BDF2 differentiate a quadratic function exactly for any step lengths, here u' = 2 t + 1.
TEST(TimeStepping, RatesDifferentiateQuadraticsExactly) {
    const Vector none;
    for (const double dt : {0.1, 0.25, 0.05}) {
        const double before = 0.1, t = 1.0;
        const TimeLevel level = bdf2(3, t, dt, before, none, none);
        const auto u = [](double at) { return at * at + at; };
        EXPECT_NEAR(level.rate[0] * u(t) + level.rate[1] * u(t - dt) + level.rate[2] * u(t - dt - before), 2 * t + 1,
                    1e-12);
        EXPECT_NEAR(level.rate[0] + level.rate[1] + level.rate[2], 0.0, 1e-12);
    }
}

TEST(TimeStepping, EndTimeIsMetExactly) {
    const Logistic logistic(0.3);
    March march(logistic, {.steps = 0, .end_time = 1.0});
    EXPECT_EQ(march.march(), EndReason::end_time_reached);
    EXPECT_EQ(march.rows.size(), 4u);
    EXPECT_EQ(march.stepper.time(), 1.0);
    EXPECT_NEAR(march.last(&StepRow::dt), 0.1, 1e-12);
    const Logistic tenths(0.1);
    March whole(tenths, {.steps = 0, .end_time = 1.0});
    whole.march();
    EXPECT_EQ(whole.rows.size(), 10u);  // no eleventh step of rounding error
}

/// The estimate of a step equals, to leading order, the error of the step from exact states. The step is late enough
/// that the influence of BDF2's first step has decayed, by a factor of three in each step.
TEST(TimeStepping, EstimateIsTheLocalError) {
    for (const TimeScheme scheme : {TimeScheme::implicit_euler, TimeScheme::bdf2}) {
        const Logistic logistic(0.01);
        March march(logistic, {.scheme = scheme, .steps = 15, .tolerance = 1.0, .largest_step = 0.01});
        march.march();
        const int first = scheme == TimeScheme::bdf2 ? 4 : 2;  // the first step with an estimate
        for (const StepRow& row : march.rows) EXPECT_EQ(std::isnan(row.error_estimate), row.step < first) << row.step;

        Vector at[2];
        for (int k = 0; k < 2; ++k) {
            at[k] = Vector(march.run.context, march.run.layout, 1, "exact");
            for (Index row = 0; row < 27; ++row)
                at[k].data()[row] = Logistic::exact(logistic.shape().grid.point(row), 0.01 * (14 - k));
        }
        copy(at[0], march.run.u);
        const TimeLevel level = scheme == TimeScheme::bdf2 ? bdf2(15, 0.15, 0.01, 0.01, at[0], at[1])
                                                           : implicit_euler(15, 0.15, 0.01, at[0]);
        march.run.solve(level);
        double square = 0.0, size = 0.0;
        for (Index row = 0; row < 27; ++row) {
            const double u = march.run.u.data()[row];
            square += std::pow(u - Logistic::exact(logistic.shape().grid.point(row), 0.15), 2);
            size += u * u;
        }
        EXPECT_NEAR(march.rows[14].error_estimate / std::sqrt(square / size), 1.0, 0.05) << int(scheme);
    }
}

TEST(TimeStepping, ControlledStepsFollowTheTolerance) {
    for (const TimeScheme scheme : {TimeScheme::implicit_euler, TimeScheme::bdf2}) {
        double errors[2];
        std::size_t counts[2];
        for (int k : {0, 1}) {
            const Logistic logistic(1e-3);
            const double tolerance = k == 0 ? 1e-4 : 1e-5;
            March march(logistic, {.scheme = scheme, .steps = 0, .end_time = 4.0, .tolerance = tolerance});
            EXPECT_EQ(march.march(), EndReason::end_time_reached);
            errors[k] = march.error();
            counts[k] = march.rows.size();
            for (const StepRow& row : march.rows)
                if (row.accepted && !std::isnan(row.error_estimate)) {
                    EXPECT_LE(row.error_estimate, tolerance);
                }
        }
        EXPECT_LT(errors[1], errors[0] / 2);
        EXPECT_GT(counts[1], counts[0]);
        EXPECT_LT(errors[0], 2e-2);
    }
}

TEST(TimeStepping, StepsThatAreTooLongAreRepeated) {
    const Logistic logistic(0.5);
    March march(logistic, {.scheme = TimeScheme::implicit_euler, .steps = 0, .end_time = 3.0, .tolerance = 1e-4});
    EXPECT_EQ(march.march(), EndReason::end_time_reached);
    const StepRow &second = march.rows[1], &repeated = march.rows[2];
    EXPECT_FALSE(second.accepted);
    EXPECT_GT(second.error_estimate, 1e-4);
    EXPECT_EQ(repeated.step, 2);
    EXPECT_EQ(repeated.attempt, 2);
    EXPECT_LT(repeated.dt, second.dt);
    Index accepted = 0;
    double time = 0.0;
    for (const StepRow& row : march.rows)
        if (row.accepted) {
            EXPECT_EQ(row.step, ++accepted);
            time += row.dt;
            EXPECT_NEAR(row.time, time, 1e-12);
        }
}

/// Where the state is and stays 0, the estimated error is 0, and steps grow.
TEST(TimeStepping, AStateOfZeroHasNoError) {
    const Pointwise decay([](double u) { return u; }, [](double) { return 1.0; }, 0.0, Regime::transient);
    for (const TimeScheme scheme : {TimeScheme::implicit_euler, TimeScheme::bdf2}) {
        March march(decay, {.scheme = scheme, .steps = 0, .end_time = 20.0, .tolerance = 1e-3});
        EXPECT_EQ(march.march(), EndReason::end_time_reached);
        EXPECT_EQ(march.last(&StepRow::error_estimate), 0.0);
        EXPECT_EQ(march.rows.size(), std::size_t(march.stepper.steps_done()));
    }
}

/// Where solves fail beyond a length, the steps after a failure keep to half of it, and few steps are rejected.
TEST(TimeStepping, StepsKeepBelowALengthThatFailed) {
    const Logistic logistic(1e-3);
    March march(logistic, {.steps = 200, .tolerance = 0.5});
    double failed = 0.0;
    Index rejected = 0, since = 0;
    while (!march.stepper.ended()) {
        const TimeLevel level = march.stepper.next(march.run.u);
        march.rows.push_back(march.stepper.row());
        if (failed > 0.0 && since < 20) {
            EXPECT_LE(level.dt, failed / 2) << level.step;
        }
        march.run.solve(level);
        if (level.dt > 0.01) {
            failed = level.dt, since = 0, ++rejected;
            EXPECT_TRUE(march.stepper.reject(march.run.u, EndReason::step_not_solved));
            continue;
        }
        march.finish();
        since += march.rows.back().accepted;
    }
    EXPECT_EQ(march.stepper.steps_done(), 200);
    EXPECT_GE(rejected, 2);
    EXPECT_LE(rejected, 11);
}

TEST(TimeStepping, LargestStepIsALimit) {
    const Logistic logistic(1e-3);
    March march(logistic, {.steps = 0, .end_time = 2.0, .tolerance = 1e-2, .largest_step = 0.07});
    march.march();
    double largest = 0.0;
    for (const StepRow& row : march.rows) largest = std::max(largest, row.dt);
    EXPECT_EQ(largest, 0.07);
}

TEST(TimeStepping, SmallestStepIsALimit) {
    const Logistic logistic(0.3);
    March march(logistic, {.steps = 0, .end_time = 2.0, .tolerance = 1e-4, .smallest_step = 0.05});
    EXPECT_EQ(march.march(), EndReason::step_too_small);
    EXPECT_EQ(march.rows.back().dt, 0.05);
    EXPECT_FALSE(march.rows.back().accepted);
    EXPECT_GT(march.rows.back().error_estimate, 1e-4);
    EXPECT_EQ(march.stepper.steps_done(), 2);  // the steps without an estimate
    Vector kept = std::move(march.run.u);
    March two(logistic, {.steps = 2, .tolerance = 1e-4});
    two.march();
    EXPECT_EQ(kept.data()[0], two.run.u.data()[0]);

    March looser(logistic, {.steps = 0, .end_time = 2.0, .tolerance = 1e-2, .smallest_step = 1e-3});
    EXPECT_EQ(looser.march(), EndReason::end_time_reached);
    for (const StepRow& row : looser.rows) EXPECT_GE(row.dt, 1e-3);

    const Logistic short_first(1e-4);  // the first step is raised to smallest_step, the last one ends at end_time
    March raised(short_first,
                 {.steps = 0, .end_time = 0.103, .tolerance = 0.5, .largest_step = 0.02, .smallest_step = 0.02});
    EXPECT_EQ(raised.march(), EndReason::end_time_reached);
    EXPECT_EQ(raised.rows.front().dt, 0.02);
    EXPECT_NEAR(raised.rows.back().dt, 0.003, 1e-12);
}

TEST(TimeStepping, AStepOfGivenLengthThatFailsEndsTheRunWithTheStateBefore) {
    // The solution of u' = 1 / (0.35 - u) blows up at t = 0.061: no implicit step beyond that time has a solution.
    Pointwise blow_up([](double u) { return -1 / (0.35 - u); }, [](double u) { return -1 / ((0.35 - u) * (0.35 - u)); },
                      0.0, Regime::transient);
    blow_up.dt = 0.02;
    March march(blow_up, {.steps = 10});
    EXPECT_EQ(march.march(), EndReason::step_not_solved);
    EXPECT_FALSE(march.rows.back().accepted);
    EXPECT_GE(march.stepper.steps_done(), 1);
    EXPECT_EQ(march.rows.size(), std::size_t(march.stepper.steps_done()) + 1);
    Vector again = Vector(march.run.context, march.run.layout, 1, "state");
    March shorter(blow_up, {.steps = march.stepper.steps_done()});
    shorter.march();
    EXPECT_EQ(march.run.u.data()[0], shorter.run.u.data()[0]);

    March controlled(blow_up, {.steps = 1000, .tolerance = 1e-2});
    EXPECT_EQ(controlled.march(), EndReason::step_too_small);
    EXPECT_EQ(controlled.rows.back().dt, 1e-14 * controlled.stepper.time());
    EXPECT_NEAR(controlled.stepper.time(), 0.5 * 0.35 * 0.35, 0.01);
}

/// u_t = -u with steps of which the second one would end at infinity.
TEST(TimeStepping, AStepThatWouldEndAtInfinityDoesNotBegin) {
    const auto same = [](double u) { return u; };
    Pointwise decay(
        same, [](double) { return 1.0; }, 1.0, Regime::transient);
    decay.dt = 1e308;
    March march(decay, {.steps = 3});
    EXPECT_EQ(march.march(), EndReason::time_not_finite);
    EXPECT_EQ(march.stepper.steps_done(), 1);
    EXPECT_EQ(march.stepper.time(), 1e308);
    SolverState saved;
    march.stepper.save(saved);
    March again(decay, {.steps = 3});
    again.stepper.resume(saved);
    again.run.u = std::move(march.run.u);
    EXPECT_EQ(again.march(), EndReason::time_not_finite);
    EXPECT_EQ(again.stepper.steps_done(), 1);

    March ends(decay, {.steps = 0, .end_time = 1.5e308});
    EXPECT_EQ(ends.march(), EndReason::end_time_reached);
    EXPECT_EQ(ends.stepper.steps_done(), 2);
    EXPECT_EQ(ends.stepper.time(), 1.5e308);
}

/// The lengths of pseudo-transient steps need not have a sum.
TEST(TimeStepping, PseudoTransientStepsAreNotEndedByTheirSum) {
    Bratu bratu(1.0, 5, Regime::pseudo_transient);
    bratu.dt = 1e308;
    bratu.cfl = {1.0, 1.0};
    March march(bratu, {.steps = 20, .steady_rtol = 1e-10}, {.judged = false, .linear_rtol = 1e-8});
    EXPECT_EQ(march.march(), EndReason::steady_state);
    EXPECT_GT(march.rows.size(), 2u);
}

TEST(TimeStepping, PseudoTransientStepsReachTheSteadyState) {
    Bratu bratu(5.0, 7, Regime::pseudo_transient), steady(5.0, 7);
    bratu.dt = 1.0;
    bratu.cfl = {10.0, 1e5};
    March march(bratu, {.steps = 100, .steady_rtol = 1e-10}, {.judged = false, .linear_rtol = 1e-8});
    ASSERT_EQ(march.march(), EndReason::steady_state);
    NewtonRun reference(steady, {.rtol = 1e-13, .linear_rtol = 1e-13});
    reference.solve();
    for (Index at = 0; at < reference.u.size(); ++at) EXPECT_NEAR(march.run.u.data()[at], reference.u.data()[at], 1e-9);
    EXPECT_EQ(march.rows[0].cfl, 10.0);
    EXPECT_EQ(march.rows[0].dt, 1.0);
    const double first = march.rows[0].steady_residual;
    Vector zero(march.run.context, march.run.layout, 1, "zero"), f(march.run.context, march.run.layout, 1, "F");
    steady.residual(zero, {}, f);
    for (std::size_t k = 1; k < march.rows.size(); ++k) {
        const StepRow &before = march.rows[k - 1], &row = march.rows[k];
        const double grown = 10.0 * norm2(f) / before.steady_residual;
        EXPECT_NEAR(row.cfl, std::min(std::clamp(grown, before.cfl, 2 * before.cfl), 1e5), 1e-9 * row.cfl) << k;
        EXPECT_NEAR(row.dt, row.cfl / 10.0, 1e-9 * row.dt);
    }
    EXPECT_LE(march.last(&StepRow::steady_residual), 1e-10 * norm2(f));
    EXPECT_GT(first, march.last(&StepRow::steady_residual));
    EXPECT_LT(march.rows.size(), 30u);
}

TEST(TimeStepping, PseudoTransientRunsSayWhenTheirStepsWereNotEnough) {
    Bratu bratu(5.0, 5, Regime::pseudo_transient);
    bratu.cfl = {1.0, 1.0};
    const NewtonOptions one{.judged = false, .linear_rtol = 1e-8};
    March march(bratu, {.steps = 3, .steady_rtol = 1e-10}, one);
    EXPECT_EQ(march.march(), EndReason::steps_used_up);
    EXPECT_EQ(march.rows.back().cfl, 1.0);
    March free(bratu, {.steps = 3, .steady_rtol = 0.0}, one);
    EXPECT_EQ(free.march(), EndReason::steps_taken);
}

/// A step that has failed begins again with the states and the length that it had, as an attempt of the next number.
TEST(TimeStepping, BeginsAStepAgain) {
    const Logistic logistic(0.2);
    for (double tolerance : {0.0, 1e-2}) {
        const TimeOptions options{.scheme = TimeScheme::bdf2, .steps = 9, .tolerance = tolerance};
        March whole(logistic, options), failed(logistic, options);
        whole.march();
        for (int step = 0; step < 4; ++step) failed.attempt();
        for (int attempt = 0; attempt < 3; ++attempt) {
            failed.stepper.next(failed.run.u);
            set_zero(failed.run.u);
            failed.stepper.reject(failed.run.u, EndReason::step_not_solved);
        }
        SolverState state;
        failed.stepper.save(state);
        March again(logistic, options);
        EXPECT_TRUE(TimeStepper::is_within_step(state.items()));
        again.stepper.resume(state);
        again.stepper.begin_again(again.run.u, false);
        again.march();
        EXPECT_EQ(again.rows.front().attempt, 4);
        EXPECT_EQ(again.rows.front().dt, whole.rows.at(4).dt);
        EXPECT_EQ(again.run.u.data()[0], whole.run.u.data()[0]);
    }
}

/// A run that is stopped after every attempt and continued by new objects gives the same bits.
TEST(TimeStepping, GoesOnBitForBit) {
    const Logistic logistic(0.2);
    for (const TimeOptions& options :
         {TimeOptions{.steps = 7}, TimeOptions{.scheme = TimeScheme::bdf2, .steps = 7},
          TimeOptions{.scheme = TimeScheme::bdf2, .steps = 0, .end_time = 3.0, .tolerance = 1e-4}}) {
        March whole(logistic, options);
        whole.march();
        SolverState state;
        std::vector<double> u;
        for (std::size_t at = 0;; ++at) {
            March march(logistic, options);
            if (at > 0) {
                march.stepper.resume(state);
                std::copy(u.begin(), u.end(), march.run.u.data());
            }
            if (at % 2) {  // also within an attempt
                const TimeLevel level = march.stepper.next(march.run.u);
                SolverState within;
                march.stepper.save(within);
                March other(logistic, options);
                other.stepper.resume(within);
                std::copy(march.run.u.data(), march.run.u.data() + 27, other.run.u.data());
                const TimeLevel again = *other.stepper.under_way(other.run.u);
                EXPECT_EQ(again.rate, level.rate);
                EXPECT_EQ(again.time, level.time);
                other.rows.push_back(other.stepper.row());
                other.run.solve(again);
                other.finish();
                state = {};
                other.stepper.save(state);
                u.assign(other.run.u.data(), other.run.u.data() + 27);
                EXPECT_EQ(other.rows.back().dt, whole.rows.at(at).dt);
                EXPECT_EQ(other.rows.back().accepted, whole.rows.at(at).accepted);
                if (other.stepper.ended()) break;
                continue;
            }
            march.attempt();
            EXPECT_EQ(march.rows.back().time, whole.rows.at(at).time);
            state = {};
            march.stepper.save(state);
            u.assign(march.run.u.data(), march.run.u.data() + 27);
            if (march.stepper.ended()) break;
        }
        EXPECT_EQ(u, std::vector<double>(whole.run.u.data(), whole.run.u.data() + 27));
    }
}

TEST(TimeStepping, PredictsTheVectorsItHolds) {
    const Logistic logistic(0.1);
    for (const TimeOptions& options :
         {TimeOptions{.regime = Regime::transient}, TimeOptions{.regime = Regime::transient, .keeps_old = true},
          TimeOptions{.regime = Regime::transient, .scheme = TimeScheme::bdf2},
          TimeOptions{.regime = Regime::transient, .tolerance = 1e-3},
          TimeOptions{.regime = Regime::transient, .scheme = TimeScheme::bdf2, .tolerance = 1e-3},
          TimeOptions{.regime = Regime::pseudo_transient}, TimeOptions{.regime = Regime::steady, .keeps_old = true}}) {
        const Context context = Context::cpu(1);
        const TimeStepper stepper(logistic, options, context, Layout(LayoutKind::natural, logistic.shape().grid, {}));
        EXPECT_EQ(context.ledger().held(), options.vectors() * 27 * Index(sizeof(double)));
    }
}

}  // namespace
}  // namespace hyperplane::test
