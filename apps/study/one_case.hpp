// SPDX-License-Identifier: BSD-3-Clause
// One case of a study in this process: run STUDY --case CASE.
#pragma once

#include <memory>
#include <optional>

#include "apps/command_line.hpp"
#include "apps/output_lock.hpp"
#include "apps/study/study.hpp"

namespace hyperplane {

struct OneCase {
    std::string study, name;
    std::optional<int> ended;          ///< the exit code of its record, where there is nothing left to do
    std::unique_ptr<OutputLock> lock;  ///< held while the case runs; none where it has ended
    Deck deck;
};

/// The case that --case names by hash, name or number, with its folder made and its lock held. Throws UsageError where
/// there is none or its record is of an earlier version of the study, LockedError where another process runs it and
/// --wait is not given; --fresh starts over whatever there is.
OneCase take_case(const Invocation& invocation);

}  // namespace hyperplane
