// SPDX-License-Identifier: BSD-3-Clause
#include "core/timer.hpp"

#include <algorithm>

namespace hyperplane {

Timing timing_of(std::vector<double> seconds) {
    if (seconds.empty()) return {};
    std::sort(seconds.begin(), seconds.end());
    return {seconds[seconds.size() / 2], seconds.front(), seconds.back()};
}

void TimerTree::add(const std::string& name, double seconds, Index bytes) {
    auto at = std::find_if(rows_.begin(), rows_.end(), [&](const TimerRow& row) { return row.name == name; });
    if (at == rows_.end()) at = rows_.insert(rows_.end(), TimerRow{name});
    at->seconds += seconds;
    at->calls += 1;
    at->bytes += bytes;
}

double TimerTree::seconds(const std::string& name) const {
    for (const TimerRow& row : rows_)
        if (row.name == name) return row.seconds;
    return 0.0;
}

}  // namespace hyperplane
