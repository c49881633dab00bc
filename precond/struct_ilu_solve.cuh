// Triangular solves of StructILU on a GPU (Luo et al., StructILU, ICS 2025, sections 4.1, 4.2.1, 4.4).
//
//     lower   y(p) = D^-1(p) (r(p) - sum_l E_l(p) y(p+l))
//     upper   z(p) = y(p) - D^-1(p) sum_u F_u(p) z(p+u)
//
// The upper solve is the lower one on the grid seen from its far corner: p -> n - 1 - p turns u into a lower
// offset. All coordinates below are of that view; `slot` is the only thing that differs.
//
// Task mapping (4.1). A block owns a tile of TJ x TK lines along x and walks the levels l = i + B j + C k; a
// line has one point, i = l - B j - C k, at a level. Tiles lie on the skewed coordinate J = j + SKEW k, where
// every dependency goes to smaller or equal J and k: tiles depend on each other acyclically, and are taken by
// a ticket in the order of their lowest level, so a block only waits for blocks that have started already.
//
// Within a tile values pass from level to level through a ring of the last RING levels in shared memory.
// Between tiles they pass as edges: one 16-byte {value, epoch} record each, written and read in one piece. A
// record is this solve's when its epoch is, so there is no flag, no fence and nothing to reset.
//
// Latency-aware dot product (4.2.1): terms of level l - 2 and older are summed before the block meets for
// level l - 1, so only the newest ones are on the path from level to level. Coefficients arrive through
// STAGES - 1 levels of asynchronous copies, each thread's own.
//
// Definitions: DOF, LOWER (offsets), OFFSET_X/Y/Z {LOWER numbers}, OFFSET_LEVEL {their levels, below 0},
// B, C, SKEW, TJ, TK, HALO_J, HALO_K, RING (a power of two), MAX_LEVEL (-min OFFSET_LEVEL), STAGES, UPPER,
// MIRRORED (F is read from E's triangle), SKIP_OUTSIDE (entries that leave the grid are not zero but wrapped),
// DOT (also sum t y, which is r^T M^-1 r of a symmetric M), NATURAL (the layout), HALO_THREADS, LOOKAHEAD,
// PIPELINED.

typedef unsigned long long u64;

struct Tile {
    int j, k, first, last;  // first line's J and k; levels
};

struct alignas(16) Edge {
    double value;
    u64 epoch;
};

struct State {
    unsigned ticket, done;
    u64 epoch;
};

struct Arguments {
    const double* triangles;  // E and F: [entry][row][col][stride]
    const double* inverse;    // D^-1: [row][col][stride]
    const double* in;         // r, or y
    double* out;              // y, or z
    const Tile* tiles;
    const int* tile_at;  // [K][J], -1 where a tile has no line
    Edge* edges;         // [tile][i'][cell][component]
    State* state;
    double* partial;  // [tile]
    double* dot;
    int nx, ny, nz, tiles_j, tile_count, slots, triangle_stride, inverse_stride;
    int shift[LOWER];  // slot of p + o minus slot of p, modulo the slots
};

constexpr int offset_x[] = OFFSET_X, offset_y[] = OFFSET_Y, offset_z[] = OFFSET_Z, offset_level[] = OFFSET_LEVEL;
constexpr int columns = TJ + HALO_J, rows = TK + HALO_K;
constexpr int plane_size = rows * columns;
constexpr int edge_j = HALO_J < TJ ? HALO_J : TJ, edge_k = HALO_K < TK ? HALO_K : TK;
constexpr int edge_cells = edge_j * TK + edge_k * TJ;
constexpr int halo_cells = HALO_J * TK + HALO_K * columns;
constexpr int halo_records = halo_cells * DOF;
constexpr int warp_cells = 32 / DOF;  // the rows of a point are neighbours in one warp
constexpr int worker_threads = (TJ * TK + warp_cells - 1) / warp_cells * 32;
constexpr int threads = worker_threads + HALO_THREADS;
constexpr int terms = LOWER * DOF;
constexpr int staged = terms + DOF + 1;  // E's row, D^-1's row, the right-hand side
constexpr int halo_share = HALO_THREADS > 0 ? (halo_records + HALO_THREADS - 1) / HALO_THREADS : 0;
constexpr bool whole_stages = STAGES > 0;

__device__ __forceinline__ void store_edge(Edge* at, double value, u64 epoch) {
    asm volatile("{ .reg .b128 t; mov.b128 t, {%1, %2}; st.relaxed.gpu.global.b128 [%0], t; }" ::"l"(at),
                 "l"(__double_as_longlong(value)), "l"(epoch)
                 : "memory");
}

