// SPDX-License-Identifier: BSD-3-Clause
// Reads a file in a child process, so that what is wrong with it can harm nothing but that process.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "core/error.hpp"
#include "io/sealed_file.hpp"

namespace hyperplane {
namespace {

constexpr int refused = 1;  // exit status of a child that has written a message

/// Bytes of the file; 0 where that is not known.
rlim_t size_of(const std::string& path) {
    std::error_code unknown;
    const auto size = std::filesystem::file_size(path, unknown);
    return unknown ? 0 : rlim_t(size);
}

void lower_limit(decltype(RLIMIT_CORE) resource, rlim_t most) {
    rlimit limit = {};
    if (getrlimit(resource, &limit) != 0) return;
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > most) limit.rlim_cur = most;
    setrlimit(resource, &limit);
}

/// Room for what a file of that size can hold; a sanitizer maps terabytes for itself.
void limit_memory(rlim_t bytes) {
#ifndef __SANITIZE_ADDRESS__
    long pages = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%ld", &pages) != 1) pages = 0;
        std::fclose(file);
    }
    if (pages > 0) lower_limit(RLIMIT_AS, rlim_t(pages) * rlim_t(sysconf(_SC_PAGESIZE)) + 16 * bytes + (1u << 28));
#else
    (void)bytes;
#endif
}

[[noreturn]] void be_the_child(const std::string& path, const std::function<void()>& read, int to) {
    const rlim_t bytes = size_of(path);
    lower_limit(RLIMIT_CORE, 0);
    lower_limit(RLIMIT_CPU, 10 + bytes / 50'000'000);  // seconds
    limit_memory(bytes);
    const int nowhere = open("/dev/null", O_RDWR);
    for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, stream);
    std::string message;
    try {
        read();
        _exit(0);
    } catch (const FileError& error) {
        message = error.what();
    } catch (const std::exception&) {  // std::bad_alloc, std::length_error
        message = path + ": damaged: it claims more than it can hold";
    }
    if (write(to, message.data(), message.size()) < 0) _exit(refused + 1);
    _exit(refused);
}

std::string read_all(int from) {
    std::string text;
    std::array<char, 4096> part;
    for (ssize_t got; (got = read(from, part.data(), part.size())) != 0;)
        if (got > 0)
            text.append(part.data(), std::size_t(got));
        else if (errno != EINTR)
            break;
    return text;
}

}  // namespace

void try_in_child(const std::string& path, const std::function<void()>& read) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw FileError(path + ": no pipe can be made to the process that is to read it");
    const pid_t child = fork();
    if (child == 0) be_the_child(path, read, ends[1]);
    close(ends[1]);
    const std::string message = child > 0 ? read_all(ends[0]) : "";
    close(ends[0]);
    if (child < 0) throw FileError(path + ": no process can be started to read it in; it has no checksum of 0.2.0");
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    if (WIFEXITED(status) && WEXITSTATUS(status) == refused && !message.empty()) throw FileError(message);
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
        throw FileError(path + ": damaged: reading it does not come to an end");
    throw FileError(path + ": damaged: HDF5 crashes when it reads it");
}

}  // namespace hyperplane
