// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/context.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/ranks/several_hosts.hpp"

namespace hyperplane {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t huge_page = std::size_t(2) << 20;

bool is_large(std::size_t bytes) {
    return bytes >= 2 * huge_page;
}

/// The size of the memory for so many bytes.
std::size_t rounded_up(std::size_t bytes) {
    const std::size_t unit = is_large(bytes) ? huge_page : alignment;
    return (bytes + unit - 1) / unit * unit;
}

/// Aligned memory. For large sizes the system is asked to use huge pages, which need fewer address translations.
void* allocate_aligned(std::size_t bytes) {
    if (!is_large(bytes)) return std::aligned_alloc(alignment, rounded_up(bytes));
    void* memory = std::aligned_alloc(huge_page, rounded_up(bytes));
    if (memory) madvise(memory, bytes / huge_page * huge_page, MADV_HUGEPAGE);
    return memory;
}

}  // namespace

/// Large blocks that were released, by size. Memory that is taken from the system anew is cleared by it first, page by
/// page, which takes longer than most loops that write it.
class KeptBlocks {
public:
    KeptBlocks() = default;
    KeptBlocks(const KeptBlocks&) = delete;
    KeptBlocks& operator=(const KeptBlocks&) = delete;
    ~KeptBlocks() { leave(0); }

    Index bytes() const { return bytes_; }
    void keep(void* memory, std::size_t size) {
        blocks_.emplace(size, memory);
        bytes_ += Index(size);
    }
    /// A block of this size, or null.
    void* take(std::size_t size) {
        const auto found = blocks_.find(size);
        if (found == blocks_.end()) return nullptr;
        void* const memory = found->second;
        blocks_.erase(found);
        bytes_ -= Index(size);
        return memory;
    }
    /// Gives blocks back to the system until at most so many bytes are left: the smallest one that suffices, or else
    /// the largest ones.
    void leave(Index bytes) {
        while (bytes_ > bytes && !blocks_.empty()) {
            auto next = blocks_.lower_bound(std::size_t(bytes_ - bytes));
            if (next == blocks_.end()) --next;
            std::free(next->second);
            bytes_ -= Index(next->first);
            blocks_.erase(next);
        }
    }

private:
    std::multimap<std::size_t, void*> blocks_;
    Index bytes_ = 0;
};

std::string to_string(Backend backend) {
    return backend == Backend::cpu ? "cpu" : "cuda";
}

void MemoryLedger::add(const std::string& label, Index bytes) {
    by_label_[label] += bytes;
    held_ += bytes;
    if (held_ > peak_) {
        peak_ = held_;
        peak_by_label_ = by_label_;
    }
}

void MemoryLedger::remove(const std::string& label, Index bytes) {
    by_label_[label] -= bytes;
    held_ -= bytes;
}

void MemoryLedger::forget_peak() {
    peak_ = held_;
    peak_by_label_ = by_label_;
}

std::string MemoryLedger::table() const {
    std::vector<std::pair<std::string, Index>> rows(by_label_.begin(), by_label_.end());
    std::stable_sort(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.second > b.second; });
    std::string text;
    for (const auto& [label, bytes] : rows)
        if (bytes > 0) text += fmt::format("  {:<28} {:>14}\n", label, in_mib(bytes));
    return text + fmt::format("  {:<28} {:>14}\n", "total", in_mib(held_));
}

Context::Context(Backend backend, int threads, std::shared_ptr<const device::Stream> stream)
    : backend_(backend),
      shared_(std::make_shared<Shared>(Shared{threads > 0 ? threads : omp_get_max_threads(), std::move(stream)})) {}

Context Context::cpu(int threads) {
    return Context(Backend::cpu, threads);
}

Context Context::cpu(int threads, std::shared_ptr<Communicator> ranks) {
    Context context = cpu(threads);
    if (ranks && ranks->size() > 1) context.shared_->ranks = std::move(ranks);
    return context;
}

