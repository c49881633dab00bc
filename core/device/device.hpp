// SPDX-License-Identifier: BSD-3-Clause
// The GPU, as code without CUDA headers sees it: whether there is one, its memory, its one stream.
//
// Everything the program does on a GPU goes through one stream in order, so no call here needs to know of
// another. In a program built without CUDA nothing is available and `require` says so.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/types.hpp"

namespace hyperplane::device {

/// What the chosen GPU is.
struct Properties {
    std::string name;          ///< "NVIDIA H200"
    int major = 0, minor = 0;  ///< compute capability
    int multiprocessors = 0;
    Index memory = 0;            ///< bytes
    Index shared_per_block = 0;  ///< bytes a block can have after opting in
    Index level2 = 0;            ///< bytes of cache
    std::string driver;          ///< version of CUDA the driver offers
    int ordinal = 0;
};

/// Empty when a GPU can be used, else why not, e.g. "this program was built without CUDA".
std::string unavailable();
inline bool available() {
    return unavailable().empty();
}
/// Every GPU of this machine, by ordinal; none where unavailable() says why.
std::vector<Properties> all();
/// Chooses GPU `ordinal` for the rest of the program; throws DeviceError when there is none such.
void require(int ordinal = 0);
/// Whether `require` has chosen one.
bool chosen();
/// Those of the GPU chosen; an internal error where none is, as figures of no GPU would be taken for a GPU's.
const Properties& properties();
/// Bytes free now, on the whole GPU.
Index free_memory();

/// Null when there is not enough.
void* allocate(Index bytes);
void release(void* memory);
/// Queued behind all work before.
void zero(void* memory, Index bytes);
/// Between any two memories, host's or device's; host memory may be reused when the call returns.
void copy(const void* from, void* to, Index bytes);
/// Waits for all work queued; throws the errors it met, naming the last kernel launched.
void synchronize();
/// What a call queues, recorded once and queued again as one: a CUDA graph.
class Recording {
public:
    /// `call` is recorded, not run. It must have run before, so that it has made all it needs.
    explicit Recording(const std::function<void()>& call);
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    void queue() const;

private:
    void* graph_ = nullptr;
};
/// Seconds the device takes for what `call` queues, between two events.
double seconds_of(const std::function<void()>& call);

}  // namespace hyperplane::device
