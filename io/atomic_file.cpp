// SPDX-License-Identifier: BSD-3-Clause
#include "io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <random>
#include <utility>

#include "core/error.hpp"

namespace hyperplane {
namespace {

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == path.npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

/// A name in the same folder that no other process uses. Of a name to which nothing can be added it has the beginning.
std::string hidden_name(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::string name = slash == path.npos ? path : path.substr(slash + 1);
    const std::string ending = fmt::format(".{:08x}.tmp", std::random_device()());
    return fmt::format("{}/.{}{}", folder_of(path), name.substr(0, NAME_MAX - 1 - ending.size()), ending);
}

std::string descriptor_name(int fd) {
    return fmt::format("/proc/self/fd/{}", fd);
}

const char* advice(int error) {
    switch (error) {
        case ENOSPC:
        case EDQUOT: return "; free some space, or write elsewhere";
        case EFBIG: return "; the file size limit (ulimit -f) is too low";
        case ENOENT: return "; make the folder first";
        default: return "";
    }
}

/// A rename is on disk only after its folder is synced. An error is ignored, since some file systems cannot sync
/// folders.
void sync_folder(const std::string& folder) {
    const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

}  // namespace

AtomicFile::AtomicFile(std::string name, FileKind kind, Overwrite overwrite, bool unnamed)
    : name_(std::move(name)), path_(resolve_links(name_)), kind_(kind), overwrite_(overwrite) {
    if (path_.empty() || path_.back() == '/') fail("is no file name", 0);
    guard_output(path_, name_, kind_, overwrite_);
    const std::string folder = folder_of(path_);
    if (unnamed) open_unnamed(folder);
    if (fd_ < 0) open_named(folder);
}

AtomicFile::~AtomicFile() {
    if (fd_ >= 0) close(fd_);
    if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::open_unnamed(const std::string& folder) {
    fd_ = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (fd_ >= 0 && access(descriptor_name(fd_).c_str(), F_OK) != 0) {  // it cannot be linked without /proc
        close(fd_);
        fd_ = -1;
    }
}

void AtomicFile::open_named(const std::string& folder) {
    const std::string name = hidden_name(path_);
    fd_ = open(name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
    if (fd_ < 0) fail("cannot create a file in " + folder, errno);
    temporary_ = name;
}

std::string AtomicFile::open_name() const {
    return temporary_.empty() ? descriptor_name(fd_) : temporary_;
}

void AtomicFile::reserve(Index bytes) {
    const int error = posix_fallocate(fd_, 0, std::max<Index>(bytes, 1));
    if (error != 0) fail(fmt::format("cannot reserve {} bytes", bytes), error);
}

void AtomicFile::write(const void* data, Index bytes, Index offset) {
    constexpr Index most_at_once = Index(1) << 30;
    const char* from = static_cast<const char*>(data);
    for (Index done = 0; done < bytes;) {
        const ssize_t written =
            pwrite(fd_, from + done, std::size_t(std::min(bytes - done, most_at_once)), offset + done);
        if (written > 0)
            done += written;
        else if (written == 0 || errno != EINTR)
            fail(fmt::format("cannot write {} bytes, stopped after {}", offset + bytes, offset + done),
                 written == 0 ? ENOSPC : errno);
    }
}

Index AtomicFile::size() const {
    struct stat file = {};
    if (fstat(fd_, &file) != 0) fail("cannot look at the unfinished file", errno);
    return file.st_size;
}

void AtomicFile::read(void* to, Index bytes, Index offset) const {
    for (Index done = 0; done < bytes;) {
        const ssize_t got = pread(fd_, static_cast<char*>(to) + done, std::size_t(bytes - done), offset + done);
        if (got > 0)
            done += got;
        else if (got == 0 || errno != EINTR)
            fail(fmt::format("cannot read {} bytes of the unfinished file", bytes), got == 0 ? EIO : errno);
    }
}

void AtomicFile::sync() const {
    if (fsync(fd_) != 0) fail("cannot sync to disk", errno);
    guard_output(path_, name_, kind_, overwrite_);
}

void AtomicFile::commit() {
    sync();
    if (temporary_.empty()) link_unnamed();
    if (!temporary_.empty()) {
        if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot rename the finished file", errno);
        temporary_.clear();
    }
    sync_folder(folder_of(path_));
}

/// Links the file to its final name if that is free, otherwise to a hidden name that will be renamed, since link cannot
/// replace a file.
void AtomicFile::link_unnamed() {
    const std::string source = descriptor_name(fd_);
    const auto link_to = [&](const std::string& name) {
        return linkat(AT_FDCWD, source.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
    };
    if (link_to(path_)) return;
    if (errno != EEXIST) fail("cannot name the finished file", errno);
    const std::string name = hidden_name(path_);
    if (!link_to(name)) fail("cannot name the finished file", errno);
    temporary_ = name;
}

void AtomicFile::fail(const std::string& what, int error) const {
    if (error == 0) throw FileError(fmt::format("{}: {}", name_.empty() ? "''" : name_, what));
    throw FileError(fmt::format("{}: {}: {}{}; any earlier file of that name is intact", name_, what,
                                std::strerror(error), advice(error)));
}

void require_writable(const std::string& name, FileKind kind, Overwrite overwrite) {
    const AtomicFile possible(name, kind, overwrite);
}

void write_atomically(const std::string& path, std::string_view content, FileKind kind, Overwrite overwrite) {
    AtomicFile file(path, kind, overwrite);
    file.write(content.data(), Index(content.size()), 0);
    file.commit();
}

}  // namespace hyperplane
