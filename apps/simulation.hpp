// Simulation: a case from its initial state to its end, recorded as it goes.
//
//   for each time step (one for a steady problem)
//     A = F'(u), P = the matrix the preconditioner is built from, M = setup(P)
//     solve A du = -F(u) from du = 0, or as a run that stopped within this solve would have gone on;  u += du
//   norms of the error; fields
//
// A linear problem takes one Newton step, which is exact up to the Krylov method's tolerance.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/linear_system.hpp"
#include "apps/progress.hpp"
#include "core/timer.hpp"
#include "io/checkpoint.hpp"
#include "io/record.hpp"

namespace hyperplane {

/// What came of a run.
struct Outcome {
    ExitCode code = ExitCode::ok;
    std::string message;            ///< why the run ended, a sentence
    std::vector<SolveRow> solves;   ///< of this run and of those it goes on from
    std::vector<ErrorNorm> errors;  ///< of the final state
    TimerTree timers;               ///< assemble, setup, solve, solve/spmv, solve/preconditioner, output
    std::map<std::string, Index> peak_by_label;
    Index peak = 0, predicted = 0;  ///< bytes
    std::string fields_file;        ///< empty: none written
    bool resumed = false;
};

/// The items of a SolverState.
using SolverItems = std::map<std::string, std::vector<double>>;

class Simulation {
public:
    Simulation(const Case& a_case, RecordWriter& record, Progress progress)
        : case_(a_case), record_(record), progress_(std::move(progress)), slots_(a_case.record_path()) {}

    /// Goes on from a preempted record or a checkpoint of the same deck.
    void resume(RecordData before);
    /// Runs to the end, to a failure or to a signal. Errors end up in the outcome, and the record
    /// holds everything known; finishing it is the caller's.
    Outcome run();

private:
    void march();
    void allocate();
    /// One implicit step; false where the run must end, with the reason in the outcome.
    bool advance(Index step);
    SetupReport set_up(const TimeLevel& level);
    /// Returns the method's state where a signal broke the solve off.
    SolverItems solve(SolveRow& row, History& history);
    /// Leaves what a run needs to go on from within `step`, in whose solve the method's state is `solver`.
    void preempt(Index step, Index iterations, SolverItems solver);
    /// The same as a checkpoint.
    void checkpoint(Index step, Index iterations, SolverItems solver);
    bool steps_call_for_checkpoint(Index step) const;
    bool clock_calls_for_checkpoint() const;
    /// 0 for a steady problem.
    double time_after(Index step) const;
    void verify(const Vector& u);
    void write_fields(const Vector& u);

    const Case& case_;
    RecordWriter& record_;
    Progress progress_;
    Outcome outcome_;
    RunState start_;                                  ///< where this run begins
    double setup_before_ = 0.0, solve_before_ = 0.0;  ///< seconds that earlier runs spent on the solve under way
    CheckpointSlots slots_;
    Index checkpoint_step_ = 0;                              ///< of the newest checkpoint, or where this run began
    std::chrono::steady_clock::time_point checkpoint_time_;  ///< of the newest checkpoint, or when this run began
    std::optional<LinearSystem> system_;
    Vector u_, du_;
};

}  // namespace hyperplane
