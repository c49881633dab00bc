// The walk of a tile over its levels, around a Worker. Definitions: struct_ilu_factor.cuh.

__device__ __forceinline__ int progress_of(const int* at) {
    int value;
    asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

extern "C" __global__ void __launch_bounds__(Worker::threads + 64, BLOCKS)
    struct_ilu_factor(const __grid_constant__ Arguments a) {
    __shared__ int ticket;
    __shared__ double ratios[Worker::threads];
    __shared__ long long points[Worker::threads];
    const int thread = threadIdx.x;
    if (thread == 0) ticket = atomicAdd(a.ticket, 1u);
    __syncthreads();
    const Tile tile = a.tiles[ticket];

    if (thread < Worker::threads) {
        Worker worker(a, tile, ticket, thread);
        worker.fetch(tile.first);
        for (int level = tile.first; level <= tile.last; ++level) {
            __syncthreads();
            worker.point(level);
        }
        __syncthreads();
        ratios[thread] = worker.exists() ? worker.ratio : 1.0;
        points[thread] = worker.exists() ? worker.smallest_point() : 0;
    } else if (thread < Worker::threads + 32) {  // looks at the tiles before this one
        const int lane = thread % 32, dj = lane % (a.reach_j + 1), dk = lane / (a.reach_j + 1);
        const int tj = tile.j / TJ - dj, tk = tile.k / TK - dk;
        const int other = lane > 0 && dk <= a.reach_k && tj >= 0 && tk >= 0 ? a.tile_at[tk * a.tiles_j + tj] : -1;
        int known = other < 0 ? 1 << 30 : -1;
        for (int level = tile.first; level <= tile.last; ++level) {
            for (int tries = 0; known < level - 1; ++tries) {
                if (tries > 16) __nanosleep(tries > 100 ? 400 : 40);
                known = progress_of(a.progress + other);
            }
            __syncthreads();
        }
        __syncthreads();
    } else {  // publishes this tile's progress
        for (int level = tile.first; level <= tile.last; ++level) {
            __syncthreads();
            if (thread == Worker::threads + 32 && level > tile.first) {
                __threadfence();
                asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(a.progress + ticket), "r"(level - 1)
                             : "memory");
            }
        }
        __syncthreads();
        if (thread == Worker::threads + 32) {
            __threadfence();
            asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(a.progress + ticket), "r"(1 << 30) : "memory");
        }
    }
    __syncthreads();
    if (thread == 0) {
        Smallest smallest{1.0, 0};
        bool any = false;
        for (int t = 0; t < Worker::threads; ++t)
            if (ratios[t] < smallest.ratio || (any && ratios[t] == smallest.ratio && points[t] < smallest.point)) {
                smallest = {ratios[t], points[t]};
                any = true;
            }
        a.smallest[ticket] = smallest;
    }
}
