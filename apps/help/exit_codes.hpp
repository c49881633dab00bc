// SPDX-License-Identifier: BSD-3-Clause
// The exit codes of the program, in words.
#pragma once

#include <string>
#include <vector>

#include "core/error.hpp"

namespace hyperplane {

struct ExitCodeRow {
    ExitCode code;
    std::string meaning;  ///< a phrase
    std::string advice;   ///< a phrase that says what to do; empty for ok
};

const std::vector<ExitCodeRow>& exit_codes();

}  // namespace hyperplane
