// SPDX-License-Identifier: BSD-3-Clause
// Predicts the memory of a study's case before it runs.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "apps/study/study.hpp"

namespace hyperplane {

struct Prediction {
    Index bytes = -1;     ///< -1: unknown; the largest number: more than this machine has
    int sharing = 1;      ///< ranks that hold these bytes together
    bool on_gpu = false;  ///< whether they are bytes of GPUs; what the host holds besides is not predicted
    std::string error;    ///< why the case is refused: a contradiction found when its components are constructed
    /// Why it is not known whether the case fits, for instance a device that this machine does not have.
    std::string unsure;
    bool known() const { return unsure.empty() && bytes >= 0 && bytes < std::numeric_limits<Index>::max(); }
    bool fits(Index room) const { return bytes >= 0 && bytes <= room; }
};

/// Constructs the components of the case, as `check` does, and destroys them. An error in the case's deck is passed on.
Prediction predict(const StudyCase& a_case);
/// Does so for each of these cases, a millisecond each, and says every few seconds how far it is.
std::vector<Prediction> predict(const Study& study, const std::vector<const StudyCase*>& cases);

/// The memory that a case may take here: what is available, or what device.memory_limit allows its ranks together.
Index room_for(const StudyCase& a_case, const Prediction& prediction);

/// Reasons, each once, behind the name of the first case that has it: "cells=8 and 2 more cases:\nREASON". Reasons that
/// are empty are left out.
std::vector<std::string> told_once(const std::vector<std::pair<std::string, std::string>>& names_and_reasons);

/// If there are refused cases, throws one UsageError with the first few of them, each with its reason, and with the
/// line of [sweep] that leaves out the first one.
void refuse_wrong(const Study& study, const std::vector<const StudyCase*>& cases,
                  const std::vector<Prediction>& predictions);

}  // namespace hyperplane
