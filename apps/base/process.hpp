// SPDX-License-Identifier: BSD-3-Clause
// Runs other programs, which are found in PATH and started without a shell.
#pragma once

#include <string>
#include <vector>

namespace hyperplane {

/// The result of a program that has ended.
struct Finished {
    int status;           ///< exit status; 127 if it could not be started, 128 if a signal ended it
    std::string printed;  ///< what it printed on both outputs, without line breaks at the end
};

/// Runs a program with the outputs of this one and waits for it; returns Finished::status.
int run_program(const std::vector<std::string>& words);
/// Runs a program and waits for it, as run_program does, but keeps what it prints from the outputs of this one.
Finished capture(const std::vector<std::string>& words);

}  // namespace hyperplane
