// SPDX-License-Identifier: BSD-3-Clause
// Progress on stderr: one line that overwrites itself on a terminal, plain lines elsewhere.
//
// Of many solves a terminal keeps a line of each time step, but at most one a second; elsewhere lines come ever more
// seldom, after a twentieth of the time so far, between a second and a minute.
#pragma once

#include <chrono>
#include <string>

#include "core/interfaces/history.hpp"
#include "core/interfaces/solver.hpp"

namespace hyperplane {

class Progress {
public:
    enum class Style { none, terminal, lines };
    /// terminal where stderr is one, none when quiet.
    static Style style_for_stderr(bool quiet);

    Progress(Style style, const StopCriteria& criteria) : style_(style), criteria_(criteria) {}

    /// A solve of time step `step` begins; `title` tells which of many it is, e.g. "step 3 of 10".
    void begin(const std::string& title, double rtol, Index step);
    void show(const HistoryEntry& entry);
    /// The solve is over with this ||b - A x|| / ||b||: the last entry is shown with it.
    void end(double truth);
    /// To be called before anything else goes to stderr: a terminal's line is ended.
    void end_line();

private:
    using Clock = std::chrono::steady_clock;
    bool among_many() const { return !title_.empty(); }
    std::string line(const HistoryEntry& entry) const;
    void print(const HistoryEntry& entry);

    Style style_;
    StopCriteria criteria_;
    std::string title_;
    HistoryEntry first_{}, last_{};
    double truth_ = 0.0;  ///< the newest known, NaN: none yet
    bool any_ = false;
    bool told_ = false;  ///< a line has been printed
    bool open_ = false;  ///< a terminal's line has no end yet
    Index step_ = 0;
    Index next_ = 0;  ///< iteration of the next plain line
    Clock::time_point began_ = Clock::now(), line_began_ = began_, printed_at_;
};

}  // namespace hyperplane
