// Factorisation of StructILU on a GPU (Luo et al., StructILU, ICS 2025, Algorithm 1, sections 4.1 and 4.2.2).
//
//     X_e(p) = A_e(p) + shift diag(A_0)(p) [e = 0] - sum over (l, u), l + u = e, of W_l(p) F_u(p+l)
//     W_l(p) = E_l(p) D^-1(p+l)          E, F: X below and above the diagonal;  D^-1 = inverse of X_0
//
// for the entries e in natural order, so that W_l is known before the entries that need it. A block owns a tile
// of lines and walks the levels as the solves do (struct_ilu_solve.cuh). Factors pass between points through
// global memory; a tile publishes the level it has completed, and a level waits until the tiles it depends on
// have completed the one before. One warp looks at their progress, one publishes this tile's, the others work:
// a thread has one row of a point.
//
// Definitions: DOF, LOWER, OFFSET_X/Y/Z {2 LOWER + 1 numbers, all entries}, B, C, SKEW, TJ, TK,
// A_ENTRY {for each entry, A's entry or -1}, PAIRS, PAIR_BEGIN {2 LOWER + 2}, PAIR_L, PAIR_U {PAIRS},
// SYMMETRIC (one triangle), SHARES (D-ILU: only D^-1 is written, E and F are A's), KEEP_W (W lies in shared
// memory), DEFINITE, NATURAL.

typedef unsigned long long u64;

struct Tile {
    int j, k, first, last;
};

/// What went wrong, the first events in natural order.
struct PivotLog {
    enum { capacity = 16 };
    u64 failures, boosts;
    int lock, failed_size, boosted_size, padding;
    u64 failed[1], boosted[capacity];  // row of the grid times DOF plus component
    double failed_value[1], boosted_value[capacity];
};

/// Smallest |pivot| / |A's diagonal entry| of a tile and its point.
struct Smallest {
    double ratio;
    long long point;
};

struct Arguments {
    const double* a;  // [A's entry][row][col][a_stride]
    double* x;        // E, D^-1, F: [entry][row][col][x_stride]; D-ILU: D^-1 alone
    const Tile* tiles;
    const int* tile_at;  // [K][J]
    int* progress;       // [tile]: last level completed
    unsigned* ticket;
    PivotLog* log;
    Smallest* smallest;  // [tile]
    double shift, tolerance, boost;  // boost 0: a pivot that cannot be used is a failure
    int nx, ny, nz, tiles_j, reach_j, reach_k, a_stride, x_stride;
    int delta[2 * LOWER + 1];  // slot of p + o minus slot of p, modulo the slots, in [0, slots)
};

#define TABLE __device__ constexpr int
TABLE offset_x[] = OFFSET_X;
TABLE offset_y[] = OFFSET_Y;
TABLE offset_z[] = OFFSET_Z;
TABLE a_entry[] = A_ENTRY;
TABLE pair_begin[] = PAIR_BEGIN;
TABLE pair_l[] = PAIR_L;
TABLE pair_u[] = PAIR_U;
constexpr int entries = SYMMETRIC || SHARES ? LOWER + 1 : 2 * LOWER + 1;  // computed
constexpr int warp_cells = 32 / DOF;
constexpr int worker_threads = (TJ * TK + warp_cells - 1) / warp_cells * 32;
constexpr int threads = worker_threads + 64;
constexpr int unroll_entries = DOF == 1 ? 2 * LOWER + 1 : 1;
constexpr int unroll_pairs = DOF <= 2 ? 128 : 1;

/// Through the second-level cache, where other tiles' results are.
__device__ __forceinline__ double load(const double* at) { return __ldcg(at); }

extern __shared__ double shared[];  // W[LOWER][DOF][worker_threads], block[DOF + 1][worker_threads]

__device__ void keep_first(u64* rows, double* values, int* size, int capacity, u64 row, double value) {
    int at = *size < capacity ? (*size)++ : capacity - 1;
    if (at == capacity - 1 && *size == capacity && rows[at] != ~0ull && rows[at] < row) return;
    for (; at > 0 && rows[at - 1] > row; --at) rows[at] = rows[at - 1], values[at] = values[at - 1];
    rows[at] = row;
    values[at] = value;
}

__device__ __noinline__ void record(PivotLog* log, bool boosted, u64 row, double value) {
    atomicAdd(boosted ? &log->boosts : &log->failures, 1ull);
    for (bool done = false; !done;)
        if (atomicCAS(&log->lock, 0, 1) == 0) {
            __threadfence();
            if (boosted)
                keep_first(log->boosted, log->boosted_value, &log->boosted_size, PivotLog::capacity, row, value);
            else
                keep_first(log->failed, log->failed_value, &log->failed_size, 1, row, value);
            __threadfence();
            atomicExch(&log->lock, 0);
            done = true;
        }
}

/// One row of a point's blocks.
struct Worker {
    const Arguments& a;
    int row, thread, j, k, start;
    bool exists;
    double ratio = 1.0;
    int ratio_x = 0;

