// The walk of a tile over its levels, by the groups of threads that share a row's terms, those that fetch coefficients
// and those that bring edges. Definitions: struct_ilu_solve.cuh.

constexpr int copies_pending = STAGES > 1 ? STAGES - 1 : 0;
constexpr bool own_copies = whole_stages && LOADERS == 0;

/// Fetches for the groups `loader`, loader + LOADERS, ...: what group 0 needs of a level, and the others of the
/// level after, has arrived when the block meets for the level.
template <int group>
struct Loader {
    Worker<group> w;
    Loader<group + (LOADERS > 0 ? LOADERS : 1)> others;

    __device__ Loader(const Arguments& a, const Tile& tile, int thread) : w(a, tile, thread), others(a, tile, thread) {}
    __device__ __forceinline__ void fetch(int level, int at) {
        w.begin_copies(level + (group > 0), at);
        others.fetch(level, at);
    }
};

template <int group>
requires(group >= GROUPS) struct Loader<group> {
    __device__ Loader(const Arguments&, const Tile&, int) {}
    __device__ __forceinline__ void fetch(int, int) {}
};

template <int first>
__device__ void load(const Arguments& a, const Tile& tile, int thread) {
    Loader<first> loader(a, tile, thread);
    const int begin = tile.first - MAX_LEVEL;
    int at = 0;
    for (int s = 0; s < STAGES - 1; ++s) {
        loader.fetch(begin + s, s);
        commit_copies();
    }
    for (int level = begin; level <= tile.last; ++level) {
        wait_copies<(STAGES > 2 ? STAGES - 2 : 0)>();
        __syncthreads();
        loader.fetch(level + STAGES - 1, at == 0 ? STAGES - 1 : at - 1);
        commit_copies();
        if (++at == STAGES) at = 0;
    }
    wait_copies<0>();
}

template <int loader>
__device__ void load_of(const Arguments& a, const Tile& tile, int of, int thread) {
    if (of == loader) return load<loader>(a, tile, thread);
    if constexpr (loader + 1 < LOADERS) load_of<loader + 1>(a, tile, of, thread);
}

/// The older terms of the level after the one group 0 is at.
template <int group>
__device__ double sum_ahead(const Arguments& a, const Tile& tile, int thread) {
    Worker<group> w(a, tile, thread);
    double* const exchange = shared + ring_size + (group - 1) * worker_threads + thread;
    const int begin = tile.first - MAX_LEVEL;
    double dot = 0.0;
    int at = 0, slot = 0;
    if (own_copies)
        for (int s = 0; s < STAGES - 1; ++s) w.fetch(begin + 1 + s, s);
    for (int level = begin; level <= tile.last; ++level) {
        const int next = level + 1;
        const bool active = w.exists && w.line.active(a, next);
        if (own_copies) {
            w.fetch(next + STAGES - 1, at == 0 ? STAGES - 1 : at - 1);
            wait_copies<copies_pending>();
            if (scales && group == holder && DOF > 1) __syncwarp();  // v of the other rows
        }
        if (active && next == w.line.start) slot = w.line.slot(a, next);
        double sum = 0.0;
        if (own_copies && active && group == holder) sum = w.right_hand_side(at, slot, dot);
        __syncthreads();  // all values of level - 1 are in the ring
        if (!own_copies && active && group == holder) sum = w.right_hand_side(at, slot, dot);
        if (active) {
            exchange[(next & 1) * (GROUPS - 1) * worker_threads] = sum + w.terms(next, at, slot);
            w.advance(slot);
        }
        if (++at == (STAGES > 0 ? STAGES : 1)) at = 0;
    }
    return dot;
}

