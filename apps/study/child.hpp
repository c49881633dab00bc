// SPDX-License-Identifier: BSD-3-Clause
// This program started again for one case, as a process of its own.
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
    int signal = 0;  ///< that ended it; 0: none
};

/// A running process in a process group of its own, which a terminal's Ctrl-C does not reach. It gets SIGTERM when this
/// process dies, and so keeps its state.
class Child {
public:
    /// Starts this program with `words` and OMP_NUM_THREADS = `threads` unless that is 0; both outputs are appended to
    /// `log`. Throws FileError, also where that file is another one's.
    Child(const std::vector<std::string>& words, int threads, const std::string& log, Overwrite overwrite);
    /// How it ended; nothing while it runs.
    std::optional<Ending> poll();
    void send(int signal) const;

private:
    pid_t pid_ = -1;
};

}  // namespace hyperplane
