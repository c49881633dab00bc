// SPDX-License-Identifier: BSD-3-Clause
// The state of a case, which is decided by the contents of its record, not by the existence of a file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/study/study.hpp"
#include "io/record.hpp"

namespace hyperplane {

enum class CaseStatus {
    done,       ///< there is a whole record of the same deck with status ok
    failed,     ///< there is a whole record of the same deck with status failed
    running,    ///< a process holds the case's lock
    preempted,  ///< stopped by a signal, and its state is kept
    killed,     ///< begun, but its process does not exist any more
    unwritten,  ///< its process ended with an error, but could not write that, or anything else, into the record
    waiting,    ///< not begun
    edited,     ///< its record is of another deck, because the study was edited
    damaged,    ///< the file with the record's name is not a record
    refused,    ///< its deck is wrong
};

std::string to_string(CaseStatus status);

struct CaseState {
    CaseStatus status = CaseStatus::waiting;
    std::string detail;                ///< the reason, or what differs; may be empty
    std::optional<RecordData> record;  ///< if it is done or has failed
    bool has_result() const { return record.has_value(); }
    /// Whether the failure may not occur in another attempt: memory, files, device, an error of the program.
    bool may_pass_next_time() const;
};

/// ", 2 failed, 1 waiting": how many cases are in each state other than done.
std::string other_states(const std::map<CaseStatus, int>& counts);

/// The state of a case. `locked`: this process holds the case's lock.
CaseState look_at(const StudyCase& a_case, bool locked = false);

/// The newest lines of a case's log, which have at most 4096 bytes; the first one may lack its beginning.
std::vector<std::string> newest_lines(const StudyCase& a_case);

/// Throws UsageError if the study's folder holds records of another study, so that the two would share a collection.
/// A deck that was renamed is the same study: the one that its records name does not exist any more.
void refuse_other_study(const Study& study);

}  // namespace hyperplane
