// SPDX-License-Identifier: BSD-3-Clause
// The terms of a row of a point of one unknown: coefficients, copied ahead of their use, and the sum of their products.
// Definitions: precond/triangular/wavefront/solve.cuh.
//
// The coefficients of a consumer thread are copied one by one by the thread itself, or by one of PRODUCER_GROUPS groups
// of producer warps, which copy 16 bytes at once for RUN neighbouring lines. Neighbouring threads copy for neighbouring
// points.
#pragma once

#include "precond/triangular/wavefront/tile_memory.cuh"

namespace hyperplane {

constexpr bool whole_stages = STAGES > 0, own_copies = whole_stages && PRODUCER_GROUPS == 0;
constexpr int copies_pending = STAGES > 1 ? STAGES - 1 : 0;
constexpr int producer_share = consumer_threads / PRODUCER_LINES;  // producer threads of a group
constexpr int producer_runs = PRODUCER_LINES / RUN;                // of a producer thread
constexpr int producer_threads = PRODUCER_GROUPS * producer_share;
constexpr bool rhs_early = own_copies;

#if STORAGE == 2
typedef unsigned Place;  // a half is copied together with its neighbour: a copy has four bytes at least
#else
typedef Value Place;
#endif

/// Whether there is room for copies of D^-1, or in a step of Eisenstat's form of D, for a thread of a group.
__device__ constexpr bool copies_pivot(int group) {
    return EISENSTAT || DILU || (scales && group == rhs_group);
}
/// Number of values that are copied for a thread of a group at a level, without the right-hand side: coefficients, D^-1
/// or D, and exponents.
__device__ constexpr int places(int group) {
    return group_begin[group + 1] - group_begin[group] + copies_pivot(group) + halves;
}
/// Vectors that are copied besides the right-hand side: p, y or s, and, where it is needed, A's diagonal.
constexpr int more_vectors = EISENSTAT ? 3 : 0;
static_assert(!EISENSTAT || (sizeof(Real) == 8 && DILU && MIRRORED && GROUPS == 1 && RUN == 1 && STORAGE == 0 &&
                             !NATURAL && !SKIP_OUTSIDE));
/// Bytes that a thread of a group has in a stage.
__device__ constexpr int staged(int group) {
    return places(group) * int(sizeof(Place)) + (group == rhs_group) * int(sizeof(Real)) * (1 + more_vectors);
}
__device__ constexpr int staged_before(int group) {
    int count = 0;
    for (int g = 0; g < group; ++g) count += staged(g);
    return count;
}
constexpr int shared_size = ring_size + exchange_size + STAGES * staged_before(GROUPS) * consumer_threads / 8;

__device__ void init_barriers(int) {}

/// A consumer thread, which has the points of one line and its group's share of their terms, for the levels from
/// `first` on.
template <int group>
struct Consumer {
    static constexpr int begin = group_begin[group], count = group_begin[group + 1] - begin;
    static constexpr int inverse_place = count, exponents_place = places(group) - 1;

    const Arguments& a;
    const int thread, row = 0, tj, tk, level_slots;
    const Line line;
    const bool exists;
    char* const stages;
    const int place;  // in a stage; the lines of a run have the order that they have in memory
    int at = 0, slot = 0, slot_ahead = 0;

    __device__ Consumer(const Arguments& arguments, const Tile& tile, int thread_, int first)
        : a(arguments),
          thread(thread_),
          tj(thread % TJ),
          tk(thread / TJ),
          level_slots(a.ny * a.nz),
          line(a, tile.j + tj, tile.k + tk),
          exists(thread < TJ * TK && line.valid),
          stages((char*)(shared + ring_size + exchange_size) + STAGES * staged_before(group) * consumer_threads),
          place(UPPER ? thread ^ (RUN - 1) : thread) {
        if (own_copies)
            for (int s = 0; s < STAGES - 1; ++s) start_stage(first + s, s);
    }

