// SPDX-License-Identifier: BSD-3-Clause
// Where a run begins: at its initial state, or where an earlier run of the same deck stopped.
#pragma once

#include <optional>

#include "apps/run/case.hpp"
#include "io/record.hpp"

namespace hyperplane {

/// What the user asks for.
enum class Restart {
    never,      ///< --fresh
    preempted,  ///< the default: go on from a preempted record
    required,   ///< --restart: from a preempted record or a checkpoint; there must be one
    possible,   ///< from either where there is one, as the cases of a study do
};

/// The state to go on from, the furthest there is; nothing: begin anew. Says on the log where it comes from,
/// and which slots are damaged. Throws UsageError where what is there is of another deck, FileError where the record
/// is none, or where a restart is required and impossible.
std::optional<RecordData> find_beginning(const Case& a_case, Restart restart);

}  // namespace hyperplane
