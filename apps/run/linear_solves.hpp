// SPDX-License-Identifier: BSD-3-Clause
// The linear solves of a run: their progress is shown, they are timed and recorded, and can be stopped by a signal and
// continued.
#pragma once

#include <functional>

#include "apps/run/case.hpp"
#include "apps/run/checkpoints.hpp"
#include "apps/run/outcome.hpp"
#include "apps/run/progress.hpp"

namespace hyperplane {

class LinearSolves {
public:
    /// Makes a checkpoint within a solve, from its iterations and the method's state.
    using Keep = std::function<void(Index iterations, const SolverItems& state)>;

    LinearSolves(const Case& a_case, RecordWriter& record, Outcome& outcome, const Checkpoints& checkpoints,
                 Progress progress, Keep keep)
        : case_(a_case),
          record_(record),
          outcome_(outcome),
          checkpoints_(checkpoints),
          progress_(progress),
          keep_(std::move(keep)) {}

    /// Continues the next solve from `state`, after `iterations` iterations.
    void resume(SolverItems state, Index iterations);
    /// Adds the seconds that earlier runs spent on this solve.
    void add_time_before(double setup, double solve);
    /// Called when the timers have the times of earlier runs; what they count from now on is this run's.
    void begin_after_timers() { setup_seen_ = outcome_.timers.seconds("setup"); }

    /// Solves and records. `march` says which solve it is.
    SolveReport solve(const Newton::LinearTask& task, const March& march);

    /// To be called before anything else is written to stderr.
    void end_line() { progress_.end_line(); }

    /// Iterations and state of the method, of a solve that was stopped or will be continued.
    Index iterations() const { return iterations_; }
    const SolverItems& state() const { return state_; }
    /// The residuals of the latest solve.
    const std::vector<HistoryEntry>& history() const { return history_; }
    /// Seconds of the current or stopped solve, with those of earlier runs and of set-ups after which none began; 0
    /// between solves.
    double setup_so_far() const {
        return setup_before_ + setup_so_far_ + outcome_.timers.seconds("setup") - setup_seen_;
    }
    double solve_so_far() const { return solve_before_ + solve_so_far_; }

private:
    SolveReport run(const Newton::LinearTask& task, const March& march, History& history);

    const Case& case_;
    RecordWriter& record_;
    Outcome& outcome_;
    const Checkpoints& checkpoints_;
    Progress progress_;
    Keep keep_;
    SolverItems state_;
    std::vector<HistoryEntry> history_;
    Index iterations_ = 0;
    double setup_before_ = 0.0, solve_before_ = 0.0;  ///< seconds that earlier runs spent on the current solve
    double setup_so_far_ = 0.0, solve_so_far_ = 0.0;  ///< seconds spent on it, with those of this run
    std::string warned_;                              ///< the last warning of a set-up
    double setup_seen_ = 0.0;                         ///< of the timer of set-ups at the end of the last solve
};

}  // namespace hyperplane
