// SPDX-License-Identifier: BSD-3-Clause
// Starts this program as a new process for one case.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "io/output_guard.hpp"

namespace hyperplane {

/// How a process ended.
struct Ending {
    int exit_code = 0;
    int signal = 0;  ///< signal that ended it, or 0
};

/// A running process. It has a process group of its own, so that Ctrl-C on a terminal does not reach it. When this
/// process dies, it gets SIGTERM, so that it keeps its state.
class Child {
public:
    /// Starts this program with the arguments `words` and, unless `threads` is 0, with OMP_NUM_THREADS = `threads`;
    /// both outputs are appended to `log`. Throws FileError if that file cannot be
    /// written or is not a log, and OutOfMemory if the system starts no process now.
    Child(const std::vector<std::string>& words, int threads, const std::string& log, Overwrite overwrite);
    /// How the process ended; nothing while it runs.
    std::optional<Ending> poll();
    void send(int signal) const;

private:
    pid_t pid_ = -1;
};

}  // namespace hyperplane
