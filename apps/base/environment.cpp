// SPDX-License-Identifier: BSD-3-Clause
#include "apps/base/environment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>

#include "apps/base/backend.hpp"
#include "apps/base/build_info.hpp"

namespace hyperplane {

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string now_in_utc() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text.data();
}

std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
    return "unknown";
}

Index machine_memory() {
    return Index(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

std::string in_gib(Index bytes) {
    return fmt::format("{:.1f} GiB", double(bytes) / (1 << 30));
}

std::string describe(const device::Properties& gpu) {
    return fmt::format("{}, {}, compute capability {}.{}, CUDA {}", gpu.name, in_gib(gpu.memory), gpu.major, gpu.minor,
                       gpu.driver);
}

std::map<std::string, std::string> gpu_state(int ordinal) {
    const std::string command = fmt::format(
        "nvidia-smi -i {} --query-gpu=driver_version,clocks.sm,clocks.mem --format=csv,noheader,nounits 2>/dev/null",
        ordinal);
    std::array<char, 256> line{};
    if (std::FILE* pipe = popen(command.c_str(), "r")) {
        if (!std::fgets(line.data(), int(line.size()), pipe)) line[0] = 0;
        pclose(pipe);
    }
    std::istringstream stream(line.data());
    std::map<std::string, std::string> state;
    std::string value;
    for (const char* name : {"driver", "sm_clock_MHz", "memory_clock_MHz"})
        if (std::getline(stream >> std::ws, value, ','))
            state[name] = value.substr(0, value.find_last_not_of(" \n") + 1);
    return state;
}

std::map<std::string, std::string> environment(const Context& context, const std::string& device,
                                               const std::string& varies) {
    std::map<std::string, std::string> found = {
        {"backend", to_string(context.backend())},
        {"device", device},
        {"processor", processor_name()},
        {"host", host_name()},
        {"threads", fmt::format("{}", context.threads())},
        {"compiler", build_info().compiler},
        {"build_type", build_info().build_type},
        {"started", now_in_utc()},
    };
    if (const Communicator* ranks = context.ranks()) found["ranks"] = fmt::format("{}", ranks->size());
    if (context.backend() == Backend::cuda) {
        const device::Properties& gpu = context.stream().properties();
        found["gpu"] = gpu.name;
        found["gpu_memory"] = in_gib(gpu.memory);
        found["gpu_compute_capability"] = fmt::format("{}.{}", gpu.major, gpu.minor);
        found["cuda_driver"] = gpu.driver;
        if (const std::string hosts = between_hosts(context); !hosts.empty()) found["between_hosts"] = hosts;
        if (context.ranks()) found["gpus"] = fmt::format("{}", fmt::join(context.gpus_of_ranks(), ", "));
    }
    if (!varies.empty()) found["not_deterministic"] = varies;
    for (const auto& [key, variable] :
         {std::pair{"slurm_job", "SLURM_JOB_ID"}, {"slurm_array_task", "SLURM_ARRAY_TASK_ID"}})
        if (const char* value = std::getenv(variable)) found[key] = value;
    return found;
}

}  // namespace hyperplane
