// SPDX-License-Identifier: BSD-3-Clause
// A tile whose warps have no barrier at every level (ROWS > 0). Definitions: precond/triangular/wavefront/solve.cuh.
//
// A warp has the 32 lines of one k of a tile and walks their levels at its own pace, a few levels behind the row before
// it. What a row of the ring has, it says in shared memory as one number, its progress: all its values up to that level
// are in the ring. A warp waits until the rows, and the edges of other tiles, that it reads have come as far as the
// level before, and until no row that reads its own needs the value that it replaces. Coefficients are copied by each
// thread for itself, so nothing else is waited for.
//
// Edges are received by HALO_K warps for the rows of smaller k, a cell each lane, and by further warps for the columns
// of smaller J, a cell each lane too. A lane loads the records of ROWS levels at a time and takes those that are there.
//
// The terms of a row are added in the groups that threads would have had (SUMS, SUM_BEGIN), so the bits are those of
// solves with groups of threads.
#pragma once

#include "precond/triangular/wavefront/edges.cuh"
#include "precond/triangular/wavefront/level_barriers.cuh"
#include "precond/triangular/wavefront/points.cuh"

namespace hyperplane {

static_assert(TJ == 32 && DOF == 1 && GROUPS == 1 && PRODUCER_GROUPS == 0 && HALO_PLANES == 0 && !EISENSTAT &&
              STORAGE == 0);
static_assert(sizeof(Real) == 8 && STAGES >= 3);
static_assert(HALO_K <= 3 && HALO_J * (HALO_K + 1) <= 20);

constexpr int never = 1 << 30;  // progress of what is not waited for
constexpr int left_cells = HALO_J * rows;
constexpr int progress_of_row = 0, progress_of_top = TK, progress_of_left = TK + HALO_K,
              progress_of_none = TK + HALO_K + left_cells;
constexpr int slack = RING - MAX_LEVEL;  // levels by which a row may be ahead of those that read it
static_assert(slack >= 2);

__device__ constexpr bool has_corners() {
    for (int m = 0; m < LOWER; ++m)
        if (offset_z[m] < 0 && offset_y[m] + SKEW * offset_z[m] < 0) return true;
    return false;
}
/// The number of leading terms of [from, upto) that are older than the level before.
__device__ constexpr int leading_older(int from, int upto) {
    int t = from;
    while (t < upto && offset_level[term_of[t]] < -1) ++t;
    return t - from;
}

__shared__ int progress[progress_of_none + 1];

__device__ __forceinline__ int load_progress(unsigned at) {
    int level;
    asm volatile("ld.acquire.cta.shared.s32 %0, [%1];" : "=r"(level) : "r"(at) : "memory");
    return level;
}
__device__ __forceinline__ void store_progress(unsigned at, int level) {
    asm volatile("st.release.cta.shared.s32 [%0], %1;" ::"r"(at), "r"(level) : "memory");
}
__device__ __forceinline__ unsigned progress_at(int which) {
    return shared_address(progress + which);
}
/// All threads of the thread block wait here for one another, once.
__device__ __forceinline__ void all_begin() {
    asm volatile("barrier.sync 1;" ::: "memory");
}

/// What a consumer warp waits for: each lane looks at one number.
struct RowsBefore {
    unsigned at;
    int ahead, allowed = -never;  // the level up to which this warp may go

