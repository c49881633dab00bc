// SPDX-License-Identifier: BSD-3-Clause
#include "io/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>

#include "core/error.hpp"
#include "io/gzip.hpp"

namespace hyperplane {
namespace {

/// Checks a text file while it is being read, so that a file that is not text is refused before it fills the memory.
class TextCheck {
public:
    /// `may_be_binary`: whether a file of PETSc would be read, too.
    TextCheck(const std::string& path, bool may_be_binary) : path_(path), may_be_binary_(may_be_binary) {}

    void operator()(std::string_view piece) {
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
    [[noreturn]] void fail(const std::string& what) const {
        throw FileError(fmt::format("{}:{}: {}", path_, line_, what));
    }

    const std::string& path_;
    bool may_be_binary_;
    std::size_t line_ = 1, length_ = 0;
};

constexpr std::size_t piece = 1 << 20;

/// Reads pieces until there are `most` bytes, or to the end of the file.
std::string read_checked(const std::string& path, const std::function<void(std::string_view)>& check,
                         std::size_t most = std::string::npos) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a FIFO without a writer must not block
    struct stat file;
    if (fd >= 0 && fstat(fd, &file) == 0 && !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode)) {
        close(fd);
        throw FileError(path + ": is a device, FIFO or socket, which may never end; copy what it gives to a file");
    }
    std::string bytes;
    ssize_t got = fd < 0 ? -1 : 1;
    int error = errno;
    try {
        for (std::size_t size = 0; got > 0 && size < most; size += std::size_t(got)) {
            bytes.resize(size + piece);
            got = read(fd, bytes.data() + size, piece);
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

std::string read_whole_file(const std::string& path) {
    return read_checked(path, [](std::string_view) {});
}

std::string read_text_file(const std::string& path, IsBinary is_binary) {
    TextCheck check(path, is_binary != nullptr);
    bool first = true, gzip = false, binary = false;
    const auto see_text = [&](std::string_view piece) {
        if (first) binary = is_binary && is_binary(piece);
        first = false;
        if (!binary) check(piece);
    };
    std::string bytes = read_checked(path, [&](std::string_view piece) {
        if (first) gzip = is_gzip(piece);
        gzip ? void(first = false) : see_text(piece);
    });
    first = true;
    return gzip ? expand_gzip(bytes, path, see_text) : bytes;
}

FileHead read_text_head(const std::string& path, IsBinary is_binary) {
    FileHead head{read_checked(
                      path, [](std::string_view) {}, piece),
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
