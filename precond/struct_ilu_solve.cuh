// Triangular solves of StructILU on a GPU (Luo et al., StructILU, ICS 2025, sections 4.1, 4.2.1, 4.4).
//
//     M = (I + W) D (I + G)       W = E D^-1,  G = D^-1 F
//     lower   v(p) = r(p) - sum_l W_l(p) v(p+l)
//     upper   z(p) = D^-1(p) v(p) - sum_u G_u(p) z(p+u)
//
// Both sweeps are unit triangular, so D^-1 is never on the path from level to level. For D-ILU, whose E and F are
// the matrix's own (DILU):
//
//     lower   y(p) = D^-1(p) (r(p) - sum_l E_l(p) y(p+l))
//     upper   z(p) = y(p) - D^-1(p) sum_u F_u(p) z(p+u)
//
// The upper solve is the lower one on the grid seen from its far corner: p -> n - 1 - p turns u into a lower
// offset. All coordinates below are of that view; slots are the grid's own.
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
// Latency-aware pipelined dot product (4.2.1). The terms of a row are shared out over GROUPS threads. Group 0 has
// those of level l - 1, the only ones on the path from level to level; the other groups sum the older terms of
// level l + 1 while group 0 finishes level l, so one barrier a level is all there is. Coefficients arrive through
// STAGES - 1 levels of asynchronous copies, by LOADERS groups of warps that do nothing else, or each thread's own.
//
// Definitions: DOF, LOWER (offsets), OFFSET_X/Y/Z {LOWER numbers}, OFFSET_LEVEL {their levels, below 0},
// B, C, SKEW, TJ, TK, HALO_J, HALO_K, RING (a power of two), MAX_LEVEL (-min OFFSET_LEVEL), STAGES, UPPER, DILU,
// MIRRORED (the upper triangle is read from the lower one), SKIP_OUTSIDE (entries that leave the grid are not
// zero but wrapped), DOT (also r^T M^-1 r of a symmetric M), NATURAL (the layout), HALO_THREADS, LOOKAHEAD,
// LOADERS, BLOCKS (resident on a multiprocessor), GROUPS, TERMS {offsets, by group}, GROUP_BEGIN {GROUPS + 1 numbers}.

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
    const double* triangles;  // W and G; E and F: [entry][row][col][triangle_stride]
    const double* inverse;    // D^-1
    const double* in;         // r, or the lower solve's result
    double* out;
    const Tile* tiles;
    const int* tile_at;  // [K][J], -1 where a tile has no line
    Edge* edges;         // [tile][i'][cell][component]
    State* state;
    double* partial;  // [tile]
    double* dot;
    int nx, ny, nz, tiles_j, tile_count, slots, triangle_stride, padding;
    int shift[LOWER];  // slot of p + o minus slot of p, modulo the slots
};

constexpr int term_of[] = TERMS, group_begin[] = GROUP_BEGIN;
constexpr int offset_x[] = OFFSET_X, offset_y[] = OFFSET_Y, offset_z[] = OFFSET_Z, offset_level[] = OFFSET_LEVEL;
constexpr int columns = TJ + HALO_J, rows = TK + HALO_K;
constexpr int plane_size = rows * columns;
constexpr int edge_j = HALO_J < TJ ? HALO_J : TJ, edge_k = HALO_K < TK ? HALO_K : TK;
constexpr int edge_cells = edge_j * TK + edge_k * TJ;
constexpr int halo_cells = HALO_J * TK + HALO_K * columns;
constexpr int halo_records = halo_cells * DOF;
constexpr int warp_cells = 32 / DOF;  // the rows of a point are neighbours in one warp
constexpr int worker_threads = (TJ * TK + warp_cells - 1) / warp_cells * 32;
constexpr int threads = (GROUPS + LOADERS) * worker_threads + HALO_THREADS;
constexpr int holder = GROUPS > 1 ? 1 : 0;  // the group that has the right-hand side
constexpr bool scales = UPPER && !DILU;     // and D^-1 v

constexpr bool pairs = DOF % 2 == 0 && TOGETHER;

/// Values a thread of a group has on the way: its coefficients, a right-hand side, a row of D^-1.
__device__ constexpr int staged(int group) {
    const int rows = group_begin[group + 1] - group_begin[group] + (DILU || (scales && group == holder));
    return rows * DOF + (group == holder ? (pairs ? 2 : 1) : 0);
}
__device__ constexpr int staged_before(int group) {
    int count = 0;
    for (int g = 0; g < group; ++g) count += staged(g);
    return count;
}
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

