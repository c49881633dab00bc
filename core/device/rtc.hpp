// SPDX-License-Identifier: BSD-3-Clause
// Kernels that are compiled at run time, by NVRTC, for one stencil, dof and device.
//
// A kernel's text lies in a .cuh file of its room, embedded into the program (cmake/cuda.cmake). What it is
// specialised on comes as definitions; the same text and definitions are compiled once a process, and kept on
// disk under $XDG_CACHE_HOME/hyperplane (~/.cache/hyperplane).
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.hpp"

namespace hyperplane::rtc {

/// The text of a .cuh file.
struct KernelText {
    const char* name;
    const char* text;
};

/// Texts compiled as one, in this order.
using Texts = std::vector<KernelText>;

/// What the compiler says of one kernel.
struct KernelResources {
    std::string name;
    int registers = 0;
    Index local_bytes = 0;  ///< a thread's spills and stack
    Index spill_bytes = 0;  ///< of these, stored and loaded because registers ran out
    Index shared_bytes = 0;
};

using Definitions = std::map<std::string, std::string>;

/// "int x[] = {1, 2, 3}"-style initialiser of an array definition: "{1,2,3}".
std::string braces(const std::vector<int>& values);

/// Compiles for an architecture, "sm_90"; needs no device. Throws Error (internal) with the compiler's log.
/// Returns the machine code; `resources`, when given, receives a row for each kernel.
std::vector<char> compile(const Texts& texts, const Definitions& definitions, const std::string& architecture,
                          std::vector<KernelResources>* resources = nullptr);

/// Blocks of a launch along x and y.
struct Blocks {
    unsigned x, y = 1;
};

/// The argument of a kernel whose struct is `head` followed by an array of ints, as words; behind an array there is a
/// zero where the struct's size, of whole 8 bytes, asks for one. `head` must hold a multiple of 4 bytes and no padding
/// at its end.
template <class Head>
std::vector<int> argument(const Head& head, const std::vector<int>& end) {
    static_assert(sizeof(Head) % sizeof(int) == 0);
    std::vector<int> words(sizeof(Head) / sizeof(int));
    std::memcpy(words.data(), &head, sizeof(Head));
    words.insert(words.end(), end.begin(), end.end());
    if (!end.empty() && words.size() % 2 != 0) words.push_back(0);
    return words;
}

/// A compiled kernel on the device.
class Kernel {
public:
    Kernel() = default;
    Kernel(void* function, std::string name) : function_(function), name_(std::move(name)) {}

    explicit operator bool() const { return function_; }
    const std::string& name() const { return name_; }
    /// Allows `bytes` of dynamic shared memory for a block.
    void allow_shared(Index bytes) const;
    /// Resident blocks on a multiprocessor.
    int occupancy(int threads, Index shared_bytes) const;
    /// Launches on the program's stream with one argument, a struct at `argument`. `early`: it may begin when all
    /// blocks of the kernel before have allowed it, and itself waits for what that one writes (programmatic dependent
    /// launch).
    void launch(Blocks blocks, unsigned threads, Index shared_bytes, const void* argument, bool early = false) const;

private:
    void* function_ = nullptr;
    std::string name_;
};

/// The kernel `name` of the texts, compiled for the chosen device and these definitions.
Kernel load(const Texts& texts, const Definitions& definitions, const std::string& name);

}  // namespace hyperplane::rtc