    __device__ RowsBefore(int row, int lane) : at(progress_at(progress_of_none)), ahead(1) {
        if (lane < HALO_K) {
            const int before = row - 1 - lane;
            at = progress_at(before >= 0 ? progress_of_row + before : progress_of_top + HALO_K + before);
        } else if (lane < 4 + HALO_J * (HALO_K + 1)) {
            if (lane >= 4) at = progress_at(progress_of_left + row * HALO_J + lane - 4);
        } else if (lane < 28 + HALO_K && lane >= 28) {
            const int after = row + 1 + lane - 28;
            if (after < TK) at = progress_at(progress_of_row + after);
            ahead = slack;
        }
    }
    __device__ __forceinline__ void allow(int seen) { allowed = __reduce_min_sync(~0u, seen + ahead); }
    __device__ __forceinline__ void wait(int level) {
        while (allowed < level) allow(load_progress(at));
        __syncwarp();
    }
};

// Below, instructions that touch shared memory and copies are written in the order in which they shall be issued, and
// arithmetic goes between them as the compiler likes.
__device__ __forceinline__ double load_shared(unsigned at) {
    double value;
    asm volatile("ld.shared.f64 %0, [%1];" : "=d"(value) : "r"(at));
    return value;
}
__device__ __forceinline__ void store_shared(unsigned at, double value) {
    asm volatile("st.shared.f64 [%0], %1;" ::"r"(at), "d"(value));
}
__device__ __forceinline__ void copy_double(unsigned to, const double* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from));
}
/// A value that stays in a register instead of being computed anew at every level.
template <class T>
__device__ __forceinline__ T kept(T value) {
    if constexpr (sizeof(T) == 8)
        asm volatile("mov.b64 %0, %0;" : "+l"(value));
    else
        asm volatile("mov.b32 %0, %0;" : "+r"(value));
    return value;
}

constexpr bool with_inverse = DILU || scales;
constexpr int row_values = LOWER + with_inverse + 1;  // that are copied for a point: coefficients, D^-1 and r
constexpr int value_bytes = 8 * consumer_threads;     // of one of them, for all points of a level
constexpr int stage_bytes = row_values * value_bytes;
constexpr int newest_terms = sum_begin[1], early_terms = leading_older(0, newest_terms);

/// A line of a row: where its values are, and what has been loaded of the next point.
struct RowLine {
    const Arguments& a;
    const Consumer<0>& w;
    const Line line;
    const int start, nx, level_slots, slots;
    const unsigned ring, stages;  // of the neighbour HALO_J and HALO_K before; of this thread
    int slot_ahead = 0;
    double c[LOWER > 0 ? LOWER : 1], own = 0.0, inverse = 0.0;

    __device__ RowLine(const Arguments& arguments, const Consumer<0>& consumer)
        : a(arguments),
          w(consumer),
          line(consumer.line),
          start(kept(line.valid ? line.start : never)),
          nx(kept(a.nx)),
          level_slots(kept(a.ny * a.nz)),
          slots(kept(a.slots)),
          ring(kept(shared_address(shared + w.tk * columns + w.tj))),
          stages(kept(shared_address(shared + ring_size + exchange_size + w.thread))) {}

    __device__ __forceinline__ bool active(int level) const { return unsigned(level - start) < unsigned(nx); }
    __device__ __forceinline__ void advance(int& slot) const { to_next_level(slot, level_slots, slots); }
    /// Starts the copies of a level, to be called for one level after the other.
    __device__ __forceinline__ void copy(int level, unsigned to) {
        if (active(level)) {
#pragma unroll
            for (int t = 0; t < LOWER; ++t) copy_double(to + t * value_bytes, w.coefficient(term_of[t], slot_ahead));
            if (with_inverse) copy_double(to + LOWER * value_bytes, a.inverse + slot_ahead);
            copy_double(to + (row_values - 1) * value_bytes, a.in + slot_ahead);
        }
        asm volatile("cp.async.commit_group;");
        advance(slot_ahead);
    }
    /// Loads what has been copied for the next level.
    __device__ __forceinline__ void load(unsigned from) {
#pragma unroll
        for (int t = 0; t < LOWER; ++t) c[t] = load_shared(from + t * value_bytes);
        if (with_inverse) inverse = load_shared(from + LOWER * value_bytes);
        own = load_shared(from + (row_values - 1) * value_bytes);
    }
    __device__ __forceinline__ unsigned ring_of(int level, int row, int column) const {
        return ring + (level & (RING - 1)) * (plane_size * 8) + (row * columns + column) * 8;
    }
    __device__ __forceinline__ double neighbour(int m, int level) const {
        return load_shared(
            ring_of(level + offset_level[m], HALO_K + offset_z[m], HALO_J + offset_y[m] + SKEW * offset_z[m]));
    }
    __device__ __forceinline__ bool counts(int m, int level) const {
        return !SKIP_OUTSIDE || line.in_grid(a, level - start, m);
    }
    template <int from, int upto>
    __device__ __forceinline__ double terms(int level, double sum) const {
#pragma unroll
        for (int t = from; t < upto; ++t)
            if (counts(term_of[t], level)) sum -= c[t] * neighbour(term_of[t], level);
        return sum;
    }
    /// The right-hand side, in the upper solve times D^-1. Adds v D^-1 v to `dot`.
    __device__ __forceinline__ double right_hand_side(int level, double& dot) const {
        const double scaled = scales ? __dmul_rn(inverse, own) : own;
        if (scales && DOT && active(level)) dot += own * scaled;
        return scaled;
    }
    /// The sums of older groups of terms, from `group` on.
    template <int group>
    __device__ __forceinline__ double groups(int level, double rhs, double sum) const {
        if constexpr (group >= SUMS)
            return sum;
        else
            return groups<group + 1>(level, 0.0,
                                     sum + (rhs + terms<sum_begin[group], sum_begin[group + 1]>(level, 0.0)));
    }
};

