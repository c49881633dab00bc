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

struct Invocation;

/// A few lines: problem, method, why it stopped, residuals, errors, time, speed, memory, files.
std::string verdict_text(const Case& a_case, const Outcome& outcome, const Judgement& judgement);
nlohmann::json verdict_json(const Case& a_case, const Outcome& outcome, const Judgement& judgement);

/// The different warnings of the set-ups for these solves, in their order.
std::vector<std::string> setup_warnings(const std::vector<SolveRow>& solves);

/// The status in a record: "ok", "failed" or "preempted".
std::string status_of(ExitCode code);

/// Writes JSON to a file, or to standard output if `path` is `-`. Throws FileError.
void write_json(const std::string& path, nlohmann::json json, Overwrite overwrite);
/// Throws FileError if the file of --json, where one is asked for, could not be written.
void guard_json(const Invocation& invocation);

nlohmann::json to_json(const Timing& timing);
nlohmann::json to_json(const PatternStatistics& statistics);
nlohmann::json to_json(const Costs& costs);
nlohmann::json to_json(const std::vector<PartRow>& parts);

/// JSON as text. Bytes that are not UTF-8 are replaced; NaN and infinity become null.
std::string to_text(const nlohmann::json& json);

}  // namespace hyperplane
