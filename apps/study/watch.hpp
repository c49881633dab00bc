// SPDX-License-Identifier: BSD-3-Clause
// The table of a study that --watch redraws on a terminal: its cases, what each has reached, and how long the rest
// takes.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/study/case_state.hpp"

namespace hyperplane {

class StudyWatch {
public:
    /// Throws UsageError if `fd`, stdout or stderr, is no terminal.
    StudyWatch(const Study& study, int fd);

    /// Reads the states again, and draws the table over the one before. Cases that cannot be shown for want of lines
    /// are counted; those that run come first, then failed ones.
    void draw();
    /// Whether any case is being computed or waits for it.
    bool any_left() const { return left_ > 0; }
    /// Number of cases that are done.
    int done() const { return done_; }

private:
    struct Row {
        CaseStatus status = CaseStatus::waiting;
        std::string progress;
        double seconds = 0.0;  ///< of a case that has ended, all parts of its run together
        std::filesystem::file_time_type written{};
        bool ended = false;
    };
    void look(const StudyCase& a_case, Row& row) const;
    std::string line(const StudyCase& a_case, const Row& row, int width) const;
    std::string summary() const;

    const Study& study_;
    int fd_;
    std::vector<Row> rows_;
    int lines_ = 0;  ///< of the table that is on the terminal
    int left_ = 0, done_ = 0;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// The newest line of progress in a case's log; empty if there is none.
std::string newest_progress(const StudyCase& a_case);

}  // namespace hyperplane
