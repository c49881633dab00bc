// SPDX-License-Identifier: BSD-3-Clause
// The factorisation of points of one or two unknowns by GROUPS groups of threads, which share the entries of a row
// (StructILU paper, section 4.2.2; precond/struct_ilu/intra_row.hpp). A thread has a row of the blocks of its group's
// entries in registers. Definitions besides those of precond/struct_ilu/row_of_group.cuh: STAGE_OF (stage of each entry
// that is computed), ROW_STAGES.
#pragma once

#include "precond/struct_ilu/row_of_group.cuh"

namespace hyperplane {

TABLE stage_of[] = STAGE_OF;

/// The groups give each other E_l at place l, W_l at LOWER + l if one triangle is stored, and D^-1 after them.
constexpr int w_place = LOWER, inverse_place = SYMMETRIC ? 2 * LOWER : LOWER;

struct Consumer : RowOfGroup {
    using RowOfGroup::RowOfGroup;

    /// Computes a row of X_e in all[e], and what follows from it below and on the diagonal. `all` has E_l of the
    /// entries that this group has computed before.
    template <int mine, int e>
    __device__ __forceinline__ void eliminate(double (&all)[entries][DOF], int level, int i, int at, bool active) {
        double(&x)[DOF] = all[e], own[DOF];
#pragma unroll
        for (int c = 0; c < DOF; ++c) own[c] = x[c] = a_entry[e] < 0 ? 0.0 : staged(level, e, c, thread);
        if constexpr (e == LOWER)
#pragma unroll
            for (int c = 0; c < DOF; ++c)
                if (c == row) x[c] += a.shift * own[c];
        unrolled<pair_begin[e], pair_begin[e + 1]>([&](auto pair) {
            constexpr int l = pair_l[pair.value], u = pair_u[pair.value];
#pragma unroll
            for (int m = 0; m < DOF; ++m) {
                const double left = group_of[l] == mine ? all[l][m] : exchanged(l, m, thread);
#pragma unroll
                for (int c = 0; c < DOF; ++c)
                    if constexpr (SYMMETRIC && e == LOWER)  // X_0 -= E_l W_l^T
                        x[c] -= left * exchanged(w_place + l, m, thread - row + c);
                    else if constexpr (SYMMETRIC)  // G_u(p+l) is the transpose of W_-u(p+e)
                        x[c] -= left * neighbour(2 * LOWER - u, e, m, c, level, true);
                    else
                        x[c] -= left * neighbour(u, l, m, c, level);
            }
        });
        if constexpr (e < LOWER) {
            // For lines that have ended, the ring still holds W.
            if (SYMMETRIC && !line.in_grid(a, i, e))
#pragma unroll
                for (int c = 0; c < DOF; ++c) x[c] = 0.0;
            double w[DOF];  // a row of W_e = E_e D^-1(p+e)
#pragma unroll
            for (int c = 0; c < DOF; ++c) {
                exchanged(e, c, thread) = x[c];
                w[c] = 0.0;
#pragma unroll
                for (int m = 0; m < DOF; ++m) w[c] += x[m] * neighbour(LOWER, e, m, c, level);
                if (SYMMETRIC) exchanged(w_place + e, c, thread) = w[c];
            }
            if (active) store<e>(w, level, at);
            if (SYMMETRIC && DOF > 1) __syncwarp();  // the rows of a point read each other's W
        } else if constexpr (e == LOWER) {
            invert(x, own, i, active);
#pragma unroll
            for (int c = 0; c < DOF; ++c) exchanged(inverse_place, c, thread) = x[c];
            if (active) store<e>(x, level, at);
        }
    }

    template <int mine>
    __device__ __forceinline__ void share(int level) {
        const bool active = line.active(a, level);
        const bool any = __any_sync(~0u, active);
        const int i = level - line.start, at = active ? line.slot(a, level) : 0;
        double x[entries][DOF];  // this group's entries alone are ever computed
        unrolled<0, ROW_STAGES>([&](auto stage) {
            constexpr int now = stage.value;
            if constexpr (now > 0) wait_for_groups();
            if (!any) return;
            unrolled<0, entries>([&](auto entry) {
                constexpr int e = entry.value;
                if constexpr (group_of[e] == mine && stage_of[e] == now) eliminate<mine, e>(x, level, i, at, active);
            });
        });
        if constexpr (entries > LOWER + 1) {
            wait_for_groups();
            if (!any) return;
            double inverse[DOF];
#pragma unroll
            for (int c = 0; c < DOF; ++c) inverse[c] = exchanged(inverse_place, c, thread);
            unrolled<LOWER + 1, entries>([&](auto entry) {
                constexpr int e = entry.value;
                if constexpr (group_of[e] == mine) {
                    scale_from_left(inverse, x[e]);
                    if (active) store<e>(x[e], level, at);
                }
            });
        }
    }

    __device__ void point(int level) {
        unrolled<0, GROUPS>([&](auto mine) {
            if (group == mine.value) share<mine.value>(level);
        });
    }
};

}  // namespace hyperplane
