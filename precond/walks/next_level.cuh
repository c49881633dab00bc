// SPDX-License-Identifier: BSD-3-Clause
// Kernels for one level each that follow one another, where their launches overlap (precond/walks/next_kernel.cuh).
//
// Definitions: OVERLAPPED (whether they do).
#pragma once

#include "precond/walks/next_kernel.cuh"

namespace hyperplane {

/// Waits until the level before is complete and its results are visible.
__device__ __forceinline__ void wait_for_level() {
    if constexpr (OVERLAPPED) wait_for_last();
}
/// The next level's kernel may begin when all thread blocks have called this.
__device__ __forceinline__ void let_next_level_begin() {
    if constexpr (OVERLAPPED) let_next_begin();
}

}  // namespace hyperplane
