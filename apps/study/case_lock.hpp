// SPDX-License-Identifier: BSD-3-Clause
// One process works on a case at a time: FOLDER/NAME.lock, locked while it runs and removed after it. The kernel
// gives the lock back when the process dies, however it dies.
#pragma once

#include <string>

#include "io/output_guard.hpp"

namespace hyperplane {

class CaseLock {
public:
    /// Throws FileError where another process holds it, or a file that is no lock has its name.
    CaseLock(std::string path, Overwrite overwrite);
    ~CaseLock();
    CaseLock(const CaseLock&) = delete;
    CaseLock& operator=(const CaseLock&) = delete;

    /// Whether a process holds it now.
    static bool is_held(const std::string& path);

private:
    std::string path_;
    int fd_ = -1;
};

}  // namespace hyperplane
