// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/kept_code.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>
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
    if (const char* folder = std::getenv("HYPERPLANE_KERNEL_CACHE")) return folder;
    if (const char* cache = std::getenv("XDG_CACHE_HOME")) return std::filesystem::path(cache) / "hyperplane";
    if (const char* home = std::getenv("HOME")) return std::filesystem::path(home) / ".cache" / "hyperplane";
    return {};
}

KeptCode::KeptCode(std::string key) : key_(std::move(key)) {
    const auto folder = folder_of_kept_code();
    if (folder.empty()) return;
    const std::uint64_t first = hash(key_, 14695981039346656037ull);
    path_ = folder / fmt::format("{:016x}{:016x}.cubin", first, hash(key_, 1099511628211ull));
    // So few files that they can stay: one that is removed while a thread holds its lock can be made anew by another.
    lock_ = folder / "locks" / fmt::format("{:02x}", first >> 56);
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
    constexpr auto pause = std::chrono::milliseconds(20);
    for (auto waited = std::chrono::milliseconds(0); waited < std::chrono::minutes(1); waited += pause) {
        if (std::optional<Turn> turn = try_turn()) return std::move(*turn);
        std::this_thread::sleep_for(pause);
    }
    return Turn(-1);
}

std::optional<KeptCode::Turn> KeptCode::try_turn() const {
    if (path_.empty()) return Turn(-1);
    std::error_code ignored;
    std::filesystem::create_directories(lock_.parent_path(), ignored);
    const int file = open(lock_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) return Turn(-1);
    // Locks of two descriptors exclude each other within a process, too.
    if (flock(file, LOCK_EX | LOCK_NB) == 0) return Turn(file);
    const bool taken = errno == EWOULDBLOCK || errno == EINTR;
    close(file);
    return taken ? std::nullopt : std::optional<Turn>(Turn(-1));
}

KeptCode::Turn::Turn(Turn&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

KeptCode::Turn::~Turn() {
    if (file_ >= 0) close(file_);
}

}  // namespace hyperplane::rtc