/// All levels of a row of the tile.
__device__ double finish_rows(const Arguments& a, const Tile& tile, int index, u64 epoch, int thread) {
    const int lane = thread % 32, row = thread / 32;
    const Consumer<0> w(a, tile, thread, never);
    RowLine r(a, w);
    const int first = __reduce_min_sync(~0u, r.start);
    const int last = __reduce_max_sync(~0u, r.line.valid ? r.start + a.nx - 1 : -never);
    RowsBefore before(row, lane);
    const unsigned progress_here = kept(progress_at(progress_of_row + row));
    if (lane == 0) store_progress(progress_here, first == never ? never : first - 1);
    if (thread == 0) store_progress(progress_at(progress_of_none), never);
    all_begin();
    double dot = 0.0;
    if (first == never) return dot;
    EpochRecord* const edges = a.edges + (long long)index * a.nx * plane_records;
    EpochRecord* const below = r.line.valid && w.tk >= TK - edge_k ? edges + edge_cell_below(w.tj, w.tk) : nullptr;
    EpochRecord* const right = r.line.valid && w.tj >= TJ - edge_j ? edges + edge_cell_right(w.tj, w.tk) : nullptr;
    Real* const out = kept(a.out);
    int slot = r.line.slot(a, first), plane = first % a.nx;
    r.slot_ahead = slot;
    for (int s = 0; s < STAGES - 1; ++s) r.copy(first + s, r.stages + s * stage_bytes);
    wait_copies<STAGES - 2>();
    r.load(r.stages);
    before.wait(first - 1);
    double rhs = r.right_hand_side(first, dot);
    double older = SUMS > 1 ? r.groups<1>(first, rhs, 0.0) : 0.0, sum = r.terms<0, early_terms>(first, 0.0);
    unsigned at = 0;  // of the stage of this level
#pragma unroll 1
    for (int level = first; level <= last; ++level) {
        before.wait(level);  // values of the level before are in the ring
        double c[LOWER > 0 ? LOWER : 1], newest[LOWER > 0 ? LOWER : 1];
#pragma unroll
        for (int t = early_terms; t < newest_terms; ++t) c[t] = r.c[t], newest[t] = r.neighbour(term_of[t], level);
        // While these arrive: copies, and what does not depend on this level's values for the next level.
        r.copy(level + STAGES - 1, r.stages + (at == 0 ? (STAGES - 1) * stage_bytes : at - stage_bytes));
        at = at == (STAGES - 1) * stage_bytes ? 0 : at + stage_bytes;
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
        const double inverse = r.inverse;
        r.load(r.stages + at);
        const int seen = load_progress(before.at);
        const double next_rhs = level < last ? r.right_hand_side(level + 1, dot) : 0.0;
        const double next_older = SUMS > 1 ? r.groups<1>(level + 1, next_rhs, 0.0) : 0.0;
        const double next_sum = r.terms<0, early_terms>(level + 1, 0.0);
#pragma unroll
        for (int t = early_terms; t < newest_terms; ++t)
            if (r.counts(term_of[t], level)) sum -= c[t] * newest[t];
        sum = (SUMS > 1 ? older : DILU && UPPER ? 0.0 : rhs) + sum;
        const bool active = r.active(level);
        double y = sum;
        if (DILU) {
            y = inverse * sum;
            if (DOT && active) dot += sum * y;
            if (UPPER) y += rhs;
        }
        if (active) store_shared(r.ring_of(level, HALO_K, HALO_J), y);
        __syncwarp();
        if (lane == 0) store_progress(progress_here, level);
        if (active) {
            if (below) store_record(below + plane * plane_records, y, epoch);
            if (right) store_record(right + plane * plane_records, y, epoch);
            out[slot] = Real(y);
        }
        before.allow(seen);
        rhs = next_rhs, older = next_older, sum = next_sum;
        r.advance(slot);
        if (++plane == r.nx) plane = 0;
    }
    wait_copies<0>();
    if (lane == 0) store_progress(progress_here, never);
    return dot;
}

