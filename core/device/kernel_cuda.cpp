// SPDX-License-Identifier: BSD-3-Clause
// Kernels that this process has loaded, and their launches.
#include <cuda_runtime.h>

#include <map>
#include <mutex>
#include <string_view>
#include <tuple>

#include "core/device/cuda.hpp"
#include "core/device/loading.hpp"
#include "core/device/machine_code.hpp"
#include "core/device/rtc.hpp"

namespace hyperplane::rtc {

namespace {

/// The libraries and kernels that this process has loaded. Threads may ask for them at the same time.
class Loaded {
public:
    cudaKernel_t kernel(const Source& source, const Definitions& definitions, const std::string& architecture,
                        const std::string& name) {
        const std::lock_guard lock(mutex_);
        cudaKernel_t& kernel = kernels_[{&source.texts, source.main, definitions, architecture, name}];
        if (!kernel)
            cuda::check(cudaLibraryGetKernel(&kernel, library({source, definitions}, architecture), name.c_str()),
                        name.c_str());
        return kernel;
    }

    /// All kernels of a program.
    std::vector<cudaKernel_t> kernels(const Program& program, const std::string& architecture) {
        const std::lock_guard lock(mutex_);
        const cudaLibrary_t all = library(program, architecture);
        const std::string name(program.source.main);
        unsigned count = 0;
        cuda::check(cudaLibraryGetKernelCount(&count, all), name.c_str());
        std::vector<cudaKernel_t> found(count);
        cuda::check(cudaLibraryEnumerateKernels(found.data(), count, all), name.c_str());
        return found;
    }

private:
    /// A program's texts are long, and to put them together takes 0.1 ms. Set-ups ask for the same programs again and
    /// again, and the first one for those that were loaded before: so they are looked up by the address of the texts.
    cudaLibrary_t library(const Program& program, const std::string& architecture) {
        const auto& [source, definitions, title] = program;
        cudaLibrary_t& known = known_[{&source.texts, source.main, definitions, architecture}];
        if (known) return known;
        const CompilerInput input(source, definitions);
        cudaLibrary_t& library = libraries_[architecture + "\n" + input.key];
        if (!library) {
            const std::vector<char>& code = machine_code_of(input, architecture);
            cuda::check(cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
                        input.name.c_str());
        }
        return known = library;
    }

    using KnownProgram = std::tuple<const Texts*, std::string_view, Definitions, std::string>;
    using KnownKernel = std::tuple<const Texts*, std::string_view, Definitions, std::string, std::string>;
    std::mutex mutex_;
    std::map<KnownProgram, cudaLibrary_t> known_;
    std::map<KnownKernel, cudaKernel_t> kernels_;
    std::map<std::string, cudaLibrary_t> libraries_;
};

Loaded& loaded() {
    static Loaded all;
    return all;
}

}  // namespace

void load(const Programs& programs, const device::Properties& device) {
    cuda::check(cudaSetDevice(device.ordinal), "cudaSetDevice");
    for (const Program& program : programs)
        for (const cudaKernel_t kernel : loaded().kernels(program, architecture_of(device))) {
            cudaFuncAttributes attributes{};  // to ask for them loads the kernel
            cuda::check(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)),
                        "cudaFuncGetAttributes");
        }
}

AnyKernel::AnyKernel(const Context& context, const Source& source, const Definitions& definitions,
                     const std::string& name)
    : stream_(&context.stream()), name_(name) {
    stream_->handle();
    function_ =
        reinterpret_cast<void*>(loaded().kernel(source, definitions, architecture_of(stream_->properties()), name));
}

void AnyKernel::allow_shared(Index bytes) const {
    // The limit belongs to the function on its GPU, which all objects of this kernel share, and never falls.
    static std::mutex mutex;
    const std::scoped_lock lock(mutex);
    stream_->handle();
    cudaFuncAttributes now{};
    cuda::check(cudaFuncGetAttributes(&now, function_), name_.c_str());
    if (bytes <= now.maxDynamicSharedSizeBytes) return;
    cuda::check(cudaFuncSetAttribute(function_, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)),
                name_.c_str());
}

int AnyKernel::occupancy(int threads, Index shared_bytes) const {
    int blocks = 0;
    stream_->handle();
    cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function_, threads, std::size_t(shared_bytes)),
                name_.c_str());
    return blocks;
}

void AnyKernel::launch(Blocks blocks, unsigned threads, Index shared_bytes, const void* argument, Start start) const {
    void* arguments[] = {const_cast<void*>(argument)};
    cudaLaunchAttribute attribute{};
    if (start == Start::early) {
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
    } else if (start == Start::together) {
        attribute.id = cudaLaunchAttributeCooperative;
        attribute.val.cooperative = 1;
    }
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks.x, blocks.y);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = std::size_t(shared_bytes);
    config.stream = static_cast<cudaStream_t>(stream_->handle());
    config.attrs = &attribute;
    config.numAttrs = start == Start::in_turn ? 0 : 1;
    cuda::check(cudaLaunchKernelExC(&config, function_, arguments), name_.c_str());
    stream_->note(name_.c_str());
}

}  // namespace hyperplane::rtc
