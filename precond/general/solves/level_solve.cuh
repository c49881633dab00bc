// SPDX-License-Identifier: BSD-3-Clause
// The solve with one triangle of a general matrix's factors, level by level.
//
// A step is one level with more slices than NARROW, on which all thread blocks work, or consecutive levels that have no
// more, on which the first one works alone, with a barrier of its threads between levels. Between steps all thread
// blocks, which are resident (rtc::Kernel::launch_together), wait for each other. So whatever a slice reads is there,
// and nothing is polled. Slice s of a step belongs to the warp whose number is s modulo the number of warps that work
// on the step. So in narrow levels the next levels' slices belong to other warps, and a warp loads the coefficients of
// its next slice before it waits.
//
// Definitions: DOF, UPPER (U z = y, otherwise L y = r), STORAGE, THREADS of a thread block, NARROW.

#include "precond/general/solves/slice_solve.cuh"

namespace hyperplane {

/// Components of the solution, in the memory of the records.
struct Components {
    typedef double Place;
    static constexpr bool ahead = true;

    static __device__ __forceinline__ const double* places(const EpochRecord* records) {
        return (const double*)records;
    }
    static __device__ __forceinline__ double lower(const EpochRecord* records, long long at) {
        return places(records)[at];
    }
    __device__ __forceinline__ void read(const double* const (&from)[batch], unsigned present,
                                         double (&x)[loads]) const {
#pragma unroll
        for (int q = 0; q < loads; ++q)
            if (present >> q & 1) x[q] = from[q / chunk][q % chunk];
    }
    __device__ __forceinline__ void store(const Arguments& a, long long position, int r, double x) const {
        ((double*)a.records)[position * DOF + r] = x;
    }
};

/// All threads of all thread blocks pass when all have come; `passed`: arrivals of thread blocks at the barriers
/// before.
__device__ __forceinline__ void wait_for_all(TicketState* state, unsigned& passed) {
    __syncthreads();
    passed += gridDim.x;
    if (gridDim.x == 1) return;
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&state->ticket, 1u);
        for (unsigned seen = passed - 1; int(seen - passed) < 0;)  // the difference may wrap around
            asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(seen) : "l"(&state->ticket) : "memory");
        __threadfence();
    }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(THREADS, DOF < 4 ? 2 : 1)
    general_level_solve(const __grid_constant__ LevelSolveArguments s) {
    const Arguments& a = s.solve;
    const u64 epoch = *(volatile u64*)&a.state->epoch;
    constexpr unsigned warps = THREADS / 32;
    const int lane = threadIdx.x % 32;
    const unsigned warp = threadIdx.x / 32;
    unsigned passed = 0;
    SliceSolve<Components> next;
    for (unsigned step = 0; step < s.steps; ++step) {
        const int level = s.step[step], end_level = s.step[step + 1];
        const unsigned begin = s.level_begin[level], end = s.level_begin[end_level];
        const bool wide = end_level == level + 1 && end - begin > NARROW;
        const unsigned stride = wide ? gridDim.x * warps : warps, own = wide ? blockIdx.x * warps + warp : warp;
        const bool works = wide || blockIdx.x == 0;
        unsigned at = begin + (own + stride - begin % stride) % stride;
        if (works && at < end) next.begin(a, a.slices[at], lane);
        if (step > 0) wait_for_all(a.state, passed);
        if (!works) continue;
        for (int of = level; of < end_level; ++of) {
            const unsigned end_of = s.level_begin[of + 1];
            if (of > level) __syncthreads();
            for (; at < end_of; at += stride) {
                next.end(a, lane, {});
                __syncwarp();
                if (at + stride < end) next.begin(a, a.slices[at + stride], lane);
                __syncwarp();
            }
        }
    }
    end_part(a.state, epoch, gridDim.x);
}

}  // namespace hyperplane
