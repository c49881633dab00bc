// SPDX-License-Identifier: BSD-3-Clause
// Kernels for one level each that follow one another by programmatic dependent launch: a level's thread blocks begin
// before the level before is complete, and wait for it themselves.
//
// Definitions: OVERLAPPED (whether they do).
#pragma once

namespace hyperplane {

/// Waits until the level before is complete and its results are visible.
__device__ __forceinline__ void wait_for_level() {
#if OVERLAPPED && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// The next level's kernel may begin when all blocks have called this.
__device__ __forceinline__ void let_next_begin() {
#if OVERLAPPED && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace hyperplane
