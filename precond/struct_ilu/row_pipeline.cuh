// SPDX-License-Identifier: BSD-3-Clause
// The factorisation of points of one or two unknowns by GROUPS groups of threads, which overlap the rows of two
// successive levels (StructILU paper, section 4.2.2, the two-substage pipeline; precond/struct_ilu/row_pipeline.hpp).
// At a level a thread finishes the row of its line at that level and begins the one of the next level, each with the
// entries of its group. Definitions besides those of precond/struct_ilu/row_of_group.cuh: KNOWN_AT, ENDS_AT (of each
// entry), UPDATE_STAGE (of each elimination, sorted by e). Both triangles are stored.
//
// The warps of the same points wait for each other once a level, besides the barrier of the level.
#pragma once

#include "precond/struct_ilu/row_of_group.cuh"

namespace hyperplane {

TABLE known_at[] = KNOWN_AT;
TABLE ends_at[] = ENDS_AT;
TABLE update_stage[] = UPDATE_STAGE;

/// The groups give each other E_l at place l for rows of even levels, at LOWER + l for those of odd ones; then D^-1.
constexpr int inverse_place = 2 * LOWER;

/// The place of entry e among those of its group, and the greatest number of entries of a group.
__device__ constexpr int place_in_group(int e) {
    int place = 0;
    for (int other = 0; other < e; ++other) place += group_of[other] == group_of[e];
    return place;
}
__device__ constexpr int most_of_a_group() {
    int most = 0;
    for (int e = 0; e < entries; ++e) most = place_in_group(e) + 1 > most ? place_in_group(e) + 1 : most;
    return most;
}
/// The stage in which an entry's coefficients are read from the matrix's stage of shared memory: before the row's own
/// level.
__device__ constexpr int begins_at(int e) {
    int first = known_at[e] < 1 ? known_at[e] : 1;
    for (int pair = pair_begin[e]; pair < pair_begin[e + 1]; ++pair)
        first = update_stage[pair] < first ? update_stage[pair] : first;
    return first;
}

struct Consumer : RowOfGroup {
    using RowOfGroup::RowOfGroup;
    static constexpr int most = most_of_a_group();

    /// A row while it is computed: the sums of the group's entries, or E of a lower one, and A's diagonal.
    struct Row {
        double x[most][DOF], own[DOF];
    };
    Row begun{};  // that of the next level

    __device__ __forceinline__ static int place_of(int l, int level) { return (level & 1) * LOWER + l; }

    /// Stage `now` of entry e, of the row of a level.
    template <int mine, int now, int e>
    __device__ __forceinline__ void work(Row& of, int level, int at, bool active) {
        double(&x)[DOF] = of.x[place_in_group(e)];
        if constexpr (begins_at(e) == now) {
#pragma unroll
            for (int c = 0; c < DOF; ++c) {
                x[c] = a_entry[e] < 0 ? 0.0 : staged(level, e, c, thread);
                if constexpr (e == LOWER) {
                    of.own[c] = x[c];
                    if (c == row) x[c] += a.shift * of.own[c];
                }
            }
        }
        unrolled<pair_begin[e], pair_begin[e + 1]>([&](auto pair) {
            constexpr int l = pair_l[pair.value], u = pair_u[pair.value];
            if constexpr (update_stage[pair.value] == now) {
#pragma unroll
                for (int m = 0; m < DOF; ++m) {
                    const double left =
                        group_of[l] == mine ? of.x[place_in_group(l)][m] : exchanged(place_of(l, level), m, thread);
#pragma unroll
                    for (int c = 0; c < DOF; ++c) x[c] -= left * neighbour(u, l, m, c, level);
                }
            }
        });
        if constexpr (e < LOWER && known_at[e] == now) {
#pragma unroll
            for (int c = 0; c < DOF; ++c) exchanged(place_of(e, level), c, thread) = x[c];
        }
        if constexpr (ends_at[e] == now) end<e>(of, x, level, at, active);
    }

    template <int e>
    __device__ __forceinline__ void end(const Row& of, double (&x)[DOF], int level, int at, bool active) {
        if constexpr (e < LOWER) {  // E_e is needed further on, so W_e = E_e D^-1(p+e) does not replace it
            double w[DOF];
#pragma unroll
            for (int c = 0; c < DOF; ++c) {
                w[c] = 0.0;
#pragma unroll
                for (int m = 0; m < DOF; ++m) w[c] += x[m] * neighbour(LOWER, e, m, c, level);
            }
            if (active) store<e>(w, level, at);
        } else if constexpr (e == LOWER) {
            invert(x, of.own, level - line.start, active);
#pragma unroll
            for (int c = 0; c < DOF; ++c) exchanged(inverse_place, c, thread) = x[c];
            if (active) store<e>(x, level, at);
        } else {
            double inverse[DOF];
#pragma unroll
            for (int c = 0; c < DOF; ++c) inverse[c] = exchanged(inverse_place, c, thread);
            scale_from_left(inverse, x);
            if (active) store<e>(x, level, at);
        }
    }

    template <int mine, int now>
    __device__ __forceinline__ void stage(Row& of, int level, int at, bool active) {
        unrolled<0, entries>([&](auto entry) {
            if constexpr (group_of[entry.value] == mine) work<mine, now, entry.value>(of, level, at, active);
        });
    }

    template <int mine>
    __device__ __forceinline__ void share(int level) {
        const bool ends = line.active(a, level), begins = line.active(a, level + 1);
        const bool any_ends = __any_sync(~0u, ends), any_begins = __any_sync(~0u, begins);
        if (!any_ends && !any_begins) return;
        const int here = ends ? line.slot(a, level) : 0, next = begins ? line.slot(a, level + 1) : 0;
        Row finishing = begun;
        if (any_ends) stage<mine, 2>(finishing, level, here, ends);
        if (any_begins) stage<mine, 0>(begun, level + 1, next, begins);
        wait_for_groups();
        if (any_ends) stage<mine, 3>(finishing, level, here, ends);
        if (any_begins) stage<mine, 1>(begun, level + 1, next, begins);
    }

    /// Finishes the row of a level and begins that of the next one.
    __device__ void point(int level) {
        unrolled<0, GROUPS>([&](auto mine) {
            if (group == mine.value) share<mine.value>(level);
        });
    }
};

}  // namespace hyperplane
