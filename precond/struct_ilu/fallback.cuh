// SPDX-License-Identifier: BSD-3-Clause
// The factorisation for any stencil and dof, with a thread for each row of a point. Definitions:
// precond/struct_ilu/factor.cuh.
#pragma once

#include "precond/struct_ilu/row.cuh"

namespace hyperplane {

constexpr int warp_cells = 32 / DOF;
constexpr int consumer_threads = tile_threads(warp_cells);
constexpr int looks_back = 0, levels_ahead = 0;
constexpr bool producer_publishes = false;
constexpr int unroll_pairs = DOF <= 2 && LOWER < 14 ? 128 : 1;
constexpr int unroll_entries = DOF == 1 && LOWER < 14 ? 2 * LOWER + 1 : 1;

/// A consumer thread, whose rows of E are in shared memory or in scratch: E[LOWER][DOF][consumer_threads].
struct Consumer : RowOfPoint {
    double* const keep;

    __device__ Consumer(const Arguments& arguments, const Tile& tile, int index, int thread_)
        : RowOfPoint(arguments, tile, thread_, thread_ / 32 * warp_cells + thread_ % 32 / DOF, thread_ % 32 % DOF,
                     thread_ % 32 < warp_cells * DOF),
          keep(KEEP ? shared : a.scratch + (long long)index * LOWER * DOF * consumer_threads) {}

    /// G_u(p+l)[r][c] for l + u = e; F_u for D-ILU.
    __device__ double upper(int l, int u, int e, int r, int c, int slot) const {
        const int mirror = 2 * LOWER - u;
        if (SYMMETRIC) {
            const int there = neighbour_slot(a, slot, e);
            return SHARES ? __ldg(a_at(a, a_entry[mirror], c, r, there)) : load(x_at(a, mirror, c, r, there));
        }
        const int there = neighbour_slot(a, slot, l);
        return SHARES ? __ldg(a_at(a, a_entry[u], r, c, there)) : load(x_at(a, u, r, c, there));
    }
    /// E_l(p) of this row; W_l(p) for D-ILU.
    __device__ double& kept(int l, int c) const { return keep[(l * DOF + c) * consumer_threads + thread]; }

    /// Computes a row of W_l(p) from the row of E_l(p) that is kept.
    __device__ void scale_by_inverse(int l, int slot, double* out) const {
        const int there = neighbour_slot(a, slot, l);
#pragma unroll
        for (int c = 0; c < DOF; ++c) out[c] = 0.0;
#pragma unroll(unroll_products)
        for (int m = 0; m < DOF; ++m) {
            const double e = kept(l, m);
#pragma unroll
            for (int c = 0; c < DOF; ++c) out[c] += e * load(x_at(a, inverse_entry, m, c, there));
        }
    }

    static constexpr int threads = consumer_threads;

    __device__ void point(int level) {
        const bool active = line.active(a, level);
        const int i = level - line.start, at = active ? line.slot(a, level) : 0;
        double inverse[DOF];
#pragma unroll(unroll_entries)
        for (int e = 0; e < entries; ++e) {
            double x[DOF], own[DOF];
            const int from = a_entry[e];
#pragma unroll
            for (int c = 0; c < DOF; ++c) {
                own[c] = active && from >= 0 && line.in_grid(a, i, e) ? __ldcs(a_at(a, from, row, c, at)) : 0.0;
                x[c] = e == LOWER && c == row ? own[c] + a.shift * own[c] : own[c];
            }
            if (active) {
#pragma unroll(unroll_pairs)
                for (int pair = pair_begin[e]; pair < pair_begin[e + 1]; ++pair) {
                    const int l = pair_l[pair], u = pair_u[pair];
#pragma unroll(unroll_products)
                    for (int m = 0; m < DOF; ++m) {
                        const double scaled = kept(l, m);
#pragma unroll
                        for (int c = 0; c < DOF; ++c) x[c] -= scaled * upper(l, u, e, m, c, at);
                    }
                }
            }
            if (e == LOWER) {
                invert(x, own, i, active);
#pragma unroll
                for (int c = 0; c < DOF; ++c) inverse[c] = x[c];
            }
            if (e > LOWER) scale_from_left(inverse, x);
            if (active) {
                if (e < LOWER) {
#pragma unroll
                    for (int c = 0; c < DOF; ++c) kept(e, c) = x[c];
                    scale_by_inverse(e, at, x);
                    if (SHARES)
#pragma unroll
                        for (int c = 0; c < DOF; ++c) kept(e, c) = x[c];
                }
                if (!SHARES || e == LOWER)
#pragma unroll
                    for (int c = 0; c < DOF; ++c) *x_at(a, SHARES ? 0 : e, row, c, at) = x[c];
            }
            if (SYMMETRIC && DOF > 1) __syncwarp();  // X_0 reads W_l of the point's other rows
        }
    }
};

/// The producer warp: it lets a level begin when the earlier tiles have completed the level before it.
__device__ void produce(const Arguments& a, const Tile& tile, int, int lane) {
    EarlierTiles before(a, tile, lane);
    for (int level = tile.first; level <= tile.last; ++level) {
        before.wait_for(level - 1);
        sync_level();
    }
    sync_level();
}

}  // namespace hyperplane
