// SPDX-License-Identifier: BSD-3-Clause
// hyperplane report FILE.h5... [-o OUT.html] [--png OUT.png]. report.py writes to files in memory; this program writes
// them to disk, so that the guard of outputs applies.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "apps/process.hpp"
#include "apps/verbs.hpp"
#include "core/error.hpp"
#include "io/atomic_file.hpp"
#include "io/whole_file.hpp"

namespace hyperplane {
namespace {

/// The name of a Python 3 that has the modules needed to read records and draw.
std::string find_python() {
    for (const char* python : {"python3", "/usr/bin/python3"})
        if (capture({python, "-c", "import h5py, matplotlib"}).status == 0) return python;
    throw FileError(
        "report needs Python 3 with h5py and matplotlib: apt-get install python3 python3-h5py python3-matplotlib");
}

/// The path of report.py: beside the program, where it was installed, or in the sources from which the program was
/// built.
std::string find_script() {
    const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    const std::vector<std::string> places = {here / "report.py", here / "../share/hyperplane/report.py",
                                             HYPERPLANE_SCRIPTS "/report.py"};
    for (const std::string& place : places)
        if (std::filesystem::exists(place)) return place;
    throw FileError(fmt::format("report.py is missing; looked for {}", fmt::join(places, ", ")));
}

/// A file in memory, which a program started from here can open.
class MemoryFile {
public:
    MemoryFile() : fd_(memfd_create("report", 0)) {
        if (fd_ < 0) throw FileError(fmt::format("cannot make a file in memory: {}", std::strerror(errno)));
    }
    ~MemoryFile() { close(fd_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    std::string name() const { return fmt::format("/proc/self/fd/{}", fd_); }

private:
    int fd_;
};

/// The extension of a file's name: "png" for "a.png"; empty if there is none.
std::string ending(const std::string& path) {
    const std::string extension = std::filesystem::path(path).extension().string();
    return extension.empty() ? "" : extension.substr(1);
}

/// A picture is what its name says.
void check_ending(const std::string& picture) {
    for (const char* known : {"png", "pdf", "svg"})
        if (ending(picture) == known) return;
    throw UsageError(fmt::format("--png {}: a picture is a .png, .pdf or .svg, as its name ends", picture));
}

}  // namespace

int report_verb(const Invocation& invocation) {
    const std::string page = invocation.value("output", "report.html"), picture = invocation.value("png");
    const Overwrite overwrite = invocation.overwrite();
    if (invocation.has("png")) check_ending(picture);
    guard_output(page, FileKind::page, overwrite);
    if (invocation.has("png")) guard_output(picture, FileKind::picture, overwrite);
    const MemoryFile drawn_page, drawn_picture;
    std::vector<std::string> words = {find_python(), find_script()};
    words.insert(words.end(), invocation.arguments.begin(), invocation.arguments.end());
    words.insert(words.end(), {"-o", drawn_page.name(), "--silent"});
    if (invocation.has("png")) words.insert(words.end(), {"--png", drawn_picture.name(), "--format", ending(picture)});
    std::fflush(stdout);
    const int status = run_program(words);  // report.py has printed what was wrong
    if (status > int(ExitCode::file)) throw FileError(fmt::format("{} ended with status {}", words[1], status));
    if (status != 0) return status;
    write_atomically(page, read_whole_file(drawn_page.name()), FileKind::page, overwrite);
    fmt::print("{}\n", page);
    if (!invocation.has("png")) return 0;
    write_atomically(picture, read_whole_file(drawn_picture.name()), FileKind::picture, overwrite);
    fmt::print("{}\n", picture);
    return 0;
}

}  // namespace hyperplane
