// SPDX-License-Identifier: BSD-3-Clause
// How thread blocks take their rows and wait for rows of others.
//
// Thread blocks take parts of the order of rows by tickets. In this order each row comes after all that it depends on,
// so whoever waits, waits for a part that a resident thread block has taken: there is no deadlock, however few are
// resident.
#pragma once

#include "core/device/epochs.cuh"

namespace hyperplane {

/// The part of this thread block; all threads must call it.
__device__ __forceinline__ unsigned take_ticket(TicketState* state, u64& epoch) {
    __shared__ unsigned ticket;
    if (threadIdx.x == 0) ticket = atomicAdd(&state->ticket, 1u);
    epoch = *(volatile u64*)&state->epoch;
    __syncthreads();
    return ticket;
}
/// Ends a thread block; the last one of a launch makes the state ready for the next.
__device__ __forceinline__ void end_part(TicketState* state, u64 epoch, unsigned parts) {
    __syncthreads();
    if (threadIdx.x != 0 || atomicAdd(&state->done, 1u) != parts - 1) return;
    state->ticket = 0;
    state->done = 0;
    state->epoch = epoch + 1;
}

/// Waits less and less eagerly, so that those who wait long burden the memory little.
struct Patience {
    int tries = 0;
    __device__ __forceinline__ void wait() {
        if (++tries > 8) __nanosleep(tries > 64 ? 100 : 20);
    }
};

// NOLINTBEGIN(misc-unused-parameters): a test compiles this text for the host, without PTX
/// Waits until a row has been finished in this launch. What its threads wrote before is visible then.
__device__ __forceinline__ void wait_for(const u64* finished, u64 epoch) {
    Patience patience;
    for (;;) {
        u64 seen;
        asm volatile("ld.acquire.gpu.global.b64 %0, [%1];" : "=l"(seen) : "l"(finished) : "memory");
        if (seen == epoch) return;
        patience.wait();
    }
}
/// Called by one thread of a row after its threads have synchronised.
__device__ __forceinline__ void publish(u64* finished, u64 epoch) {
    asm volatile("st.release.gpu.global.b64 [%0], %1;" ::"l"(finished), "l"(epoch) : "memory");
}
// NOLINTEND(misc-unused-parameters)

}  // namespace hyperplane