Context Context::cuda(int ordinal, int threads) {
    return Context(Backend::cuda, threads, device::make_stream(ordinal));
}

Context Context::cuda(int ordinal, int threads, std::shared_ptr<Communicator> ranks) {
    const bool alone = !ranks || ranks->size() == 1 || are_on_several_hosts(*ranks);  // nobody reads the memory
    const device::Readers readers = alone                  ? device::Readers::none
                                    : ranks->one_process() ? device::Readers::threads
                                                           : device::Readers::processes;
    Context context(Backend::cuda, threads, device::make_stream(ordinal, readers));
    if (ranks && ranks->size() > 1) context.shared_->ranks = std::move(ranks);
    return context;
}

Context Context::planned(std::shared_ptr<Communicator> ranks) const {
    Context context(backend_, threads(), shared_->stream);
    if (ranks && ranks->size() > 1) context.shared_->ranks = std::move(ranks);
    return context;
}

Context Context::host() const {
    if (backend_ == Backend::cpu) return *this;
    const Context host = cpu(threads(), shared_->ranks);
    host.set_least_parallel_work(least_parallel_work());
    return host;
}

const device::Stream& Context::no_stream() {
    throw Error(ExitCode::internal, "the stream of a context on the CPU was asked for");
}

void copy_between(const Context& of_source, const void* from, const Context& of_target, void* to, Index bytes) {
    const bool from_gpu = of_source.backend() == Backend::cuda, to_gpu = of_target.backend() == Backend::cuda;
    if (!from_gpu && !to_gpu) {
        std::memcpy(to, from, std::size_t(bytes));
        return;
    }
    const device::Stream& stream = (to_gpu ? of_target : of_source).stream();
    const bool two_streams = from_gpu && to_gpu && &of_source.stream() != &stream;
    if (two_streams) of_source.synchronize();
    stream.copy(from, to, bytes);
    if (two_streams) stream.synchronize();
}

const Context& no_context() {
    throw Error(ExitCode::internal, "the context of a buffer without memory was asked for");
}

void* Context::allocate(const std::string& label, Index bytes) const {
    const bool allowed = !shared_->gate || shared_->gate(label, bytes);
    const auto anew = [&]() -> void* {
        if (backend_ == Backend::cuda) return stream().allocate(bytes);
        const std::size_t size = std::size_t(std::max<Index>(bytes, 1));
        KeptBlocks* const kept = shared_->kept.get();
        if (kept && is_large(size))
            if (void* const memory = kept->take(rounded_up(size))) return memory;
        if (kept) kept->leave(std::max<Index>(0, ledger().peak() - ledger().held() - bytes));
        void* const memory = allocate_aligned(size);
        if (memory || !kept) return memory;
        kept->leave(0);
        return allocate_aligned(size);
    };
    void* memory = allowed ? anew() : nullptr;
    if (!memory)
        throw OutOfMemory(
            fmt::format("out of {}memory: {} for {} could not be allocated{}. Held so far:\n{}"
                        "Use a smaller grid or matrix, or keys that take less memory",
                        backend_ == Backend::cuda ? "device " : "", in_mib(bytes), label,
                        allowed ? "" : ", since device.memory_limit allows no more", ledger().table()));
    ledger().add(label, bytes);
    return memory;
}

void Context::return_released() const {
    if (backend_ == Backend::cuda)
        stream().return_released();
    else if (shared_->kept)
        shared_->kept->leave(0);
}

void Context::release(const std::string& label, void* memory, Index bytes) const {
    if (backend_ == Backend::cuda) {
        stream().release(memory);
    } else if (is_large(std::size_t(bytes)) &&
               (shared_->kept ? shared_->kept->bytes() : 0) + ledger().held() <= ledger().peak()) {
        if (!shared_->kept) shared_->kept = std::make_shared<KeptBlocks>();
        shared_->kept->keep(memory, rounded_up(std::size_t(bytes)));
    } else {
        std::free(memory);
    }
    ledger().remove(label, bytes);
}

}  // namespace hyperplane
