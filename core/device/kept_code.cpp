// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/kept_code.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

namespace hyperplane::rtc {
namespace {

/// FNV-1a, from an offset.
std::uint64_t hash(const std::string& text, std::uint64_t value) {
    for (const unsigned char c : text) value = (value ^ c) * 1099511628211ull;
    return value;
}

}  // namespace

std::filesystem::path folder_of_kept_code() {
    if (const char* off = std::getenv("HYPERPLANE_KERNEL_CACHE")) return off;
    if (const char* cache = std::getenv("XDG_CACHE_HOME")) return std::filesystem::path(cache) / "hyperplane";
    if (const char* home = std::getenv("HOME")) return std::filesystem::path(home) / ".cache" / "hyperplane";
    return {};
}

KeptCode::KeptCode(std::string key) : key_(std::move(key)) {
    const auto folder = folder_of_kept_code();
    if (folder.empty()) return;
    path_ =
        folder / fmt::format("{:016x}{:016x}.cubin", hash(key_, 14695981039346656037ull), hash(key_, 1099511628211ull));
}

std::vector<char> KeptCode::read() const {
    std::ifstream file(path_, std::ios::binary);
    std::string key(key_.size(), '\0');
    if (path_.empty() || !file.read(key.data(), std::streamsize(key.size())) || key != key_) return {};
    return {std::istreambuf_iterator<char>(file), {}};
}

void KeptCode::write(const std::vector<char>& code) const {
    if (path_.empty()) return;
    std::error_code ignored;
    std::filesystem::create_directories(path_.parent_path(), ignored);
    const auto part = path_.string() + fmt::format(".{}.{}", getpid(), gettid());
    {
        std::ofstream file(part, std::ios::binary);
        file << key_;
        file.write(code.data(), std::streamsize(code.size()));
        if (!file) std::filesystem::remove(part, ignored);
    }
    std::filesystem::rename(part, path_, ignored);
}

KeptCode::Turn KeptCode::wait() const {
    return std::move(*turn(true));
}

std::optional<KeptCode::Turn> KeptCode::try_turn() const {
    return turn(false);
}

std::optional<KeptCode::Turn> KeptCode::turn(bool wait) const {
    if (path_.empty()) return Turn(-1, {});
    std::error_code ignored;
    std::filesystem::create_directories(path_.parent_path(), ignored);
    const std::filesystem::path path = path_.string() + ".lock";
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    int failed = file < 0;
    // Locks of two descriptors exclude each other within a process, too.
    while (!failed && flock(file, wait ? LOCK_EX : LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) return close(file), std::nullopt;
        failed = errno != EINTR;
    }
    if (failed && file >= 0) close(file);
    return Turn(failed ? -1 : file, path);
}

KeptCode::Turn::Turn(int file, std::filesystem::path path) : file_(file), path_(std::move(path)) {}

KeptCode::Turn::Turn(Turn&& other) noexcept : file_(std::exchange(other.file_, -1)), path_(std::move(other.path_)) {}

/// The file goes while it is locked. Who waits for it gets it then, without a name, and finds the code kept; who opens
/// a new one finds that, too.
KeptCode::Turn::~Turn() {
    if (file_ < 0) return;
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
    close(file_);
}

}  // namespace hyperplane::rtc
