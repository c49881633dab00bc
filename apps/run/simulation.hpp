// SPDX-License-Identifier: BSD-3-Clause
// Simulation: a case from its initial state to its end, recorded as it goes.
//
//   until the time stepper says it is enough (one step for a steady problem)
//     begin a step from u, as long as the time stepper says
//     until Newton's method says it is enough (once for a linear problem)
//       A = F'(u), M;  solve A du = -F(u);  u = u + s du
//     accept the step, or take u back and try a shorter one
//   norms of the error; fields
//
// solvers/newton.hpp and solvers/time_stepping.hpp decide; this class gives them vectors and a linear solver, records
// what they did, and keeps what a run needs to go on from anywhere within that.
#pragma once

#include <optional>
#include <string>

#include "apps/run/linear_solves.hpp"

namespace hyperplane {

class Simulation {
public:
    Simulation(const Case& a_case, RecordWriter& record, Progress progress);

    /// Goes on from a preempted record or a checkpoint of the same deck.
    void resume(RecordData before);
    /// Runs to the end, to a failure or to a signal. Errors end up in the outcome, and the record
    /// holds everything known; finishing it is the caller's.
    Outcome run();

private:
    void march();
    void allocate();
    void start();
    /// One attempt at a step; false where a signal broke it off.
    bool attempt();
    /// Newton's method on the step; false where a signal broke it off.
    bool solve_step(const TimeLevel& level, StepRow& row);
    NewtonStep newton_step(const TimeLevel& level, const StepRow& row);
    /// Accepts the attempt, or ends it otherwise.
    void conclude(StepRow& row);
    /// Which value is to blame for a step without solution, as the end of a sentence; nothing where none is.
    std::string culprit(NewtonReason reason);
    void fail(const StepRow& row, EndReason reason, const std::string& why);
    void add_diagnostics();
    /// Timers and memory as they stand go into the record, which may be written at any moment.
    void keep_costs();
    void end(EndReason reason);

    /// Everything needed to go on from here. `within`: within an attempt.
    RunState state(bool within, Index iterations, const SolverItems& krylov) const;
    void preempt(bool within);

    const Case& case_;
    RecordWriter& record_;
    Outcome outcome_;
    Checkpoints checkpoints_;
    LinearSolves solves_;
    std::optional<RunState> before_;  ///< where this run begins, unless anew
    bool within_ = false;             ///< it begins within an attempt
    std::optional<Newton> newton_;
    std::optional<TimeStepper> stepper_;
    Vector u_;
    StopReason linear_reason_ = StopReason::converged_rtol;  ///< of the newest linear solve
    std::string failure_;                                    ///< of the newest attempt that failed
    ExitCode failure_code_ = ExitCode::diverged;
};

}  // namespace hyperplane
