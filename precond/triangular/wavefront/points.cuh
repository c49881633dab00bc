// SPDX-License-Identifier: BSD-3-Clause
// The terms of a row of a point of one unknown: coefficients on the way from memory, and their sums. Definitions:
// precond/triangular/wavefront/solve.cuh.
//
// A thread's coefficients come one by one, neighbouring points to neighbouring threads, by its own asynchronous copies
// or by those of LOADERS groups of warps that do nothing else, which fetch 16 bytes at once for RUN lines side by side.
#pragma once

#include "precond/triangular/wavefront/solve.cuh"

namespace hyperplane {

constexpr bool whole_stages = STAGES > 0, own_copies = whole_stages && LOADERS == 0;
constexpr int copies_pending = STAGES > 1 ? STAGES - 1 : 0;
constexpr int loader_share = worker_threads / LOADER_LINES;  // threads that fetch for a group
constexpr int loader_runs = LOADER_LINES / RUN;              // of a thread
constexpr int loader_threads = LOADERS * loader_share;
constexpr bool rhs_early = own_copies;

#if STORAGE == 2
typedef unsigned Place;  // a half comes with its neighbour, since copies have four bytes or more
#else
typedef Value Place;
#endif

/// Places for what a thread of a group has on the way besides a right-hand side: coefficients, D^-1, exponents.
__device__ constexpr int places(int group) {
    return group_begin[group + 1] - group_begin[group] + (DILU || (scales && group == holder)) + halves;
}
/// Bytes on the way for a thread of a group.
__device__ constexpr int staged(int group) {
    return places(group) * int(sizeof(Place)) + (group == holder) * 8;
}
__device__ constexpr int staged_before(int group) {
    int count = 0;
    for (int g = 0; g < group; ++g) count += staged(g);
    return count;
}
constexpr int shared_size = ring_size + exchange_size + STAGES * staged_before(GROUPS) * worker_threads / 8;

__device__ void prepare_copies(int) {}

/// A line's point and its share of the terms, for the levels from `first` on.
template <int group>
struct Worker {
    static constexpr int begin = group_begin[group], count = group_begin[group + 1] - begin;
    static constexpr int inverse_place = count, exponents_place = places(group) - 1;

    const Arguments& a;
    const int thread, row = 0, tj, tk, level_slots;
    const Line line;
    const bool exists;
    char* const stages;
    const int place;  // in a stage: lines of a run are there in memory's order
    int at = 0, slot = 0, slot_ahead = 0;

    __device__ Worker(const Arguments& arguments, const Tile& tile, int thread_, int first)
        : a(arguments),
          thread(thread_),
          tj(thread % TJ),
          tk(thread / TJ),
          level_slots(a.ny * a.nz),
          line(a, tile.j + tj, tile.k + tk),
          exists(thread < TJ * TK && line.valid),
          stages((char*)(shared + ring_size + exchange_size) + STAGES * staged_before(group) * worker_threads),
          place(UPPER ? thread ^ (RUN - 1) : thread) {
        if (own_copies)
            for (int s = 0; s < STAGES - 1; ++s) fetch(first + s, s);
    }

