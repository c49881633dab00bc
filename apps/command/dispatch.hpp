// SPDX-License-Identifier: BSD-3-Clause
// A command line of the program, from its words to its exit code.
#pragma once

#include <string>
#include <vector>

namespace hyperplane {

/// Does what `hyperplane WORDS...` is asked for, and returns its exit code (core/error.hpp). Results go to stdout, the
/// log to stderr. Signals that stop a run must be held before (hold_stop_signals). Tests on GPUs call it again and
/// again in one process (tests/apps/in_one_process.cpp); what a call sets in the log or for signals does not reach the
/// next one.
int run_command_line(const std::vector<std::string>& words);

}  // namespace hyperplane
