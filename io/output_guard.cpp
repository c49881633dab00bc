// SPDX-License-Identifier: BSD-3-Clause
#include "io/output_guard.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>

#include "core/error.hpp"

namespace hyperplane {
namespace {

/// The first bytes of a regular file, at most `most`; empty if it cannot be read.
std::string head_of(const std::string& path, std::size_t most) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return "";
    constexpr std::size_t piece = 1 << 16;
    std::string bytes;
    ssize_t got = 1;
    while (bytes.size() < most && got > 0) {
        const std::size_t size = bytes.size(), more = std::min(piece, most - size);
        bytes.resize(size + more);
        got = read(fd, bytes.data() + size, more);
        bytes.resize(size + std::size_t(got < 0 ? 0 : got));
    }
    close(fd);
    return bytes;
}

bool begins(std::string_view text, std::string_view head) {
    return text.substr(0, head.size()) == head;
}
bool holds(std::string_view text, std::string_view part) {
    return text.find(part) != text.npos;
}

/// Whether the bytes of an HDF5 file have the names by which files of this kind are known that a program before 0.2.0
/// wrote.
bool is_earlier(std::string_view bytes, FileKind kind) {
    using namespace std::string_view_literals;  // names end in a zero byte
    if (!begins(bytes, hdf5_signature) || !holds(bytes, "code_version\0"sv)) return false;
    const bool study = holds(bytes, "study_schema_version\0"sv), comparison = holds(bytes, "left_out\0"sv),
               record = holds(bytes, "schema_version\0"sv);
    if (kind == FileKind::study) return study;
    if (kind == FileKind::comparison) return !study && comparison;
    return !study && !comparison && record;
}

/// Whether an HDF5 file is of this kind: it begins with `mark` or, if an earlier program wrote it, has its names, which
/// are searched for in the first GiB.
bool is_hdf5_of(const std::string& path, FileKind kind, std::string_view mark) {
    constexpr std::size_t most = std::size_t(1) << 30;
    if (begins(head_of(path, mark.size()), mark)) return true;
    return begins(head_of(path, hdf5_signature.size()), hdf5_signature) && is_earlier(head_of(path, most), kind);
}

bool is_picture(std::string_view bytes) {
    return (begins(bytes, "\x89PNG") || begins(bytes, "%PDF") || begins(bytes, "<?xml")) &&
           holds(bytes, "hyperplane report");
}

/// Whether this is a log: since 0.2.0 it begins with its name, before that its lines began with their level.
bool is_log(std::string_view bytes) {
    for (const char* level : {"hyperplane log", "info: ", "warning: ", "error: "})
        if (begins(bytes, level)) return true;
    return false;
}

/// The file to which a name leads, also if it does not exist yet, in a form that can be compared.
std::string file_of(const std::string& name) {
    const std::filesystem::path path = std::filesystem::absolute(resolve_links(name));
    std::error_code unknown;  // what is wrong with the path is said where it is opened
    const std::filesystem::path canonical = std::filesystem::weakly_canonical(path, unknown);
    return unknown ? path.string() : canonical.string();
}

std::string what_it_is(mode_t mode) {
    if (S_ISDIR(mode)) return "a folder";
    if (S_ISFIFO(mode)) return "a FIFO";
    if (S_ISSOCK(mode)) return "a socket";
    return "a device";
}

}  // namespace

const char* to_string(FileKind kind) {
    switch (kind) {
        case FileKind::record: return "record of a run";
        case FileKind::comparison: return "comparison";
        case FileKind::study: return "collected study";
        case FileKind::checkpoint: return "checkpoint";
        case FileKind::fields: return "file of fields";
        case FileKind::json: return "table in JSON";
        case FileKind::csv: return "table of a study";
        case FileKind::script: return "batch script";
        case FileKind::matrix: return "exported matrix or vector";
        case FileKind::page: return "report";
        case FileKind::picture: return "picture of a report";
        case FileKind::log: return "log of a case";
        case FileKind::lock: return "lock";
    }
    return "";
}