__device__ __forceinline__ void copy_pair_async(double* to, const double* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from)
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

/// Place of a coefficient of the factors.
__device__ __forceinline__ long long factor_at(int slots, int entry, int row, int col, int slot) {
    if (TOGETHER) return ((long long)(entry * DOF + row) * slots + slot) * DOF + col;
    return (long long)((entry * DOF + row) * DOF + col) * slots + slot;
}

extern __shared__ __align__(16) double shared[];
constexpr int ring_size = (RING * DOF * plane_size + 1) / 2 * 2;
constexpr int exchange_size = (DILU ? (DOF > 1 ? 1 : 0) : 2 * (GROUPS - 1)) * worker_threads;  // even
// ring[RING][DOF][rows][columns], exchange, then for each group stages[STAGES][staged][worker_threads]

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
    // A tile that has not begun yet must not crowd the memory: one lane asks for the warp's first record.
    int earliest = start[0];
#pragma unroll
    for (int h = 1; h < halo_share; ++h) earliest = min(earliest, start[h]);
    const int first = __reduce_min_sync(~0u, earliest);
    if (first <= tile.first && earliest == first) {
        const unsigned candidates = __activemask();
        if (lane % 32 == __ffs(candidates) - 1) {
            const Edge* from = at[0];
#pragma unroll
            for (int h = 1; h < halo_share; ++h)
                if (start[h] == first) from = at[h];
            u64 seen = 0;
            for (double ignored; seen != epoch;) {
                load_edge(from + (long long)(first % a.nx) * plane_records, ignored, seen);
                if (seen != epoch) __nanosleep(150);
            }
        }
    }
    __syncwarp();
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
                __syncwarp();
                __syncthreads();  // the workers begin `level`, which needs the levels before
                fetch(value[(d + LOOKAHEAD - 1) % LOOKAHEAD], seen[(d + LOOKAHEAD - 1) % LOOKAHEAD]);
