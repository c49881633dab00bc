// SPDX-License-Identifier: BSD-3-Clause
#include "apps/reporting/python_script.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "apps/base/process.hpp"
#include "core/error.hpp"

namespace hyperplane {
namespace {

/// The name of a Python 3 that has the modules needed to read records and draw. They are looked for and not loaded,
/// which would take a third of a second; the scripts say what cannot be loaded.
std::string find_python(const std::string& verb) {
    const std::string has_both =
        "from importlib.util import find_spec; raise SystemExit(None in map(find_spec, ('h5py', 'matplotlib')))";
    for (const char* python : {"python3", "/usr/bin/python3"})
        if (capture({python, "-c", has_both}).status == 0) return python;
    throw FileError(
        verb + " needs Python 3 with h5py and matplotlib: apt-get install python3 python3-h5py python3-matplotlib");
}

/// The path of a script: beside the program, where it was installed, or in the sources from which the program was
/// built.
std::string find_script(const std::string& script) {
    const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    const std::vector<std::string> places = {
        here / "reporting" / script, here / "../share/hyperplane/reporting" / script, HYPERPLANE_SCRIPTS "/" + script};
    for (const std::string& place : places)
        if (std::filesystem::exists(place)) return place;
    throw FileError(fmt::format("{} is missing; looked for {}", script, fmt::join(places, ", ")));
}

}  // namespace

MemoryFile::MemoryFile() : fd_(memfd_create("drawn", 0)) {
    if (fd_ < 0) throw FileError(fmt::format("cannot make a file in memory: {}", std::strerror(errno)));
}

MemoryFile::~MemoryFile() {
    close(fd_);
}

std::string MemoryFile::name() const {
    return fmt::format("/proc/self/fd/{}", fd_);
}

int run_script(const std::string& verb, const std::string& script, const std::vector<std::string>& words) {
    std::vector<std::string> command = {find_python(verb), find_script(script)};
    command.insert(command.end(), words.begin(), words.end());
    std::fflush(stdout);
    const int status = run_program(command);
    if (status > int(ExitCode::file)) throw FileError(fmt::format("{} ended with status {}", command[1], status));
    return status;
}

std::string kind_of_picture(const std::string& option, const std::string& picture) {
    const std::string ending = std::filesystem::path(picture).extension().string();
    for (const char* known : {"png", "pdf", "svg"})
        if (ending == std::string(".") + known) return known;
    throw UsageError(fmt::format("{} {}: a picture is a .png, .pdf or .svg, as its name ends", option, picture));
}

}  // namespace hyperplane
