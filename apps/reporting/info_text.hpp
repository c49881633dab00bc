// SPDX-License-Identifier: BSD-3-Clause
// The text that `info` prints of a record, a checkpoint or a collected study: a screenful.
#pragma once

#include <string>

#include "io/collected_study.hpp"
#include "io/record.hpp"

namespace hyperplane {

/// The text has the totals of a run: problem, method, how it ended, steps, diagnostics, errors, costs. A checkpoint,
/// which has a state and has not ended, also says where it goes on. A profile's lines below 1 % of the whole need
/// `all`.
std::string info_text(const RecordData& record, bool all);

/// The text says how many cases ended how, and what the done ones cost together. With `all` it has a line for each
/// case, otherwise for the fastest and the slowest.
std::string info_text(const CollectedStudy& study, bool all);

}  // namespace hyperplane