#pragma unroll
                for (int h = 0; h < halo_share; ++h)
                    if (unsigned(level - start[h]) < unsigned(a.nx)) {
                        int tries = 0;
                        while (seen[d][h] != epoch) {
                            if (++tries > 32) __nanosleep(40);
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

/// One row of one line's points and its share of the terms.
template <int group>
struct Worker {
    static constexpr int begin = group_begin[group], count = group_begin[group + 1] - begin;
    static constexpr int inverse_place = count * DOF, rhs_place = inverse_place + (DILU || (scales && group == holder) ? DOF : 0);
    static constexpr int plane_records = edge_cells * DOF;

    const Arguments& a;
    const int thread, row, cell, tj, tk, level_slots;
    const Line line;
    const bool exists;
    double* const stages;
    const double *coefficients, *inverse;  // of this row at slot 0
    int slot_ahead = 0;

    __device__ Worker(const Arguments& arguments, const Tile& tile, int thread_)
        : a(arguments),
          thread(thread_),
          row(thread % 32 % DOF),
          cell(thread / 32 * warp_cells + thread % 32 / DOF),
          tj(cell % TJ),
          tk(cell / TJ),
          level_slots(a.ny * a.nz),
          line(a, tile.j + tj, tile.k + tk),
          exists(thread % 32 < warp_cells * DOF && cell < TJ * TK && line.valid),
          stages(shared + ring_size + exchange_size + STAGES * staged_before(group) * worker_threads + thread * (pairs ? 2 : 1)) {
        if (DILU)
            coefficients = a.triangles + (long long)(UPPER && MIRRORED ? row : row * DOF) * a.triangle_stride;
        else
            coefficients = a.triangles + factor_at(a.slots, 0, UPPER && MIRRORED ? 0 : row, UPPER && MIRRORED ? row : 0, 0);
        inverse = a.inverse + factor_at(a.slots, 0, row, 0, 0);
    }

    // A thread's values lie in pairs where its coefficients come in pairs, 16 bytes a copy.
    __device__ __forceinline__ double& stage(int at, int what) const {
        if (pairs) return stages[((at * staged(group) + what) / 2 * worker_threads) * 2 + what % 2];
        return stages[(at * staged(group) + what) * worker_threads];
    }
    /// Begins to copy the `DOF` values of a row of a block at `from` to `what`.
    __device__ __forceinline__ void copy_row(int at, int what, const double* from) const {
#pragma unroll
        for (int c = 0; c < DOF; c += 2) copy_pair_async(&stage(at, what + c), from + c);
    }

    __device__ __forceinline__ bool in_grid(int m, int i) const {  // the neighbour m
        return unsigned(i + offset_x[m]) < unsigned(a.nx) && unsigned(line.j + offset_y[m]) < unsigned(a.ny) &&
               unsigned(line.k + offset_z[m]) < unsigned(a.nz);
    }
    /// Address of coefficient (row, col) of offset m at a slot.
    __device__ __forceinline__ const double* coefficient(int m, int col, int slot) const {
        if (UPPER && MIRRORED) {
            int there = slot + a.shift[m];
            if (there >= a.slots) there -= a.slots;
            if (DILU) return coefficients + (long long)((m * DOF + col) * DOF) * a.triangle_stride + there;
            return coefficients + factor_at(a.slots, m, col, 0, there);
        }
        const int entry = UPPER ? 2 * LOWER - m : m;
        if (DILU) return coefficients + (long long)(entry * DOF * DOF + col) * a.triangle_stride + slot;
        return coefficients + factor_at(a.slots, entry, 0, col, slot);
    }
    __device__ __forceinline__ void advance(int& slot) const {
        if (NATURAL) {
            slot += UPPER ? -1 : 1;
        } else if (UPPER) {
            slot -= level_slots;
            if (slot < 0) slot += a.slots;
        } else {
            slot += level_slots;
            if (slot >= a.slots) slot -= a.slots;
        }
    }
    /// Begins the copies of a level into stage `at`.
    __device__ __forceinline__ void fetch(int level, int at) {
        begin_copies(level, at);
        commit_copies();
    }
    __device__ __forceinline__ void begin_copies(int level, int at) {
        if (exists && line.active(a, level)) {
            if (level == line.start) slot_ahead = slot_of(a, line, level);
#pragma unroll
            for (int t = 0; t < count; ++t)
                if (pairs && !DILU && !(UPPER && MIRRORED)) {
                    copy_row(at, t * DOF, coefficient(term_of[begin + t], 0, slot_ahead));
                } else
#pragma unroll
                    for (int c = 0; c < DOF; ++c) copy_async(&stage(at, t * DOF + c), coefficient(term_of[begin + t], c, slot_ahead));
            if (DILU || (scales && group == holder)) {
                if (pairs)
                    copy_row(at, inverse_place, inverse + factor_at(a.slots, 0, 0, 0, slot_ahead));
                else
#pragma unroll
                    for (int c = 0; c < DOF; ++c)
                        copy_async(&stage(at, inverse_place + c), inverse + factor_at(a.slots, 0, 0, c, slot_ahead));
            }
            if (group == holder) copy_async(&stage(at, rhs_place), a.in + (long long)row * a.slots + slot_ahead);
            advance(slot_ahead);
        }
    }
    /// Minus the sum of the group's terms at a level.
    __device__ __forceinline__ double terms(int level, int at, int slot) const {
        double sum = 0.0;
#pragma unroll
        for (int t = 0; t < count; ++t) {
            const int m = term_of[begin + t];
            if (SKIP_OUTSIDE && !in_grid(m, level - line.start)) continue;
            const double* const v = &ring_at(level + offset_level[m], 0, tk + HALO_K + offset_z[m], tj + HALO_J + offset_y[m] + SKEW * offset_z[m]);
#pragma unroll
            for (int c = 0; c < DOF; ++c)
                sum -= (whole_stages ? stage(at, t * DOF + c) : __ldcs(coefficient(m, c, slot))) * v[c * plane_size];
        }
        return sum;
    }
    __device__ __forceinline__ double inverse_at(int at, int c, int slot) const {
        return whole_stages ? stage(at, inverse_place + c) : inverse[factor_at(a.slots, 0, 0, c, slot)];
    }
    /// The right-hand side, times D^-1 in the upper solve. `dot` += v D^-1 v.
    __device__ __forceinline__ double right_hand_side(int at, int slot, double& dot) const {
        const double own = whole_stages ? stage(at, rhs_place) : a.in[(long long)row * a.slots + slot];
        if (!scales) return own;
        double scaled = 0.0;
#pragma unroll
        for (int c = 0; c < DOF; ++c) {
            const double v = whole_stages ? (&stage(at, rhs_place))[(c - row) * (pairs ? 2 : 1)] : a.in[(long long)c * a.slots + slot];
            scaled += inverse_at(at, c, slot) * v;
        }
        if (DOT) dot += own * scaled;
        return scaled;
    }
};

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
    requires(group >= GROUPS)
struct Loader<group> {
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
        if (active && next == w.line.start) slot = slot_of(a, w.line, next);
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
    constexpr int plane_records = edge_cells * DOF;
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
        if (active && level == w.line.start) slot = slot_of(a, w.line, level);
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
