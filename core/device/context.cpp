// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/context.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/ranks/several_hosts.hpp"

namespace hyperplane {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t huge_page = std::size_t(2) << 20;

/// Aligned memory. For large sizes the system is asked to use huge pages, which need fewer address translations.
void* allocate_aligned(std::size_t bytes) {
    if (bytes < 2 * huge_page) return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    void* memory = std::aligned_alloc(huge_page, (bytes + huge_page - 1) / huge_page * huge_page);
    if (memory) madvise(memory, bytes / huge_page * huge_page, MADV_HUGEPAGE);
    return memory;
}

}  // namespace

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
    const auto anew = [&] {
        return backend_ == Backend::cuda ? stream().allocate(bytes)
                                         : allocate_aligned(std::size_t(std::max<Index>(bytes, 1)));
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

void Context::release(const std::string& label, void* memory, Index bytes) const {
    if (backend_ == Backend::cuda)
        stream().release(memory);
    else
        std::free(memory);
    ledger().remove(label, bytes);
}

}  // namespace hyperplane
