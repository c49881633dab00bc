// SPDX-License-Identifier: BSD-3-Clause
// The steps of conjugate gradients in Eisenstat's form (core/interfaces/eisenstat.hpp) within the triangular solves of
// D-ILU with one unknown a point. Definitions: precond/triangular/wavefront/solve.cuh.
//
//     upper   y += alpha p,  p = s + beta p
//             u(p) = p(p) - sum_u F_u(p) u(p+u)                     t^T A t = u^T (2 p + c u)
//     lower   v(p) = (p + c u)(p) - sum_l E_l(p) v(p+l)             w = u + v,  s_next = s - alpha w
//             r(p) = s(p) + sum_l E_l(p) s(p+l)
//
// All that is scaled by |D|^(-1/2) (precond/triangular/wavefront/eisenstat.hpp). c is diag(A) - 2, which is the sum of
// E_l(p)^2, less 1, where diag(A) is what the elimination makes of D, and is computed from A's own diagonal elsewhere.
// The upper step has the coefficients E_l(p+u) of other rows; in the sum over all points these make the same c, since
// each E_l(p)^2 u(p)^2 is the square of a term of p+l. D is 1 or -1: E has the sign of its row's D, and in the lower
// step so have v, and s where neighbours read it.
//
// Neighbours pass u, or v, through the ring and as edges, as in other solves. s has a ring of its own: those who
// receive edges read it for neighbours in other tiles, since a lower step writes the next s elsewhere, in u's place.
// Within a level, what the next level needs comes first.
#pragma once

#include "precond/triangular/wavefront/edges.cuh"
#include "precond/triangular/wavefront/level_barriers.cuh"
#include "precond/triangular/wavefront/points.cuh"

namespace hyperplane {

/// What a consumer thread does with the point of a level.
struct EisenstatPoint {
    const Consumer<0>& w;
    const double alpha, beta;  // those of a lower step: its own alpha, and 0
    double* const sums;

    /// The coefficients of the terms.
    __device__ __forceinline__ void coefficients(double* c) const {
#pragma unroll
        for (int t = 0; t < LOWER; ++t)
            c[t] = whole_stages ? double(w.stage(w.at, t)[w.place]) : __ldcs(w.coefficient(term_of[t], w.slot));
    }
    __device__ __forceinline__ int row_of(int m) const {
        return w.tk + HALO_K + offset_z[m];
    }
    __device__ __forceinline__ int column_of(int m) const {
        return w.tj + HALO_J + offset_y[m] + SKEW * offset_z[m];
    }

    /// `value` less the terms, which are coefficients times what neighbours have passed.
    __device__ __forceinline__ double without_neighbours(double value, const double* c, double* near, int level) const {
#pragma unroll
        for (int t = 0; t < LOWER; ++t) {
            const int m = term_of[t];
            near[t] = ring_at(level + offset_level[m], 0, row_of(m), column_of(m));
            value = fma(-c[t], near[t], value);
        }
        return value;
    }

    /// The upper step. Calls pass(u) as soon as u is known.
    template <class Pass>
    __device__ __forceinline__ void upper(int level, const Pass& pass) const {
        const double s = w.value_of(0), before = w.value_of(1), p = beta != 0.0 ? fma(beta, before, s) : s;
        double c[LOWER], near[LOWER];
        coefficients(c);
        const double u = without_neighbours(p, c, near, level);
        pass(u);
        const EisenstatArguments& e = w.a.eisenstat;
        e.p[w.slot] = p;
        w.a.out[w.slot] = u;
        if (alpha != 0.0) e.y[w.slot] = fma(alpha, before, w.value_of(2));
        if (e.diagonal) {
            const double pivot = w.inverse();
            sums[0] = fma(s, with_sign_of(pivot, s), sums[0]);
            sums[1] = fma(with_sign_of(pivot, u), fma(excess(pivot, c), u, 2.0 * p), sums[1]);
        } else {
            double squares = 0.0;  // of the terms
#pragma unroll
            for (int t = 0; t < LOWER; ++t) {
                const double term = c[t] * near[t];
                squares = fma(term, term, squares);
            }
            sums[0] = fma(s, s, sums[0]);
            sums[1] += fma(u, fma(2.0, p, -u), squares);
        }
    }

    /// diag(A) - 2, both in units of |D| and with the sign of D.
    __device__ __forceinline__ double excess(double pivot, const double* c) const {
        if (w.a.eisenstat.diagonal) return w.value_of(3) / pivot - 2.0;
        double sum = -1.0;
#pragma unroll
        for (int t = 0; t < LOWER; ++t) sum = fma(c[t], c[t], sum);
        return sum;
    }

    /// The lower step, which adds to the sums. Calls pass(v) as soon as v is known.
    template <class Pass>
    __device__ __forceinline__ void lower(int level, const Pass& pass) const {
        const double pivot = w.inverse(), u = w.value_of(0), p = w.value_of(1), s = w.value_of(2);
        double c[LOWER], near[LOWER];
        coefficients(c);
        const double v = without_neighbours(with_sign_of(pivot, fma(excess(pivot, c), u, p)), c, near, level);
        pass(v);
        const double q = with_sign_of(pivot, s);
        second_at(level, w.tk + HALO_K, w.tj + HALO_J) = q;
        const double next = alpha != 0.0 ? fma(-alpha, u + with_sign_of(pivot, v), s) : s;
        w.a.out[w.slot] = next;
        double r = q;
#pragma unroll
        for (int t = 0; t < LOWER; ++t) {
            const int m = term_of[t];
            r = fma(c[t], second_at(level + offset_level[m], row_of(m), column_of(m)), r);
        }
        sums[0] = fma(r * r, fabs(pivot), sums[0]);
        sums[1] = fma(next, with_sign_of(pivot, next), sums[1]);
    }
};

/// All levels of a tile.
__device__ __forceinline__ void eisenstat_levels(const Arguments& a, const Tile& tile, int index, u64 epoch, int thread,
                                                 double* sums) {
    const int begin = tile.first - MAX_LEVEL;
    Consumer<0> w(a, tile, thread, begin);
    double known[eisenstat_sums] = {};
#pragma unroll
    for (int m = 0; m < (UPPER ? eisenstat_sums : eisenstat_upper_sums); ++m) known[m] = a.eisenstat.known[m];
    const EisenstatCoefficients with(known, a.eisenstat.bounds);
    const EisenstatPoint point{w, UPPER ? with.alpha : eisenstat_alpha(known), UPPER ? with.beta : 0.0, sums};
    EpochRecord* const edges = a.edges + (long long)index * a.nx * plane_records;
    EpochRecord* const below = w.exists && w.tk >= TK - edge_k ? edges + edge_cell_below(w.tj, w.tk) : nullptr;
    EpochRecord* const right = w.exists && w.tj >= TJ - edge_j ? edges + edge_cell_right(w.tj, w.tk) : nullptr;
    int plane = (begin % a.nx + a.nx) % a.nx;
    for (int level = begin; level <= tile.last; ++level) {
        const bool active = w.begin_level(level);
        __syncwarp();
        sync_level(level);  // values of level - 1 are in the rings
        if (active) {
            const auto pass = [&](double value) {
                ring_at(level, 0, w.tk + HALO_K, w.tj + HALO_J) = value;
                if (below) store_record(below + (long long)plane * plane_records, value, epoch);
                if (right) store_record(right + (long long)plane * plane_records, value, epoch);
            };
            if constexpr (UPPER)
                point.upper(level, pass);
            else
                point.lower(level, pass);
        }
        w.end_level(active);
        if (++plane == a.nx) plane = 0;
    }
}

}  // namespace hyperplane
