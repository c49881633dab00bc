// SPDX-License-Identifier: BSD-3-Clause
// Kernels that are compiled at run time, by NVRTC, for one stencil, dof and device.
//
// A kernel's texts lie in .cuh and .hpp files that include one another, "precond/walks/tile_lines.cuh", as files of the
// host do; a room's are embedded into the program (embed_kernels in cmake/cuda.cmake) and handed to NVRTC as its
// headers. What a kernel is specialised on comes as definitions. The same texts and definitions are compiled once a
// process, and the machine code is kept on disk under $XDG_CACHE_HOME/hyperplane (~/.cache/hyperplane).
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.hpp"

namespace hyperplane::rtc {

/// Embedded texts by the names that they include each other with.
using Texts = std::map<std::string_view, const char*>;
/// Those of this room; each other room with kernels has a function like it, whose texts are its own and these.
const Texts& core_texts();

/// A kernel's main text, by its name, and the texts that it may include.
struct Source {
    const Texts& texts;
    std::string_view main;
};

/// What the compiler says of one kernel.
struct KernelResources {
    std::string name;
    int registers = 0;
    Index local_bytes = 0;  ///< a thread's spills and stack
    Index spill_bytes = 0;  ///< of these, stored and loaded because registers ran out
    Index shared_bytes = 0;
};

using Definitions = std::map<std::string, std::string>;

/// "{1,2,3}", the initialiser of an array. An array has at least one element: of no values "{0}".
std::string array_of(const std::vector<int>& values);

/// The main text of a source and all texts that it includes, directly or not, in the order in which they are first met.
/// Throws Error (internal) where one is not embedded.
std::vector<std::string_view> included_texts(const Source& source);

/// Compiles for an architecture, "sm_90"; needs no device. Throws Error (internal) with the compiler's log.
/// Returns the machine code; `resources`, when given, receives a row for each kernel.
std::vector<char> compile(const Source& source, const Definitions& definitions, const std::string& architecture,
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

/// The kernel `name` of a source, compiled for the chosen device and these definitions.
Kernel load(const Source& source, const Definitions& definitions, const std::string& name);

}  // namespace hyperplane::rtc
