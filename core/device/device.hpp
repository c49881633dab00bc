// SPDX-License-Identifier: BSD-3-Clause
// The GPU for code without CUDA's headers: whether there is one, its memory, its stream.
//
// All work on a GPU goes through one stream in order, so calls need no synchronisation among each other. In a program
// built without CUDA no GPU is available, and `require` says so.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/types.hpp"

namespace hyperplane::device {

/// Properties of a GPU.
struct Properties {
    std::string name;          ///< "NVIDIA H200"
    int major = 0, minor = 0;  ///< compute capability
    int multiprocessors = 0;
    Index memory = 0;            ///< bytes
    Index shared_per_block = 0;  ///< bytes of shared memory that a thread block can have after opting in
    Index level2 = 0;            ///< bytes of the level 2 cache
    std::string driver;          ///< the version of CUDA that the driver supports
    int ordinal = 0;
};

/// Empty if a GPU can be used, otherwise the reason why not, e.g. "this program was built without CUDA".
std::string unavailable();
inline bool available() {
    return unavailable().empty();
}
/// Every GPU of this machine, by ordinal; empty if unavailable() gives a reason.
std::vector<Properties> all();
/// Chooses GPU `ordinal` for the rest of the program; throws DeviceError if it does not exist or cannot be used.
void require(int ordinal = 0);
/// Whether `require` has chosen one.
bool chosen();
/// The properties of the chosen GPU. Throws an internal error if none is chosen, so that nobody computes with zeros.
const Properties& properties();
/// Bytes of the GPU's memory that are free now.
Index free_memory();

/// Device memory; null if there is not enough.
void* allocate(Index bytes);
void release(void* memory);
/// Queued after all earlier work.
void zero(void* memory, Index bytes);
/// Copies between host and device, or within either. If one side is the host's, the copy is finished on return.
void copy(const void* from, void* to, Index bytes);
/// Waits for all queued work. Throws if any of it failed; the message names the last kernel launched.
void synchronize();
/// A CUDA graph of the work that a call queues: it is recorded once and can be queued again as a whole.
class Recording {
public:
    /// Records the work of `call` without running it. `call` must have run once before, since it must not allocate
    /// memory or load kernels while it is recorded.
    explicit Recording(const std::function<void()>& call);
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    void queue() const;

private:
    void* graph_ = nullptr;
};
/// Seconds that the device takes for the work that `call` queues, measured between two events.
double seconds_of(const std::function<void()>& call);

}  // namespace hyperplane::device
