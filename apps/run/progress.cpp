// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "apps/base/log.hpp"

namespace hyperplane {
namespace {

constexpr auto terminal_interval = std::chrono::milliseconds(100);
constexpr std::chrono::steady_clock::duration line_interval = std::chrono::seconds(10);
constexpr std::chrono::steady_clock::duration least_interval = std::chrono::seconds(1);

/// The most characters of a line that a terminal shows in one row with the cursor behind it.
std::size_t columns_of_stderr() {
    winsize size{};
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known ? std::size_t(size.ws_col) - 1 : std::string::npos;
}

/// The interval between lines when many solves have taken this long.
std::chrono::steady_clock::duration calm_interval(std::chrono::steady_clock::duration elapsed) {
    return std::clamp<std::chrono::steady_clock::duration>(elapsed / 20, least_interval, std::chrono::minutes(1));
}

}  // namespace

double March::share_before() const {
    if (steps) return double(step - 1) / double(*steps);
    return std::isfinite(end_time) && end_time > 0.0 ? (time - dt) / end_time : 0.0;
}

std::string duration_text(double seconds) {
    if (!(seconds < 100.0 * 3600.0)) return "--";
    if (seconds < 60.0) return fmt::format("{:.1f} s", seconds);
    const int whole = int(seconds);
    return whole < 3600 ? fmt::format("{}:{:02} min", whole / 60, whole % 60)
                        : fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

std::string line_of(std::vector<Figure> figures, std::size_t columns) {
    const auto joined = [&] {
        std::string text;
        for (const Figure& figure : figures) text += (text.empty() ? "" : "  ") + figure.text;
        return text;
    };
    const auto later = [](const Figure& a, const Figure& b) { return a.rank < b.rank; };
    while (figures.size() > 1 && joined().size() > columns)
        figures.erase(std::max_element(figures.begin(), figures.end(), later));
    return joined().substr(0, columns);
}

Progress::Style Progress::style_for_stderr(bool quiet) {
    if (quiet) return Style::none;
    return isatty(STDERR_FILENO) ? Style::terminal : Style::lines;
}

void Progress::begin(const March& march, double rtol) {
    const bool new_step = march.step != march_.step;
    if (begun_ && new_step && Clock::now() - line_began_ >= least_interval) end_line();
    if (!begun_) share_at_begin_ = march.share_before();
    if (new_step || march.attempt != march_.attempt) step_iterations_ = 0;
    begun_ = true;
    ended_ = false;
    march_ = march;
    criteria_.rtol = rtol;
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
    ended_ = true;
    step_iterations_ += last_.iteration;
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

std::vector<Figure> Progress::figures(const HistoryEntry& entry) const {
    return among_many() ? march_figures(entry) : solve_figures(entry);
}

/// With rate = (r_k / r_0)^(1/k), the remaining time is that of the iterations needed at this rate, at most those
/// allowed.
std::vector<Figure> Progress::solve_figures(const HistoryEntry& entry) const {
    const double done = double(entry.iteration - first_.iteration);
    const double rate = done > 0 ? std::pow(entry.recurrence / first_.recurrence, 1.0 / done) : 1.0;
    const double allowed = double(criteria_.max_iterations - entry.iteration);
    const double needed = rate < 1.0 && criteria_.rtol > 0.0
                              ? std::max(0.0, std::log(criteria_.rtol / entry.recurrence) / std::log(rate))
                              : allowed;
    const double eta =
        done > 0 ? std::min(needed, allowed) * entry.seconds / done : std::numeric_limits<double>::infinity();
    return {{0, fmt::format("iteration {:>5}", entry.iteration)},
            {1, fmt::format("recurrence {:.3e}", entry.recurrence)},
            {3, std::isnan(truth_) ? "true --       " : fmt::format("true {:.3e}", truth_)},
            {4, fmt::format("rate {:.3f}", rate)},
            {5, "elapsed " + duration_text(entry.seconds)},
            {2, "ETA " + duration_text(eta)}};
}

std::vector<Figure> Progress::march_figures(const HistoryEntry& entry) const {
    std::vector<Figure> all;
    if (march_.many_steps()) {
        const std::string of =
            march_.steps ? fmt::format(" of {}{}", march_.at_most ? "at most " : "", *march_.steps) : "";
        all.push_back({0, fmt::format("step {}{}", march_.step, of)});
        all.push_back(
            {1, std::isnan(march_.cfl) ? fmt::format("t {:.4g}", march_.time) : fmt::format("CFL {:.4g}", march_.cfl)});
        all.push_back({7, fmt::format("dt {:.3g}", march_.dt)});
    }
    if (!std::isnan(march_.to_steady)) all.push_back({3, fmt::format("||F||/||F initial|| {:.1e}", march_.to_steady)});
    if (march_.judged) {
        all.push_back({5, fmt::format("Newton {}", march_.newton)});
        all.push_back(
            {4, fmt::format("||F||/||F0|| {:.1e}", march_.first_norm > 0.0 ? march_.norm / march_.first_norm : 0.0)});
    }
    const std::chrono::duration<double> elapsed = Clock::now() - began_;
    all.push_back({6, fmt::format("iterations {:>3}", step_iterations_ + (ended_ ? 0 : entry.iteration))});
    all.push_back({8, fmt::format("residual {:.1e}", entry.recurrence)});
    all.push_back({9, "elapsed " + duration_text(elapsed.count())});
    if (march_.many_steps())
        all.push_back(
            {2, fmt::format("ETA {}{}", march_.at_most ? "at most " : "", duration_text(march_eta(elapsed.count())))});
    return all;
}

double Progress::march_eta(double elapsed) const {
    March here = march_;
    if (march_.linear && ended_) ++here.step, here.time += here.dt;
    const double done = here.share_before() - share_at_begin_, left = 1.0 - here.share_before();
    return done > 0.0 ? elapsed * std::max(0.0, left) / done : std::numeric_limits<double>::infinity();
}

void Progress::print(const HistoryEntry& entry) {
    if (style_ == Style::terminal) {
        fmt::print(stderr, "\r{}\033[K", line_of(figures(entry), columns_of_stderr()));
        std::fflush(stderr);
        open_ = true;
    } else {
        logging::info("{}", line_of(figures(entry)));
        while (next_ <= entry.iteration) next_ *= 2;
    }
    printed_at_ = Clock::now();
    told_ = true;
}

}  // namespace hyperplane
