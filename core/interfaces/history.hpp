// SPDX-License-Identifier: BSD-3-Clause
// The convergence history of a solve: one entry an iteration.
#pragma once

#include <chrono>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "core/types.hpp"

namespace hyperplane {

struct HistoryEntry {
    Index iteration;
    double recurrence;                                        ///< ||r|| / ||b|| with the residual of the recurrence
    double truth = std::numeric_limits<double>::quiet_NaN();  ///< ||b - A x|| / ||b||, NaN where not computed
    double seconds = 0.0;                                     ///< since the solve began
};

/// Collects the entries of a solve, passes each to an observer, and lets a solve be interrupted.
class History {
public:
    using Observer = std::function<void(const HistoryEntry&)>;

    History() : begin_(Clock::now()) {}

    /// `observer` is called with each new entry (progress on a terminal).
    void set_observer(Observer observer) { observer_ = std::move(observer); }
    /// `interrupted` is called once an iteration; true ends the solve with StopReason::interrupted.
    void set_interrupt(std::function<bool()> interrupted) { interrupted_ = std::move(interrupted); }

    void start() { begin_ = Clock::now(); }
    /// Continues the history of an interrupted solve: new entries follow `entries`, and their seconds those of the last
    /// one. The observer is not called for the old entries.
    void resume(std::vector<HistoryEntry> entries) {
        entries_ = std::move(entries);
        const std::chrono::duration<double> before(entries_.empty() ? 0.0 : entries_.back().seconds);
        begin_ = Clock::now() - std::chrono::duration_cast<Clock::duration>(before);
    }
    void add(Index iteration, double recurrence, double truth = std::numeric_limits<double>::quiet_NaN()) {
        const std::chrono::duration<double> since = Clock::now() - begin_;
        entries_.push_back({iteration, recurrence, truth, since.count()});
        if (observer_) observer_(entries_.back());
    }
    /// Sets the true residual of the last entry.
    void set_truth(double truth) {
        if (!entries_.empty()) entries_.back().truth = truth;
    }
    bool interrupted() const { return interrupted_ && interrupted_(); }
    const std::vector<HistoryEntry>& entries() const { return entries_; }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point begin_;
    std::vector<HistoryEntry> entries_;
    Observer observer_;
    std::function<bool()> interrupted_;
};

}  // namespace hyperplane
