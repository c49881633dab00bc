// SPDX-License-Identifier: BSD-3-Clause
// Finds the cases of a study that have to be computed.
#pragma once

#include <vector>

#include "apps/output_lock.hpp"
#include "apps/study/case_state.hpp"

namespace hyperplane {

/// The lock that lets only one launcher of a study run at a time.
OutputLock::Request launcher_lock(const Study& study, const Invocation& invocation);

struct PendingRules {
    bool failed = false;  ///< compute all failed cases again
    bool retry = false;   ///< compute failed cases again whose failure may not repeat
    bool edited = false;  ///< compute cases again whose records are of an earlier version of the study
};

struct Pending {
    std::vector<const StudyCase*> cases;
    std::vector<bool> replaces;  ///< for each: its record must be replaced, not continued
    int done = 0, failed = 0, running = 0;
};

/// Throws UsageError if records are of an earlier version of the study and `edited` does not allow to replace them, or
/// as refuse_other_study does.
Pending find_pending(const Study& study, PendingRules rules);

/// Moves the record of a case that is computed again to NAME.before.h5 and removes its checkpoints. Throws FileError.
void set_aside(const StudyCase& a_case, Overwrite overwrite);

}  // namespace hyperplane
