// SPDX-License-Identifier: BSD-3-Clause
// Starts the Python scripts that draw. They write to files in memory; this program writes those to the disk, so that
// the guard of outputs applies.
#pragma once

#include <string>
#include <vector>

namespace hyperplane {

/// A file in memory, which a program started from here can open by its name.
class MemoryFile {
public:
    MemoryFile();
    ~MemoryFile();
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    std::string name() const;

private:
    int fd_;
};

/// Runs `script` (report.py, plot.py) with these words; returns its exit code, which is one of this program's. The
/// script has then said what was wrong. Throws FileError if Python, its packages or the script are missing.
int run_script(const std::string& verb, const std::string& script, const std::vector<std::string>& words);

/// "png", "pdf" or "svg", as the name of a picture ends. Throws a UsageError that names the option for any other.
std::string kind_of_picture(const std::string& option, const std::string& picture);

}  // namespace hyperplane
