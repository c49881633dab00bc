// SPDX-License-Identifier: BSD-3-Clause
// The linear solves of a run: shown while they go on, timed, recorded, broken off by a signal and gone on with.
#pragma once

#include <functional>

#include "apps/run/case.hpp"
#include "apps/run/checkpoints.hpp"
#include "apps/run/outcome.hpp"
#include "apps/run/progress.hpp"

namespace hyperplane {

/// The items of a SolverState.
using SolverItems = std::map<std::string, std::vector<double>>;

class LinearSolves {
public:
    /// Makes a checkpoint within the solve under way: its iterations and the method's state.
    using Keep = std::function<void(Index iterations, const SolverItems& state)>;

    LinearSolves(const Case& a_case, RecordWriter& record, Outcome& outcome, const Checkpoints& checkpoints,
                 Progress progress, Keep keep)
        : case_(a_case),
          record_(record),
          outcome_(outcome),
          checkpoints_(checkpoints),
          progress_(std::move(progress)),
          keep_(std::move(keep)) {}

    /// The next solve goes on from `state`; `so_far` is the row it left.
    void resume(SolverItems state, Index iterations);
    /// Seconds that earlier runs spent on it.
    void add_time_before(double setup, double solve);
    /// The timers hold what earlier runs took; what they show from now on is this one's.
    void begin_after_timers() { setup_seen_ = outcome_.timers.seconds("setup"); }

    /// Solves and records, `step` and `title` telling which it is.
    SolveReport solve(const Newton::LinearTask& task, Index step, const std::string& title);

    /// Before anything else goes to stderr.
    void end_line() { progress_.end_line(); }

    /// Of a solve broken off, or one that is yet to go on: its iterations and the method's state.
    Index iterations() const { return iterations_; }
    const SolverItems& state() const { return state_; }
    /// Seconds of the solve under way or broken off, those of earlier runs included; 0 between solves.
    double setup_so_far() const { return setup_so_far_; }
    double solve_so_far() const { return solve_so_far_; }

private:
    SolveReport run(const Newton::LinearTask& task, Index step, const std::string& title, History& history);

    const Case& case_;
    RecordWriter& record_;
    Outcome& outcome_;
    const Checkpoints& checkpoints_;
    Progress progress_;
    Keep keep_;
    SolverItems state_;
    Index iterations_ = 0;
    double setup_before_ = 0.0, solve_before_ = 0.0;  ///< seconds that earlier runs spent on the solve under way
    double setup_so_far_ = 0.0, solve_so_far_ = 0.0;  ///< the same with this run's
    double setup_seen_ = 0.0;                         ///< of the timer, at the end of the last solve
};

}  // namespace hyperplane
