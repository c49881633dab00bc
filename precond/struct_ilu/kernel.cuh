// SPDX-License-Identifier: BSD-3-Clause
// The walk of a tile over its levels, around a Worker. Definitions: precond/struct_ilu/factor.cuh.

#if IN_REGISTERS
#include "precond/struct_ilu/registers.cuh"
#elif ON_TENSOR_CORES
#include "precond/struct_ilu/tensor.cuh"
#else
#include "precond/struct_ilu/fallback.cuh"
#endif

namespace hyperplane {

constexpr int working_threads = Worker::threads + 32 * HELPERS, threads = working_threads + (helpers_tell ? 0 : 32);

__device__ __forceinline__ void meet_all() {
    asm volatile("barrier.sync 1, %0;" ::"n"(working_threads) : "memory");
}

/// The level that a block has completed, in shared memory.
__device__ __forceinline__ void set_completed(int* at, int level) {
    __threadfence_block();
    atomicExch(at, level);
}
__device__ __forceinline__ int completed(int* at) {
    const int level = atomicOr(at, 0);
    __threadfence_block();
    return level;
}

/// Tells this tile's progress at a pace of its own: until results are visible to others takes longer than many a level.
__device__ void tell(const Arguments& a, const Tile& tile, int index, int* done) {
    for (int told = tile.first - 1;;) {
        publish(a.progress + index, told);
        if (told == finished) return;
        int level;
        while ((level = completed(done)) <= told) __nanosleep(20);
        told = level;
    }
}

extern "C" __global__ void __launch_bounds__(threads, BLOCKS) struct_ilu_factor(const __grid_constant__ Arguments a) {
    __shared__ int ticket, done;
    __shared__ double ratios[Worker::threads];
    __shared__ long long places[Worker::threads];
    const int thread = threadIdx.x;
    if (thread == 0) ticket = atomicAdd(a.ticket, 1u), done = -1;
    for (int at = thread; at < ZEROED; at += blockDim.x) shared[at] = 0.0;
    __syncthreads();
    const Tile tile = a.tiles[ticket];

    if (thread < Worker::threads) {
        Worker worker(a, tile, ticket, thread);
        for (int level = tile.first - looks_back; level < tile.first; ++level) meet_all();
        for (int level = tile.first; level <= tile.last; ++level) {
            meet_all();
            if (thread == 0) set_completed(&done, level - 1);
            worker.point(level);
            __syncwarp();
        }
        meet_all();
        if (thread == 0) set_completed(&done, finished);
        ratios[thread] = worker.exists() ? worker.smallest_ratio() : 1.0;
        places[thread] = worker.exists() ? worker.smallest_point() : 0;
    } else if (thread < working_threads) {
        help(a, tile, ticket, thread - Worker::threads);
    } else if (thread == working_threads) {
        tell(a, tile, ticket, &done);
    }
    __syncthreads();
    if (thread == 0) {
        Smallest smallest{1.0, 0};
        bool any = false;
        for (int t = 0; t < Worker::threads; ++t)
            if (ratios[t] < smallest.ratio || (any && ratios[t] == smallest.ratio && places[t] < smallest.point)) {
                smallest = {ratios[t], places[t]};
                any = true;
            }
        a.smallest[ticket] = smallest;
    }
}

}  // namespace hyperplane