    __device__ Worker(const Arguments& arguments, const Tile& tile, int thread_) : a(arguments), thread(thread_) {
        const int lane = thread % 32, cell = thread / 32 * warp_cells + lane / DOF;
        row = lane % DOF;
        k = tile.k + cell / TJ;
        j = tile.j + cell % TJ - SKEW * k;
        start = B * j + C * k;
        exists = lane < warp_cells * DOF && cell < TJ * TK && j >= 0 && j < a.ny && k < a.nz;
    }

    __device__ int slots() const { return a.nx * a.ny * a.nz; }
    __device__ int slot(int level) const {
        return NATURAL ? level - start + a.nx * (j + a.ny * k) : ((level % a.nx) * a.nz + k) * a.ny + j;
    }
    __device__ int near(int slot, int entry) const {
        const int there = slot + a.delta[entry];
        return there >= slots() ? there - slots() : there;
    }
    __device__ bool in_grid(int i, int e) const {
        return unsigned(i + offset_x[e]) < unsigned(a.nx) && unsigned(j + offset_y[e]) < unsigned(a.ny) &&
               unsigned(k + offset_z[e]) < unsigned(a.nz);
    }
    __device__ const double* a_at(int entry, int r, int c, int slot) const {
        return a.a + (long long)((entry * DOF + r) * DOF + c) * a.a_stride + slot;
    }
    __device__ double* x_at(int entry, int r, int c, int slot) const {
        return a.x + (long long)((entry * DOF + r) * DOF + c) * a.x_stride + slot;
    }
    __device__ const double* inverse_at(int r, int c, int slot) const { return x_at(SHARES ? 0 : LOWER, r, c, slot); }
    /// F_u(p+l)[r][c] for l + u = e.
    __device__ double upper(int l, int u, int e, int r, int c, int slot) const {
        const int mirror = 2 * LOWER - u;
        if (SYMMETRIC) {
            const int there = near(slot, e);
            return SHARES ? load(a_at(a_entry[mirror], c, r, there)) : load(x_at(mirror, c, r, there));
        }
        const int there = near(slot, l);
        return SHARES ? __ldg(a_at(a_entry[u], r, c, there)) : load(x_at(u, r, c, there));
    }
    __device__ double& w(int l, int c) const { return shared[(l * DOF + c) * worker_threads + thread]; }

    /// W_l(p) of this row, from a row of E_l(p).
    __device__ void scale_by_inverse(int l, int slot, const double* e, double* out) const {
        const int there = near(slot, l);
#pragma unroll
        for (int c = 0; c < DOF; ++c) out[c] = 0.0;
#pragma unroll
        for (int m = 0; m < DOF; ++m)
#pragma unroll
            for (int c = 0; c < DOF; ++c) out[c] += e[m] * load(inverse_at(m, c, there));
    }

    __device__ double usable(double pivot, double own, double scale, int i, int component) {
        const bool wrong_sign = DEFINITE && pivot * own < 0.0;
        if (own != 0.0 && isfinite(pivot)) {
            const double mine = wrong_sign ? 0.0 : fabs(pivot / own);
            if (mine < ratio) ratio = mine, ratio_x = i;
        }
        if (isfinite(pivot) && fabs(pivot) > a.tolerance * scale && !wrong_sign) return pivot;
        const bool mend = a.boost > 0.0 && isfinite(pivot) && isfinite(scale) && scale > 0.0;
        const u64 natural = i + a.nx * (j + (long long)a.ny * k);
        if (component == row) record(a.log, mend, natural * DOF + component, pivot);
        return mend ? copysign(a.boost * scale, wrong_sign || pivot == 0.0 ? own : pivot) : 0.0;
    }

    /// Gauss-Jordan elimination over the rows of a point in a warp, FGBILU paper, Algorithm 8. `x` becomes
    /// this row of the inverse; zero where a pivot cannot be used.
    __device__ void invert(double* x, const double* own, int i, bool active) {
        if (DOF == 1) {
            if (!active) return;
            const double pivot = usable(x[0], own[0], fmax(fabs(own[0]), fabs(x[0])), i, 0);
            x[0] = pivot == 0.0 ? 0.0 : 1.0 / pivot;
            return;
        }
        const int first = thread % 32 / DOF * DOF;  // lane of the point's row 0
        double scale = 0.0, mine = 0.0;
#pragma unroll
        for (int c = 0; c < DOF; ++c) {
            scale = fmax(scale, fmax(fabs(own[c]), fabs(x[c])));
            if (c == row) mine = own[c];
            if (isnan(own[c]) || isnan(x[c])) scale = nan("");
        }
        double largest = 0.0;
        for (int r = 0; r < DOF; ++r) {
            const double other = __shfl_sync(~0u, scale, (first + r) & 31);
            largest = isnan(other) || isnan(largest) ? nan("") : fmax(largest, other);
        }
        bool gave_up = false;
#pragma unroll(DOF <= 8 ? DOF : 1)
        for (int p = 0; p < DOF; ++p) {
            double here = 0.0;
#pragma unroll
            for (int c = 0; c < DOF; ++c)
                if (c == p) here = x[c];
            const int lane = (first + p) & 31;
            const double met = __shfl_sync(~0u, here, lane), diagonal = __shfl_sync(~0u, mine, lane);
            double pivot = active && !gave_up ? usable(met, diagonal, largest, i, p) : 1.0;
            if (pivot == 0.0) gave_up = true, pivot = 1.0;
            const double inverse = 1.0 / pivot;
            const double factor = here;
#pragma unroll
            for (int c = 0; c < DOF; ++c) {
                const double scaled = __shfl_sync(~0u, c == p ? 1.0 : x[c], lane) * inverse;
                if (row == p)
                    x[c] = scaled;
                else
                    x[c] = (c == p ? 0.0 : x[c]) - factor * scaled;
            }
        }
        if (gave_up)
#pragma unroll
            for (int c = 0; c < DOF; ++c) x[c] = 0.0;
    }

