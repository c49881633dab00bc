// SPDX-License-Identifier: BSD-3-Clause
// CUDA's calls, for files that belong to the CUDA backend.
#pragma once

#include <cuda_runtime_api.h>

#include "core/device/context.hpp"

namespace hyperplane::cuda {

/// If a call failed, throws OutOfMemory for want of memory, otherwise DeviceError. `what` names the call or kernel.
void check(cudaError_t error, const char* what);

/// The stream of a context. Its GPU becomes the calling thread's current one, as launches need it.
cudaStream_t stream(const Context& context);

/// Checks the launch of a kernel, and keeps its name for the messages of later errors.
void launched(const Context& context, const char* kernel);

inline int multiprocessors(const Context& context) {
    return context.stream().properties().multiprocessors;
}

/// Blocks of `threads` threads that cover `work` items.
inline unsigned blocks_for(Index work, int threads) {
    return unsigned((work + threads - 1) / threads);
}

}  // namespace hyperplane::cuda
