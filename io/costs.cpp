// SPDX-License-Identifier: BSD-3-Clause
#include "io/costs.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hyperplane {

std::string Costs::text() const {
    const std::string parts = fmt::format("assembly {:.3g} s, set-up {:.3g} s, solve {:.3g} s", assembly, setup, solve);
    return iterations > 0 ? fmt::format("{}: {:.3g} ms an iteration", parts, 1e3 * per_iteration()) : parts;
}

Costs costs_of(const std::vector<TimerRow>& timers, const std::vector<SolveRow>& solves, Index memory,
               const std::vector<PartRow>& parts) {
    Costs costs{.memory = memory, .parts = std::max<Index>(1, Index(parts.size()))};
    for (const TimerRow& row : timers) {
        if (row.name == "assemble") costs.assembly = row.seconds;
        if (row.name == "compile") costs.compile = row.seconds;
        if (row.name == "setup") costs.setup = row.seconds;
        if (row.name == "solve") costs.solve = row.seconds;
    }
    double setups = 0.0, all = 0.0;
    for (const SolveRow& row : solves) {
        costs.iterations += row.report.iterations;
        setups += row.setup_seconds;
        all += row.solve_seconds;
    }
    costs.setup = std::max(costs.setup, setups);
    costs.solve = std::max(costs.solve, all);
    std::string before;
    for (const PartRow& part : parts) {
        const std::string place = part.host + (part.host.empty() || part.device.empty() ? "" : ", ") + part.device;
        if (place == before) continue;
        costs.places += (costs.places.empty() ? "" : "; then ") + place;
        before = place;
    }
    return costs;
}

Costs costs_of(const RecordData& record) {
    return costs_of(record.timers, record.solves, record.peak_total, record.parts);
}

}  // namespace hyperplane
