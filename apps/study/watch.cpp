// SPDX-License-Identifier: BSD-3-Clause
#include "apps/study/watch.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "apps/run/progress.hpp"
#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/timer.hpp"
#include "io/costs.hpp"

namespace hyperplane {
namespace {

struct Window {
    int width = 80, height = 24;
};

Window window_of(int fd) {
    winsize size{};
    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
    return {size.ws_col, size.ws_row};
}

/// The first `width` bytes, of which no character of several bytes is cut.
std::string cut(std::string text, int width) {
    if (int(text.size()) <= width) return text;
    std::size_t end = std::size_t(std::max(0, width));
    while (end > 0 && (text[end] & 0xC0) == 0x80) --end;
    return text.substr(0, end);
}

/// The order of the lines: what a reader looks for first.
int rank_of(CaseStatus status) {
    switch (status) {
        case CaseStatus::running: return 0;
        case CaseStatus::failed:
        case CaseStatus::killed:
        case CaseStatus::unwritten:
        case CaseStatus::damaged:
        case CaseStatus::edited:
        case CaseStatus::refused: return 1;
        case CaseStatus::preempted: return 2;
        case CaseStatus::done: return 3;
        case CaseStatus::waiting: return 4;
    }
    return 5;
}

}  // namespace

std::string newest_progress(const StudyCase& a_case) {
    std::string newest;
    constexpr std::string_view begin = "info: ";
    for (const std::string& line : newest_lines(a_case))
        if (line.starts_with(begin) && line.find("elapsed ") != line.npos) newest = line.substr(begin.size());
    return newest;
}

StudyWatch::StudyWatch(const Study& study, int fd) : study_(study), fd_(fd), rows_(study.cases.size()) {
    if (!isatty(fd))
        throw UsageError("--watch redraws a table on a terminal, and there is none; study status prints it once");
}

void StudyWatch::look(const StudyCase& a_case, Row& row) const {
    std::error_code none;
    const auto written = std::filesystem::last_write_time(a_case.record, none);
    if (row.ended && !none && written == row.written) return;
    const CaseState state = look_at(a_case);
    row = {.status = state.status, .progress = state.detail, .seconds = 0.0, .written = written, .ended = false};
    if (state.status == CaseStatus::running)
        if (const std::string progress = newest_progress(a_case); !progress.empty()) row.progress = progress;
    if (!state.record) return;
    row.ended = true;
    for (const PartRow& part : state.record->parts) row.seconds += std::isfinite(part.seconds) ? part.seconds : 0.0;
    if (state.status == CaseStatus::done)
        row.progress = fmt::format("{} in {}", counted(costs_of(*state.record).iterations, "iteration"),
                                   duration_text(row.seconds));
}

std::string StudyWatch::line(const StudyCase& a_case, const Row& row, int width) const {
    const std::string progress = row.progress.substr(0, row.progress.find('\n'));
    return cut(fmt::format("{:>5}  {:<9}  {:<32}  {}", a_case.number, to_string(row.status), a_case.name, progress),
               width);
}

std::string StudyWatch::summary() const {
    std::map<CaseStatus, int> counts;
    double seconds = 0.0;
    int ended = 0;
    for (const Row& row : rows_) {
        ++counts[row.status];
        if (row.ended) seconds += row.seconds, ++ended;
    }
    std::string text = fmt::format("{}: {} of {} cases done{}  watched {}", study_.name, done_, rows_.size(),
                                   other_states(counts), duration_text(seconds_since(begin_)));
    if (left_ == 0) return text;
    const double at_once = std::max(1, counts[CaseStatus::running]);
    return text + "  ETA " + (ended == 0 ? "--" : duration_text(seconds / ended * left_ / at_once));
}

void StudyWatch::draw() {
    left_ = done_ = 0;
    for (std::size_t at = 0; at < rows_.size(); ++at) {
        look(study_.cases[at], rows_[at]);
        const CaseStatus status = rows_[at].status;
        done_ += status == CaseStatus::done;
        left_ += status == CaseStatus::running || status == CaseStatus::waiting || status == CaseStatus::preempted ||
                 status == CaseStatus::killed || status == CaseStatus::unwritten;
    }
    std::vector<std::size_t> order(rows_.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return rank_of(rows_[a].status) < rank_of(rows_[b].status); });
    const Window window = window_of(fd_);
    const std::size_t room = std::size_t(std::max(1, window.height - 4));
    const bool all = order.size() <= room;
    if (!all) order.resize(room);
    std::sort(order.begin(), order.end());
    std::string text = lines_ > 0 ? fmt::format("\033[{}A\r\033[J", lines_) : "";
    text += cut(fmt::format("{:>5}  {:<9}  {:<32}  {}", "case", "state", "name", "progress"), window.width) + "\n";
    for (std::size_t at : order) text += line(study_.cases[at], rows_[at], window.width) + "\n";
    if (!all) text += fmt::format("       and {} more\n", rows_.size() - order.size());
    text += cut(summary(), window.width) + "\n";
    lines_ = int(order.size()) + (all ? 2 : 3);
    for (std::string_view rest = text; !rest.empty();) {
        const ssize_t written = write(fd_, rest.data(), rest.size());
        if (written <= 0) return;
        rest.remove_prefix(std::size_t(written));
    }
}

}  // namespace hyperplane
