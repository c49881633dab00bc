// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/memory_reserve.hpp"

#include <chrono>

#include "core/timer.hpp"

namespace hyperplane {

MemoryReserve::MemoryReserve(const Case& a_case) {
    constexpr Index least = Index(1) << 26;  // less is there at once
    const Context& context = a_case.context;
    if (context.backend() != Backend::cuda || context.ranks()) return;
    const Index bytes = a_case.memory_plan().total() - context.ledger().held();
    // While it is taken, this thread may take a part of the same memory itself.
    if (bytes < least || 2 * bytes > device::free_memory(context.stream().properties().ordinal)) return;
    running_ = std::async(std::launch::async, [context, bytes] {
        const auto begin = std::chrono::steady_clock::now();
        const device::Stream& stream = context.stream();
        if (void* const all = stream.allocate(bytes)) stream.release(all);
        return seconds_since(begin);
    });
}

double MemoryReserve::wait() {
    return running_.valid() ? running_.get() : 0.0;
}

}  // namespace hyperplane
