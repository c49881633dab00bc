// SPDX-License-Identifier: BSD-3-Clause
// hyperplane report FILE.h5... [-o OUT.html] [--png OUT.png]: drawn by report.py.

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "apps/verbs.hpp"
#include "core/error.hpp"

namespace hyperplane {
namespace {

/// Runs a program found in PATH and waits; its exit status, 127 when it cannot be started.
int run_program(const std::vector<std::string>& words, bool silent) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (silent) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    int status = 0;
    const int failed = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed || waitpid(child, &status, 0) < 0) return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/// A Python 3 that can read records and draw.
std::string find_python() {
    for (const char* python : {"python3", "/usr/bin/python3"})
        if (run_program({python, "-c", "import h5py, matplotlib"}, true) == 0) return python;
    throw FileError(
        "report needs Python 3 with h5py and matplotlib: apt-get install python3 python3-h5py python3-matplotlib");
}

/// report.py beside the program, where it was installed, or in the sources it was built from.
std::string find_script() {
    const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    const std::vector<std::string> places = {here / "report.py", here / "../share/hyperplane/report.py",
                                             HYPERPLANE_SCRIPTS "/report.py"};
    for (const std::string& place : places)
        if (std::filesystem::exists(place)) return place;
    throw FileError(fmt::format("report.py is missing; looked for {}", fmt::join(places, ", ")));
}

}  // namespace

int report_verb(const Invocation& invocation) {
    const std::string page = invocation.value("output", "report.html");
    std::vector<std::string> words = {find_python(), find_script()};
    words.insert(words.end(), invocation.arguments.begin(), invocation.arguments.end());
    words.insert(words.end(), {"-o", page});
    if (invocation.has("png")) words.insert(words.end(), {"--png", invocation.value("png")});
    std::fflush(stdout);
    const int status = run_program(words, false);  // it has said what was wrong
    if (status > int(ExitCode::file)) throw FileError(fmt::format("{} ended with status {}", words[1], status));
    return status;
}

}  // namespace hyperplane
