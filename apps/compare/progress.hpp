// SPDX-License-Identifier: BSD-3-Clause
// Progress of a comparison on stderr: one line that is overwritten on a terminal; elsewhere a line for each warm-up and
// each turn.
#pragma once

#include <chrono>
#include <string>

#include "apps/run/progress.hpp"

namespace hyperplane {

class CompareProgress {
public:
    explicit CompareProgress(Progress::Style style) : style_(style) {}
    ~CompareProgress() { clear(); }

    /// "warm-up 3 of 15: cg+jacobi"
    void show(const std::string& text);
    /// Shows the current solve after the text shown last.
    void show(const HistoryEntry& entry);
    /// Prints a line if stderr is not a terminal.
    void note(const std::string& text);
    /// Clears the line on a terminal.
    void clear();

private:
    Progress::Style style_;
    std::string text_;
    bool shown_ = false;
    std::chrono::steady_clock::time_point printed_at_;
};

}  // namespace hyperplane
