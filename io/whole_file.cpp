// SPDX-License-Identifier: BSD-3-Clause
#include "io/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.hpp"

namespace hyperplane {

std::string read_whole_file(const std::string& path) {
    constexpr std::size_t piece = 1 << 20;
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    std::string bytes;
    ssize_t got = fd < 0 ? -1 : 1;
    for (std::size_t size = 0; got > 0; size += std::size_t(got)) {
        bytes.resize(size + piece);
        got = read(fd, bytes.data() + size, piece);
        bytes.resize(size + std::size_t(got < 0 ? 0 : got));
    }
    const int error = errno;
    if (fd >= 0) close(fd);
    if (got < 0) throw FileError(fmt::format("{}: cannot read: {}", path, std::strerror(error)));
    return bytes;
}

}  // namespace hyperplane
