// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/progress.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace hyperplane {
namespace {

constexpr auto terminal_interval = std::chrono::milliseconds(100);
constexpr std::chrono::steady_clock::duration line_interval = std::chrono::seconds(10);
constexpr std::chrono::steady_clock::duration least_interval = std::chrono::seconds(1);

/// The interval between lines when many solves have taken this long.
std::chrono::steady_clock::duration calm_interval(std::chrono::steady_clock::duration elapsed) {
    return std::clamp<std::chrono::steady_clock::duration>(elapsed / 20, least_interval, std::chrono::minutes(1));
}

std::string in_seconds(double seconds) {
    if (!(seconds < 100.0 * 3600.0)) return "--";
    if (seconds < 60.0) return fmt::format("{:.1f} s", seconds);
    const int whole = int(seconds);
    return whole < 3600 ? fmt::format("{}:{:02} min", whole / 60, whole % 60)
                        : fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

}  // namespace

Progress::Style Progress::style_for_stderr(bool quiet) {
    if (quiet) return Style::none;
    return isatty(STDERR_FILENO) ? Style::terminal : Style::lines;
}

void Progress::begin(const std::string& title, double rtol, Index step) {
    if (step != step_ && Clock::now() - line_began_ >= least_interval) end_line();
    step_ = step;
    criteria_.rtol = rtol;
    title_ = title;
    any_ = false;
    next_ = 1;
    truth_ = std::numeric_limits<double>::quiet_NaN();
    if (!among_many() || !told_) printed_at_ = Clock::now();
}

void Progress::show(const HistoryEntry& entry) {
    if (style_ == Style::none) return;
    if (!any_) first_ = entry;
    if (!std::isnan(entry.truth)) truth_ = entry.truth;
    last_ = entry;
    const auto since = Clock::now() - printed_at_;
    const bool due = style_ == Style::terminal ? (!any_ && !among_many()) || since >= terminal_interval
                     : among_many()            ? since >= std::max(line_interval, calm_interval(Clock::now() - began_))
                                               : !any_ || entry.iteration >= next_ || since >= line_interval;
    any_ = true;
    if (due) print(entry);
}

void Progress::end(double truth) {
    if (style_ == Style::none || !any_) return;
    truth_ = truth;
    const Clock::duration wait = style_ == Style::terminal ? terminal_interval : calm_interval(Clock::now() - began_);
    if (among_many() && told_ && Clock::now() - printed_at_ < wait) return;
    print(last_);
    if (!among_many()) end_line();
}

void Progress::end_line() {
    if (open_) {
        print(last_);
        std::fputc('\n', stderr);
    }
    open_ = false;
    line_began_ = Clock::now();
}

/// With rate = (r_k / r_0)^(1/k), the remaining time is that of the iterations needed at this rate, at most those
/// allowed. For many solves the elapsed time is that of all.
std::string Progress::line(const HistoryEntry& entry) const {
    const double done = double(entry.iteration - first_.iteration);
    const double rate = done > 0 ? std::pow(entry.recurrence / first_.recurrence, 1.0 / done) : 1.0;
    const double allowed = double(criteria_.max_iterations - entry.iteration);
    const double needed = rate < 1.0 && criteria_.rtol > 0.0
                              ? std::max(0.0, std::log(criteria_.rtol / entry.recurrence) / std::log(rate))
                              : allowed;
    const double eta =
        done > 0 ? std::min(needed, allowed) * entry.seconds / done : std::numeric_limits<double>::infinity();
    std::string text = fmt::format("{}iteration {:>5}  recurrence {:.3e}", title_.empty() ? "" : title_ + "  ",
                                   entry.iteration, entry.recurrence);
    text += std::isnan(truth_) ? "  true --       " : fmt::format("  true {:.3e}", truth_);
    if (among_many()) {
        const std::chrono::duration<double> elapsed = Clock::now() - began_;
        return text + fmt::format("  rate {:.3f}  elapsed {}", rate, in_seconds(elapsed.count()));
    }
    return text + fmt::format("  rate {:.3f}  elapsed {}  ETA {}", rate, in_seconds(entry.seconds), in_seconds(eta));
}

void Progress::print(const HistoryEntry& entry) {
    if (style_ == Style::terminal) {
        fmt::print(stderr, "\r{}\033[K", line(entry));
        std::fflush(stderr);
        open_ = true;
    } else {
        spdlog::info("{}", line(entry));
        while (next_ <= entry.iteration) next_ *= 2;
    }
    printed_at_ = Clock::now();
    told_ = true;
}

}  // namespace hyperplane
