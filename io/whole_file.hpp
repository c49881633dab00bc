// SPDX-License-Identifier: BSD-3-Clause
// Reads a whole file into memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "io/bytes.hpp"

namespace hyperplane {

/// The bytes of a file. Throws a FileError that says why it cannot be read. Devices and FIFOs, which may never end, are
/// refused.
Bytes read_whole_file(const std::string& path);
/// Says of the first bytes of a file whether they begin a known binary format.
using IsBinary = bool (*)(std::string_view head);

/// The same for a text file, which is expanded if it is a gzip file. Throws FileError, with the line, if a line is
/// longer than 64 KiB or has a zero byte, unless the (expanded) file is of a binary format that `is_binary` knows.
Bytes read_text_file(const std::string& path, IsBinary is_binary = nullptr);

/// The beginning of a file, and how long the whole is.
struct FileHead {
    std::string bytes;       ///< 1 MiB at most
    std::size_t most_bytes;  ///< of the file; if it is a gzip file, the most that it may expand to
    bool gzip;
};
/// Reads no more of a file than its head, and expands no more if it is a gzip file. Throws FileError as read_text_file
/// does.
FileHead read_text_head(const std::string& path, IsBinary is_binary = nullptr);

}  // namespace hyperplane
