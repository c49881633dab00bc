// SPDX-License-Identifier: BSD-3-Clause
// The depth of a row, as the thread blocks of one launch pass it on; 0: it is not known yet.
#pragma once

namespace hyperplane {

__device__ __forceinline__ int known_depth(const int* at) {
    int depth;
    asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(depth) : "l"(at) : "memory");
    return depth;
}
__device__ __forceinline__ void publish_depth(int* at, int depth) {
    asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(at), "r"(depth) : "memory");
}

}  // namespace hyperplane
