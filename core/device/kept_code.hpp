// SPDX-License-Identifier: BSD-3-Clause
// Machine code that is kept on disk, and whose turn it is to compile what is not.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hyperplane::rtc {

/// The folder in which machine code is kept: $HYPERPLANE_KERNEL_CACHE, $XDG_CACHE_HOME/hyperplane or
/// ~/.cache/hyperplane. Empty if it is kept nowhere.
std::filesystem::path folder_of_kept_code();

/// A file of machine code, under a name that holds everything it depends on. It only saves time: where it cannot be
/// read or written, the kernel is compiled.
class KeptCode {
public:
    /// `key` is all that the code depends on: compiler, options and texts.
    explicit KeptCode(std::string key);
    /// The code, or nothing if it is not kept.
    std::vector<char> read() const;
    void write(const std::vector<char>& code) const;

    /// The right to compile this code. While a thread has it, no other thread of any process on this machine gets it,
    /// unless the folder cannot be written or its file system knows no locks.
    class Turn {
    public:
        Turn(Turn&& other) noexcept;
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        Turn& operator=(Turn&&) = delete;
        ~Turn();

    private:
        friend class KeptCode;
        Turn(int file, std::filesystem::path path);
        int file_;  ///< the descriptor of the locked file, negative without one
        std::filesystem::path path_;
    };
    /// Waits for the turn. What had to be waited for may be kept then.
    Turn wait() const;
    /// The turn, or nothing while another has it.
    std::optional<Turn> try_turn() const;

private:
    std::optional<Turn> turn(bool wait) const;

    std::string key_;
    std::filesystem::path path_;
};

}  // namespace hyperplane::rtc