    __device__ __forceinline__ Place* stage(int at_, int what) const {
        return (Place*)(stages + (at_ * staged(group) + what * int(sizeof(Place))) * consumer_threads);
    }
    __device__ __forceinline__ Real* staged_rhs(int at_) const {
        return (Real*)(stages + (at_ * staged(group) + places(group) * int(sizeof(Place))) * consumer_threads);
    }
    /// The right-hand side (0) and the vectors that a step of Eisenstat's form reads besides.
    __device__ __forceinline__ const Real* vector(int which) const {
        if (which == 0) return a.in;
        return (const Real*)(which == 1   ? a.eisenstat.p
                             : which == 3 ? a.eisenstat.diagonal
                             : UPPER      ? a.eisenstat.y
                                          : a.eisenstat.s);
    }
    __device__ __forceinline__ double value_of(int which) const {
        if (whole_stages) return staged_rhs(at)[which * consumer_threads + place];
        return vector(which)[slot];
    }
    /// The slot at which the coefficient of offset m is stored for the point at slot s.
    __device__ __forceinline__ int slot_of(int m, int s) const { return mirrored ? shifted_slot(a, s, a.shift[m]) : s; }
    /// Address of that coefficient.
    __device__ __forceinline__ const Value* coefficient(int m, int s) const {
        const long long entry = UPPER && !MIRRORED ? 2 * LOWER - m : m;
        return a.triangles + entry * a.triangle_stride + slot_of(m, s);
    }
    /// Starts to copy a value. A half is copied together with the other one in the same four aligned bytes.
    __device__ __forceinline__ static void copy_value(double& to, const double* from) { copy_8_async(&to, from); }
    __device__ __forceinline__ static void copy_value(float& to, const float* from) { copy_4_async(&to, from); }
    __device__ __forceinline__ static void copy_value(unsigned& to, const unsigned short* from) {
        copy_4_async(&to, (const void*)((size_t)from & ~size_t(3)));
    }
    /// The value of slot s in what has been copied. Of two halves an even slot has the lower one, since every entry
    /// begins at a multiple of four bytes.
    __device__ __forceinline__ static double value_in(double place, int) { return place; }
    __device__ __forceinline__ static double value_in(float place, int) { return widened(place); }
    __device__ __forceinline__ static double value_in(unsigned place, int s) {
        return widened((unsigned short)(place >> (s % 2 * 16)));
    }
    /// The exponents of a point: that of its coefficients is the lowest byte, that of D^-1 the next one.
    __device__ __forceinline__ unsigned exponents() const {
        if constexpr (whole_stages)
            return RowExponents::found(unsigned(stage(at, exponents_place)[place]), slot, 0);
        else
            return RowExponents::found(*RowExponents::word(a, slot, 0), slot, 0);
    }
    __device__ __forceinline__ void advance(int& s) const { to_next_level(s, level_slots, a.slots); }
    /// Starts the copies of a level to stage `at`, as one group.
    __device__ __forceinline__ void start_stage(int level, int at_) {
        start_copies(level, at_);
        commit_copies();
    }
    __device__ __forceinline__ void start_copies(int level, int at_) {
        if (!exists || unsigned(level - line.start) >= unsigned(a.nx + (RUN - 1) * B)) return;
        if (level == line.start) slot_ahead = line.slot(a, level);
        const int lowest = UPPER ? slot_ahead - (RUN - 1) : slot_ahead;
#pragma unroll
        for (int t = 0; t < count; ++t) {
            const int m = term_of[begin + t];
            Place* const to = stage(at_, t) + thread;
            if (RUN > 1 && !(mirrored && offset_y[m] % RUN != 0))
                copy_16_async(to, coefficient(m, lowest));
            else
#pragma unroll
                for (int q = 0; q < RUN; ++q) copy_value(to[q], coefficient(m, lowest + q));
        }
        if (copies_pivot(group) && (!EISENSTAT || !UPPER || a.eisenstat.diagonal)) {
            Place* const to = stage(at_, inverse_place) + thread;
            if constexpr (RUN > 1)
                copy_16_async(to, a.inverse + lowest);
            else
                copy_value(*to, a.inverse + lowest);
        }
        if constexpr (halves) copy_4_async(stage(at_, exponents_place) + thread, RowExponents::word(a, lowest, 0));
        if (group == rhs_group) {
            Real* const to = staged_rhs(at_) + thread;
            constexpr int at_once = 16 / sizeof(Real);
            if constexpr (RUN > 1)
#pragma unroll
                for (int q = 0; q < RUN; q += at_once) copy_16_async(to + q, a.in + lowest + q);
            else
                copy_value(*to, a.in + lowest);
#pragma unroll
            for (int which = 1; which <= more_vectors; ++which)
                if (which < more_vectors || a.eisenstat.diagonal)
                    copy_value(to[which * consumer_threads], vector(which) + lowest);
        }
        advance(slot_ahead);
    }

    /// Called before the barrier of a level; returns whether the line has a point at that level.
    __device__ __forceinline__ bool begin_level(int level) {
        const bool active = exists && line.active(a, level);
        if (own_copies) {
            start_stage(level + STAGES - 1, at == 0 ? STAGES - 1 : at - 1);
            wait_copies<copies_pending>();
        }
        if (active && level == line.start) slot = line.slot(a, level);
        return active;
    }
    /// Called after the barrier.
    __device__ __forceinline__ void wait_for_copies() const {}
    __device__ __forceinline__ void end_level(bool active) {
        if (active) advance(slot);
        if (++at == (STAGES > 0 ? STAGES : 1)) at = 0;
    }

