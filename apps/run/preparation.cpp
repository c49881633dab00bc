// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/preparation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/interfaces/problem.hpp"

namespace hyperplane {
namespace {

constexpr double many_iterations = 10.0;
constexpr const char* setup_timer = "setup";

/// "reading 0.1 s, ordering 0.02 s": the rows whose names begin with `prefix`, without it.
std::string times_text(const std::vector<TimerRow>& timers, const std::string& prefix) {
    std::string text;
    for (const TimerRow& row : timers)
        if (row.name.starts_with(prefix))
            text += fmt::format("{}{} {:.3g} s", text.empty() ? "" : ", ", row.name.substr(prefix.size()), row.seconds);
    return text;
}

}  // namespace

void add_parts_of_setup(TimerTree& timers, const SetupReport& setup) {
    if (setup.symbolic_seconds > 0.0) timers.add(symbolic_timer, setup.symbolic_seconds);
    if (setup.numeric_seconds > 0.0) timers.add(numeric_timer, setup.numeric_seconds);
}

std::string preparation_text(const std::vector<TimerRow>& timers) {
    return times_text(timers, preparation_timers);
}

std::string setup_parts_text(const std::vector<TimerRow>& timers) {
    return times_text(timers, std::string(setup_timer) + "/");
}

std::optional<double> preparation_in_iterations(const std::vector<TimerRow>& timers, double seconds_per_iteration) {
    double before = 0.0, setups = 0.0, symbolic = 0.0;
    Index times = 1;
    bool general = false;
    for (const TimerRow& row : timers) {
        if (row.name.starts_with(preparation_timers)) before += row.seconds, general = true;
        if (row.name == setup_timer) setups = row.seconds, times = std::max<Index>(1, row.calls);
        if (row.name == symbolic_timer) symbolic = row.seconds, general = true;
    }
    if (!general || !(seconds_per_iteration > 0.0)) return {};
    symbolic = std::min(symbolic, setups);
    return (before + symbolic + (setups - symbolic) / double(times)) / seconds_per_iteration;
}

std::string triangles_text(const std::string& way) {
    return way == "levels"      ? "solved by levels"
           : way == "sync_free" ? "solved synchronisation-free, a row waits for those that it depends on"
                                : "solved in the order of rows, by one thread";
}

std::string long_preparation_text(const std::vector<TimerRow>& timers, double seconds_per_iteration) {
    const std::optional<double> iterations = preparation_in_iterations(timers, seconds_per_iteration);
    if (!iterations || *iterations <= many_iterations) return "";
    std::string setup = setup_parts_text(timers);
    if (!setup.empty()) setup = fmt::format(" ({})", setup);
    std::string parts;
    const std::string prefix = preparation_timers;
    for (const TimerRow& row : timers)
        if (row.name.starts_with(prefix)) parts += (parts.empty() ? "" : ", ") + row.name.substr(prefix.size());
    return fmt::format("{}{}set-up{} took as long as {:.0f} iterations", parts, parts.empty() ? "" : " and ", setup,
                       *iterations);
}

}  // namespace hyperplane
