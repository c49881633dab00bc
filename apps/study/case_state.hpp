// SPDX-License-Identifier: BSD-3-Clause
// How far a case is, decided by what its record holds, never by a file being there.
#pragma once

#include <optional>
#include <string>

#include "apps/study/study.hpp"
#include "io/record.hpp"

namespace hyperplane {

enum class CaseStatus {
    done,       ///< a whole record of this very deck, status ok
    failed,     ///< the same, status failed
    running,    ///< a process holds its lock
    preempted,  ///< stopped by a signal, with its state kept
    killed,     ///< begun, but its process is gone
    waiting,    ///< not begun
    edited,     ///< its record is of another deck: the study was edited since
    damaged,    ///< what has the record's name is no record
    refused,    ///< its deck is wrong
};

std::string to_string(CaseStatus status);

struct CaseState {
    CaseStatus status = CaseStatus::waiting;
    std::string detail;                ///< why, or what differs; may be empty
    std::optional<RecordData> record;  ///< where it is done or failed
    bool has_result() const { return record.has_value(); }
    /// A failure that another attempt may not meet: memory, files, device, an error of the program.
    bool may_pass_next_time() const;
};

/// `locked`: this process itself holds the case's lock.
CaseState look_at(const StudyCase& a_case, bool locked = false);

}  // namespace hyperplane
