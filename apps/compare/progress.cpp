// SPDX-License-Identifier: BSD-3-Clause
#include "apps/compare/progress.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "apps/base/log.hpp"

namespace hyperplane {

void CompareProgress::show(const std::string& text) {
    text_ = text;
    if (style_ != Progress::Style::terminal) return;
    fmt::print(stderr, "\r{}\033[K", text_);
    std::fflush(stderr);
    shown_ = true;
    printed_at_ = std::chrono::steady_clock::now();
}

void CompareProgress::show(const HistoryEntry& entry) {
    if (style_ != Progress::Style::terminal) return;
    if (std::chrono::steady_clock::now() - printed_at_ < std::chrono::milliseconds(100)) return;
    const std::string text = text_;
    show(fmt::format("{}  iteration {:>5}  recurrence {:.3e}", text, entry.iteration, entry.recurrence));
    text_ = text;
}

void CompareProgress::note(const std::string& text) {
    if (style_ == Progress::Style::lines) logging::info("{}", text);
}

void CompareProgress::clear() {
    if (!shown_) return;
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
    shown_ = false;
}

}  // namespace hyperplane
