// SPDX-License-Identifier: BSD-3-Clause
// Other programs, found in PATH and started without a shell.
#pragma once

#include <string>
#include <vector>

namespace hyperplane {

/// What a program that has ended leaves.
struct Finished {
    int status;           ///< of its exit; 127 where it cannot be started, 128 where a signal ended it
    std::string printed;  ///< on both outputs, without line breaks at the end
};

/// Runs a program with our outputs and waits; its status as above.
int run_program(const std::vector<std::string>& words);
/// The same, keeping what it prints.
Finished capture(const std::vector<std::string>& words);

}  // namespace hyperplane
