// SPDX-License-Identifier: BSD-3-Clause
// The GPUs for code without CUDA's headers: which there are, and streams of work on them.
//
// A context on a GPU has a stream (core/device/context.hpp), and all work on its data goes through that stream in
// order, so calls need no synchronisation among each other. In a program built without CUDA no GPU is available, and
// making a stream says so.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/device/chunks.hpp"
#include "core/types.hpp"

namespace hyperplane::device {

/// Ten times the least compute capability of a GPU that can be used. Kernels load shared memory asynchronously, which
/// older GPUs cannot.
inline constexpr int least_capability = 80;

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
    std::string identity;  ///< the same for every process that sees this GPU, and of no other one (its UUID)
};

/// Empty if a GPU can be used, otherwise the reason why not, e.g. "this program was built without CUDA".
std::string unavailable();
inline bool available() {
    return unavailable().empty();
}
/// Every GPU of this machine, by ordinal; empty if unavailable() gives a reason.
std::vector<Properties> all();
/// The properties of GPU `ordinal`; throws DeviceError if it does not exist or cannot be used.
Properties properties_of(int ordinal);
/// Bytes of a GPU's memory that are free now.
Index free_memory(int ordinal);

/// Memory for the sums of a stream's kernels. One kernel at a time uses it, since the work of a stream is in order.
struct Scratch {
    static constexpr Index sums = Index(1) << 18;  ///< number of doubles at `partial`, and at `planes`

    double* partial = nullptr;
    double* planes = nullptr;     ///< sums of planes, of each column (core/vector/sum_order.hpp)
    unsigned* arrived = nullptr;  ///< 0 between kernels
    double* scalar = nullptr;     ///< for a result that the host reads next
};

/// Who reads a stream's memory besides the stream itself: other ranks, if any, as threads or as processes.
enum class Readers { none, threads, processes };

/// Work on a GPU in order. One thread at a time uses a stream; different threads can use different ones, of one GPU or
/// of several. The GPU need not be there: then the stream serves plans of memory (core/device/planned_gpu.hpp).
class Stream {
public:
    virtual ~Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    const Properties& properties() const { return properties_; }
    /// The cudaStream_t. The stream's GPU becomes the calling thread's current one, as launches need it.
    virtual void* handle() const = 0;
    const Scratch& scratch() const { return scratch_; }

    /// Device memory; null if there is not enough. Where nobody else reads the stream's memory, what was released is
    /// used again, and given back to the GPU only if there is not enough otherwise: so no set-up waits for the driver
    /// twice.
    virtual void* allocate(Index bytes) const = 0;
    /// Gives memory that was released back to the GPU, after all queued work.
    virtual void return_released() const = 0;
    /// If other threads read the memory, this waits for all queued work, and so for their reading, for which the stream
    /// waits: CUDA frees what a kernel of another GPU still reads.
    virtual void release(void* memory) const = 0;
    /// The chunks of memory that other processes map; null if none do.
    Chunks* chunks() const { return chunks_.get(); }
    /// Queued after all earlier work.
    void zero(void* memory, Index bytes) const {
        ++queued_;
        queue_zero(memory, bytes);
    }
    /// Copies between host and device, or within either. What is copied to the host is there on return, and what is
    /// copied from it may be changed then; a copy to the device is otherwise queued like all work.
    void copy(const void* from, void* to, Index bytes) const {
        ++queued_;
        queue_copy(from, to, bytes);
    }
    /// Waits for all queued work. Throws if any of it failed; the message names the last kernel launched.
    virtual void synchronize() const = 0;
    /// The same without a report of errors, for destructors.
    virtual void drain() const noexcept = 0;
    /// Seconds that the device takes for the work that `call` queues, measured between two events.
    double seconds_of(const std::function<void()>& call) const;

    /// Keeps a kernel's name for the messages of later errors.
    void note(const char* kernel) const {
        last_kernel_ = kernel;
        ++queued_;
    }
    const std::string& last_kernel() const { return last_kernel_; }
    /// Whether a Recording records the work that is queued now, which then runs later and more than once.
    bool recording() const { return recording_; }
    /// Number of kernels, copies and fills that have been queued.
    Index queued() const { return queued_; }

protected:
    explicit Stream(Properties properties) : properties_(std::move(properties)) {}
    virtual void queue_zero(void* memory, Index bytes) const = 0;
    virtual void queue_copy(const void* from, void* to, Index bytes) const = 0;

    Properties properties_;
    Scratch scratch_;
    std::unique_ptr<Chunks> chunks_;

private:
    friend class Recording;

    mutable bool recording_ = false;
    mutable std::string last_kernel_ = "no kernel";
    mutable Index queued_ = 0;
};

/// A stream of GPU `ordinal`, or of the GPU that is not there if that is planned_ordinal. Throws DeviceError if the GPU
/// does not exist or cannot be used. Memory that other processes map is allocated in chunks.
std::unique_ptr<Stream> make_stream(int ordinal, Readers readers = Readers::none);

/// A CUDA graph of the work that a call queues: it is recorded once and can be queued again as a whole.
class Recording {
public:
    /// Records the work that `call` queues on a stream without running it. `call` must have run once before, since it
    /// must not allocate memory or load kernels while it is recorded.
    Recording(const Stream& stream, const std::function<void()>& call);
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    void queue() const;

private:
    const Stream& stream_;
    void* graph_ = nullptr;
};

}  // namespace hyperplane::device
