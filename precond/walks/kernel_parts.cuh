// SPDX-License-Identifier: BSD-3-Clause
// What several kernels' texts are made with: loops that are unrolled whatever their size, copies to shared memory.
//
// Whole pieces of memory are asked for by one warp; barriers in shared memory tell when they have arrived. Without bulk
// copies (before sm_90) the lanes of that warp share a piece out.
#pragma once

namespace hyperplane {

typedef unsigned long long u64;

template <int n>
struct Constant {
    static constexpr int value = n;
};
/// body(Constant<begin>), ..., body(Constant<end - 1>): a loop that is unrolled whatever its size.
template <int begin, int end, class Body>
__device__ __forceinline__ void unrolled(const Body& body) {
    if constexpr (end - begin == 1) {
        body(Constant<begin>{});
    } else if constexpr (begin < end) {
        unrolled<begin, (begin + end) / 2>(body);  // compilers limit how deep templates nest
        unrolled<(begin + end) / 2, end>(body);
    }
}

__device__ __forceinline__ unsigned shared_address(const void* at) {
    return (unsigned)__cvta_generic_to_shared(at);
}

/// Begins to copy 8 bytes to shared memory.
__device__ __forceinline__ void copy_async(double* to, const double* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from)
                 : "memory");
}
/// Begins to copy 16 bytes to shared memory, past the first-level cache.
__device__ __forceinline__ void copy_run(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from)
                 : "memory");
}
/// Begins to copy 16 bytes, `offset` bytes on, where `wanted`, without a branch; `to` is a shared address.
template <int to_offset, int from_offset>
__device__ __forceinline__ void copy_run_if(bool wanted, unsigned to, const void* from) {
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.cg.shared.global [%0 + %3], [%1 + %4], 16; }" ::"r"(to),
        "l"(from), "r"((int)wanted), "n"(to_offset), "n"(from_offset)
        : "memory");
}
/// Makes a group of the copies begun since the last one.
__device__ __forceinline__ void commit_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Until at most `pending` groups of this thread's copies are under way.
template <int pending>
__device__ __forceinline__ void wait_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

/// `arrivals` complete a phase of the barrier at a shared address, with all bytes that were announced.
__device__ __forceinline__ void prepare_barrier(unsigned barrier, int arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/// Barriers prepared before are ones that copies know.
__device__ __forceinline__ void show_barriers() {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async;" ::: "memory");
#endif
}

/// Whether the phase with this parity is complete, of the barrier `offset` bytes on.
template <int offset = 0>
__device__ __forceinline__ bool has_arrived(unsigned barrier, int phase) {
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
        : "r"(barrier), "r"(phase), "n"(offset)
        : "memory");
    return done;
}

/// This thread arrives at the barrier `offset` bytes on.
template <int offset = 0>
__device__ __forceinline__ void arrive_at(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared.b64 _, [%0 + %1];" ::"r"(barrier), "n"(offset) : "memory");
}

/// Arrives when this thread's copies so far have.
__device__ __forceinline__ void arrive_with_copies(unsigned barrier) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}

#if __CUDA_ARCH__ >= 900
/// This thread arrives and announces `bytes` of bulk copies.
__device__ __forceinline__ void announce_bytes(unsigned barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/// Addresses and `bytes`, more than none, are multiples of 16.
__device__ __forceinline__ void copy_bulk(unsigned to, const void* from, unsigned bytes, unsigned barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}
#else
/// A lane's share of a piece.
__device__ __forceinline__ void copy_shared_out(unsigned to, const void* from, unsigned bytes, int lane) {
    for (unsigned byte = 16 * lane; byte < bytes; byte += 512)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + byte), "l"((const char*)from + byte)
                     : "memory");
}
#endif

}  // namespace hyperplane
