// SPDX-License-Identifier: BSD-3-Clause
#include "apps/base/process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "core/error.hpp"

namespace hyperplane {
namespace {

/// Starts a program, whose outputs both go to `output` unless that is negative. Returns its pid, or -1 if it cannot be
/// started.
pid_t spawn(const std::vector<std::string>& words, int output) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (int stream : {STDOUT_FILENO, STDERR_FILENO})
        if (output >= 0) posix_spawn_file_actions_adddup2(&actions, output, stream);
    posix_spawnattr_t attributes;  // signals that this program blocks are not blocked in the other one
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t child = -1;
    const int failed = posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed ? -1 : child;
}

int wait_for(pid_t child) {
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return 127;
    if (child < 0) return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace

int run_program(const std::vector<std::string>& words) {
    return wait_for(spawn(words, -1));
}

Finished capture(const std::vector<std::string>& words) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw FileError("no pipe can be made to " + words[0]);
    const pid_t child = spawn(words, ends[1]);
    close(ends[1]);
    std::string printed;
    std::array<char, 4096> part;
    for (ssize_t got; child > 0 && (got = read(ends[0], part.data(), part.size())) != 0;)
        if (got > 0)
            printed.append(part.data(), std::size_t(got));
        else if (errno != EINTR)
            break;
    close(ends[0]);
    const int status = wait_for(child);
    while (!printed.empty() && printed.back() == '\n') printed.pop_back();
    return {status, printed};
}

}  // namespace hyperplane
