// SPDX-License-Identifier: BSD-3-Clause
// Context: the backend that does the work, and the ledger of all memory held there. It is passed explicitly.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/device/device.hpp"
#include "core/ranks/communicator.hpp"

namespace hyperplane {

class Profile;

enum class Backend { cpu, cuda };

class KeptBlocks;
class RankLinks;

std::string to_string(Backend backend);

/// The memory that is held now, and the most that was ever held, in bytes by label.
class MemoryLedger {
public:
    void add(const std::string& label, Index bytes);
    void remove(const std::string& label, Index bytes);
    Index held() const { return held_; }
    Index peak() const { return peak_; }
    /// Resets the peak to what is held now.
    void forget_peak();
    const std::map<std::string, Index>& by_label() const { return by_label_; }            ///< held now
    const std::map<std::string, Index>& peak_by_label() const { return peak_by_label_; }  ///< at the total's peak
    /// A table "label  bytes", largest first; for messages.
    std::string table() const;

private:
    std::map<std::string, Index> by_label_, peak_by_label_;
    Index held_ = 0, peak_ = 0;
};

/// The backend, its threads and its memory, which copies share. Whatever holds data knows its context, and loops over
/// that data use its threads: contexts with different numbers of threads work side by side.
class Context {
public:
    /// A CPU context that uses `threads` OpenMP threads (0: OpenMP's default).
    static Context cpu(int threads = 0);
    /// The same for one of several ranks of a run.
    static Context cpu(int threads, std::shared_ptr<Communicator> ranks);
    /// The context of GPU `ordinal`; throws DeviceError if there is none. Its ledger counts device memory. The host's
    /// part of the work uses `threads` OpenMP threads (0: OpenMP's default).
    static Context cuda(int ordinal = 0, int threads = 0);
    /// Makes the context of one of several ranks of a run.
    static Context cuda(int ordinal, int threads, std::shared_ptr<Communicator> ranks);

    /// This context without its ranks, for what each of them does as a whole for itself.
    Context alone() const {
        Context one = *this;
        one.alone_ = true;
        return one;
    }
    /// A context for plans of what one of several ranks would hold on this backend and GPU. No work may be given to it.
    Context planned(std::shared_ptr<Communicator> ranks) const;

    Backend backend() const { return backend_; }
    /// Whether the other one is a copy of this context: then both have the same threads, stream and ledger.
    bool is(const Context& other) const { return shared_ == other.shared_; }
    /// A context in which the host prepares data: this one, or for a GPU a CPU context with the same threads and
    /// ranks and a ledger of its own.
    Context host() const;
    int threads() const { return shared_->threads; }
    /// Changes the number of threads for this context and its copies. Results have the same bits for any number.
    void set_threads(int threads) const { shared_->threads = threads; }
    /// Threads for a loop over `unknowns` values of a vector. Loops over few unknowns run on one thread, since waking
    /// the others costs more time than they save.
    int threads_for(Index unknowns) const { return unknowns < shared_->least_parallel_work ? 1 : shared_->threads; }
    /// The number of unknowns from which on loops use several threads; tests set it to 0, for small grids.
    Index least_parallel_work() const { return shared_->least_parallel_work; }
    void set_least_parallel_work(Index unknowns) const { shared_->least_parallel_work = unknowns; }
    /// The ranks of the run, if there are several; otherwise null.
    Communicator* ranks() const { return alone_ ? nullptr : shared_->ranks.get(); }
    /// The way of this rank's kernels to the memory of the others (core/ranks/links_cuda.hpp); null until it is made.
    std::shared_ptr<RankLinks>& links() const { return shared_->links; }
    /// The GPU of each rank, where that is known: equal numbers mean the same GPU.
    const std::vector<int>& gpus_of_ranks() const { return shared_->gpus_of_ranks; }
    void set_gpus_of_ranks(std::vector<int> gpus) const { shared_->gpus_of_ranks = std::move(gpus); }
    MemoryLedger& ledger() const { return shared_->ledger; }
    /// Where the time of this context and its copies goes, if that is measured; otherwise null (core/profile.hpp).
    Profile* profile() const { return shared_->profile.get(); }
    void set_profile(std::shared_ptr<Profile> profile) const { shared_->profile = std::move(profile); }

    /// Waits for all queued work; throws if any of it failed.
    void synchronize() const {
        if (backend_ == Backend::cuda) stream().synchronize();
    }
    /// The GPU's stream, on which all work on the context's data is queued; copies share it. Throws Error (internal) on
    /// a CPU.
    const device::Stream& stream() const { return shared_->stream ? *shared_->stream : no_stream(); }

