// SPDX-License-Identifier: BSD-3-Clause
// What `info` says of a record, a checkpoint or a collected study, in a screenful.
#pragma once

#include <string>

#include "io/collected_study.hpp"
#include "io/record.hpp"

namespace hyperplane {

/// The totals of a run: problem, method, how it ended, steps, diagnostics, errors, costs. A checkpoint, which has a
/// state and has not ended, also says where it goes on.
/// Of a profile, lines below 1 % of the whole only with `all`.
std::string info_text(const RecordData& record, bool all);

/// How many cases ended how, and what the done ones cost together; with `all` a line for each case, otherwise the
/// fastest and the slowest.
std::string info_text(const CollectedStudy& study, bool all);

}  // namespace hyperplane