__device__ __forceinline__ void load_edge(const Edge* at, double& value, u64& epoch) {
    long long bits;
    asm volatile("{ .reg .b128 t; ld.relaxed.gpu.global.b128 t, [%2]; mov.b128 {%0, %1}, t; }"
                 : "=l"(bits), "=l"(epoch)
                 : "l"(at)
                 : "memory");
    value = __longlong_as_double(bits);
}

__device__ __forceinline__ void copy_async(double* to, const double* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from)
                 : "memory");
}

__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int pending>
__device__ __forceinline__ void wait_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

/// A line of points along x: where it is, when it is active, where its slots are.
struct Line {
    int j, k, start;  // level of its first point
    bool valid;

    __device__ Line(const Arguments& a, int skewed, int k_) : j(skewed - SKEW * k_), k(k_), start(B * j + C * k_) {
        valid = j >= 0 && j < a.ny && k >= 0 && k < a.nz;
    }
    __device__ bool active(const Arguments& a, int level) const { return valid && unsigned(level - start) < unsigned(a.nx); }
};

/// Slot of a line's point of `level`: ((l mod nx) nz + k) ny + j in the grid's own coordinates.
__device__ __forceinline__ int slot_of(const Arguments& a, const Line& line, int level) {
    if (NATURAL) {
        const int natural = level - line.start + a.nx * (line.j + a.ny * line.k);
        return UPPER ? a.nx * a.ny * a.nz - 1 - natural : natural;
    }
    if (UPPER) {
        const int last = a.nx - 1 + B * (a.ny - 1) + C * (a.nz - 1);
        return (((last - level) % a.nx) * a.nz + a.nz - 1 - line.k) * a.ny + a.ny - 1 - line.j;
    }
    return ((level % a.nx) * a.nz + line.k) * a.ny + line.j;
}

/// Tile and first record of an edge cell at x index 0 of its ring of nx.
struct EdgeCell {
    long long at;  // record of plane 0
    int plane_records;
};

__device__ __forceinline__ int edge_cell_below(int tj, int tk) { return edge_j * TK + (tk - (TK - edge_k)) * TJ + tj; }
__device__ __forceinline__ int edge_cell_right(int tj, int tk) { return (tj - (TJ - edge_j)) * TK + tk; }

extern __shared__ double shared[];
// ring[RING][DOF][rows][columns], exchange[workers], then stages[STAGES][staged][worker_threads]

__device__ __forceinline__ double& ring_at(int level, int component, int row, int column) {
    return shared[((level & (RING - 1)) * DOF + component) * plane_size + row * columns + column];
}

