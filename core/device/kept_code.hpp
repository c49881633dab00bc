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

    /// The right to compile this code. While a thread has it, no other one gets it, in any process on this machine; but
    /// every thread gets it at once where the folder cannot be written or its file system knows no locks.
    class Turn {
    public:
        Turn(Turn&& other) noexcept;
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        Turn& operator=(Turn&&) = delete;
        ~Turn();

    private:
        friend class KeptCode;
        explicit Turn(int file) : file_(file) {}
        int file_;  ///< the descriptor of the locked file, negative without one
    };
    /// Waits for the turn, for a minute at most: who has it may have been suspended. Ask read() again afterwards, since
    /// another may have kept the code meanwhile.
    Turn wait() const;
    /// The turn, or nothing while another has it.
    std::optional<Turn> try_turn() const;

private:
    std::string key_;
    std::filesystem::path path_, lock_;
};

}  // namespace hyperplane::rtc
