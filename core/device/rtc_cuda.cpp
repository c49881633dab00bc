// SPDX-License-Identifier: BSD-3-Clause
#include <cuda_runtime.h>
#include <fmt/format.h>
#include <nvrtc.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <regex>

#include "core/device/cuda.hpp"
#include "core/device/rtc.hpp"
#include "core/error.hpp"

namespace hyperplane::rtc {
namespace {

void check(nvrtcResult result, const char* what) {
    if (result != NVRTC_SUCCESS)
        throw Error(ExitCode::internal, fmt::format("{}: {}", what, nvrtcGetErrorString(result)));
}

std::string log_of(nvrtcProgram program) {
    std::size_t size = 0;
    check(nvrtcGetProgramLogSize(program, &size), "nvrtcGetProgramLogSize");
    std::string log(size, '\0');
    check(nvrtcGetProgramLog(program, log.data()), "nvrtcGetProgramLog");
    return log;
}

/// ptxas -v, which NVRTC passes on: "Compiling entry function 'f' ...", "Function properties for f", "... bytes stack
/// frame, ... spill stores", "Used 40 registers, ... bytes smem". Functions that f calls have properties too.
std::vector<KernelResources> read_resources(const std::string& log) {
    std::vector<KernelResources> rows;
    static const std::regex entry(R"(entry function '([^']*)')"), properties(R"(Function properties for (\S+))"),
        stack(R"((\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads)"),
        used(R"(Used (\d+) registers)"), shared(R"((\d+) bytes smem)");
    std::smatch match;
    std::string function;
    std::size_t begin = 0;
    while (begin < log.size()) {
        const std::size_t end = std::min(log.find('\n', begin), log.size());
        const std::string line = log.substr(begin, end - begin);
        begin = end + 1;
        if (std::regex_search(line, match, entry)) rows.push_back({.name = match[1]});
        if (rows.empty()) continue;
        if (std::regex_search(line, match, properties)) function = match[1];
        if (function == rows.back().name && std::regex_search(line, match, stack)) {
            rows.back().local_bytes = std::stoll(match[1]);
            rows.back().spill_bytes = std::stoll(match[2]) + std::stoll(match[3]);
        }
        if (std::regex_search(line, match, used)) rows.back().registers = std::stoi(match[1]);
        if (std::regex_search(line, match, shared)) rows.back().shared_bytes = std::stoll(match[1]);
    }
    return rows;
}

/// The texts with their definitions before them.
std::string full_text(const Texts& texts, const Definitions& definitions) {
    std::string full;
    for (const auto& [name, value] : definitions) full += fmt::format("#define {} {}\n", name, value);
    for (const KernelText& text : texts) full += fmt::format("#line 1 \"{}\"\n{}", text.name, text.text);
    return full;
}

std::filesystem::path cache_folder() {
    if (const char* off = std::getenv("HYPERPLANE_KERNEL_CACHE")) return off;
    if (const char* cache = std::getenv("XDG_CACHE_HOME")) return std::filesystem::path(cache) / "hyperplane";
    if (const char* home = std::getenv("HOME")) return std::filesystem::path(home) / ".cache" / "hyperplane";
    return {};
}

/// Machine code kept on disk under a name that holds everything it depends on. The cache only saves time:
/// where it cannot be read or written, the kernel is compiled.
class CachedCode {
public:
    CachedCode(const std::string& text, const std::string& architecture) {
        const auto folder = cache_folder();
        if (folder.empty()) return;
        int major = 0, minor = 0;
        nvrtcVersion(&major, &minor);
        key_ = fmt::format("{} {}.{} {}", architecture, major, minor, text);
        path_ = folder / fmt::format("{:016x}{:016x}.cubin", hash(14695981039346656037ull), hash(1099511628211ull));
    }
    std::vector<char> read() const {
        std::ifstream file(path_, std::ios::binary);
        std::string key(key_.size(), '\0');
        if (path_.empty() || !file.read(key.data(), std::streamsize(key.size())) || key != key_) return {};
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void write(const std::vector<char>& code) const {
        if (path_.empty()) return;
        std::error_code ignored;
        std::filesystem::create_directories(path_.parent_path(), ignored);
        const auto part = path_.string() + fmt::format(".{}", getpid());
        {
            std::ofstream file(part, std::ios::binary);
            file << key_;
            file.write(code.data(), std::streamsize(code.size()));
            if (!file) std::filesystem::remove(part, ignored);
        }
        std::filesystem::rename(part, path_, ignored);
    }

private:
    /// FNV-1a
    std::uint64_t hash(std::uint64_t value) const {
        for (const unsigned char c : key_) value = (value ^ c) * 1099511628211ull;
        return value;
    }
    std::string key_;
    std::filesystem::path path_;
};

}  // namespace

std::string braces(const std::vector<int>& values) {
    return fmt::format("{{{}}}", fmt::join(values, ","));
}

std::vector<char> compile(const Texts& texts, const Definitions& definitions, const std::string& architecture,
                          std::vector<KernelResources>* resources) {
    const std::string text = full_text(texts, definitions);
    nvrtcProgram program = nullptr;
    check(nvrtcCreateProgram(&program, text.c_str(), texts.back().name, 0, nullptr, nullptr), "nvrtcCreateProgram");
    const std::string target = "--gpu-architecture=" + architecture;
    std::vector<const char*> options{
        target.c_str(),    "--std=c++20", "--device-as-default-execution-space", "--extra-device-vectorization",
        "--device-int128", "-lineinfo"};
    if (resources) options.push_back("--ptxas-options=-v");
    const nvrtcResult result = nvrtcCompileProgram(program, int(options.size()), options.data());
    const std::string log = log_of(program);
    if (result != NVRTC_SUCCESS) {
        nvrtcDestroyProgram(&program);
        throw Error(ExitCode::internal,
                    fmt::format("{} does not compile for {}:\n{}", texts.back().name, architecture, log));
    }
    if (resources) *resources = read_resources(log);
    std::size_t size = 0;
    check(nvrtcGetCUBINSize(program, &size), "nvrtcGetCUBINSize");
    std::vector<char> code(size);
    check(nvrtcGetCUBIN(program, code.data()), "nvrtcGetCUBIN");
    nvrtcDestroyProgram(&program);
    return code;
}

void Kernel::allow_shared(Index bytes) const {
    cuda::check(cudaFuncSetAttribute(function_, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)),
                name_.c_str());
}

int Kernel::occupancy(int threads, Index shared_bytes) const {
    int blocks = 0;
    cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function_, threads, std::size_t(shared_bytes)),
                name_.c_str());
    return blocks;
}

