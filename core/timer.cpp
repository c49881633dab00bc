// SPDX-License-Identifier: BSD-3-Clause
#include "core/timer.hpp"

#include <algorithm>

namespace hyperplane {

Timing timing_of(std::vector<double> seconds) {
    if (seconds.empty()) return {};
    std::sort(seconds.begin(), seconds.end());
    return {seconds[seconds.size() / 2], seconds.front(), seconds.back()};
}

TimerRow& TimerTree::row(const std::string& name) {
    const auto at = std::find_if(rows_.begin(), rows_.end(), [&](const TimerRow& row) { return row.name == name; });
    return at == rows_.end() ? *rows_.insert(rows_.end(), TimerRow{name}) : *at;
}

void TimerTree::add(const std::string& name, double seconds, Index bytes) {
    TimerRow& found = row(name);
    found.seconds += seconds;
    found.calls += 1;
    found.bytes += bytes;
}

void TimerTree::add(const std::vector<TimerRow>& rows) {
    for (const TimerRow& before : rows) {
        TimerRow& found = row(before.name);
        found.seconds += before.seconds;
        found.calls += before.calls;
        found.bytes += before.bytes;
    }
}

std::vector<TimerRow> TimerTree::rows_so_far() const {
    TimerTree copy;
    copy.rows_ = rows_;
    for (const TimerScope* scope : open_) copy.row(scope->name_).seconds += seconds_since(scope->begin_);
    return copy.rows_;
}

double TimerTree::seconds(const std::string& name) const {
    for (const TimerRow& row : rows_)
        if (row.name == name) return row.seconds;
    return 0.0;
}

}  // namespace hyperplane
