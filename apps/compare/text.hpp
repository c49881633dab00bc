// SPDX-License-Identifier: BSD-3-Clause
// A comparison for a reader or for a script.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "io/comparison.hpp"

namespace hyperplane {

/// What was fixed, the table, and why candidates failed. The best row is marked with a star, and with `bold`
/// printed so.
std::string comparison_text(const ComparisonData& comparison, bool bold);
nlohmann::json comparison_json(const ComparisonData& comparison);

/// Which candidate to take and the evidence: how much faster than the next, whether that is more than the
/// spread of the turns, what it costs in memory.
std::string recommend(const ComparisonData& comparison);

}  // namespace hyperplane
