// SPDX-License-Identifier: BSD-3-Clause
// Progress on stderr: one line that is overwritten on a terminal, plain lines elsewhere. On a terminal the line is as
// long as a row allows, with the most important figures, since one that wraps could not be overwritten.
//
// A single linear solve shows its iterations. A run of many solves shows where it is in time, how far Newton's method
// has come, the iterations of the step so far, and how long the rest takes at the speed so far.
//
// For many solves a terminal keeps one line for each time step, but at most one a second. Elsewhere the interval
// between lines is a twentieth of the time so far, at least a second and at most a minute.
#pragma once

#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/interfaces/history.hpp"
#include "core/interfaces/solver.hpp"

namespace hyperplane {

/// The place in a run of many linear solves: time step, Newton step, and how far both have come.
struct March {
    Index step = 1, attempt = 1;
    std::optional<Index> steps;  ///< number of steps; none if it follows only from the run
    bool at_most = false;        ///< `steps` is a bound: the run ends earlier at a steady state
    double time = 0.0, dt = 0.0;
    double end_time = std::numeric_limits<double>::infinity();
    double cfl = std::numeric_limits<double>::quiet_NaN();  ///< of a pseudo-transient step, else NaN
    /// Before a pseudo-transient step, ||F|| over that of the initial state; else NaN.
    double to_steady = std::numeric_limits<double>::quiet_NaN();
    Index newton = 0;                     ///< Newton step within the time step, from 1
    double norm = 0.0, first_norm = 0.0;  ///< ||F|| before this solve, and before the first one
    bool linear = true;                   ///< each step takes one solve
    bool judged = false;                  ///< whether ||F|| decides
    bool many_steps() const { return !steps || *steps > 1; }
    /// Whether there is more than one solve.
    bool many() const { return many_steps() || judged; }
    /// The share of the run that precedes this step, or 0 if nothing is known of its end.
    double share_before() const;
};

/// "1.5 s", "3:20 min", "2:05 h", or "--" for more than 100 hours.
std::string duration_text(double seconds);

/// A figure of a line of progress.
struct Figure {
    int rank;  ///< 0: the most important one
    std::string text;
};
/// The figures in one line of at most `columns` characters: the least important ones are left out where it is longer.
std::string line_of(std::vector<Figure> figures, std::size_t columns = std::string::npos);

class Progress {
public:
    enum class Style { none, terminal, lines };
    /// `none` if quiet, otherwise `terminal` if stderr is one.
    static Style style_for_stderr(bool quiet);

    Progress(Style style, const StopCriteria& criteria) : style_(style), criteria_(criteria) {}

    /// A linear solve begins, to the relative tolerance `rtol`, at this place of the run.
    void begin(const March& march, double rtol);
    void show(const HistoryEntry& entry);
    /// The solve has ended with this ||b - A x|| / ||b||, with which the last entry is shown.
    void end(double truth);
    /// To be called before anything else is written to stderr; it ends the line on a terminal.
    void end_line();

private:
    using Clock = std::chrono::steady_clock;
    bool among_many() const { return march_.many(); }
    std::vector<Figure> figures(const HistoryEntry& entry) const;
    std::vector<Figure> solve_figures(const HistoryEntry& entry) const;
    std::vector<Figure> march_figures(const HistoryEntry& entry) const;
    /// Seconds until the end of the run at the speed so far; infinity if it is not known.
    double march_eta(double elapsed) const;
    void print(const HistoryEntry& entry);

    Style style_;
    StopCriteria criteria_;
    March march_;
    HistoryEntry first_{}, last_{};
    double truth_ = 0.0;  ///< the newest true residual; NaN: none yet
    bool any_ = false;
    bool told_ = false;          ///< a line has been printed
    bool open_ = false;          ///< the line on the terminal has not been ended
    bool begun_ = false;         ///< any solve has begun
    double share_at_begin_ = 0;  ///< of the run, before this process continued it
    Index step_iterations_ = 0;  ///< of the solves of this attempt that have ended
    bool ended_ = false;         ///< the solve has ended
    Index next_ = 0;             ///< iteration of the next plain line
    Clock::time_point began_ = Clock::now(), line_began_ = began_, printed_at_;
};

}  // namespace hyperplane