    /// Minus the sum of the group's terms at a level, of [from, upto) of them.
    template <int from = 0, int upto = count>
    __device__ __forceinline__ double terms(int level) const {
        double sum = 0.0;
#pragma unroll
        for (int t = from; t < upto; ++t) {
            const int m = term_of[begin + t];
            if (SKIP_OUTSIDE && !line.in_grid(a, level - line.start, m)) continue;
            sum -= (whole_stages ? value_in(stage(at, t)[place], halves ? slot_of(m, slot) : 0)
                                 : widened(__ldcs(coefficient(m, slot)))) *
                   ring_at(level + offset_level[m], 0, tk + HALO_K + offset_z[m],
                           tj + HALO_J + offset_y[m] + SKEW * offset_z[m]);
        }
        return halves && !mirrored ? sum * scale_of(exponents()) : sum;
    }
    /// A right-hand side less all terms, added in the groups that several threads would have.
    template <int of = 1>
    __device__ __forceinline__ double less_groups(int level, double sum) const {
        if constexpr (of < SUMS)
            return less_groups<of + 1>(level, sum + terms<sum_begin[of], sum_begin[of + 1]>(level));
        else
            return sum + terms<0, sum_begin[1]>(level);
    }
    __device__ __forceinline__ double inverse() const {
        const double d = whole_stages ? value_in(stage(at, inverse_place)[place], slot) : widened(a.inverse[slot]);
        return halves ? d * scale_of(exponents() >> 8) : d;
    }
    /// What neighbours read in place of y: y times the scale of its row, if rows are scaled and the triangle is
    /// mirrored.
    __device__ __forceinline__ double passed(double y) const {
        return halves && mirrored ? y * scale_of(exponents()) : y;
    }
    /// The right-hand side, times D^-1 in the upper solve. Adds v D^-1 v to `dot`.
    __device__ __forceinline__ double right_hand_side(double& dot) const {
        const double own = whole_stages ? staged_rhs(at)[place] : a.in[slot];
        if (!scales) return own;
        // The product is rounded before it is added, so that z does not depend on how the compiler fuses the sum, which
        // differs between kernels of one and of several ranks.
        const double scaled = __dmul_rn(inverse(), own);
        if (DOT) dot += own * scaled;
        return scaled;
    }
    /// The result at the point. For D-ILU it is computed from the sum and, in the upper solve, the right-hand side.
    /// `dot` is as above.
    __device__ __forceinline__ double completed(bool active, double sum, double rhs, double& dot) const {
        if (!DILU || !active) return sum;
        const double y = inverse() * sum;
        if (DOT) dot += sum * y;
        return UPPER ? y + rhs : y;
    }
};

/// A producer thread, which copies for the groups `group`, group + PRODUCER_GROUPS, ... and for PRODUCER_LINES lines of
/// each. Before the barrier of a level it waits for the copies that group 0 needs for this level and the other groups
/// need for the next one.
template <int group, int nth = 0>
struct Producer {
    static constexpr bool more_runs = nth + 1 < producer_runs;
    Consumer<group> w;
    Producer<more_runs ? group : group + (PRODUCER_GROUPS > 0 ? PRODUCER_GROUPS : 1), more_runs ? nth + 1 : 0> others;

    __device__ Producer(const Arguments& a, const Tile& tile, int thread)
        : w(a, tile, (thread + nth * producer_share) * RUN, 0), others(a, tile, thread) {}
    __device__ __forceinline__ void start(int level, int at) {
        w.start_copies(level + (group > 0), at);
        others.start(level, at);
    }
};

template <int group, int nth>
requires(group >= GROUPS) struct Producer<group, nth> {
    __device__ Producer(const Arguments&, const Tile&, int) {}
    __device__ __forceinline__ void start(int, int) {}
};

template <int first>
__device__ void produce_for(const Arguments& a, const Tile& tile, int thread) {
    Producer<first> producer(a, tile, thread);
    const int begin = tile.first - MAX_LEVEL;
    int at = 0;
    for (int s = 0; s < STAGES - 1; ++s) {
        producer.start(begin + s, s);
        commit_copies();
    }
    for (int level = begin; level <= tile.last; ++level) {
        wait_copies<(STAGES > 2 ? STAGES - 2 : 0)>();
        sync_level(level);
        producer.start(level + STAGES - 1, at == 0 ? STAGES - 1 : at - 1);
        commit_copies();
        if (++at == STAGES) at = 0;
    }
    wait_copies<0>();
}

template <int number>
__device__ void produce_of(const Arguments& a, const Tile& tile, int thread) {
    if (thread / producer_share == number) return produce_for<number>(a, tile, thread % producer_share);
    if constexpr (number + 1 < PRODUCER_GROUPS) produce_of<number + 1>(a, tile, thread);
}
__device__ void produce(const Arguments& a, const Tile& tile, int thread) {
    produce_of<0>(a, tile, thread);
}

}  // namespace hyperplane
