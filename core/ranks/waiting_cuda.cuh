// SPDX-License-Identifier: BSD-3-Clause
// Flags between GPUs: a store that releases what was stored before, and a wait that acquires it.
#pragma once

namespace hyperplane::cuda {

constexpr int most_blocks = 32;  // thread blocks of an exchange: all are resident, and few wait

/// Nanoseconds for which a kernel waits for another GPU; then it ends with an error.
constexpr unsigned long long patience = 20'000'000'000ull;

__device__ inline void release(unsigned* flag, unsigned epoch) {
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(epoch) : "memory");
}

__device__ inline unsigned long long nanoseconds() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

/// Waits until a flag has reached an epoch.
__device__ inline void wait_for(const unsigned* flag, unsigned epoch) {
    const unsigned long long begin = nanoseconds();
    for (unsigned turn = 1;; ++turn) {
        unsigned now;
        asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(now) : "l"(flag) : "memory");
        if (int(now - epoch) >= 0) return;
        if (turn % 1024 == 0 && nanoseconds() - begin > patience) __trap();
    }
}

}  // namespace hyperplane::cuda
