// SPDX-License-Identifier: BSD-3-Clause
// How a solve converged: one entry an iteration.
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
    double recurrence;                                        ///< ||r|| / ||b|| as the method's recurrence knows it
    double truth = std::numeric_limits<double>::quiet_NaN();  ///< ||b - A x|| / ||b||, NaN where not computed
    double seconds = 0.0;                                     ///< since the solve began
};

/// Collects entries, shows them to an observer and carries the wish to stop.
class History {
public:
    using Observer = std::function<void(const HistoryEntry&)>;

    History() : begin_(Clock::now()) {}

    /// Called with each new entry (progress on a terminal).
    void set_observer(Observer observer) { observer_ = std::move(observer); }
    /// Asked once an iteration; true ends the solve with StopReason::interrupted.
    void set_interrupt(std::function<bool()> interrupted) { interrupted_ = std::move(interrupted); }

    void start() { begin_ = Clock::now(); }
    /// Goes on after these entries, their seconds included; the observer has seen them already.
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
    /// The true residual of the newest entry became known.
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
