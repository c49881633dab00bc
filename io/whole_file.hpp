// SPDX-License-Identifier: BSD-3-Clause
// A file's bytes in memory.
#pragma once

#include <string>

namespace hyperplane {

/// Throws FileError saying why the file cannot be read.
std::string read_whole_file(const std::string& path);

}  // namespace hyperplane
