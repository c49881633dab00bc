// SPDX-License-Identifier: BSD-3-Clause
// Simulation: computes a case from its initial state to its end, and records it.
//
//   until the time stepper says it is enough (one step for a steady problem)
//     begin a step from u, as long as the time stepper says
//     until Newton's method says it is enough (once for a linear problem)
//       A = F'(u), M;  solve A du = -F(u);  u = u + s du
//     accept the step, or take u back and try a shorter one
//   norms of the error; fields
//
// solvers/newton.hpp and solvers/time_stepping.hpp make the decisions. This class gives them vectors and a linear
// solver, records what they did, and keeps what is needed to continue a run from any point.
#pragma once

#include <optional>
#include <string>

#include "apps/run/beginning.hpp"
#include "apps/run/fields.hpp"
#include "apps/run/linear_solves.hpp"

namespace hyperplane {

class Simulation {
public:
    Simulation(const Case& a_case, RecordWriter& record, Progress progress);

    /// Continues a record or a checkpoint.
    void resume(Continued from);
    /// Runs to the end, to a failure or to a signal. Errors are in the outcome, and the record has everything that is
    /// known; the caller must finish it.
    Outcome run();

private:
    void march();
    void allocate();
    void start();
    /// Makes one attempt at a step; returns false if a signal stopped it.
    bool attempt();
    /// Applies Newton's method to the step; returns false if a signal stopped it.
    bool solve_step(const TimeLevel& level, StepRow& row);
    NewtonStep newton_step(const TimeLevel& level, const StepRow& row);
    /// ||F|| over what a steady state needs, as March::to_steady.
    double to_steady() const;
    /// The place of the next linear solve, for the progress.
    March march_at(const StepRow& row) const;
    /// Accepts the attempt or rejects it.
    void conclude(StepRow& row);
    /// Says so, once, if the first error-controlled step, which nothing judges, was too long.
    void warn_of_first_step();
    /// Says so if the run has ended before the error of a step could be estimated.
    void warn_of_unjudged_steps();
    /// The value because of which a step has no solution, as the end of a sentence; empty if there is none.
    std::string culprit(NewtonReason reason);
    /// After a linear solve that failed, adds to the message what to try.
    void add_advice();
    void fail(const StepRow& row, EndReason reason, const std::string& why);
    void add_diagnostics();
    /// After an error that the other ranks may not have met.
    void end_other_ranks();
    /// Writes the fields of the state if output.fields_every asks for them.
    void keep_fields();
    /// Copies the current timers and memory to the record, which may be written at any moment.
    void keep_costs();
    void end(EndReason reason);
    /// Keeps the state after the last step that succeeded, from which --restart goes on.
    void keep_state();
    /// Whether a pseudo-transient step has had the largest Courant number allowed.
    bool reached_largest_cfl() const;

    /// Everything that is needed to continue from here. `within`: in the middle of an attempt.
    RunState state(bool within, Index iterations, const SolverItems& krylov) const;
    void preempt(bool within);

    const Case& case_;
    RecordWriter& record_;
    Outcome outcome_;
    Checkpoints checkpoints_;
    FieldSeries series_;
    std::vector<SnapshotRow> snapshots_before_;  ///< of the parts before, until the run begins
    LinearSolves solves_;
    std::optional<RunState> before_;            ///< the state at which a continued run begins
    bool anew_ = false, other_length_ = false;  ///< as in Continued
    bool within_ = false;                       ///< whether that is in the middle of an attempt
    std::optional<Newton> newton_;
    std::optional<TimeStepper> stepper_;
    Vector u_;
    StopReason linear_reason_ = StopReason::converged_rtol;  ///< of the latest linear solve
    SolveReport linear_report_;
    std::string failure_;            ///< message of the latest attempt that failed
    Index repeated_ = 0;             ///< attempts that failed and were repeated with a shorter step
    bool first_step_known_ = false;  ///< whether an attempt at the second step has told the error of the first
    ExitCode failure_code_ = ExitCode::diverged;
};

}  // namespace hyperplane
