// SPDX-License-Identifier: BSD-3-Clause
#include "io/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>

#include "core/error.hpp"
#include "io/foreign_file.hpp"
#include "io/gzip.hpp"

namespace hyperplane {
namespace {

/// Checks a text file while it is being read, so that a file that is not text is refused before it fills the memory.
class TextCheck {
public:
    /// `may_be_binary`: whether a file of PETSc would be read, too.
    TextCheck(const std::string& path, bool may_be_binary) : path_(path), may_be_binary_(may_be_binary) {}

    void operator()(std::string_view piece) {
        if (may_be_binary_ && line_ == 1 && length_ == 0)
            if (const std::string kind = foreign_kind(piece); !kind.empty())
                throw FileError(fmt::format("{} is {}", path_, kind));
        if (piece.find('\0') == piece.npos && lines_are_short(piece)) {
            line_ += std::size_t(std::count(piece.begin(), piece.end(), '\n'));
            const std::size_t last = piece.rfind('\n');
            length_ = last == piece.npos ? length_ + piece.size() : piece.size() - last - 1;
            return;
        }
        while (!piece.empty()) {
            const std::size_t end = std::min(piece.find('\n'), piece.size());
            if (const std::size_t zero = piece.substr(0, end).find('\0'); zero != piece.npos)
                fail(fmt::format("byte {} is zero; this is no text file{}", length_ + zero + 1,
                                 may_be_binary_ ? ", and it does not begin as a binary file of PETSc does" : ""));
            if ((length_ += end) > longest_line) fail(fmt::format("the line has more than {} bytes", longest_line));
            if (end == piece.size()) return;
            ++line_;
            length_ = 0;
            piece.remove_prefix(end + 1);
        }
    }

private:
    static constexpr std::size_t longest_line = 65536;

    /// Whether no line is too long, by going from a line's end to the last one that is not too far away.
    bool lines_are_short(std::string_view piece) const {
        for (std::size_t length = length_; piece.size() + length > longest_line; length = 0) {
            const std::size_t end = piece.substr(0, longest_line - length + 1).rfind('\n');
            if (end == piece.npos) return false;
            piece.remove_prefix(end + 1);
        }
        return true;
    }
    [[noreturn]] void fail(const std::string& what) const {
        throw FileError(fmt::format("{}:{}: {}", path_, line_, what));
    }

    const std::string& path_;
    bool may_be_binary_;
    std::size_t line_ = 1, length_ = 0;
};

constexpr std::size_t piece = 1 << 20;

/// Reads pieces until there are `most` bytes, or to the end of the file.
Bytes read_checked(const std::string& path, const std::function<void(std::string_view)>& check,
                   std::size_t most = std::string::npos) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a FIFO without a writer must not block
    struct stat file;
    const bool known = fd >= 0 && fstat(fd, &file) == 0;
    if (known && !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode)) {
        close(fd);
        throw FileError(path + ": is a device, FIFO or socket, which may never end; copy what it gives to a file");
    }
    Bytes bytes;
    if (known) bytes.try_reserve(std::min(most, std::size_t(file.st_size)) + piece);
    ssize_t got = fd < 0 ? -1 : 1;
    int error = errno;
    try {
        for (std::size_t size = 0; got > 0 && size < most; size += std::size_t(got)) {
            got = read(fd, bytes.resize(size + piece) + size, piece);
            error = errno;
            bytes.resize(size + std::size_t(got < 0 ? 0 : got));
            check(std::string_view(bytes).substr(size));
        }
    } catch (...) {
        close(fd);
        throw;
    }
    if (fd >= 0) close(fd);
    if (got < 0) throw FileError(fmt::format("{}: cannot read: {}", path, std::strerror(error)));
    return bytes;
}

}  // namespace

Bytes read_whole_file(const std::string& path) {
    return read_checked(path, [](std::string_view) {});
}

Bytes read_text_file(const std::string& path, IsBinary is_binary) {
    TextCheck check(path, is_binary != nullptr);
    bool first = true, gzip = false, binary = false;
    const auto see_text = [&](std::string_view piece) {
        if (first) binary = is_binary && is_binary(piece);
        first = false;
        if (!binary) check(piece);
    };
    Bytes bytes = read_checked(path, [&](std::string_view piece) {
        if (first) gzip = is_gzip(piece);
        gzip ? void(first = false) : see_text(piece);
    });
    first = true;
    return gzip ? expand_gzip(bytes, path, see_text) : std::move(bytes);
}

FileHead read_text_head(const std::string& path, IsBinary is_binary) {
    FileHead head{std::string(std::string_view(read_checked(
                      path, [](std::string_view) {}, piece))),
                  0, false};
    struct stat file {};
    if (stat(path.c_str(), &file) == 0) head.most_bytes = std::size_t(file.st_size);
    head.gzip = is_gzip(head.bytes);
    if (head.gzip) {
        const bool whole = head.bytes.size() == head.most_bytes;
        head.bytes = expand_gzip_head(head.bytes, path, piece, whole);
        head.most_bytes = whole && head.bytes.size() < piece ? head.bytes.size() : largest_expansion(head.most_bytes);
    }
    if (!is_binary || !is_binary(head.bytes)) {
        TextCheck check(path, is_binary != nullptr);
        check(head.bytes);
    }
    return head;
}

}  // namespace hyperplane
