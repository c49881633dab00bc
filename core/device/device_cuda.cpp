// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cstdint>

#include "core/device/capture_cuda.hpp"
#include "core/device/planned_gpu.hpp"
#include "core/error.hpp"

namespace hyperplane {
namespace {

/// If a call failed, throws as cuda::check does; the message names the last kernel of the stream.
void check(const device::Stream& stream, cudaError_t error, const char* what) {
    if (error != cudaSuccess)
        cuda::check(error, fmt::format("{}, last kernel launched: {}", what, stream.last_kernel()).c_str());
}

cudaStream_t cuda_stream(const device::Stream& stream) {
    return static_cast<cudaStream_t>(stream.handle());
}

/// A CUDA event in a stream.
class Event {
public:
    explicit Event(const device::Stream& stream) : stream_(stream) {
        stream.handle();
        cuda::check(cudaEventCreate(&event_), "cudaEventCreate");
    }
    ~Event() { cudaEventDestroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    void record() { check(stream_, cudaEventRecord(event_, cuda_stream(stream_)), "cudaEventRecord"); }
    double seconds_since(const Event& begin) const {
        float milliseconds = 0.0f;
        check(stream_, cudaEventSynchronize(event_), "cudaEventSynchronize");
        cuda::check(cudaEventElapsedTime(&milliseconds, begin.event_, event_), "cudaEventElapsedTime");
        return 1e-3 * double(milliseconds);
    }

private:
    const device::Stream& stream_;
    cudaEvent_t event_{};
};

device::Properties read_properties(int ordinal) {
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
            ordinal,
            std::string(p.uuid.bytes, sizeof p.uuid.bytes)};
}

/// The pool of a stream's memory, which keeps what is released, for later allocations of the same stream. Null where
/// the GPU has no pools.
cudaMemPool_t make_pool(int ordinal) {
    int supported = 0;
    cuda::check(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, ordinal), "cudaDeviceGetAttribute");
    if (!supported) return nullptr;
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = ordinal;
    cudaMemPool_t pool = nullptr;
    cuda::check(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
    std::uint64_t all = ~std::uint64_t(0);
    cuda::check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all), "cudaMemPoolSetAttribute");
    return pool;
}

/// Whether a call did not find enough memory; throws if it failed for another reason.
bool is_short(const device::Stream& stream, cudaError_t error, const char* call) {
    if (error != cudaErrorMemoryAllocation) {
        check(stream, error, call);
        return false;
    }
    cudaGetLastError();
    return true;
}

void* allocate_on_device(const device::Stream& stream, Index bytes) {
    stream.handle();
    void* memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, std::size_t(bytes > 0 ? bytes : 1));
    return is_short(stream, error, "cudaMalloc") ? nullptr : memory;
}

void free_on_device(int ordinal, void* memory) {
    cudaSetDevice(ordinal);  // unchecked, both: the call may be part of unwinding after another error
    cudaFree(memory);
}

}  // namespace

namespace cuda {

void check(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    cudaGetLastError();  // resets the error, which would otherwise be reported a second time
    const std::string message =
        fmt::format("{}: CUDA error {} ({})", what, cudaGetErrorName(error), cudaGetErrorString(error));
    if (error == cudaErrorMemoryAllocation) throw OutOfMemory("out of device memory in " + message);
    throw DeviceError(message);
}

cudaStream_t stream(const Context& context) {
    return cuda_stream(context.stream());
}

void launched(const Context& context, const char* kernel) {
    context.stream().note(kernel);
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
    for (int ordinal = 0; ordinal < count; ++ordinal) found.push_back(read_properties(ordinal));
    return found;
}

Properties properties_of(int ordinal) {
    if (const std::string why = unavailable(); !why.empty()) throw DeviceError("no GPU can be used: " + why);
    int count = 0;
    cuda::check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    if (ordinal < 0 || ordinal >= count)
        throw DeviceError(fmt::format("GPU {} was asked for, but there are {}, numbered from 0", ordinal, count));
    const Properties properties = read_properties(ordinal);
    if (10 * properties.major + properties.minor < least_capability)
        throw DeviceError(fmt::format("{} has compute capability {}.{}; {:.1f} or newer is needed", properties.name,
                                      properties.major, properties.minor, 0.1 * least_capability));
    return properties;
}

Index free_memory(int ordinal) {
    std::size_t free = 0, total = 0;
    cuda::check(cudaSetDevice(ordinal), "cudaSetDevice");
    cuda::check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return Index(free);
}

namespace {

/// The stream of a GPU that is there.
class GpuStream final : public Stream {
public:
    GpuStream(int ordinal, Readers readers);
    ~GpuStream() override;

    void* handle() const override;
    void* allocate(Index bytes) const override;
    void return_released() const override;
    void release(void* memory) const override;
    void synchronize() const override;
    void drain() const noexcept override;

private:
    void queue_zero(void* memory, Index bytes) const override;
    void queue_copy(const void* from, void* to, Index bytes) const override;

