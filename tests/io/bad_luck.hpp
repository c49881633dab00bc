// SPDX-License-Identifier: BSD-3-Clause
// Runs a piece of code in a child process, where a disk may be full and a signal may end it.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>

#include "core/error.hpp"

namespace hyperplane {

/// The message of the error with which `body` ends in a child process whose files may not grow beyond `bytes`; "no
/// error" if it throws none, "died" if the child dies.
inline std::string error_with_full_disk(rlim_t bytes, const std::function<void()>& body) {
    int ends[2];
    if (pipe(ends) != 0) return "no pipe";
    const pid_t child = fork();
    if (child == 0) {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{bytes, bytes};
        setrlimit(RLIMIT_FSIZE, &limit);
        std::string message = "no error";
        try {
            body();
        } catch (const FileError& error) {
            message = error.what();
        }
        const bool told = write(ends[1], message.data(), message.size()) == ssize_t(message.size());
        std::_Exit(told ? 0 : 1);
    }
    close(ends[1]);
    std::string message;
    char buffer[4096];
    for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;) message.append(buffer, std::size_t(got));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? message : "died";
}

}  // namespace hyperplane
