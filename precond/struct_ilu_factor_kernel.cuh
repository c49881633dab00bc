// The walk of a tile over its levels, around a Worker. Definitions: struct_ilu_factor.cuh.

constexpr int threads = Worker::threads + 32 * HELPERS + 32;

__device__ __forceinline__ void meet_all() {
    asm volatile("bar.sync 0, %0;" ::"n"(threads) : "memory");
}

/// The last warp tells this tile's progress; where no others do it also waits for the tiles before. Between them it
/// assists the workers.
__device__ void tell(const Arguments& a, const Tile& tile, int index, int lane) {
    Before before(a, tile, lane);
    Assistant assistant(a, tile, lane);
    for (int level = tile.first - looks_back; level <= tile.last; ++level) {
        if (!others_wait) before.wait_for(level - 1);
        __syncwarp();
        meet_all();  // this tile has completed level - 1
        assistant.meet();
        if (lane == 0) publish(a.progress + index, level - 1);
        __syncwarp();
        assistant.fetch(level + 1);
    }
    __syncwarp();
    meet_all();
    if (lane == 0) publish(a.progress + index, 1 << 30);
    __syncwarp();
}

extern "C" __global__ void __launch_bounds__(threads, BLOCKS) struct_ilu_factor(const __grid_constant__ Arguments a) {
    __shared__ int ticket;
    __shared__ double ratios[Worker::threads];
    __shared__ long long places[Worker::threads];
    const int thread = threadIdx.x;
    if (thread == 0) ticket = atomicAdd(a.ticket, 1u);
    for (int at = thread; at < ZEROED; at += blockDim.x) shared[at] = 0.0;
    __syncthreads();
    const Tile tile = a.tiles[ticket];

    if (thread < Worker::threads) {
        Worker worker(a, tile, ticket, thread);
        for (int level = tile.first - looks_back; level < tile.first; ++level) meet_all();
        worker.fetch(tile.first);
        for (int level = tile.first; level <= tile.last; ++level) {
            meet_all();
            worker.point(level);
            __syncwarp();
        }
        meet_all();
        ratios[thread] = worker.exists() ? worker.ratio : 1.0;
        places[thread] = worker.exists() ? worker.smallest_point() : 0;
    } else if (thread < Worker::threads + 32 * HELPERS) {
        help(a, tile, thread - Worker::threads);
    } else {
        tell(a, tile, ticket, thread % 32);
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