std::string resolve_links(const std::string& path) {
    constexpr int most = 40;  // the limit of the Linux kernel
    std::string resolved = path;
    char target[PATH_MAX];
    struct stat file;
    for (int link = 0; link < most; ++link) {
        // What links in /proc say of pipes and sockets are no names.
        if (stat(resolved.c_str(), &file) == 0 && (S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode))) return resolved;
        const ssize_t length = readlink(resolved.c_str(), target, sizeof target);
        if (length < 0) return resolved;
        const std::string named(target, std::size_t(length));
        const std::size_t slash = resolved.rfind('/');
        resolved.resize(named[0] == '/' || slash == resolved.npos ? 0 : slash + 1);
        resolved += named;
    }
    throw FileError(path + ": too many symbolic links, or links that lead back to themselves");
}

bool is_own(const std::string& path, FileKind kind) {
    struct stat file;
    if (stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return false;
    if (file.st_size == 0) return true;
    constexpr std::size_t few = 4096, many = 1 << 16, most = 1 << 26;
    switch (kind) {
        case FileKind::record: return is_hdf5_of(path, kind, "hyperplane record");
        case FileKind::comparison: return is_hdf5_of(path, kind, "hyperplane comparison");
        case FileKind::study: return is_hdf5_of(path, kind, "hyperplane study");
        case FileKind::checkpoint: return begins(head_of(path, few), "hyperplane checkpoint");
        case FileKind::fields: {
            const std::string head = head_of(path, many);
            return begins(head, hdf5_signature) && holds(head, "VTKHDF") && holds(head, made_by_mark);
        }
        case FileKind::csv: return begins(head_of(path, few), "case,name,hash,status,exit_code,");
        case FileKind::page: return holds(head_of(path, few), R"(<meta name="generator" content="hyperplane report">)");
        case FileKind::picture: return is_picture(head_of(path, most));
        case FileKind::log: return is_log(head_of(path, few));
        case FileKind::lock: return begins(head_of(path, few), "hyperplane lock");
        case FileKind::json:
        case FileKind::script:
        case FileKind::matrix: return holds(head_of(path, 200), made_by_mark);
    }
    return false;
}

void guard_output(const std::string& path, const std::string& name, FileKind kind, Overwrite overwrite) {
    struct stat file;
    const std::string shown = path == name ? name : fmt::format("{} (a link to {})", name, path);
    if (stat(path.c_str(), &file) != 0) {
        if (errno == ENOENT || errno == ENOTDIR || errno == EACCES) return;  // opening it will give the error
        throw FileError(fmt::format("{}: cannot be written: {}", shown, std::strerror(errno)));
    }
    if (!S_ISREG(file.st_mode))
        throw FileError(
            fmt::format("{} is {}, not a regular file, and is never written over; move it away or name another file",
                        shown, what_it_is(file.st_mode)));
    if (overwrite == Overwrite::any || is_own(path, kind)) return;
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        throw FileError(fmt::format("{} exists, and whether this program wrote it cannot be seen: {}", shown,
                                    std::strerror(errno)));
    close(fd);
    throw FileError(fmt::format(
        "{} exists and is no {} that this program wrote, so it is left as it is; move it away, name another "
        "file, or give --force to write over it",
        shown, to_string(kind)));
}

void guard_output(const std::string& name, FileKind kind, Overwrite overwrite) {
    guard_output(resolve_links(name), name, kind, overwrite);
}

void refuse_one_file_of_two(const std::vector<std::string>& names, const std::string& who, const std::string& advice) {
    std::map<std::string, std::string> name_of;
    for (const std::string& name : names) {
        const auto [other, is_new] = name_of.emplace(file_of(name), name);
        if (is_new) continue;
        if (other->second == name)
            throw FileError(fmt::format("{} names two files that {} writes; {}", name, who, advice));
        throw FileError(fmt::format("{} and {} lead to the same file, {}, and {} writes both; {}", other->second, name,
                                    other->first, who, advice));
    }
}

void remove_own(const std::string& path, FileKind kind) {
    struct stat file;
    if (lstat(path.c_str(), &file) == 0 && S_ISREG(file.st_mode) && file.st_size > 0 && is_own(path, kind))
        unlink(path.c_str());
}

}  // namespace hyperplane