    __device__ __forceinline__ Place* stage(int at_, int what) const {
        return (Place*)(stages + (at_ * staged(group) + what * int(sizeof(Place))) * worker_threads);
    }
    __device__ __forceinline__ double* staged_rhs(int at_) const {
        return (double*)(stages + (at_ * staged(group) + places(group) * int(sizeof(Place))) * worker_threads);
    }
    /// Slot that has the coefficient of offset m for a point.
    __device__ __forceinline__ int slot_of(int m, int s) const {
        return mirrored ? wrapped(s + a.shift[m], a.slots) : s;
    }
    /// Address of that coefficient.
    __device__ __forceinline__ const Value* coefficient(int m, int s) const {
        const long long entry = UPPER && !MIRRORED ? 2 * LOWER - m : m;
        return a.triangles + entry * a.triangle_stride + slot_of(m, s);
    }
    /// Begins to copy a value; of halves the pair at an even place.
    __device__ __forceinline__ static void copy_value(double& to, const double* from) { copy_async(&to, from); }
    __device__ __forceinline__ static void copy_value(float& to, const float* from) { copy_word(&to, from); }
    __device__ __forceinline__ static void copy_value(unsigned& to, const unsigned short* from) {
        copy_word(&to, (const void*)((size_t)from & ~size_t(3)));
    }
    /// What a place has of a slot. Entries begin at even places.
    __device__ __forceinline__ static double value_in(double place, int) { return place; }
    __device__ __forceinline__ static double value_in(float place, int) { return widened(place); }
    __device__ __forceinline__ static double value_in(unsigned place, int s) {
        return widened((unsigned short)(place >> (s % 2 * 16)));
    }
    /// A point's exponents: of its coefficients in the lowest byte, of D^-1 in the next.
    __device__ __forceinline__ unsigned exponents() const {
        if constexpr (whole_stages)
            return RowExponents::found(unsigned(stage(at, exponents_place)[place]), slot, 0);
        else
            return RowExponents::found(*RowExponents::word(a, slot, 0), slot, 0);
    }
    __device__ __forceinline__ void advance(int& s) const { to_next_level(s, level_slots, a.slots); }
    /// Begins the copies of a level into stage `at`.
    __device__ __forceinline__ void fetch(int level, int at_) {
        begin_copies(level, at_);
        commit_copies();
    }
    __device__ __forceinline__ void begin_copies(int level, int at_) {
        if (!exists || unsigned(level - line.start) >= unsigned(a.nx + (RUN - 1) * B)) return;
        if (level == line.start) slot_ahead = line.slot(a, level);
        const int lowest = UPPER ? slot_ahead - (RUN - 1) : slot_ahead;
#pragma unroll
        for (int t = 0; t < count; ++t) {
            const int m = term_of[begin + t];
            Place* const to = stage(at_, t) + thread;
            if (RUN > 1 && !(mirrored && offset_y[m] % RUN != 0))
                copy_run(to, coefficient(m, lowest));
            else
#pragma unroll
                for (int q = 0; q < RUN; ++q) copy_value(to[q], coefficient(m, lowest + q));
        }
        if (DILU || (scales && group == holder)) {
            Place* const to = stage(at_, inverse_place) + thread;
            if constexpr (RUN > 1)
                copy_run(to, a.inverse + lowest);
            else
                copy_value(*to, a.inverse + lowest);
        }
        if constexpr (halves) copy_word(stage(at_, exponents_place) + thread, RowExponents::word(a, lowest, 0));
        if (group == holder) {
            double* const to = staged_rhs(at_) + thread;
            if constexpr (RUN > 1)
#pragma unroll
                for (int q = 0; q < RUN; q += 2) copy_run(to + q, a.in + lowest + q);
            else
                copy_async(to, a.in + lowest);
        }
        advance(slot_ahead);
    }

    /// Before the block meets for a level; whether there is something to do at it.
    __device__ __forceinline__ bool begin_level(int level) {
        const bool active = exists && line.active(a, level);
        if (own_copies) {
            fetch(level + STAGES - 1, at == 0 ? STAGES - 1 : at - 1);
            wait_copies<copies_pending>();
        }
        if (active && level == line.start) slot = line.slot(a, level);
        return active;
    }
    /// After it has met.
    __device__ __forceinline__ void arrive() const {}
    __device__ __forceinline__ void end_level(bool active) {
        if (active) advance(slot);
        if (++at == (STAGES > 0 ? STAGES : 1)) at = 0;
    }

