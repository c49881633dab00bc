// SPDX-License-Identifier: BSD-3-Clause
// Kernels that follow one another by programmatic dependent launch (sm_90 and later): a kernel's thread blocks begin
// before the kernel before it is complete, and wait for it themselves. Elsewhere both functions do nothing.
#pragma once

namespace hyperplane {

/// The next kernel may begin when all thread blocks have called this.
__device__ __forceinline__ void let_next_begin() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
/// Waits until the kernel before is complete and its results are visible.
__device__ __forceinline__ void wait_for_last() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace hyperplane
