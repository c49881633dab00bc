// SPDX-License-Identifier: BSD-3-Clause
// Kernels that are compiled at run time, by NVRTC, for one stencil, dof and device.
//
// A kernel's texts lie in .cuh and .hpp files that include one another, "precond/walks/tile_lines.cuh", as files of the
// host do; a room's are embedded into the program (embed_kernels in cmake/cuda.cmake) and handed to NVRTC as its
// headers. What a kernel is specialised on comes as definitions. The same texts and definitions are compiled once a
// process, and the machine code is kept on disk under $XDG_CACHE_HOME/hyperplane (~/.cache/hyperplane). Programs that
// will be needed are prepared together, before anything is timed.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/device/context.hpp"

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

/// What one call of the compiler turns into machine code: a source and what it is specialised on.
struct Program {
    Source source;
    Definitions definitions;
    std::string title{};  ///< tells programs with the same kernels apart, such as "lower" and "upper"
};
using Programs = std::vector<Program>;

/// "{1,2,3}", the initialiser of an array. An array has at least one element: of no values "{0}".
std::string array_of(const std::vector<int>& values);

/// The main text of a source and all texts that it includes, directly or not, in the order in which they are first met.
/// Throws Error (internal) where one is not embedded.
std::vector<std::string_view> included_texts(const Source& source);

/// Why kernels cannot be compiled for a compute capability, 90, with those for which they can; empty if they can be.
/// Throws DeviceError if there is no NVRTC.
std::string unsupported(int capability);

/// Compiles for an architecture, "sm_90"; needs no device. Throws Error (internal) with the compiler's log, and
/// DeviceError for an architecture that is not supported. Returns the machine code; `resources`, when given, receives a
/// row for each kernel.
std::vector<char> compile(const Source& source, const Definitions& definitions, const std::string& architecture,
                          std::vector<KernelResources>* resources = nullptr);
/// Compiles programs and returns a row for each of their kernels, named "title kernel". Nothing is kept.
std::vector<KernelResources> compile(const Programs& programs, const std::string& architecture);

/// What the compiler was asked for, and how long that took.
struct Compilation {
    int compiled = 0;      ///< programs
    int kept = 0;          ///< programs whose machine code was there already, in this process or on the disk
    int waited = 0;        ///< programs that another thread or process compiled meanwhile
    double seconds = 0.0;  ///< from the first to the last; not a sum over threads
};

/// Compiles, on as many threads, the programs whose machine code is not kept yet for an architecture, and keeps it in
/// this process and on the disk. Processes of a host that want the same programs divide them among themselves. Needs no
/// device. Throws Error (internal) with the compiler's log.
Compilation prepare(const Programs& programs, const std::string& architecture, int threads);
/// The programs that this process compiled, or waited for, because a kernel was needed that had not been prepared.
Compilation unprepared();
/// Seconds in which at least one thread of this process was compiling, or waited for another process that was, so far.
/// Programs that were kept take none.
double compiler_seconds();
/// The architecture of a GPU, "sm_90".
std::string architecture_of(const device::Properties& device);

/// Blocks of a launch along x and y.
struct Blocks {
    unsigned x, y = 1;
};

/// Elements of an argument's array that the host has room for. A kernel's argument may have 32764 bytes, an element has
/// 32 at most.
inline constexpr int most_entries = 1000;

/// What does not depend on a kernel's argument.
class AnyKernel {
public:
    AnyKernel() = default;

    explicit operator bool() const { return function_; }
    const std::string& name() const { return name_; }
    const device::Stream& stream() const { return *stream_; }
    /// Allows `bytes` of dynamic shared memory for a thread block.
    void allow_shared(Index bytes) const;
    /// The number of thread blocks that are resident on a multiprocessor.
    int occupancy(int threads, Index shared_bytes) const;

protected:
    AnyKernel(const Context& context, const Source& source, const Definitions& definitions, const std::string& name);
    /// How a launch begins.
    enum class Start {
        in_turn,   ///< after the kernel before
        early,     ///< see Kernel::launch
        together,  ///< see Kernel::launch_together
    };
    void launch(Blocks blocks, unsigned threads, Index shared_bytes, const void* argument, Start start) const;

private:
    const device::Stream* stream_ = nullptr;
    void* function_ = nullptr;
    std::string name_;
};

/// A compiled kernel that takes an `Arguments`, for data of one context, which must outlive it.
template <class Arguments>
class Kernel : public AnyKernel {
public:
    static_assert(std::is_trivially_copyable_v<Arguments> && std::is_standard_layout_v<Arguments>);

    Kernel() = default;
    /// The kernel `name` of a source, compiled for the context's GPU and these definitions.
    Kernel(const Context& context, const Source& source, const Definitions& definitions, const std::string& name)
        : AnyKernel(context, source, definitions, name) {}

    /// Launches on the context's stream. `early`: the kernel may begin when all thread blocks of the kernel before have
    /// allowed it, and waits itself for what that one writes (programmatic dependent launch).
    void launch(Blocks blocks, unsigned threads, Index shared_bytes, const Arguments& arguments,
                bool early = false) const {
        AnyKernel::launch(blocks, threads, shared_bytes, &arguments, early ? Start::early : Start::in_turn);
    }
    /// Launches thread blocks that wait for each other: all are resident at a time, or the launch throws.
    void launch_together(Blocks blocks, unsigned threads, Index shared_bytes, const Arguments& arguments) const {
        AnyKernel::launch(blocks, threads, shared_bytes, &arguments, Start::together);
    }
};

}  // namespace hyperplane::rtc
