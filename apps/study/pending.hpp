// SPDX-License-Identifier: BSD-3-Clause
// Finds the cases of a study that have to be computed.
#pragma once

#include <string>
#include <vector>

#include "apps/base/output_lock.hpp"
#include "apps/study/case_state.hpp"

namespace hyperplane {

/// The lock that lets only one launcher of a study run at a time.
OutputLock::Request launcher_lock(const Study& study, const Invocation& invocation);

struct PendingRules {
    bool failed = false;  ///< compute all failed cases again
    bool retry = false;   ///< compute failed cases again whose failure may not repeat
    bool edited = false;  ///< compute cases again whose records are of an earlier version of the study
    bool logs = false;    ///< a process is started for each case, which writes the case's log
    Overwrite overwrite = Overwrite::own;
};

struct Pending {
    std::vector<const StudyCase*> cases;
    std::vector<bool> replaces;  ///< for each: its record must be replaced, not continued
    int done = 0, failed = 0, running = 0;
    int left_out = 0;  ///< cases whose record must be replaced, but that a file of somebody else is in the way of
};

/// Throws UsageError if records are of an earlier version of the study and `edited` does not allow to replace them, or
/// as refuse_other_study does. Logs an error for each case that is left out.
Pending find_pending(const Study& study, PendingRules rules);

/// Moves the record of a case that is computed again to NAME.before.h5 or, if it is damaged, to NAME.damaged.h5, and
/// removes its checkpoints. Does nothing if another process has begun or ended the case in the meantime. Returns what
/// to tell the user; empty if nothing. Throws FileError if the file is no record of this program, or if a file with the
/// other name may not be replaced.
std::string set_aside(const StudyCase& a_case, Overwrite overwrite);

}  // namespace hyperplane
