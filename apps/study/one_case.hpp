// SPDX-License-Identifier: BSD-3-Clause
// One case of a study in this process: run STUDY --case CASE.
#pragma once

#include <memory>
#include <optional>

#include "apps/base/invocation.hpp"
#include "apps/base/output_lock.hpp"
#include "apps/study/study.hpp"

namespace hyperplane {

struct OneCase {
    std::string study, name;
    std::optional<int> ended;          ///< the exit code of its record, if there is nothing left to do
    std::unique_ptr<RecordLock> lock;  ///< held while the case runs; none if it has ended
    Deck deck;
};

/// The case that --case names by hash, name or number. Throws UsageError if there is no such case, or its deck is
/// wrong.
StudyCase find_case(const Invocation& invocation);

/// Takes the case that --case names by hash, name or number: creates its folder and its lock. Throws UsageError if
/// there is no such case, or its record is of an earlier version of the study, and LockedError if another process runs
/// it and --wait is not given. With --fresh an existing record is not continued.
OneCase take_case(const Invocation& invocation);

}  // namespace hyperplane
