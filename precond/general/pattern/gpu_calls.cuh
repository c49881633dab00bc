// SPDX-License-Identifier: BSD-3-Clause
// Launches of kernels and calls of CUB's functions on a GPU's stream, for sources that nvcc compiles.
#pragma once

#include <string>

#include "core/device/cuda.hpp"

namespace hyperplane {

class GpuCalls {
public:
    static constexpr int threads = 256;  ///< of a thread block, but of one where there is one item

    GpuCalls(const Context& gpu, std::string label) : gpu_(gpu), label_(std::move(label)) {}

    /// Memory with any values.
    template <class T>
    Buffer<T> buffer(Index size) const {
        return Buffer<T>(gpu_, label_, size, Initially::anything);
    }
    cudaStream_t stream() const { return cuda::stream(gpu_); }
    /// A value, or an array of them, from the GPU's memory; the host waits for it.
    template <class Values, class T>
    Values read(const T* from) const {
        Values values;
        gpu_.stream().copy(from, &values, Index(sizeof(values)));
        return values;
    }
    /// Launches a kernel with a thread for each item of `work`, which may be none.
    template <class... Parameters, class... Arguments>
    void launch(const char* name, Index work, void (*kernel)(Parameters...), const Arguments&... arguments) const {
        if (work == 0) return;
        kernel<<<cuda::blocks_for(work, threads), work == 1 ? 1 : threads, 0, stream()>>>(arguments...);
        cuda::launched(gpu_, name);
    }
    /// Calls one of CUB's functions with the temporary memory that it asks for.
    template <class Function>
    void call(const char* name, const Function& function) {
        std::size_t bytes = 0;
        cuda::check(function(nullptr, bytes), name);
        if (Index(bytes) > temporary_.size()) temporary_ = buffer<unsigned char>(Index(bytes));
        bytes = std::size_t(temporary_.size());
        cuda::check(function(temporary_.data(), bytes), name);
        cuda::launched(gpu_, name);
    }

    const Context& context() const { return gpu_; }
    const std::string& label() const { return label_; }

private:
    Context gpu_;
    std::string label_;
    Buffer<unsigned char> temporary_;
};

/// The item of this thread.
inline __device__ Index own_index() {
    return Index(blockIdx.x) * GpuCalls::threads + threadIdx.x;
}

}  // namespace hyperplane
