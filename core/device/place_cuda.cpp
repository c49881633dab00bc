// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/cuda.hpp"
#include "core/device/place.hpp"

namespace hyperplane::device {

std::optional<int> place_of(const void* memory) {
    cudaPointerAttributes found{};
    if (cudaPointerGetAttributes(&found, memory) != cudaSuccess) {
        cudaGetLastError();  // there is no GPU, so the memory is the host's
        return std::nullopt;
    }
    if (found.type != cudaMemoryTypeDevice && found.type != cudaMemoryTypeManaged) return std::nullopt;
    return found.device;
}

void wait_for_all_work(int ordinal) {
    cuda::check(cudaSetDevice(ordinal), "cudaSetDevice");
    cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

}  // namespace hyperplane::device
