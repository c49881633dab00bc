#include "apps/progress.hpp"

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
constexpr auto line_interval = std::chrono::seconds(10);
constexpr auto solve_interval = std::chrono::seconds(1);  // between the lines of many solves

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

void Progress::begin(const std::string& title, double rtol) {
    criteria_.rtol = rtol;
    title_ = title;
    any_ = false;
    next_ = 1;
    truth_ = std::numeric_limits<double>::quiet_NaN();
    if (title.empty() || !told_) printed_at_ = Clock::now();
}

void Progress::show(const HistoryEntry& entry) {
    if (style_ == Style::none) return;
    if (!any_) first_ = entry;
    if (!std::isnan(entry.truth)) truth_ = entry.truth;
    last_ = entry;
    const auto since = Clock::now() - printed_at_;
    const bool among_many = !title_.empty();
    const bool due = style_ == Style::terminal ? (!any_ && !among_many) || since >= terminal_interval
                     : among_many              ? since >= line_interval
                                               : !any_ || entry.iteration >= next_ || since >= line_interval;
    any_ = true;
    if (due) print(entry);
}

void Progress::end(double truth) {
    if (style_ == Style::none || !any_) return;
    truth_ = truth;
    const bool among_many = !title_.empty() && style_ == Style::lines;
    if (among_many && told_ && Clock::now() - printed_at_ < solve_interval) return;
    print(last_);
    if (style_ == Style::terminal) std::fputc('\n', stderr);
}

/// rate = (r_k / r_0)^(1/k); ETA: iterations left at that rate, at most those allowed.
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
    return text + fmt::format("  rate {:.3f}  elapsed {}  ETA {}", rate, in_seconds(entry.seconds), in_seconds(eta));
}

void Progress::print(const HistoryEntry& entry) {
    if (style_ == Style::terminal) {
        fmt::print(stderr, "\r{}\033[K", line(entry));
        std::fflush(stderr);
    } else {
        spdlog::info("{}", line(entry));
        while (next_ <= entry.iteration) next_ *= 2;
    }
    printed_at_ = Clock::now();
    told_ = true;
}

}  // namespace hyperplane
