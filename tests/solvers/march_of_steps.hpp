// SPDX-License-Identifier: BSD-3-Clause
// A whole time-dependent run of a small problem, for tests of time stepping.
#pragma once

#include <vector>

#include "small_problems.hpp"
#include "solvers/time_stepping.hpp"

namespace hyperplane::test {

/// A whole time-dependent run, step by step as in a simulation.
struct March {
    NewtonRun run;
    TimeStepper stepper;
    std::vector<StepRow> rows;

    March(const SmallProblem& problem, TimeOptions options,
          NewtonOptions newton = {.rtol = 1e-10, .linear_rtol = 1e-12})
        : run(problem, newton), stepper(problem, with_old(options, problem), run.context, run.layout) {
        const bool pseudo = problem.shape().regime == Regime::pseudo_transient;
        stepper.begin(pseudo ? run.newton.residual_norm(run.u, stepper.at_rest(run.u)) : 0.0);
    }
    static TimeOptions with_old(TimeOptions options, const SmallProblem& problem) {
        options.regime = problem.shape().regime;
        options.keeps_old = true;
        return options;
    }

    void attempt() {
        const TimeLevel level = stepper.next(run.u);
        if (stepper.ended()) return;
        rows.push_back(stepper.row());
        run.solve(level);
        finish();
    }
    void finish() {
        StepRow& row = rows.back();
        if (!solved(run.newton.reason())) {
            stepper.reject(run.u, EndReason::step_not_solved);
            return;
        }
        const bool pseudo = run.problem.shape().regime == Regime::pseudo_transient;
        const double norm = pseudo ? run.newton.residual_norm(run.u, stepper.at_rest(run.u)) : 0.0;
        stepper.judge(run.u, norm, run.newton.work(), row);
    }
    EndReason march() {
        while (!stepper.ended()) attempt();
        return *stepper.ended();
    }
    double error() const { return run.problem.errors(run.u, stepper.time())[0].value; }
    double last(double StepRow::*column) const { return rows.back().*column; }
};

}  // namespace hyperplane::test