/// Brings the edges of other tiles into the ring: those of a level while the workers compute theirs of it.
__device__ void receive(const Arguments& a, const Tile& tile, u64 epoch, int lane) {
    const Edge* at[halo_share > 0 ? halo_share : 1];
    int start[halo_share > 0 ? halo_share : 1], place[halo_share > 0 ? halo_share : 1];
    constexpr int plane_records = edge_cells * DOF;
#pragma unroll
    for (int h = 0; h < halo_share; ++h) {
        const int record = lane + h * HALO_THREADS;
        const int component = record / halo_cells, cell = record % halo_cells;
        // left columns of the tile's own rows first, then the rows above
        const bool left = cell < HALO_J * TK;
        const int row = left ? HALO_K + cell / (HALO_J > 0 ? HALO_J : 1) : (cell - HALO_J * TK) / columns;
        const int column = left ? cell % (HALO_J > 0 ? HALO_J : 1) : (cell - HALO_J * TK) % columns;
        const int skewed = tile.j + column - HALO_J, k = tile.k + row - HALO_K;
        const Line line(a, skewed, k);
        start[h] = 1 << 30;
        at[h] = a.edges;
        place[h] = component * plane_size + row * columns + column;
        if (record < halo_records && line.valid && skewed >= 0) {
            const int from = a.tile_at[(k / TK) * a.tiles_j + skewed / TJ];
            const int tj = skewed % TJ, tk = k % TK;
            const int edge = left ? edge_cell_right(tj, tk) : edge_cell_below(tj, tk);
            at[h] += (long long)from * a.nx * plane_records + edge * DOF + component;
            start[h] = line.start;
        }
    }
    // Loads of the next LOOKAHEAD levels are under way while a level is waited for.
    double value[LOOKAHEAD][halo_share > 0 ? halo_share : 1];
    u64 seen[LOOKAHEAD][halo_share > 0 ? halo_share : 1];
    const int begin = tile.first - MAX_LEVEL;
    int ahead = begin, ahead_plane = (begin % a.nx + a.nx) % a.nx;
    const auto fetch = [&](double(&v)[halo_share > 0 ? halo_share : 1], u64(&s)[halo_share > 0 ? halo_share : 1]) {
#pragma unroll
        for (int h = 0; h < halo_share; ++h) {
            s[h] = 0;
            if (unsigned(ahead - start[h]) < unsigned(a.nx))
                load_edge(at[h] + (long long)ahead_plane * plane_records, v[h], s[h]);
        }
        ++ahead;
        if (++ahead_plane == a.nx) ahead_plane = 0;
    };
    int level = begin, plane = ahead_plane;
#pragma unroll
    for (int d = 0; d < LOOKAHEAD - 1; ++d) fetch(value[d], seen[d]);
    while (level <= tile.last) {
#pragma unroll
        for (int d = 0; d < LOOKAHEAD; ++d) {
            if (level <= tile.last) {
                __syncthreads();  // the workers begin `level`, which needs the levels before
                fetch(value[(d + LOOKAHEAD - 1) % LOOKAHEAD], seen[(d + LOOKAHEAD - 1) % LOOKAHEAD]);
#pragma unroll
                for (int h = 0; h < halo_share; ++h)
                    if (unsigned(level - start[h]) < unsigned(a.nx)) {
                        int tries = 0;
                        while (seen[d][h] != epoch) {
                            if (++tries > 8) __nanosleep(tries > 64 ? 400 : 40);
                            load_edge(at[h] + (long long)plane * plane_records, value[d][h], seen[d][h]);
                        }
                        shared[(level & (RING - 1)) * DOF * plane_size + place[h]] = value[d][h];
                    }
                ++level;
                if (++plane == a.nx) plane = 0;
            }
        }
    }
}

