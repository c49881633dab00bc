// SPDX-License-Identifier: BSD-3-Clause
// The verdict: what came of a run, for a reader or for a script.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "apps/run/case.hpp"
#include "apps/run/expectations.hpp"
#include "io/costs.hpp"

namespace hyperplane {

/// A few lines: problem, method, why it stopped, residuals, errors, time, speed, memory, files.
std::string verdict_text(const Case& a_case, const Outcome& outcome, const Judgement& judgement);
nlohmann::json verdict_json(const Case& a_case, const Outcome& outcome, const Judgement& judgement);

/// "ok", "failed" or "preempted", as a record's status says it.
std::string status_of(ExitCode code);

/// Writes JSON to a file, or to standard output where `path` is `-`. Throws FileError.
void write_json(const std::string& path, nlohmann::json json, Overwrite overwrite);
/// Throws FileError where write_json would for what lies there already.
void guard_json(const std::string& path, Overwrite overwrite);

nlohmann::json to_json(const Timing& timing);
nlohmann::json to_json(const Costs& costs);
nlohmann::json to_json(const std::vector<PartRow>& parts);

/// JSON as text; what is not UTF-8 is replaced, NaN and infinity become null.
std::string to_text(const nlohmann::json& json);

}  // namespace hyperplane
