// SPDX-License-Identifier: BSD-3-Clause
// Files that tests of io write, plain and compressed.
#pragma once

#include <zlib.h>

#include <functional>
#include <string>

#include "io/atomic_file.hpp"

namespace hyperplane {

/// Writes a file of its own by one of the functions that write into an open one.
inline void write_file(const std::string& path, const std::function<void(AtomicFile&)>& write,
                       Overwrite overwrite = Overwrite::own) {
    AtomicFile file(path, FileKind::matrix, overwrite);
    write(file);
    file.commit();
}

/// The text compressed by gzip.
inline std::string gzip(const std::string& text) {
    z_stream stream{};
    deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
    std::string packed(deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = uInt(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = uInt(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

}  // namespace hyperplane
