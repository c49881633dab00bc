// SPDX-License-Identifier: BSD-3-Clause
// Which cases of a study still have to be computed.
#pragma once

#include <vector>

#include "apps/output_lock.hpp"
#include "apps/study/case_state.hpp"

namespace hyperplane {

/// The lock that one launcher of a study holds at a time.
OutputLock::Request launcher_lock(const Study& study, const Invocation& invocation);

struct PendingRules {
    bool failed = false;  ///< all failed cases again
    bool retry = false;   ///< failed cases again whose failure may not repeat
    bool edited = false;  ///< cases whose records are of an earlier version of the study again
};

struct Pending {
    std::vector<const StudyCase*> cases;
    std::vector<bool> replaces;  ///< a record that must not be gone on from
    int done = 0, failed = 0, running = 0;
};

/// Throws UsageError where records are of an earlier version of the study and `edited` does not allow to replace them.
Pending find_pending(const Study& study, PendingRules rules);

/// Moves the record of a case that is computed again to NAME.before.h5 and removes its checkpoints. Throws FileError.
void set_aside(const StudyCase& a_case, Overwrite overwrite);

}  // namespace hyperplane
