// SPDX-License-Identifier: BSD-3-Clause
// Reads a whole file into memory.
#pragma once

#include <string>

namespace hyperplane {

/// The bytes of a file. Throws a FileError that says why it cannot be read. Devices and FIFOs, which may never end, are
/// refused.
std::string read_whole_file(const std::string& path);
/// The same for a text file. Throws FileError, with the line, if a line is longer than 64 KiB or has a zero byte.
std::string read_text_file(const std::string& path);

}  // namespace hyperplane