/// One row of one line's points, level after level. Returns this thread's share of the dot product.
__device__ double work(const Arguments& a, const Tile& tile, int index, u64 epoch, int thread) {
    const int row = thread % 32 % DOF, cell = thread / 32 * warp_cells + thread % 32 / DOF;
    const int tj = cell % TJ, tk = cell / TJ;
    const Line line(a, tile.j + tj, tile.k + tk);
    const bool exists = thread % 32 < warp_cells * DOF && cell < TJ * TK && line.valid;
    const int slots = a.slots, level_slots = a.ny * a.nz;
    constexpr int plane_records = edge_cells * DOF;
    Edge* const edges = a.edges + (long long)index * a.nx * plane_records + row;
    Edge* const below = exists && tk >= TK - edge_k ? edges + edge_cell_below(tj, tk) * DOF : nullptr;
    Edge* const right = exists && tj >= TJ - edge_j ? edges + edge_cell_right(tj, tk) * DOF : nullptr;

    double* const exchange = shared + RING * DOF * plane_size;
    double* const stages = exchange + (DOF > 1 ? worker_threads : 0) + thread;
    const auto stage = [&](int level, int what) -> double& {
        return stages[((unsigned(level) % unsigned(STAGES > 0 ? STAGES : 1)) * staged + what) * worker_threads];
    };
    const auto in_grid = [&](int m, int i) {  // of the neighbour m
        return unsigned(i + offset_x[m]) < unsigned(a.nx) && unsigned(line.j + offset_y[m]) < unsigned(a.ny) &&
               unsigned(line.k + offset_z[m]) < unsigned(a.nz);
    };
    /// Address of coefficient (row, col) of offset m at a slot.
    const auto coefficient = [&](int m, int col, int slot) {
        if (UPPER && MIRRORED) {
            int there = slot + a.shift[m];
            if (there >= slots) there -= slots;
            return a.triangles + (long long)((m * DOF + col) * DOF + row) * a.triangle_stride + there;
        }
        const int entry = UPPER ? 2 * LOWER - m : m;
        return a.triangles + (long long)((entry * DOF + row) * DOF + col) * a.triangle_stride + slot;
    };
    const auto own = [&](int col, int slot) { return a.inverse + (long long)(row * DOF + col) * a.inverse_stride + slot; };

    const int begin = tile.first - MAX_LEVEL;
    int slot_ahead = 0;  // of the level being fetched
    const auto advance = [&](int& slot) {
        if (NATURAL) {
            slot += UPPER ? -1 : 1;
        } else if (UPPER) {
            slot -= level_slots;
            if (slot < 0) slot += slots;
        } else {
            slot += level_slots;
            if (slot >= slots) slot -= slots;
        }
    };
    const auto fetch = [&](int level) {
        if (exists && line.active(a, level)) {
            if (level == line.start) slot_ahead = slot_of(a, line, level);
#pragma unroll(DOF > 2 ? 1 : LOWER)
            for (int m = 0; m < LOWER; ++m)
#pragma unroll
                for (int c = 0; c < DOF; ++c) copy_async(&stage(level, m * DOF + c), coefficient(m, c, slot_ahead));
#pragma unroll
            for (int c = 0; c < DOF; ++c) copy_async(&stage(level, terms + c), own(c, slot_ahead));
            copy_async(&stage(level, terms + DOF), a.in + (long long)row * slots + slot_ahead);
            advance(slot_ahead);
        }
        commit_copies();
    };
    if (whole_stages)
        for (int s = 0; s < STAGES - 1; ++s) fetch(begin + s);

    double dot = 0.0;
    int slot = 0;
    int plane = (begin % a.nx + a.nx) % a.nx;
    for (int level = begin; level <= tile.last; ++level) {
        const bool active = exists && line.active(a, level);
        if (whole_stages) {
            fetch(level + STAGES - 1);
            wait_copies<(STAGES > 0 ? STAGES - 1 : 0)>();
        }
        double sum = 0.0, rhs = 0.0;
        if (active && level == line.start) slot = slot_of(a, line, level);
        const int i = level - line.start;
        const auto add = [&](int m) {
            const int ring_row = tk + HALO_K + offset_z[m], ring_column = tj + HALO_J + offset_y[m] + SKEW * offset_z[m];
            if (SKIP_OUTSIDE && !in_grid(m, i)) return;
#pragma unroll
            for (int c = 0; c < DOF; ++c) {
                const double e = whole_stages ? stage(level, m * DOF + c) : __ldcs(coefficient(m, c, slot));
                sum -= e * ring_at(level + offset_level[m], c, ring_row, ring_column);
            }
        };
        if (active) {
            rhs = whole_stages ? stage(level, terms + DOF) : a.in[(long long)row * slots + slot];
            if (!UPPER) sum = rhs;
            if (PIPELINED) {
#pragma unroll(DOF > 4 ? 1 : LOWER)
                for (int m = 0; m < LOWER; ++m)
                    if (offset_level[m] < -1) add(m);
            }
        }
        __syncthreads();  // all values of level - 1 are in the ring
        if (active) {
#pragma unroll(DOF > 4 ? 1 : LOWER)
            for (int m = 0; m < LOWER; ++m)
                if (!PIPELINED || offset_level[m] == -1) add(m);
        }
        double y = 0.0;
        if (DOF == 1) {
            if (active) y = (whole_stages ? stage(level, terms) : *own(0, slot)) * sum;
        } else {
            // t = sum of all rows of the point, then a row of D^-1 t
            exchange[thread] = sum;
            __syncwarp();
            if (active) {
#pragma unroll
                for (int c = 0; c < DOF; ++c)
                    y += (whole_stages ? stage(level, terms + c) : *own(c, slot)) * exchange[thread - row + c];
            }
            __syncwarp();
        }
        if (active) {
            if (DOT) dot += sum * y;
            if (UPPER) y += rhs;
            ring_at(level, row, tk + HALO_K, tj + HALO_J) = y;
            if (below) store_edge(below + (long long)plane * plane_records, y, epoch);
            if (right) store_edge(right + (long long)plane * plane_records, y, epoch);
            a.out[(long long)row * slots + slot] = y;
            advance(slot);
        }
        if (++plane == a.nx) plane = 0;
    }
    return dot;
}

extern "C" __global__ void __launch_bounds__(threads) struct_ilu_solve(const __grid_constant__ Arguments a) {
    __shared__ int ticket;
    __shared__ double sums[DOT ? threads / 32 : 1];
    const int thread = threadIdx.x;
    if (thread == 0) ticket = atomicAdd(&a.state->ticket, 1u);
    for (int at = thread; at < RING * DOF * plane_size; at += threads) shared[at] = 0.0;
    const u64 epoch = a.state->epoch;
    __syncthreads();
    const int index = ticket;
    const Tile tile = a.tiles[index];
    double dot = 0.0;
    if (thread < worker_threads)
        dot = work(a, tile, index, epoch, thread);
    else
        receive(a, tile, epoch, thread - worker_threads);

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
