// Progress of a solve on stderr: one line that overwrites itself on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <string>

#include "core/history.hpp"
#include "core/solver.hpp"

namespace hyperplane {

class Progress {
public:
    enum class Style { none, terminal, lines };
    /// terminal where stderr is one, none when quiet.
    static Style style_for_stderr(bool quiet);

    Progress(Style style, const StopCriteria& criteria) : style_(style), criteria_(criteria) {}

    /// A solve begins; `title` tells which of many it is, e.g. "step 3 of 10". Of many quick solves not each has a
    /// line.
    void begin(const std::string& title, double rtol);
    void show(const HistoryEntry& entry);
    /// The solve is over with this ||b - A x|| / ||b||: the last entry is shown with it.
    void end(double truth);

private:
    using Clock = std::chrono::steady_clock;
    std::string line(const HistoryEntry& entry) const;
    void print(const HistoryEntry& entry);

    Style style_;
    StopCriteria criteria_;
    std::string title_;
    HistoryEntry first_{}, last_{};
    double truth_ = 0.0;  ///< the newest known, NaN: none yet
    bool any_ = false;
    bool told_ = false;  ///< a line has been printed
    Index next_ = 0;     ///< iteration of the next plain line
    Clock::time_point printed_at_;
};

}  // namespace hyperplane
