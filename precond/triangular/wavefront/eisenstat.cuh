// SPDX-License-Identifier: BSD-3-Clause
// The steps of conjugate gradients in Eisenstat's form (core/interfaces/eisenstat.hpp) within the triangular solves of
// D-ILU with one unknown a point. Definitions: precond/triangular/wavefront/solve.cuh.
//
//     upper   s -= alpha w,  y += alpha p,  p = s + beta p
//             u(p) = p(p) - sum_u F_u(p) u(p+u)
//     lower   v(p) = (p + c u)(p) - sum_l E_l(p) v(p+l)             w = u + v
//             r(p) = s(p) + sum_l E_l(p) s(p+l)
//
// All that is scaled by |D|^(-1/2) (precond/triangular/wavefront/eisenstat.hpp). c is diag(A) - 2, which is the sum of
// E_l(p)^2, less 1, where diag(A) is what the elimination makes of D, and is computed from A's own diagonal elsewhere.
// D is 1 or -1: E has the sign of its row's D, and in the lower step so have v, and s where neighbours read it.
//
// Neighbours pass u, or v, through the ring and as edges, as in other solves. s has a ring of its own: those who
// receive edges read it for neighbours in other tiles, since no lower step changes it. Within a level, what the next
// level needs comes first.
#pragma once

#include "precond/triangular/wavefront/edges.cuh"
#include "precond/triangular/wavefront/points.cuh"

namespace hyperplane {

/// What a consumer thread does with the point of a level.
struct EisenstatPoint {
    const Consumer<0>& w;
    const EisenstatCoefficients& with;
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
    __device__ __forceinline__ double without_neighbours(double value, const double* c, int level) const {
#pragma unroll
        for (int t = 0; t < LOWER; ++t) {
            const int m = term_of[t];
            value = fma(-c[t], ring_at(level + offset_level[m], 0, row_of(m), column_of(m)), value);
        }
        return value;
    }

    /// The upper step. Calls pass(u) as soon as u is known.
    template <class Pass>
    __device__ __forceinline__ void upper(int level, const Pass& pass) const {
        double s = w.value_of(1), p = w.value_of(2), y = 0.0;
        if (with.alpha != 0.0) {
            s = fma(-with.alpha, w.value_of(0), s);
            y = fma(with.alpha, p, w.value_of(3));
        }
        p = with.beta != 0.0 ? fma(with.beta, p, s) : s;
        double c[LOWER];
        coefficients(c);
        const double u = without_neighbours(p, c, level);
        pass(u);
        const EisenstatArguments& e = w.a.eisenstat;
        e.p[w.slot] = p;
        w.a.out[w.slot] = u;
        if (with.alpha != 0.0) {
            e.s[w.slot] = s;
            e.y[w.slot] = y;
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
        const double pivot = w.inverse(), u = w.value_of(0), s = w.value_of(1), p = w.value_of(2);
        double c[LOWER];
        coefficients(c);
        const double v = without_neighbours(with_sign_of(pivot, fma(excess(pivot, c), u, p)), c, level);
        pass(v);
        const double of_a = u + with_sign_of(pivot, v), q = with_sign_of(pivot, s);
        second_at(level, w.tk + HALO_K, w.tj + HALO_J) = q;
        w.a.out[w.slot] = of_a;
        double r = q;
#pragma unroll
        for (int t = 0; t < LOWER; ++t) {
            const int m = term_of[t];
            r = fma(c[t], second_at(level + offset_level[m], row_of(m), column_of(m)), r);
        }
        const double scaled = with_sign_of(pivot, of_a);
        sums[eisenstat_rr] = fma(r * r, fabs(pivot), sums[eisenstat_rr]);
        sums[eisenstat_rho] = fma(s, q, sums[eisenstat_rho]);
        sums[eisenstat_pw] = fma(p, scaled, sums[eisenstat_pw]);
        sums[eisenstat_sw] = fma(s, scaled, sums[eisenstat_sw]);
        sums[eisenstat_ww] = fma(of_a, scaled, sums[eisenstat_ww]);
    }
};

/// All levels of a tile.
__device__ __forceinline__ void eisenstat_levels(const Arguments& a, const Tile& tile, int index, u64 epoch, int thread,
                                                 double* sums) {
    const int begin = tile.first - MAX_LEVEL;
    Consumer<0> w(a, tile, thread, begin);
    double alpha_beta[eisenstat_sums] = {};
    if (UPPER)
#pragma unroll
        for (int m = 0; m < eisenstat_sums; ++m) alpha_beta[m] = a.eisenstat.before[m];
    const EisenstatCoefficients with(alpha_beta, a.eisenstat.bounds);
    const EisenstatPoint point{w, with, sums};
    Edge* const edges = a.edges + (long long)index * a.nx * plane_records;
    Edge* const below = w.exists && w.tk >= TK - edge_k ? edges + edge_cell_below(w.tj, w.tk) : nullptr;
    Edge* const right = w.exists && w.tj >= TJ - edge_j ? edges + edge_cell_right(w.tj, w.tk) : nullptr;
    int plane = (begin % a.nx + a.nx) % a.nx;
    for (int level = begin; level <= tile.last; ++level) {
        const bool active = w.begin_level(level);
        __syncwarp();
        sync_level(level);  // values of level - 1 are in the rings
        if (active) {
            const auto pass = [&](double value) {
                ring_at(level, 0, w.tk + HALO_K, w.tj + HALO_J) = value;
                if (below) store_edge(below + (long long)plane * plane_records, value, epoch);
                if (right) store_edge(right + (long long)plane * plane_records, value, epoch);
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