    /// Minus the sum of the group's terms at a level.
    __device__ __forceinline__ double terms(int level) const {
        double sum = 0.0;
#pragma unroll
        for (int t = 0; t < count; ++t) {
            const int m = term_of[begin + t];
            if (SKIP_OUTSIDE && !line.in_grid(a, level - line.start, m)) continue;
            sum -= (whole_stages ? value_in(stage(at, t)[place], halves ? slot_of(m, slot) : 0)
                                 : widened(__ldcs(coefficient(m, slot)))) *
                   ring_at(level + offset_level[m], 0, tk + HALO_K + offset_z[m],
                           tj + HALO_J + offset_y[m] + SKEW * offset_z[m]);
        }
        return halves && !mirrored ? sum * scale_of(exponents()) : sum;
    }
    __device__ __forceinline__ double inverse() const {
        const double d = whole_stages ? value_in(stage(at, inverse_place)[place], slot) : widened(a.inverse[slot]);
        return halves ? d * scale_of(exponents() >> 8) : d;
    }
    /// What neighbours read: the rows of a mirrored triangle are scaled with what they are multiplied by.
    __device__ __forceinline__ double passed(double y) const {
        return halves && mirrored ? y * scale_of(exponents()) : y;
    }
    /// The right-hand side, times D^-1 in the upper solve. `dot` += v D^-1 v.
    __device__ __forceinline__ double right_hand_side(double& dot) const {
        const double own = whole_stages ? staged_rhs(at)[place] : a.in[slot];
        if (!scales) return own;
        // Of fewer bits, rounded on its own: what else is computed must not change r's share of z.
        const double scaled = narrow ? __dmul_rn(inverse(), own) : inverse() * own;
        if (DOT) dot += own * scaled;
        return scaled;
    }
    /// The value of the point; D-ILU's from its sum and, in the upper solve, its right-hand side. `dot` as above.
    __device__ __forceinline__ double completed(bool active, double sum, double rhs, double& dot) const {
        if (!DILU || !active) return sum;
        const double y = inverse() * sum;
        if (DOT) dot += sum * y;
        return UPPER ? y + rhs : y;
    }
};

/// Fetches for the groups `group`, group + LOADERS, ..., and there for LOADER_LINES lines: what group 0 needs of a
/// level, and the others of the level after, has arrived when the block meets for the level.
template <int group, int nth = 0>
struct Loader {
    static constexpr bool more_runs = nth + 1 < loader_runs;
    Worker<group> w;
    Loader<more_runs ? group : group + (LOADERS > 0 ? LOADERS : 1), more_runs ? nth + 1 : 0> others;

    __device__ Loader(const Arguments& a, const Tile& tile, int thread)
        : w(a, tile, (thread + nth * loader_share) * RUN, 0), others(a, tile, thread) {}
    __device__ __forceinline__ void fetch(int level, int at) {
        w.begin_copies(level + (group > 0), at);
        others.fetch(level, at);
    }
};

template <int group, int nth>
requires(group >= GROUPS) struct Loader<group, nth> {
    __device__ Loader(const Arguments&, const Tile&, int) {}
    __device__ __forceinline__ void fetch(int, int) {}
};

template <int first>
__device__ void load_for(const Arguments& a, const Tile& tile, int thread) {
    Loader<first> loader(a, tile, thread);
    const int begin = tile.first - MAX_LEVEL;
    int at = 0;
    for (int s = 0; s < STAGES - 1; ++s) {
        loader.fetch(begin + s, s);
        commit_copies();
    }
    for (int level = begin; level <= tile.last; ++level) {
        wait_copies<(STAGES > 2 ? STAGES - 2 : 0)>();
        meet_at(level);
        loader.fetch(level + STAGES - 1, at == 0 ? STAGES - 1 : at - 1);
        commit_copies();
        if (++at == STAGES) at = 0;
    }
    wait_copies<0>();
}

template <int loader>
__device__ void load_of(const Arguments& a, const Tile& tile, int thread) {
    if (thread / loader_share == loader) return load_for<loader>(a, tile, thread % loader_share);
    if constexpr (loader + 1 < LOADERS) load_of<loader + 1>(a, tile, thread);
}
__device__ void load(const Arguments& a, const Tile& tile, int thread) {
    load_of<0>(a, tile, thread);
}

}  // namespace hyperplane
