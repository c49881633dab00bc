// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "core/device/cuda.hpp"
#include "core/error.hpp"

namespace hyperplane {
namespace {

/// A CUDA event in the stream.
class Event {
public:
    Event() { cuda::check(cudaEventCreate(&event_), "cudaEventCreate"); }
    ~Event() { cudaEventDestroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    void record() { cuda::check(cudaEventRecord(event_, cuda::stream()), "cudaEventRecord"); }
    double seconds_since(const Event& begin) const {
        float milliseconds = 0.0f;
        cuda::check(cudaEventSynchronize(event_), "cudaEventSynchronize");
        cuda::check(cudaEventElapsedTime(&milliseconds, begin.event_, event_), "cudaEventElapsedTime");
        return 1e-3 * double(milliseconds);
    }

private:
    cudaEvent_t event_{};
};

/// Captures the stream's work into a graph. The destructor ends the capture if an exception has left it open.
class Capture {
public:
    explicit Capture(cudaStream_t stream) : stream_(stream) {
        cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
    }
    ~Capture() {
        if (open_) end();
        if (graph_) cudaGraphDestroy(graph_);
    }
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;

    cudaGraphExec_t instantiate() {
        cuda::check(end(), "cudaStreamEndCapture");
        cudaGraphExec_t graph = nullptr;
        cuda::check(cudaGraphInstantiate(&graph, graph_, 0), "cudaGraphInstantiate");
        return graph;
    }

private:
    cudaError_t end() {
        open_ = false;
        return cudaStreamEndCapture(stream_, &graph_);
    }

    cudaStream_t stream_;
    cudaGraph_t graph_ = nullptr;
    bool open_ = true;
};

struct Chosen {
    bool made = false;
    device::Properties properties;
    cudaStream_t stream = nullptr;
};

Chosen the_gpu;
std::string kernel_name = "no kernel";

device::Properties properties_of(int ordinal) {
    cudaDeviceProp p{};
    cuda::check(cudaGetDeviceProperties(&p, ordinal), "cudaGetDeviceProperties");
    int driver = 0;
    cuda::check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    return {p.name,
            p.major,
            p.minor,
            p.multiProcessorCount,
            Index(p.totalGlobalMem),
            Index(p.sharedMemPerBlockOptin),
            Index(p.l2CacheSize),
            fmt::format("{}.{}", driver / 1000, driver % 1000 / 10),
            ordinal};
}

}  // namespace

namespace cuda {

void check(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    cudaGetLastError();  // resets the error, which would otherwise be reported a second time
    const std::string message = fmt::format("{}: CUDA error {} ({}); last kernel launched: {}", what,
                                            cudaGetErrorName(error), cudaGetErrorString(error), kernel_name);
    if (error == cudaErrorMemoryAllocation) throw OutOfMemory("out of device memory in " + message);
    throw DeviceError(message);
}

cudaStream_t stream() {
    return the_gpu.stream;
}

void launched(const char* kernel) {
    kernel_name = kernel;
    check(cudaGetLastError(), kernel);
}

}  // namespace cuda

namespace device {

std::string unavailable() {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    cudaGetLastError();
    if (error == cudaErrorInsufficientDriver || error == cudaErrorStubLibrary)
        return "no NVIDIA driver that can run CUDA 13 was found";
    if (error != cudaSuccess && error != cudaErrorNoDevice) return cudaGetErrorString(error);
    return count > 0 ? "" : "no NVIDIA GPU was found";
}

std::vector<Properties> all() {
    std::vector<Properties> found;
    int count = 0;
    if (available()) cuda::check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    for (int ordinal = 0; ordinal < count; ++ordinal) found.push_back(properties_of(ordinal));
    return found;
}

void require(int ordinal) {
    if (the_gpu.made && the_gpu.properties.ordinal == ordinal) return;
    if (const std::string why = unavailable(); !why.empty()) throw DeviceError("no GPU can be used: " + why);
    int count = 0;
    cuda::check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    if (ordinal < 0 || ordinal >= count)
        throw DeviceError(fmt::format("GPU {} was asked for, but there are {}, numbered from 0", ordinal, count));
    cuda::check(cudaSetDevice(ordinal), "cudaSetDevice");
    const Properties properties = properties_of(ordinal);
    if (properties.major < 8)
        throw DeviceError(fmt::format("{} has compute capability {}.{}; 8.0 or newer is needed", properties.name,
                                      properties.major, properties.minor));
    the_gpu.properties = properties;
    cuda::check(cudaStreamCreateWithFlags(&the_gpu.stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    the_gpu.made = true;
}

bool chosen() {
    return the_gpu.made;
}

const Properties& properties() {
    if (!the_gpu.made) throw Error(ExitCode::internal, "the properties of a GPU were asked for before one was chosen");
    return the_gpu.properties;
}

Index free_memory() {
    std::size_t free = 0, total = 0;
    cuda::check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return Index(free);
}

void* allocate(Index bytes) {
    void* memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, std::size_t(bytes > 0 ? bytes : 1));
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        return nullptr;
    }
    cuda::check(error, "cudaMalloc");
    return memory;
}

void release(void* memory) {
    cudaFree(memory);  // unchecked: the call may be part of unwinding after another error
}

void zero(void* memory, Index bytes) {
    cuda::check(cudaMemsetAsync(memory, 0, std::size_t(bytes), cuda::stream()), "cudaMemsetAsync");
}

void copy(const void* from, void* to, Index bytes) {
    cuda::check(cudaMemcpyAsync(to, from, std::size_t(bytes), cudaMemcpyDefault, cuda::stream()), "cudaMemcpyAsync");
    cudaPointerAttributes a{}, b{};
    cuda::check(cudaPointerGetAttributes(&a, from), "cudaPointerGetAttributes");
    cuda::check(cudaPointerGetAttributes(&b, to), "cudaPointerGetAttributes");
    if (a.type != cudaMemoryTypeDevice || b.type != cudaMemoryTypeDevice) synchronize();
}

void synchronize() {
    cuda::check(cudaStreamSynchronize(cuda::stream()), "cudaStreamSynchronize");
}

Recording::Recording(const std::function<void()>& call) {
    Capture capture(cuda::stream());
    call();
    graph_ = capture.instantiate();
}

Recording::~Recording() {
    cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph_));
}

void Recording::queue() const {
    cuda::check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph_), cuda::stream()), "cudaGraphLaunch");
}

double seconds_of(const std::function<void()>& call) {
    Event begin, end;
    begin.record();
    call();
    end.record();
    return end.seconds_since(begin);
}

}  // namespace device
}  // namespace hyperplane
