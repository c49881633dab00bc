// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/pay_off.hpp"

#include <algorithm>
#include <cmath>

#include "core/interfaces/problem.hpp"
#include "io/costs.hpp"

namespace hyperplane {

SetupAndSolve costs_with_preparation(const std::vector<TimerRow>& timers, double setup, double solve) {
    for (const TimerRow& timer : timers)
        if (timer.name.starts_with(preparation_timers)) setup += timer.seconds;
    return {setup, solve};
}

SetupAndSolve costs_of_solves(const RecordData& record) {
    const Costs costs = costs_of(record);
    const auto setups = std::ranges::count_if(record.solves, [](auto& solve) { return solve.setup_seconds > 0.0; });
    return costs_with_preparation(record.timers, costs.setup / double(std::max<Index>(1, Index(setups))),
                                  costs.solve / double(std::max<std::size_t>(1, record.solves.size())));
}

std::optional<Index> solves_to_pay_off(const SetupAndSolve& baseline, const SetupAndSolve& candidate) {
    const double gained = baseline.each - candidate.each, spent = candidate.before - baseline.before;
    if (!(gained > 0.0)) return {};
    const double solves = std::floor(spent / gained) + 1.0;
    if (!(solves <= 1e9)) return {};
    return std::max<Index>(1, Index(solves));
}

}  // namespace hyperplane
