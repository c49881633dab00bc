// SPDX-License-Identifier: BSD-3-Clause
#include "apps/study/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "apps/base/signals.hpp"
#include "core/error.hpp"

namespace hyperplane {

namespace {

/// Opens the log of a case for appending. With --force a file that is not a log is replaced.
int open_log(const std::string& name, Overwrite overwrite) {
    constexpr std::string_view heading = "hyperplane log\n";
    const std::string path = resolve_links(name);
    guard_output(path, name, FileKind::log, overwrite);
    const int fresh = is_own(path, FileKind::log) ? 0 : O_TRUNC;
    const int fd = open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | fresh, 0666);
    struct stat file;
    if (fd < 0 || fstat(fd, &file) != 0)
        throw FileError(fmt::format("{}: cannot be written: {}", name, std::strerror(errno)));
    if (file.st_size == 0 && write(fd, heading.data(), heading.size()) != ssize_t(heading.size())) {
        const int error = errno;
        close(fd);
        throw FileError(fmt::format("{}: cannot be written: {}", name, std::strerror(error)));
    }
    return fd;
}

}  // namespace

Child::Child(const std::vector<std::string>& words, int threads, const std::string& log, Overwrite overwrite) {
    // All memory is allocated before fork; the child makes system calls only.
    std::vector<std::string> environment;
    for (char** variable = environ; *variable; ++variable)
        if (threads == 0 || std::strncmp(*variable, "OMP_NUM_THREADS=", 16) != 0) environment.push_back(*variable);
    if (threads > 0) environment.push_back(fmt::format("OMP_NUM_THREADS={}", threads));
    std::vector<char*> arguments, variables;
    static char program[] = "hyperplane";
    arguments.push_back(program);
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    for (std::string& variable : environment) variables.push_back(variable.data());
    variables.push_back(nullptr);
    const int output = open_log(log, overwrite);

    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ == 0) {
        hold_stop_signals();  // until the program can keep its state
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent) _exit(1);  // the parent died before prctl
        dup2(output, STDOUT_FILENO);
        dup2(output, STDERR_FILENO);
        execve("/proc/self/exe", arguments.data(), variables.data());
        _exit(127);
    }
    const int error = errno;
    close(output);
    if (pid_ < 0)
        throw OutOfMemory(fmt::format(
            "cannot start a process: {}; end other programs, or allow more memory and processes (ulimit -a)",
            std::strerror(error)));
}

std::optional<Ending> Child::poll() {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
    if (WIFSIGNALED(status)) return Ending{0, WTERMSIG(status)};
    return Ending{WEXITSTATUS(status), 0};
}

void Child::send(int signal) const {
    kill(pid_, signal);
}

}  // namespace hyperplane
