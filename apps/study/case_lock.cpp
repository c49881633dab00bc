// SPDX-License-Identifier: BSD-3-Clause
#include "apps/study/case_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "core/error.hpp"

namespace hyperplane {
namespace {

/// Whether the open file is still the one of that name: who held it before may have removed it.
bool is_named(int fd, const std::string& path) {
    struct stat open_file, named;
    return fstat(fd, &open_file) == 0 && stat(path.c_str(), &named) == 0 && open_file.st_ino == named.st_ino &&
           open_file.st_dev == named.st_dev;
}

}  // namespace

CaseLock::CaseLock(std::string path, Overwrite overwrite) : path_(resolve_links(path)) {
    guard_output(path_, path, FileKind::lock, overwrite);
    constexpr int attempts = 10;  // is_held also takes it, for a moment
    int error = EWOULDBLOCK;
    for (int attempt = 0; attempt < attempts && error == EWOULDBLOCK; ++attempt) {
        fd_ = open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd_ < 0) throw FileError(fmt::format("{}: cannot be made: {}", path_, std::strerror(errno)));
        const bool locked = flock(fd_, LOCK_EX | LOCK_NB) == 0;
        error = locked ? EWOULDBLOCK : errno;
        if (locked && is_named(fd_, path_)) return;
        close(fd_);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    throw FileError(error == EWOULDBLOCK ? fmt::format("{}: another process runs this case", path_)
                                         : fmt::format("{}: cannot be locked: {}", path_, std::strerror(error)));
}

CaseLock::~CaseLock() {
    unlink(path_.c_str());
    close(fd_);
}

bool CaseLock::is_held(const std::string& path) {
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) return false;
    const bool held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return held;
}

}  // namespace hyperplane
