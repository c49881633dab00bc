// SPDX-License-Identifier: BSD-3-Clause
// How far a comparison has come, on stderr: one line that overwrites itself on a terminal, a line for each
// candidate's warm-up and each turn elsewhere.
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
    /// The solve under way, after the text shown last.
    void show(const HistoryEntry& entry);
    /// A fact worth a line of its own where stderr is no terminal.
    void note(const std::string& text);
    /// Takes the terminal's line away.
    void clear();

private:
    Progress::Style style_;
    std::string text_;
    bool shown_ = false;
    std::chrono::steady_clock::time_point printed_at_;
};

}  // namespace hyperplane