    __device__ void point(int level) {
        const bool active = exists && unsigned(level - start) < unsigned(a.nx);
        const int i = level - start, at = active ? slot(level) : 0;
        double w_row[DOF];
#pragma unroll(unroll_entries)
        for (int e = 0; e < entries; ++e) {
            if (SHARES && e < LOWER && !KEEP_W) continue;
            double x[DOF], own[DOF];
            const int from = a_entry[e];
#pragma unroll
            for (int c = 0; c < DOF; ++c) {
                x[c] = active && from >= 0 && in_grid(i, e) ? __ldcs(a_at(from, row, c, at)) : 0.0;
                own[c] = x[c];
                if (e == LOWER && c == row) x[c] += a.shift * x[c];
            }
            if (active) {
#pragma unroll(unroll_pairs)
                for (int pair = pair_begin[e]; pair < pair_begin[e + 1]; ++pair) {
                    const int l = pair_l[pair], u = pair_u[pair];
                    if (!KEEP_W) {
                        double e_row[DOF];
#pragma unroll
                        for (int c = 0; c < DOF; ++c)
                            e_row[c] = SHARES ? (in_grid(i, l) ? *a_at(a_entry[l], row, c, at) : 0.0) : *x_at(l, row, c, at);
                        scale_by_inverse(l, at, e_row, w_row);
                    }
#pragma unroll
                    for (int m = 0; m < DOF; ++m) {
                        const double scaled = KEEP_W ? w(l, m) : w_row[m];
#pragma unroll
                        for (int c = 0; c < DOF; ++c) x[c] -= scaled * upper(l, u, e, m, c, at);
                    }
                }
            }
            if (e == LOWER) invert(x, own, i, active);
            if (!active) continue;
            if (!SHARES || e == LOWER)
#pragma unroll
                for (int c = 0; c < DOF; ++c) *x_at(SHARES ? 0 : e, row, c, at) = x[c];
            if (KEEP_W && e < LOWER) {
                scale_by_inverse(e, at, x, w_row);
#pragma unroll
                for (int c = 0; c < DOF; ++c) w(e, c) = w_row[c];
            }
        }
    }
};

__device__ __forceinline__ int progress_of(const int* at) {
    int value;
    asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

extern "C" __global__ void __launch_bounds__(threads) struct_ilu_factor(const __grid_constant__ Arguments a) {
    __shared__ int ticket;
    __shared__ double ratios[threads];
    __shared__ long long points[threads];
    const int thread = threadIdx.x;
    if (thread == 0) ticket = atomicAdd(a.ticket, 1u);
    __syncthreads();
    const Tile tile = a.tiles[ticket];
    ratios[thread] = 1.0;
    points[thread] = 0;

    if (thread < worker_threads) {
        Worker worker(a, tile, thread);
        for (int level = tile.first; level <= tile.last; ++level) {
            __syncthreads();
            worker.point(level);
        }
        __syncthreads();
        if (worker.exists) {
            ratios[thread] = worker.ratio;
            points[thread] = worker.ratio_x + a.nx * (worker.j + (long long)a.ny * worker.k);
        }
    } else if (thread < worker_threads + 32) {  // looks at the tiles before this one
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
            if (thread == worker_threads + 32 && level > tile.first) {
                __threadfence();
                asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(a.progress + ticket), "r"(level - 1) : "memory");
            }
        }
        __syncthreads();
        if (thread == worker_threads + 32) {
            __threadfence();
            asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(a.progress + ticket), "r"(1 << 30) : "memory");
        }
    }
    __syncthreads();
    if (thread == 0) {
        Smallest smallest{1.0, 0};
        bool any = false;
        for (int t = 0; t < worker_threads; ++t)
            if (ratios[t] < smallest.ratio || (any && ratios[t] == smallest.ratio && points[t] < smallest.point)) {
                smallest = {ratios[t], points[t]};
                any = true;
            }
        a.smallest[ticket] = smallest;
    }
}
