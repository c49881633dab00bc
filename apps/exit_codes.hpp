// SPDX-License-Identifier: BSD-3-Clause
// What the program returns to its shell, in words.
#pragma once

#include <string>
#include <vector>

#include "core/error.hpp"

namespace hyperplane {

struct ExitCodeRow {
    ExitCode code;
    std::string meaning;  ///< a phrase
    std::string advice;   ///< what to do about it, a phrase; empty for ok
};

const std::vector<ExitCodeRow>& exit_codes();

}  // namespace hyperplane
