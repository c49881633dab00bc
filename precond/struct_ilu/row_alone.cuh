// SPDX-License-Identifier: BSD-3-Clause
// The factorisation of points of one, two or four unknowns by threads that have a row of every block of their points.
// Definitions: precond/struct_ilu/registers.cuh.
#pragma once

#include "precond/struct_ilu/places.cuh"
#include "precond/struct_ilu/row.cuh"

namespace hyperplane {

struct Consumer : RowOfPoint {
    static constexpr int threads = consumer_threads;
    const int column, tile_row;

    __device__ Consumer(const Arguments& arguments, const Tile& tile, int, int thread_)
        : RowOfPoint(arguments, tile, thread_, thread_ / DOF, thread_ % DOF),
          column(HALO_J + thread_ / DOF % TJ),
          tile_row(HALO_K + thread_ / DOF / TJ) {}

    struct Block {
        double v[DOF][DOF];
    };
    /// A block of the factors, or its transpose: entry `entry` at the neighbour to which entry `at` leads, at `place`
    /// in memory.
    __device__ __forceinline__ Block neighbour(int entry, int at, int place, int level, bool transposed) const {
        static_assert(DOF <= 2 || RING > 0);
        Block x;
        if constexpr (RING > 0) {
#pragma unroll
            for (int m = 0; m < DOF; ++m)
#pragma unroll
                for (int c = 0; c < DOF; ++c)
                    x.v[m][c] = near_at(level + B * offset_y[at] + C * offset_z[at] + offset_x[at],
                                        (entry - first_shared) * block_size + (transposed ? c * DOF + m : m * DOF + c),
                                        tile_row + offset_z[at], column + offset_y[at] + SKEW * offset_z[at]);
        } else if constexpr (DOF == 1) {
            x.v[0][0] = load(a.entry[entry].x + place);
        } else {  // two unknowns: each thread loads its row
            const double2 mine = __ldcg((const double2*)(a.entry[entry].x + place + row * DOF));
            const double other[2] = {__shfl_xor_sync(~0u, mine.x, 1), __shfl_xor_sync(~0u, mine.y, 1)};
            const double2 first = row == 0 ? mine : double2{other[0], other[1]};
            const double2 second = row == 0 ? double2{other[0], other[1]} : mine;
            x.v[0][0] = first.x;
            x.v[1][DOF - 1] = second.y;
            x.v[0][DOF - 1] = transposed ? second.x : first.y;
            x.v[1][0] = transposed ? first.y : second.x;
        }
        return x;
    }
    /// x += sign * (a row) (a block)
    template <int sign>
    __device__ __forceinline__ static void multiply_add(const double* left, const Block& right, double* x) {
#pragma unroll
        for (int m = 0; m < DOF; ++m)
#pragma unroll
            for (int c = 0; c < DOF; ++c) x[c] += sign * left[m] * right.v[m][c];
    }

    __device__ void point(int level) {
        const bool active = line.active(a, level);
        if (!__any_sync(~0u, active)) return;
        const int i = level - line.start, at = active ? line.slot(a, level) : 0;
        double x[entries][DOF], own[DOF];
#pragma unroll
        for (int e = 0; e < entries; ++e)
#pragma unroll
            for (int c = 0; c < DOF; ++c) x[e][c] = a_entry[e] < 0 ? 0.0 : staged(level, e, c, thread);
        int place[LOWER > 0 ? LOWER : 1];  // of the neighbours' blocks
#pragma unroll
        for (int l = 0; l < LOWER; ++l) place[l] = RING > 0 ? 0 : neighbour_slot(a, at, l) * block_size;
#pragma unroll
        for (int c = 0; c < DOF; ++c) {
            own[c] = x[LOWER][c];
            if (c == row) x[LOWER][c] += a.shift * own[c];
        }
        unrolled<0, LOWER>([&](auto lower) {
            constexpr int l = lower.value;
            // For lines that have ended, the ring still holds W.
            if (SYMMETRIC && !SHARES && RING > 0 && !line.in_grid(a, i, l))
#pragma unroll
                for (int c = 0; c < DOF; ++c) x[l][c] = 0.0;
            double w[DOF];  // a row of W_l = E_l D^-1(p+l)
#pragma unroll
            for (int c = 0; c < DOF; ++c) w[c] = 0.0;
            multiply_add<+1>(x[l], neighbour(inverse_entry, l, place[l], level, false), w);
            unrolled<chunk_begin[l], chunk_begin[l + 1]>([&](auto pair) {
                constexpr int u = chunk_u[pair.value], e = chunk_e[pair.value];
                if constexpr (SHARES) {  // X_0 -= W_l F_-l(p+l); one unknown a point
                    x[LOWER][0] -= w[0] * (SYMMETRIC ? x[l][0] : staged(level, entries + l, 0, thread));
                } else if constexpr (SYMMETRIC && e == LOWER) {  // X_0 -= E_l W_l^T
#pragma unroll
                    for (int m = 0; m < DOF; ++m)
#pragma unroll
                        for (int c = 0; c < DOF; ++c)
                            x[LOWER][c] -= x[l][m] * (DOF == 1 ? w[m] : __shfl_sync(~0u, w[m], first_lane + c));
                } else if constexpr (SYMMETRIC) {  // G_u(p+l) is the transpose of W_-u(p+e)
                    multiply_add<-1>(x[l], neighbour(2 * LOWER - u, e, place[e], level, true), x[e]);
                } else {
                    multiply_add<-1>(x[l], neighbour(u, l, place[l], level, false), x[e]);
                }
            });
#pragma unroll
            for (int c = 0; c < DOF; ++c) x[l][c] = w[c];
        });
        invert(x[LOWER], own, i, active);
#pragma unroll
        for (int e = LOWER + 1; e < entries; ++e) scale_from_left(x[LOWER], x[e]);
        if (!active) return;
#pragma unroll
        for (int e = SHARES ? LOWER : 0; e < entries; ++e) {
            const int entry = SHARES ? inverse_entry : e;
#pragma unroll
            for (int c = 0; c < DOF; ++c) {
                a.entry[entry].x[(long long)at * block_size + row * DOF + c] = x[e][c];
                if (RING > 0 && entry >= first_shared)
                    near_at(level, (entry - first_shared) * block_size + row * DOF + c, tile_row, column) = x[e][c];
            }
        }
    }
};

}  // namespace hyperplane
