// SPDX-License-Identifier: BSD-3-Clause
// Progress on stderr: one line that is overwritten on a terminal, plain lines elsewhere.
//
// For many solves a terminal keeps one line for each time step, but at most one a second. Elsewhere the interval
// between lines is a twentieth of the time so far, at least a second and at most a minute.
#pragma once

#include <chrono>
#include <string>

#include "core/interfaces/history.hpp"
#include "core/interfaces/solver.hpp"

namespace hyperplane {

class Progress {
public:
    enum class Style { none, terminal, lines };
    /// `none` if quiet, otherwise `terminal` if stderr is one.
    static Style style_for_stderr(bool quiet);

    Progress(Style style, const StopCriteria& criteria) : style_(style), criteria_(criteria) {}

    /// A solve of time step `step` begins. `title` says which of many it is, for instance "step 3 of 10".
    void begin(const std::string& title, double rtol, Index step);
    void show(const HistoryEntry& entry);
    /// The solve has ended with this ||b - A x|| / ||b||, with which the last entry is shown.
    void end(double truth);
    /// To be called before anything else is written to stderr; it ends the line on a terminal.
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
    double truth_ = 0.0;  ///< the newest true residual; NaN: none yet
    bool any_ = false;
    bool told_ = false;  ///< a line has been printed
    bool open_ = false;  ///< the line on the terminal has not been ended
    Index step_ = 0;
    Index next_ = 0;  ///< iteration of the next plain line
    Clock::time_point began_ = Clock::now(), line_began_ = began_, printed_at_;
};

}  // namespace hyperplane
