// SPDX-License-Identifier: BSD-3-Clause
// CUDA, for the files that are part of the CUDA backend only.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "core/device/device.hpp"

namespace hyperplane::cuda {

/// Throws what a failed call means, naming it: DeviceError, or OutOfMemory. `what` is the call or kernel.
void check(cudaError_t error, const char* what);

/// The stream all work goes through.
cudaStream_t stream();

/// Remembers the kernel just launched, for the messages of errors that come up later, and checks the launch.
void launched(const char* kernel);

inline int multiprocessors() {
    return device::properties().multiprocessors;
}

/// Blocks of `threads` threads that cover `work` items.
inline unsigned blocks_for(Index work, int threads) {
    return unsigned((work + threads - 1) / threads);
}

}  // namespace hyperplane::cuda
