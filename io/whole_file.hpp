// SPDX-License-Identifier: BSD-3-Clause
// A file's bytes in memory.
#pragma once

#include <string>

namespace hyperplane {

/// Throws FileError saying why the file cannot be read. Devices and FIFOs, which may never end, are refused.
std::string read_whole_file(const std::string& path);
/// The same of text; throws FileError with the line where one is longer than 64 KiB or holds a zero byte.
std::string read_text_file(const std::string& path);

}  // namespace hyperplane