    Readers readers_;
    cudaStream_t stream_ = nullptr;
    cudaMemPool_t pool_ = nullptr;  ///< if nobody else reads the memory and the GPU has pools
};

GpuStream::GpuStream(int ordinal, Readers readers) : Stream(properties_of(ordinal)), readers_(readers) {
    cuda::check(cudaSetDevice(ordinal), "cudaSetDevice");
    if (readers == Readers::processes)
        chunks_ =
            std::make_unique<Chunks>(Chunks::Source{[this](Index bytes) { return allocate_on_device(*this, bytes); },
                                                    [ordinal](void* chunk) { free_on_device(ordinal, chunk); }});
    if (readers == Readers::none) pool_ = make_pool(ordinal);
    cuda::check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    const Index bytes = (2 * Scratch::sums + 2) * Index(sizeof(double));
    scratch_.partial = static_cast<double*>(allocate(bytes));
    if (!scratch_.partial) {
        cudaStreamDestroy(stream_);
        throw OutOfMemory(fmt::format("GPU {} has no memory left for a stream's sums, {} bytes", ordinal, bytes));
    }
    scratch_.planes = scratch_.partial + Scratch::sums;
    scratch_.scalar = scratch_.planes + Scratch::sums;
    scratch_.arrived = reinterpret_cast<unsigned*>(scratch_.scalar + 1);
    zero(scratch_.partial, bytes);
}

GpuStream::~GpuStream() {
    drain();
    release(scratch_.partial);
    cudaStreamDestroy(stream_);
    if (pool_) cudaMemPoolDestroy(pool_);
}

void* GpuStream::handle() const {
    check(*this, cudaSetDevice(properties_.ordinal), "cudaSetDevice");
    return stream_;
}

void* GpuStream::allocate(Index bytes) const {
    if (!pool_) return chunks_ ? chunks_->allocate(bytes) : allocate_on_device(*this, bytes);
    const cudaStream_t stream = cuda_stream(*this);
    void* memory = nullptr;
    const auto is_too_much = [&] {
        const cudaError_t error = cudaMallocFromPoolAsync(&memory, std::size_t(bytes > 0 ? bytes : 1), pool_, stream);
        return is_short(*this, error, "cudaMallocFromPoolAsync");
    };
    if (!is_too_much()) return memory;
    return_released();
    return is_too_much() ? nullptr : memory;
}

void GpuStream::return_released() const {
    if (!pool_) return;
    synchronize();
    check(*this, cudaMemPoolTrimTo(pool_, 0), "cudaMemPoolTrimTo");
}

void GpuStream::release(void* memory) const {
    if (pool_) {
        cudaSetDevice(properties_.ordinal);  // unchecked, both: the call may be part of unwinding after another error
        cudaFreeAsync(memory, stream_);
        return;
    }
    if (chunks_) {
        chunks_->release(memory);  // whatever uses it next is queued behind what uses it now
        return;
    }
    if (readers_ == Readers::threads) drain();
    free_on_device(properties_.ordinal, memory);
}

void GpuStream::queue_zero(void* memory, Index bytes) const {
    check(*this, cudaMemsetAsync(memory, 0, std::size_t(bytes), cuda_stream(*this)), "cudaMemsetAsync");
}

void GpuStream::queue_copy(const void* from, void* to, Index bytes) const {
    check(*this, cudaMemcpyAsync(to, from, std::size_t(bytes), cudaMemcpyDefault, cuda_stream(*this)),
          "cudaMemcpyAsync");
    cudaPointerAttributes a{}, b{};
    cuda::check(cudaPointerGetAttributes(&a, from), "cudaPointerGetAttributes");
    cuda::check(cudaPointerGetAttributes(&b, to), "cudaPointerGetAttributes");
    // The driver has read memory that is not pinned when the call returns. Other ranks read the destination without
    // waiting for this stream.
    const bool sent =
        readers_ == Readers::none && a.type == cudaMemoryTypeUnregistered && b.type == cudaMemoryTypeDevice;
    if (!sent && (a.type != cudaMemoryTypeDevice || b.type != cudaMemoryTypeDevice)) synchronize();
}

void GpuStream::synchronize() const {
    check(*this, cudaStreamSynchronize(cuda_stream(*this)), "cudaStreamSynchronize");
}

void GpuStream::drain() const noexcept {
    cudaSetDevice(properties_.ordinal);
    cudaStreamSynchronize(stream_);
}

}  // namespace

std::unique_ptr<Stream> make_stream(int ordinal, Readers readers) {
    if (ordinal == planned_ordinal) return std::make_unique<PlannedStream>();
    return std::make_unique<GpuStream>(ordinal, readers);
}

double Stream::seconds_of(const std::function<void()>& call) const {
    Event begin(*this), end(*this);
    begin.record();
    call();
    end.record();
    return end.seconds_since(begin);
}

Recording::Recording(const Stream& stream, const std::function<void()>& call) : stream_(stream) {
    cuda::Capture capture(cuda_stream(stream));
    stream.recording_ = true;
    try {
        call();
    } catch (...) {
        stream.recording_ = false;
        throw;
    }
    stream.recording_ = false;
    graph_ = capture.instantiate();
}

Recording::~Recording() {
    cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph_));
}

void Recording::queue() const {
    check(stream_, cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph_), cuda_stream(stream_)), "cudaGraphLaunch");
}

}  // namespace device
}  // namespace hyperplane
