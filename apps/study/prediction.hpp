// SPDX-License-Identifier: BSD-3-Clause
// What a case of a study will need, known before it runs.
#pragma once

#include <limits>
#include <string>

#include "apps/study/study.hpp"

namespace hyperplane {

struct Prediction {
    Index bytes = -1;    ///< -1: not known; the largest number: more than this machine has
    std::string error;   ///< why the case is refused: a contradiction that only shows when its parts are made
    std::string unsure;  ///< why the memory is not known, e.g. a device that this machine has not
    bool known() const { return bytes >= 0 && bytes < std::numeric_limits<Index>::max(); }
    bool fits(Index room) const { return bytes >= 0 && bytes <= room; }
};

/// Makes the components of the case, as `check` does, and gives them back. The case's own error is passed on.
Prediction predict(const StudyCase& a_case);

/// Memory a case may take here: what is left, or its device.memory_limit.
Index room_for(const StudyCase& a_case);

/// Throws one UsageError with the first few refused cases, each with its reason, where there are any.
void refuse_wrong(const std::vector<const StudyCase*>& cases, const std::vector<Prediction>& predictions);

}  // namespace hyperplane