void Kernel::launch(Blocks blocks, unsigned threads, Index shared_bytes, const void* argument, bool early) const {
    void* arguments[] = {const_cast<void*>(argument)};
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks.x, blocks.y);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = std::size_t(shared_bytes);
    config.stream = cuda::stream();
    config.attrs = &attribute;
    config.numAttrs = early ? 1 : 0;
    cuda::check(cudaLaunchKernelExC(&config, function_, arguments), name_.c_str());
    cuda::launched(name_.c_str());
}

Kernel load(const Texts& texts, const Definitions& definitions, const std::string& name) {
    static std::mutex mutex;
    static std::map<std::string, cudaLibrary_t> libraries;
    const std::lock_guard lock(mutex);
    const std::string text = full_text(texts, definitions);
    auto found = libraries.find(text);
    if (found == libraries.end()) {
        const auto& device = device::properties();
        const std::string architecture = fmt::format("sm_{}{}", device.major, device.minor);
        const CachedCode cached(text, architecture);
        std::vector<char> code = cached.read();
        if (code.empty()) {
            code = compile(texts, definitions, architecture);
            cached.write(code);
        }
        cudaLibrary_t library{};
        cuda::check(cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
                    texts.back().name);
        found = libraries.emplace(text, library).first;
    }
    // Errors name the last kernel launched, also after the Kernel object is gone.
    static std::map<std::string, cudaKernel_t> kernels;
    const auto [entry, fresh] = kernels.try_emplace(text + "\n" + name);
    if (fresh) cuda::check(cudaLibraryGetKernel(&entry->second, found->second, name.c_str()), name.c_str());
    return Kernel(reinterpret_cast<void*>(entry->second), name);
}

}  // namespace hyperplane::rtc
