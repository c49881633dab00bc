// SPDX-License-Identifier: BSD-3-Clause
#include "apps/base/backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <set>
#include <span>

#include "apps/base/log.hpp"
#include "core/device/planned_gpu.hpp"
#include "core/error.hpp"
#include "core/ranks/links_cuda.hpp"
#include "core/ranks/nccl.hpp"
#include "core/ranks/peers_cuda.hpp"

namespace hyperplane {
namespace {

/// Whether a plan for a GPU can be made here although none can be used.
bool must_plan(WithoutGpu without) {
    return cuda_built && without == WithoutGpu::plan && !device::available();
}

/// The backend that [device] chooses. Throws DeviceError if it is a GPU that cannot be used.
Backend choose_backend(const Parameters& parameters, WithoutGpu without = WithoutGpu::refuse) {
    const std::string& asked = parameters.text("device", "backend");
    if (asked == "cpu") return Backend::cpu;
    if ((asked == "cuda" || parameters.is_given("device", "gpu")) && must_plan(without)) return Backend::cuda;
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

/// The GPU of a rank: those of a host have one after the other, from device.gpu on, and begin anew where there are no
/// more.
int gpu_of(const Parameters& parameters, int place_on_host) {
    return (int(parameters.integer("device", "gpu")) + place_on_host) % int(device::all().size());
}

const char* on_gpu_text(double on_gpu) {
    return on_gpu > 0.0 ? "has" : "has not";
}

/// A rank that is a process tells all others this.
struct RankDevice {
    double on_gpu, ordinal, identity, ranks_on_host;
};

bool share_gpus(const std::vector<RankDevice>& devices) {
    std::set<double> gpus;
    for (const RankDevice& device : devices) gpus.insert(device.identity);
    return gpus.size() < devices.size();
}

int number_of_hosts(const std::vector<RankDevice>& devices) {
    double hosts = 0.0;
    for (const RankDevice& device : devices) hosts += 1.0 / device.ranks_on_host;
    return int(std::lround(hosts));
}

/// How ranks on GPUs of several hosts exchange values; the same on all of them.
[[maybe_unused]] BetweenHosts between_hosts_of(const Parameters& parameters, const std::vector<RankDevice>& devices,
                                               Communicator& ranks) {
    BetweenHosts how;
    if constexpr (cuda_built) {
        const std::string asked = parameters.text("device", "between_hosts");
        std::string why;
        const double mine = asked == "messages" ? 0.0 : loadable_nccl(why);
        if (asked != "messages" && mine == 0.0) logging::debug("{}", why);
        std::vector<double> all(devices.size());
        ranks.all_gather(std::span(&mine, 1), all);
        how = choose_between_hosts(asked, {all.begin(), all.end()}, share_gpus(devices));
        how.text = fmt::format("{} hosts, {}", number_of_hosts(devices), how.text);
    }
    return how;
}

/// Numbers of GPUs: those by which the ranks know them, unless that would give two GPUs one number; then in the order
/// of the ranks that have them.
std::vector<int> numbers_of_gpus(const std::vector<RankDevice>& devices) {
    std::vector<double> seen;
    std::vector<int> ordinals, in_order;
    bool same = true;
    for (const RankDevice& device : devices) {
        const auto at = std::find(seen.begin(), seen.end(), device.identity);
        in_order.push_back(int(at - seen.begin()));
        if (at == seen.end()) seen.push_back(device.identity);
        ordinals.push_back(int(device.ordinal));
    }
    for (std::size_t one = 0; one < devices.size(); ++one)
        for (std::size_t other = 0; other < one; ++other)
            same = same && (ordinals[one] == ordinals[other]) == (in_order[one] == in_order[other]);
    return same ? ordinals : in_order;
}

/// The context of a rank that is a process. All ranks must take the same backend.
Context context_of_process(const Parameters& parameters, int threads, const std::shared_ptr<Communicator>& ranks) {
    const std::string where = parameters.where("device", "backend");
    const bool on_gpu = choose_backend(parameters) == Backend::cuda;
    const int ordinal = on_gpu ? gpu_of(parameters, ranks->place_on_host()) : -1;
    RankDevice mine{on_gpu ? 1.0 : 0.0, double(ordinal), 0.0, double(ranks->ranks_on_host())};
    if constexpr (cuda_built)
        if (on_gpu) mine.identity = cuda::identity_as_value(device::properties_of(ordinal));
    std::vector<double> values(4 * std::size_t(ranks->size()));
    ranks->all_gather(std::array{mine.on_gpu, mine.ordinal, mine.identity, mine.ranks_on_host}, values);
    std::vector<RankDevice> devices;
    for (std::size_t at = 0; at < values.size(); at += 4)
        devices.push_back({values[at], values[at + 1], values[at + 2], values[at + 3]});
    for (std::size_t rank = 0; rank < devices.size(); ++rank)
        if (devices[rank].on_gpu != devices[0].on_gpu)
            throw UsageError(fmt::format(
                "{}: all ranks must take the same backend, and rank 0 {} a GPU that can be used, and rank {} {}; give "
                "device.backend = cpu, or start all processes where there are GPUs",
                where, on_gpu_text(devices[0].on_gpu), rank, on_gpu_text(devices[rank].on_gpu)));
    if (!on_gpu) return Context::cpu(threads, ranks);
    Context context = Context::cuda(ordinal, threads, ranks);
    context.set_gpus_of_ranks(numbers_of_gpus(devices));
    if constexpr (cuda_built)
        if (are_on_several_hosts(*ranks))
            context.links() = std::make_shared<RankLinks>(context, between_hosts_of(parameters, devices, *ranks));
    return context;
}

/// The context of a rank that is a thread of this process.
Context context_of_thread(const Parameters& parameters, int threads, const std::shared_ptr<Communicator>& ranks,
                          WithoutGpu without) {
    if (choose_backend(parameters, without) == Backend::cpu) return Context::cpu(threads, ranks);
    std::vector<int> ordinals;
    if (must_plan(without)) {
        Context context = Context::cuda(device::planned_ordinal, threads, ranks);
        for (int rank = 0; rank < ranks->size(); ++rank) ordinals.push_back(rank);
        context.set_gpus_of_ranks(std::move(ordinals));
        return context;
    }
    for (int rank = 0; rank < ranks->size(); ++rank) ordinals.push_back(gpu_of(parameters, rank));
    if constexpr (cuda_built) cuda::check_peers(ordinals);
    Context context = Context::cuda(ordinals[ranks->rank()], threads, ranks);
    context.set_gpus_of_ranks(std::move(ordinals));
    return context;
}

/// Ranks on the same cores share the machine's threads unless the deck says how many each has, or, to a process that
/// is a rank, OMP_NUM_THREADS.
Context context_of_rank(const Parameters& parameters, int threads, const std::shared_ptr<Communicator>& ranks,
                        WithoutGpu without) {
    const bool process = !ranks->one_process();
    if (threads == 0 && process && std::getenv("OMP_NUM_THREADS")) threads = Context::cpu().threads();
    if (threads == 0) threads = std::max(1, Context::cpu().threads() / ranks->sharing_cores());
    return process ? context_of_process(parameters, threads, ranks)
                   : context_of_thread(parameters, threads, ranks, without);
}

Context context_of_backend(const Parameters& parameters, int threads, WithoutGpu without) {
    if (choose_backend(parameters, without) == Backend::cpu) return Context::cpu(threads);
    if (must_plan(without)) return Context::cuda(device::planned_ordinal, threads);
    return Context::cuda(int(parameters.integer("device", "gpu")), threads);
}

}  // namespace

Context make_context(const Parameters& parameters, const std::shared_ptr<Communicator>& ranks, WithoutGpu without) {
    const int threads = int(parameters.integer("device", "threads"));
    const Context context =
        ranks ? context_of_rank(parameters, threads, ranks, without) : context_of_backend(parameters, threads, without);
    limit_memory(context, parameters);
    return context;
}

bool is_of_planned_gpu(const Context& context) {
    return context.backend() == Backend::cuda && device::is_planned(context.stream().properties());
}

void limit_memory(const Context& context, const Parameters& parameters, Index most) {
    const Index limit = std::min(memory_limit(parameters), most);
    if (limit == std::numeric_limits<Index>::max()) return context.set_allocation_gate({});
    context.set_allocation_gate([&ledger = context.ledger(), limit](const std::string&, Index bytes) {
        return ledger.held() + bytes <= limit;
    });
}

std::string between_hosts(const Context& context) {
    if constexpr (cuda_built)
        if (context.links()) return context.links()->between_hosts().text;
    return "";
}

std::string describe(const Context& context) {
    if (is_of_planned_gpu(context))
        return context.ranks()
                   ? fmt::format("cuda, {} ranks on as many GPUs that are not here", context.ranks()->size())
                   : "cuda, a GPU that is not here";
    const Communicator* const on_gpus = context.backend() == Backend::cuda ? context.ranks() : nullptr;
    if (on_gpus) {
        const int gpus = int(std::set<int>(context.gpus_of_ranks().begin(), context.gpus_of_ranks().end()).size());
        const std::string hosts = between_hosts(context);
        return fmt::format("cuda, {} ranks on {} GPU{}{}, {}", on_gpus->size(), gpus, gpus == 1 ? "" : "s",
                           hosts.empty() ? "" : " of " + hosts, context.stream().properties().name);
    }
    if (context.backend() == Backend::cuda) return "cuda, " + context.stream().properties().name;
    const std::string threads = fmt::format("{} thread{}", context.threads(), context.threads() == 1 ? "" : "s");
    if (const Communicator* ranks = context.ranks()) return fmt::format("cpu, {} ranks of {}", ranks->size(), threads);
    return "cpu, " + threads;
}

Index memory_limit(const Parameters& parameters, int ranks) {
    constexpr Index most = std::numeric_limits<Index>::max();
    if (!parameters.is_set("device", "memory_limit")) return most;
    const double bytes = parameters.real("device", "memory_limit") * (1 << 20);
    if (bytes >= double(most)) return most;
    return Index(bytes) > most / ranks ? most : ranks * Index(bytes);
}

Index available_memory() {
    Index available = Index(1) << 60;  // where nothing tells; a sum with it is an integer
    if (const Index free = read_number("/proc/meminfo", "MemAvailable:"); free >= 0) available = free * 1024;
    const Index limit = read_number("/sys/fs/cgroup/memory.max", "");
    const Index used = read_number("/sys/fs/cgroup/memory.stat", "anon");  // cached files can be evicted
    if (limit >= 0 && used >= 0) available = std::min(available, std::max<Index>(0, limit - used));
    return available;
}

Index available_memory(const Context& context) {
    context.return_released();
    if (context.backend() == Backend::cpu) return available_memory();
    return device::free_memory(context.stream().properties().ordinal);
}

Index available_memory(const Parameters& parameters, int ranks, Index held) {
    const bool on_gpu = choose_backend(parameters) == Backend::cuda;
    const Index left = on_gpu ? device::free_memory(int(parameters.integer("device", "gpu"))) : available_memory();
    return std::min(left + held, memory_limit(parameters, ranks));
}

}  // namespace hyperplane
