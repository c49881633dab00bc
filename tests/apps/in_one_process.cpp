// SPDX-License-Identifier: BSD-3-Clause
// Runs command lines of the program one after the other in one process, for tests on a GPU (tests/apps/one_process.py):
// to begin there takes a second, and several beside other processes, a small case some milliseconds.
//
// A line of stdin asks for one, {"folder": ..., "words": [...], "stdout": ..., "stderr": ...} with the files for what
// it prints; its exit code is answered in a line of the stdout with which this process began.

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "apps/base/signals.hpp"
#include "apps/command/dispatch.hpp"

namespace {

[[noreturn]] void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

/// What is written to `stream` goes into the file from now on.
void direct(int stream, const std::string& file) {
    const int opened = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (opened < 0 || dup2(opened, stream) < 0) fail(file);
    close(opened);
}

/// Answers requests until there are no more.
void serve() {
    const int answers = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (answers < 0) fail("stdout");
    std::string line;
    while (std::getline(std::cin, line)) {
        const auto asked = nlohmann::json::parse(line);
        const auto folder = asked.at("folder").get<std::string>();
        if (chdir(folder.c_str()) != 0) fail(folder);
        direct(STDOUT_FILENO, asked.at("stdout"));
        direct(STDERR_FILENO, asked.at("stderr"));
        const int code = hyperplane::run_command_line(asked.at("words").get<std::vector<std::string>>());
        std::fflush(stdout);
        dprintf(answers, "%d\n", code);
    }
}

}  // namespace

int main() {
    hyperplane::hold_stop_signals();
    try {
        serve();
        return 0;
    } catch (const std::exception& error) {
        std::fputs(error.what(), stderr);
    } catch (...) {
        std::fputs("an exception of an unknown kind", stderr);
    }
    return 1;
}
