// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/part_times.hpp"

#include <fmt/format.h>

namespace hyperplane {
namespace {

constexpr const char* application_timer = "solve/preconditioner";

}  // namespace

void add_part_times(TimerTree& timers, Preconditioner& preconditioner) {
    std::vector<TimerRow> rows = preconditioner.take_part_times();
    for (TimerRow& row : rows) row.name = fmt::format("{}/{}", application_timer, row.name);
    timers.add(rows);
}

std::string part_times_text(const std::vector<TimerRow>& timers) {
    double seconds = 0.0;
    for (const TimerRow& row : timers)
        if (row.name == application_timer) seconds = row.seconds;
    if (seconds == 0.0) return "";
    std::string text;
    const std::string prefix = std::string(application_timer) + "/";
    for (const TimerRow& row : timers)
        if (row.name.starts_with(prefix))
            text += fmt::format("{}{}: {:.1f} %", text.empty() ? "" : "; ", row.name.substr(prefix.size()),
                                100.0 * row.seconds / seconds);
    return text.empty() ? "" : fmt::format("{} of {:.3g} s", text, seconds);
}

}  // namespace hyperplane
