// SPDX-License-Identifier: BSD-3-Clause
// Asynchronous copies from global to shared memory, and the barriers in shared memory at which threads wait for them.
//
// Large contiguous pieces are copied in bulk, by one instruction of one lane (sm_90 and later); before sm_90 the lanes
// of a warp copy them together, 16 bytes each. Addresses of shared memory are those of shared_address.
#pragma once

namespace hyperplane {

typedef unsigned long long u64;

__device__ __forceinline__ unsigned shared_address(const void* at) {
    return (unsigned)__cvta_generic_to_shared(at);
}

/// Starts to copy 4 bytes.
__device__ __forceinline__ void copy_4_async(void* to, const void* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
/// Starts to copy 8 bytes.
__device__ __forceinline__ void copy_8_async(double* to, const double* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
/// The policy of what is not accessed again soon: the second-level cache replaces it before anything else. To be called
/// by all lanes of a warp together.
__device__ __forceinline__ u64 once_policy() {
    u64 policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
/// Starts to copy 8 bytes by that policy.
__device__ __forceinline__ void copy_8_once_async(double* to, const double* from, u64 policy) {
    asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], 8, %2;" ::"r"(shared_address(to)), "l"(from),
                 "l"(policy)
                 : "memory");
}
/// Stores values by that policy.
__device__ __forceinline__ void store_once(double2* at, double2 value, u64 policy) {
    asm volatile("st.global.L2::cache_hint.v2.f64 [%0], {%1, %2}, %3;" ::"l"(at), "d"(value.x), "d"(value.y),
                 "l"(policy)
                 : "memory");
}
/// Starts to copy 16 bytes, past the first-level cache.
__device__ __forceinline__ void copy_16_async(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
/// Starts to copy 16 bytes in the same way if `wanted`, without a branch, to and from the addresses that are
/// `to_offset` and `from_offset` bytes further on. `to` is a shared address.
template <int to_offset, int from_offset>
__device__ __forceinline__ void copy_16_async_if(bool wanted, unsigned to, const void* from) {
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.cg.shared.global [%0 + %3], [%1 + %4], 16; }" ::"r"(to),
        "l"(from), "r"((int)wanted), "n"(to_offset), "n"(from_offset)
        : "memory");
}
/// Makes a group of the copies that this thread has started since the last group.
__device__ __forceinline__ void commit_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Waits until at most `pending` groups of this thread's copies are incomplete.
template <int pending>
__device__ __forceinline__ void wait_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

/// Initialises the barrier at a shared address. A phase of it is complete after `arrivals` arrivals, when all bytes
/// that these have announced have been copied.
__device__ __forceinline__ void init_barrier(unsigned barrier, int arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/// Makes initialised barriers visible to bulk copies.
__device__ __forceinline__ void fence_barriers() {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async;" ::: "memory");
#endif
}

/// Whether the phase with this parity is complete at the barrier `offset` bytes further on.
template <int offset = 0>
__device__ __forceinline__ bool phase_is_complete(unsigned barrier, int parity) {
    int done;
    asm volatile(
        "{ .reg .pred p;"
#if __CUDA_ARCH__ >= 900
        " mbarrier.try_wait.parity.shared.b64 p, [%1 + %3], %2;"
#else
        " mbarrier.test_wait.parity.shared.b64 p, [%1 + %3], %2;"
#endif
        " selp.b32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(barrier), "r"(parity), "n"(offset)
        : "memory");
    return done;
}

/// This thread arrives at the barrier `offset` bytes further on.
template <int offset = 0>
__device__ __forceinline__ void arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared.b64 _, [%0 + %1];" ::"r"(barrier), "n"(offset) : "memory");
}

/// Arrives at the barrier once the copies that this thread has started are complete.
__device__ __forceinline__ void arrive_after_copies(unsigned barrier) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}

#if __CUDA_ARCH__ >= 900
/// This thread arrives and announces `bytes` of bulk copies, without which the phase is not complete.
__device__ __forceinline__ void arrive_expecting(unsigned barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/// Starts a bulk copy, which completes at the barrier. Addresses and `bytes`, which is not 0, are multiples of 16.
__device__ __forceinline__ void copy_bulk_async(unsigned to, const void* from, unsigned bytes, unsigned barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

/// The same for what is not read again soon: the second-level cache replaces it before anything else.
__device__ __forceinline__ void copy_bulk_once_async(unsigned to, const void* from, unsigned bytes, unsigned barrier) {
    u64 policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::
            "r"(to),
        "l"(from), "r"(bytes), "r"(barrier), "l"(policy)
        : "memory");
}
#else
/// Starts a lane's share of a copy by a whole warp.
__device__ __forceinline__ void copy_share_async(unsigned to, const void* from, unsigned bytes, int lane) {
    for (unsigned byte = 16 * lane; byte < bytes; byte += 512)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + byte), "l"((const char*)from + byte)
                     : "memory");
}
#endif

}  // namespace hyperplane