/// Copies edges of other tiles to the ring. A thread has one cell of the edge.
__device__ void receive_rows(const Arguments& a, const Tile& tile, u64 epoch, int thread) {
    const int lane = thread % 32;
    const bool top = thread < 32 * HALO_K;
    const int cell = thread - 32 * HALO_K;
    const int row = top ? thread / 32 : cell / (HALO_J > 0 ? HALO_J : 1);
    const int column = top ? HALO_J + lane : cell % (HALO_J > 0 ? HALO_J : 1);
    const bool known = top || cell < left_cells;
    const int skewed = tile.j + column - HALO_J, k = tile.k + row - HALO_K;
    const Line line(a, skewed, k);
    int next = never, stop = never;
    const EpochRecord* records = a.edges;
    if (known && line.valid && skewed >= 0 && k >= 0 && (top || row >= HALO_K || has_corners())) {
        const int from = a.tile_at[tile_row_of(k) * a.tiles_j + skewed / TJ];
        const int tj = skewed % TJ, tk = k % TK;
        records += (long long)from * a.nx * plane_records +
                   (row >= HALO_K ? edge_cell_right(tj, tk) : edge_cell_below(tj, tk));
        next = max(tile.first - MAX_LEVEL, line.start);
        stop = min(tile.last, line.start + a.nx);
        if (next >= stop) next = stop = never;
    }
    const unsigned progress_here = progress_at(top     ? progress_of_top + row
                                               : known ? progress_of_left + cell
                                                       : progress_of_none);
    unsigned readers[HALO_K + 1];
#pragma unroll
    for (int h = 0; h <= HALO_K; ++h) {
        const int reader = row - h;
        readers[h] = progress_at(reader >= 0 && reader < TK ? progress_of_row + reader : progress_of_none);
    }
    const auto publish = [&] {
        const int upto = next >= stop ? never : next - 1;
        const int of_all = __reduce_min_sync(~0u, upto);
        __syncwarp();
        if (top ? lane == 0 : known) store_progress(progress_here, top ? of_all : upto);
    };
    publish();
    all_begin();
    double* const to = shared + row * columns + column;
    int plane = next < stop ? next % a.nx : 0;
    bool begun = false;
    while (__any_sync(~0u, next < stop)) {
        Record found[ROWS];
        const int loaded = next >= stop ? 0 : begun ? min(ROWS, stop - next) : 1;
#pragma unroll
        for (int q = 0; q < ROWS; ++q) {
            int there = plane + q;
            if (there >= a.nx) there -= a.nx;
            found[q] = q < loaded ? load_record(records + (long long)there * plane_records) : 0;
        }
        int room = never;
#pragma unroll
        for (int h = 0; h <= HALO_K; ++h) room = min(room, load_progress(readers[h]));
        room = min(loaded, room + slack - next + 1);
        int got = 0;
#pragma unroll
        for (int q = 0; q < ROWS; ++q)
            if (got == q && q < room && epoch_of(found[q]) == epoch) {
                to[((next + q) & (RING - 1)) * plane_size] = value_of(found[q]);
                got = q + 1;
            }
        next += got;
        plane += got;
        if (plane >= a.nx) plane -= a.nx;
        const bool any = __any_sync(~0u, got > 0);
        if (any)
            publish();
        else if (!begun)
            __nanosleep(100);
        begun |= any;
    }
}

}  // namespace hyperplane
