// SPDX-License-Identifier: BSD-3-Clause
// A comparison as text.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "io/comparison.hpp"

namespace hyperplane {

/// What all candidates share, the table, and why candidates failed. The best row is marked with a star and, with
/// `bold`, printed in bold. `all` = false leaves out slow candidates and reasons where they do not fit a screen, and
/// says so.
std::string comparison_text(const ComparisonData& comparison, bool bold, bool all = true);
nlohmann::json comparison_json(const ComparisonData& comparison);

/// Whether a candidate got as far as the linear system, so that its fingerprints are known.
bool has_system(const ComparisonData& comparison);

/// From how many solves with one set-up on candidate `at` takes less time than the baseline, with reading, ordering and
/// set-up; none if that never happens or one of them did not converge.
std::optional<Index> solves_to_pay_off(const ComparisonData& comparison, std::size_t at);

/// Recommends a candidate and gives the evidence: how much faster than the next it is, whether that is more than the
/// spread of the turns, and its memory.
std::string recommend(const ComparisonData& comparison);

}  // namespace hyperplane
