// SPDX-License-Identifier: BSD-3-Clause
// The factorisation of points of one or two unknowns by GROUPS groups of threads, which share the entries of a row
// (StructILU paper, section 4.2.2; precond/struct_ilu/intra_row.hpp). A thread has a row of the blocks of its group's
// entries in registers. Definitions besides those of precond/struct_ilu/registers.cuh, which includes this file:
// GROUP_OF and STAGE_OF (group and stage of each entry that is computed), ROW_STAGES. RING is not 0.
//
// The groups have the same points, so thread t of each group has the same row of the same point. They give each other
// E of the lower entries, W of them if one triangle is stored, and the inverse of the diagonal in shared memory. Only
// the warps of the same points wait for each other.
#pragma once

namespace hyperplane {

TABLE group_of[] = GROUP_OF;
TABLE stage_of[] = STAGE_OF;
constexpr int exchange_place = stage_place + STAGES * staged_entries * DOF * consumer_threads;

/// Coefficient c of a thread's row: E_l at l, W_l at LOWER + l if one triangle is stored, and D^-1 after them.
__device__ __forceinline__ double& exchanged(int at, int c, int thread) {
    return shared[exchange_place + (at * DOF + c) * consumer_threads + thread];
}
constexpr int w_place = LOWER, inverse_place = SYMMETRIC ? 2 * LOWER : LOWER;

struct Consumer : RowOfPoint {
    static constexpr int threads = GROUPS * consumer_threads;
    const int group, column, tile_row;

    __device__ Consumer(const Arguments& arguments, const Tile& tile, int, int thread_)
        : RowOfPoint(arguments, tile, thread_ % consumer_threads, thread_ % consumer_threads / DOF, thread_ % DOF),
          group(thread_ / consumer_threads),
          column(HALO_J + thread / DOF % TJ),
          tile_row(HALO_K + thread / DOF / TJ) {}

    /// Pivots are reported by the group that inverts them.
    __device__ bool exists() const { return line.valid && group == group_of[LOWER]; }

    /// The warps of these points wait for each other.
    __device__ __forceinline__ void wait_for_groups() const {
        static_assert(consumer_threads / 32 <= 13);
        asm volatile("barrier.sync %0, %1;" ::"r"(2 + thread / 32), "n"(32 * GROUPS) : "memory");
    }

    /// Coefficient (m, c) of a block of the factors, or of its transpose: entry `entry` at the neighbour to which entry
    /// `at` leads.
    __device__ __forceinline__ double neighbour(int entry, int at, int m, int c, int level, bool transposed) const {
        return near_at(level + B * offset_y[at] + C * offset_z[at] + offset_x[at],
                       (entry - first_shared) * block_size + (transposed ? c * DOF + m : m * DOF + c),
                       tile_row + offset_z[at], column + offset_y[at] + SKEW * offset_z[at]);
    }

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
                        x[c] -= left * neighbour(u, l, m, c, level, false);
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
                for (int m = 0; m < DOF; ++m) w[c] += x[m] * neighbour(LOWER, e, m, c, level, false);
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

    /// Stores a row of an entry for the solves, and for the neighbours if they read it.
    template <int e>
    __device__ __forceinline__ void store(const double* x, int level, int at) const {
#pragma unroll
        for (int c = 0; c < DOF; ++c) {
            a.entry[e].x[(long long)at * block_size + row * DOF + c] = x[c];
            if (e >= first_shared)
                near_at(level, (e - first_shared) * block_size + row * DOF + c, tile_row, column) = x[c];
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