    /// 64-byte aligned memory of the backend, uninitialised; throws OutOfMemory with the ledger in the message. On a
    /// CPU large blocks that were released are kept for allocations of the same size, as long as no more memory is
    /// taken from the system than the ledger's peak.
    void* allocate(const std::string& label, Index bytes) const;
    void release(const std::string& label, void* memory, Index bytes) const;
    /// Gives memory that is kept for later allocations back to the system, or to the GPU.
    void return_released() const;

    /// Decides about an allocation: it is called with label and bytes before each one, and false means "out of
    /// memory". Used by tests and for --memory-limit.
    using AllocationGate = std::function<bool(const std::string& label, Index bytes)>;
    void set_allocation_gate(AllocationGate gate) const { shared_->gate = std::move(gate); }

private:
    struct Shared {
        int threads;
        std::shared_ptr<const device::Stream> stream = nullptr;  ///< on a GPU
        Index least_parallel_work = Index(1) << 15;
        std::shared_ptr<Communicator> ranks = nullptr;
        std::shared_ptr<RankLinks> links = nullptr;
        std::vector<int> gpus_of_ranks = {};
        MemoryLedger ledger = {};
        AllocationGate gate = {};
        std::shared_ptr<Profile> profile = nullptr;  ///< after the stream, since it refers to it
        std::shared_ptr<KeptBlocks> kept = nullptr;  ///< of a host's memory
    };

    Context(Backend backend, int threads, std::shared_ptr<const device::Stream> stream = nullptr);
    [[noreturn]] static const device::Stream& no_stream();

    Backend backend_;
    bool alone_ = false;
    std::shared_ptr<Shared> shared_;
};

/// Throws Error (internal).
[[noreturn]] const Context& no_context();

/// The values that a buffer holds before anything is written to it. With `anything` they are, on a GPU, whatever the
/// memory held before, for values that are all written before any is read; a host's memory is set to zero all the same,
/// by the threads that will use it.
enum class Initially { zero, anything };

/// Owns `size` values of T in a context's memory, initially zero if nothing else is asked for. Movable, not copyable.
/// On a GPU the addresses are the device's, and the host cannot read through them.
template <class T>
class Buffer {
public:
    Buffer() = default;
    Buffer(const Context& context, std::string label, Index size, Initially holds = Initially::zero);
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Buffer() {
        if (data_) context_->release(label_, data_, size_ * Index(sizeof(T)));
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    Index size() const { return size_; }
    Backend backend() const { return context_ ? context_->backend() : Backend::cpu; }
    /// Throws Error (internal) for a buffer that was never given memory.
    const Context& context() const { return context_ ? *context_ : no_context(); }
    T& operator[](Index at) { return data_[at]; }
    const T& operator[](Index at) const { return data_[at]; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }

private:
    void swap(Buffer& other) noexcept {
        std::swap(context_, other.context_);
        std::swap(label_, other.label_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }

    std::shared_ptr<const Context> context_;
    std::string label_;
    T* data_ = nullptr;
    Index size_ = 0;
};

/// Sets [data, data + size) to zero with the threads that will use it (first touch).
template <class T>
void fill_zero(const Context& context, T* data, Index size) {
#pragma omp parallel for schedule(static) num_threads(context.threads_for(size))
    for (Index at = 0; at < size; ++at) data[at] = T{};
}

template <class T>
Buffer<T>::Buffer(const Context& context, std::string label, Index size, Initially holds)
    : context_(std::make_shared<const Context>(context)), label_(std::move(label)), size_(size) {
    data_ = static_cast<T*>(context.allocate(label_, size * Index(sizeof(T))));
    if (context.backend() == Backend::cpu)
        fill_zero(context, data_, size_);
    else if (holds == Initially::zero)
        context.stream().zero(data_, size_ * Index(sizeof(T)));
}

/// A copy of `values` in a context's memory.
template <class T>
Buffer<T> copied_to(const Context& context, const std::string& label, const std::vector<T>& values) {
    Buffer<T> copy(context, label, Index(values.size()), Initially::anything);
    if (context.backend() == Backend::cuda)
        context.stream().copy(values.data(), copy.data(), copy.size() * Index(sizeof(T)));
    else
        std::copy(values.begin(), values.end(), copy.begin());
    return copy;
}

/// Copies `bytes` bytes between the memories of two contexts, after the work that either has queued.
void copy_between(const Context& of_source, const void* from, const Context& of_target, void* to, Index bytes);

/// `made` in a context's memory: the buffer itself if it belongs to that context already, otherwise a copy.
template <class T>
Buffer<T> moved_to(const Context& context, const std::string& label, Buffer<T> made) {
    if (made.context().is(context)) return made;
    Buffer<T> moved(context, label, made.size(), Initially::anything);
    copy_between(made.context(), made.data(), context, moved.data(), made.size() * Index(sizeof(T)));
    return moved;
}

}  // namespace hyperplane