/// The newest terms; finishes each level.
__device__ double finish(const Arguments& a, const Tile& tile, int index, u64 epoch, int thread) {
    Worker<0> w(a, tile, thread);
    Edge* const edges = a.edges + (long long)index * a.nx * plane_records + w.row;
    Edge* const below = w.exists && w.tk >= TK - edge_k ? edges + edge_cell_below(w.tj, w.tk) * DOF : nullptr;
    Edge* const right = w.exists && w.tj >= TJ - edge_j ? edges + edge_cell_right(w.tj, w.tk) * DOF : nullptr;
    double* const exchange = shared + ring_size + thread;
    const int begin = tile.first - MAX_LEVEL;
    double dot = 0.0;
    int at = 0, slot = 0, plane = (begin % a.nx + a.nx) % a.nx;
    if (own_copies)
        for (int s = 0; s < STAGES - 1; ++s) w.fetch(begin + s, s);
    for (int level = begin; level <= tile.last; ++level) {
        const bool active = w.exists && w.line.active(a, level);
        if (own_copies) {
            w.fetch(level + STAGES - 1, at == 0 ? STAGES - 1 : at - 1);
            wait_copies<copies_pending>();
            if (scales && holder == 0 && DOF > 1) __syncwarp();
        }
        if (active && level == w.line.start) slot = w.line.slot(a, level);
        double rhs = 0.0, sum = 0.0;
        if (own_copies && active && holder == 0) rhs = w.right_hand_side(at, slot, dot);
        __syncthreads();  // all values of level - 1 are in the ring, the older terms of level in the exchange
        if (!own_copies && active && holder == 0) rhs = w.right_hand_side(at, slot, dot);
        if (active) {
            if (!DILU || !UPPER) sum = rhs;
#pragma unroll
            for (int g = 1; g < GROUPS; ++g) sum += exchange[((level & 1) * (GROUPS - 1) + g - 1) * worker_threads];
            sum += w.terms(level, at, slot);
        }
        double y = sum;
        if (DILU) {
            y = 0.0;
            if (DOF > 1) {
                __syncwarp();
                exchange[0] = sum;
                __syncwarp();
            }
            if (active)
#pragma unroll
                for (int c = 0; c < DOF; ++c) y += w.inverse_at(at, c, slot) * (DOF > 1 ? exchange[c - w.row] : sum);
            if (DOT) dot += sum * y;
            if (UPPER) y += rhs;
        }
        if (active) {
            ring_at(level, w.row, w.tk + HALO_K, w.tj + HALO_J) = y;
            if (below) store_edge(below + (long long)plane * plane_records, y, epoch);
            if (right) store_edge(right + (long long)plane * plane_records, y, epoch);
            a.out[(long long)w.row * a.slots + slot] = y;
            w.advance(slot);
        }
        if (++at == (STAGES > 0 ? STAGES : 1)) at = 0;
        if (++plane == a.nx) plane = 0;
    }
    return dot;
}

template <int group>
__device__ double sum_ahead_of(const Arguments& a, const Tile& tile, int of, int thread) {
    if (of == group) return sum_ahead<group>(a, tile, thread);
    if constexpr (group + 1 < GROUPS) return sum_ahead_of<group + 1>(a, tile, of, thread);
    return 0.0;
}

extern "C" __global__ void __launch_bounds__(threads, BLOCKS) struct_ilu_solve(const __grid_constant__ Arguments a) {
    __shared__ int ticket;
    __shared__ double sums[DOT ? threads / 32 : 1];
    const int thread = threadIdx.x;
    if (thread == 0) ticket = atomicAdd(&a.state->ticket, 1u);
    for (int at = thread; at < ring_size; at += threads) shared[at] = 0.0;
    const u64 epoch = a.state->epoch;
    __syncthreads();
    const int index = ticket;
    const Tile tile = a.tiles[index];
    double dot = 0.0;
    if (thread < worker_threads) {
        dot = finish(a, tile, index, epoch, thread);
    } else if (thread < GROUPS * worker_threads) {
        if constexpr (GROUPS > 1) dot = sum_ahead_of<1>(a, tile, thread / worker_threads, thread % worker_threads);
    } else if (thread < (GROUPS + LOADERS) * worker_threads) {
        if constexpr (LOADERS > 0) load_of<0>(a, tile, thread / worker_threads - GROUPS, thread % worker_threads);
    } else {
        receive(a, tile, epoch, thread - (GROUPS + LOADERS) * worker_threads);
    }

    if (DOT) {  // sums in a fixed order, whatever block comes last
        for (int step = 16; step > 0; step /= 2) dot += __shfl_down_sync(~0u, dot, step);
        if (thread % 32 == 0) sums[thread / 32] = dot;
        __syncthreads();
        if (thread == 0) {
            double sum = 0.0;
            for (int w = 0; w < threads / 32; ++w) sum += sums[w];
            a.partial[index] = sum;
            __threadfence();
        }
    }
    __shared__ bool last;
    if (thread == 0) last = atomicAdd(&a.state->done, 1u) == unsigned(a.tile_count) - 1;
    __syncthreads();
    if (!last) return;
    if (DOT) {
        __threadfence();
        double sum = 0.0;
        for (int at = thread; at < a.tile_count; at += threads) sum += __ldcg(a.partial + at);
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
        if (thread % 32 == 0) sums[thread / 32] = sum;
        __syncthreads();
        if (thread == 0) {
            sum = 0.0;
            for (int w = 0; w < threads / 32; ++w) sum += sums[w];
            *a.dot = sum;
        }
    }
    if (thread == 0) {  // ready for the next solve
        a.state->ticket = 0;
        a.state->done = 0;
        a.state->epoch = epoch + 1;
    }
}
