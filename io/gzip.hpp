// SPDX-License-Identifier: BSD-3-Clause
// Expands gzip files (RFC 1952), of one member or of several, as gzip, pigz and bgzip write them. Where the program was
// built with libdeflate, which needs half of zlib's time but the whole file in memory, that expands files; zlib
// expands the others, among them all with errors, and says what is wrong.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/bytes.hpp"

namespace hyperplane {

/// Whether a file that begins with these bytes is a gzip file.
bool is_gzip(std::string_view head);

/// The expanded bytes. `check` sees each new piece of them and may throw. Throws FileError, with the name of the file,
/// if the bytes are damaged or end too early, or if they expand to more than 200 times their size and 64 MiB: matrices
/// do not, but files that are made to fill the memory do.
Bytes expand_gzip(std::string_view bytes, const std::string& path, const std::function<void(std::string_view)>& check);

/// Whether the program was built with libdeflate.
bool expands_at_once();
/// The parts of expand_gzip. By libdeflate: nothing if it is not there, or cannot expand the bytes to an allowed size.
std::optional<Bytes> expand_gzip_at_once(std::string_view bytes);
/// Expands the bytes as expand_gzip does, by zlib and piece by piece.
Bytes expand_gzip_in_pieces(std::string_view bytes, const std::string& path,
                            const std::function<void(std::string_view)>& check);

/// The first `most` expanded bytes at most, of a file that begins with `bytes`, which may be the `whole`. Throws
/// FileError if they are damaged or end too early.
std::string expand_gzip_head(std::string_view bytes, const std::string& path, std::size_t most, bool whole);

/// Writes a gzip file of one member, piece by piece, at the speed of little compression. The same bytes give the same
/// file.
class GzipWriter {
public:
    /// Hands compressed bytes to `put`. `comment` stands in the file's header, so that it can be read without
    /// expanding.
    GzipWriter(std::function<void(std::string_view)> put, std::string comment);
    ~GzipWriter();
    GzipWriter(const GzipWriter&) = delete;
    GzipWriter& operator=(const GzipWriter&) = delete;

    void write(std::string_view bytes);
    /// Writes what is left; nothing may follow.
    void end();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The largest size to which expand_gzip expands a file of so many bytes.
std::size_t largest_expansion(std::size_t bytes);

}  // namespace hyperplane
