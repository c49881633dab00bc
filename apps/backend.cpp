// SPDX-License-Identifier: BSD-3-Clause
#include "apps/backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>

#include "apps/run/ranks.hpp"
#include "core/device/device.hpp"
#include "core/error.hpp"
#include "core/ranks/links_cuda.hpp"

namespace hyperplane {
namespace {

/// The backend that [device] chooses. Throws DeviceError if it is a GPU that cannot be used.
Backend choose_backend(const Parameters& parameters) {
    const std::string& asked = parameters.text("device", "backend");
    if (asked == "cpu") return Backend::cpu;
    try {
        device::properties_of(int(parameters.integer("device", "gpu")));
        return Backend::cuda;
    } catch (const DeviceError& error) {
        if (asked == "auto" && !parameters.is_given("device", "gpu")) return Backend::cpu;
        throw DeviceError(fmt::format("{}: {}; set device.backend = cpu to run without a GPU (hyperplane list devices)",
                                      parameters.where("device", asked == "cuda" ? "backend" : "gpu"), error.what()));
    }
}

Index read_number(const char* file, const std::string& key) {
    std::ifstream stream(file);
    std::string word;
    while (!key.empty() && stream >> word && word != key) {
    }
    Index value = 0;
    return stream >> value ? value : -1;
}

Index limit_of(const Parameters& parameters) {
    return parameters.is_set("device", "memory_limit") ? Index(parameters.real("device", "memory_limit") * (1 << 20))
                                                       : std::numeric_limits<Index>::max();
}

/// The GPU of a rank: ranks have one after the other, from device.gpu on, and begin anew where there are no more.
int gpu_of(const Parameters& parameters, int rank) {
    return (int(parameters.integer("device", "gpu")) + rank) % int(device::all().size());
}

/// Ranks on the same cores share the machine's threads unless the deck says how many each has, or, to a process that
/// is a rank, OMP_NUM_THREADS.
Context context_of_rank(const Parameters& parameters, int threads, std::shared_ptr<Communicator> ranks) {
    if (threads == 0 && launched_processes() > 1 && std::getenv("OMP_NUM_THREADS")) threads = Context::cpu().threads();
    if (threads == 0) threads = std::max(1, Context::cpu().threads() / ranks->sharing_cores());
    if (choose_backend(parameters) == Backend::cpu) return Context::cpu(threads, std::move(ranks));
    if (launched_processes() > 1)
        throw UsageError(parameters.where("device", "backend") +
                         ": on GPUs ranks are threads of one process, and this deck takes a GPU; start one process "
                         "with --ranks, or give device.backend = cpu");
    if constexpr (cuda_built) {
        std::vector<int> ordinals;
        for (int rank = 0; rank < ranks->size(); ++rank) ordinals.push_back(gpu_of(parameters, rank));
        check_peers(ordinals);
    }
    const int ordinal = gpu_of(parameters, ranks->rank());
    return Context::cuda(ordinal, threads, std::move(ranks));
}

Context context_of_backend(const Parameters& parameters, int threads) {
    if (choose_backend(parameters) == Backend::cpu) return Context::cpu(threads);
    return Context::cuda(int(parameters.integer("device", "gpu")), threads);
}

}  // namespace

Context make_context(const Parameters& parameters, const std::shared_ptr<Communicator>& ranks) {
    const int threads = int(parameters.integer("device", "threads"));
    const Context context =
        ranks ? context_of_rank(parameters, threads, ranks) : context_of_backend(parameters, threads);
    if (parameters.is_set("device", "memory_limit"))
        context.set_allocation_gate([&ledger = context.ledger(), limit = limit_of(parameters)](
                                        const std::string&, Index bytes) { return ledger.held() + bytes <= limit; });
    return context;
}

std::string describe(const Context& context) {
    const Communicator* const on_gpus = context.backend() == Backend::cuda ? context.ranks() : nullptr;
    if (on_gpus) {
        const int gpus = std::min(on_gpus->size(), int(device::all().size()));
        return fmt::format("cuda, {} ranks on {} GPU{}, {}", on_gpus->size(), gpus, gpus == 1 ? "" : "s",
                           context.stream().properties().name);
    }
    if (context.backend() == Backend::cuda) return "cuda, " + context.stream().properties().name;
    const std::string threads = fmt::format("{} thread{}", context.threads(), context.threads() == 1 ? "" : "s");
    if (const Communicator* ranks = context.ranks()) return fmt::format("cpu, {} ranks of {}", ranks->size(), threads);
    return "cpu, " + threads;
}

Index available_memory() {
    Index available = std::numeric_limits<Index>::max();
    if (const Index free = read_number("/proc/meminfo", "MemAvailable:"); free >= 0) available = free * 1024;
    const Index limit = read_number("/sys/fs/cgroup/memory.max", "");
    const Index used = read_number("/sys/fs/cgroup/memory.stat", "anon");  // cached files can be evicted
    if (limit >= 0 && used >= 0) available = std::min(available, std::max<Index>(0, limit - used));
    return available;
}

Index available_memory(const Context& context) {
    return context.backend() == Backend::cuda ? device::free_memory(context.stream().properties().ordinal)
                                              : available_memory();
}

Index available_memory(const Parameters& parameters) {
    const bool on_gpu = choose_backend(parameters) == Backend::cuda;
    return std::min(on_gpu ? device::free_memory(int(parameters.integer("device", "gpu"))) : available_memory(),
                    limit_of(parameters));
}

}  // namespace hyperplane
