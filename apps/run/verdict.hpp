// SPDX-License-Identifier: BSD-3-Clause
// The verdict: how a run ended and what it cost, for a reader or for a script.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "apps/run/case.hpp"
#include "apps/run/expectations.hpp"
#include "io/costs.hpp"

namespace hyperplane {

/// A few lines: problem, method, why it stopped, residuals, errors, time, speed, memory, files.
std::string verdict_text(const Case& a_case, const Outcome& outcome, const Judgement& judgement);
nlohmann::json verdict_json(const Case& a_case, const Outcome& outcome, const Judgement& judgement);

/// The different warnings of the set-ups for these solves, in their order.
std::vector<std::string> setup_warnings(const std::vector<SolveRow>& solves);

/// The status in a record: "ok", "failed" or "preempted".
std::string status_of(ExitCode code);

nlohmann::json to_json(const Timing& timing);
nlohmann::json to_json(const PatternStatistics& statistics);
nlohmann::json to_json(const Costs& costs);
nlohmann::json to_json(const std::vector<PartRow>& parts);

}  // namespace hyperplane
