// SPDX-License-Identifier: BSD-3-Clause
// Solves with the factors of one subdomain by a thread block, in the ways in which Gondhalekar et al. do it for any
// sparse matrix: threads spin until the rows on which they depend are complete (section 4.1, Algorithm 1), or levels
// are found in the graph of a triangle (4.2, Algorithms 2 and 3). M = (I + W) D (I + G), stored point by point, as in
// compressed block rows; a point is a block row.
//
// What a subdomain is, is left to a type S:
//
//   int points() const                   the points are 0, ..., points() - 1, in an order of dependencies of W
//   bool exists(int p) const             whether there is such a point
//   couplings<upper>(p)                  of p in W or, upper, in G
//   neighbour<upper>(p, k)               the point of coupling k; -1: there is none
//   row<upper>(p)                        the stored coefficients of p: couplings, in G behind D^-1, and values:
//     int places() const                   stored blocks
//     int place(int k) const               of coupling k
//     int neighbour(int place) const       of a coupling
//     double coefficient(place, c, r)      element (r, c) of a block
//     double other(place, c), own(c)       component c of the vector at that neighbour, and at p
//   edges<upper>(graph, first, last)     couplings of the points order[first], ..., order[last - 1]
//   edge<upper>(graph, first, last, at)  one of these, {p, k}
//
// Definitions: DOF, THREADS.
#pragma once

namespace hyperplane {

/// The levels of a triangle: their number, where each begins and the last one ends, and the points sorted by level.
struct LevelGraph {
    int *count, *begin, *order;
};
struct Edge {
    int point, coupling;
};

constexpr int unknown_level = 1 << 30;
constexpr int unrolled_rows = DOF <= 8 ? DOF : 1;

/// Finds the levels by Algorithm 2, then sorts the points by level. There are at most `most`; `scratch` has room for
/// two numbers a point. *graph.count must be `most` before.
template <bool upper, class S>
__device__ void find_levels(const S& s, int most, int* scratch, const LevelGraph& graph) {
    const int points = s.points(), thread = threadIdx.x;
    int* const level = scratch;
    int* const marked = level + points;
    __shared__ int added;
    for (int p = thread; p < points; p += THREADS) {
        bool free = true;
        for (int k = 0; k < s.template couplings<upper>(p); ++k) free = free && s.template neighbour<upper>(p, k) < 0;
        level[p] = !s.exists(p) ? -1 : free ? 0 : unknown_level;
        marked[p] = 0;
    }
    __syncthreads();
    for (int current = 0;; ++current) {
        if (thread == 0) added = 0;
        __syncthreads();
        for (int p = thread; p < points; p += THREADS) {
            if (level[p] != unknown_level) continue;
            bool valid = true;
            for (int k = 0; k < s.template couplings<upper>(p) && valid; ++k) {
                const int q = s.template neighbour<upper>(p, k);
                valid = q < 0 || level[q] <= current;
            }
            if (valid) marked[p] = 1, added = 1;
        }
        __syncthreads();
        for (int p = thread; p < points; p += THREADS)
            if (marked[p]) level[p] = current + 1, marked[p] = 0;
        const bool more = added;
        __syncthreads();
        if (!more) break;
    }
    for (int p = thread; p < points; p += THREADS) {
        if (level[p] < 0) continue;
        int place = 0;
        for (int q = 0; q < points; ++q)
            place += level[q] >= 0 && (level[q] < level[p] || (level[q] == level[p] && q < p));
        graph.order[place] = p;
    }
    for (int l = thread; l <= most; l += THREADS) {
        int before = 0, all = 0;
        for (int q = 0; q < points; ++q) before += level[q] >= 0 && level[q] < l, all += level[q] >= 0;
        graph.begin[l] = before;
        if (before < all && l == most) __trap();
        if (l > 0 && before == all) atomicMin(graph.count, l);
    }
    __syncthreads();
}

/// v = D^-1 v, with a thread for each point.
template <class S>
__device__ void scale(const S& s) {
    for (int p = threadIdx.x; p < s.points(); p += THREADS) {
        if (!s.exists(p)) continue;
        const auto row = s.template row<true>(p);
        double own[DOF];
#pragma unroll
        for (int c = 0; c < DOF; ++c) own[c] = row.own(c);
#pragma unroll(unrolled_rows)
        for (int r = 0; r < DOF; ++r) {
            double sum = 0.0;
#pragma unroll
            for (int c = 0; c < DOF; ++c) sum += row.coefficient(0, c, r) * own[c];
            row.own(r) = sum;
        }
    }
    __syncthreads();
}

/// Component r of the product of a coupling's block and the neighbour's values.
template <class Row>
__device__ __forceinline__ double product(const Row& row, int place, int r) {
    double sum = 0.0;
#pragma unroll
    for (int c = 0; c < DOF; ++c) sum += row.coefficient(place, c, r) * row.other(place, c);
    return sum;
}

/// Algorithm 3: a triangular solve level by level. by_edge: a thread has a row of one nonzero block, otherwise a row of
/// a point.
template <bool upper, bool by_edge, class S>
__device__ void walk_levels(const S& s, const LevelGraph& graph) {
    const int levels = *graph.count;
    for (int l = 0; l < levels; ++l) {
        const int first = graph.begin[l], last = graph.begin[l + 1];
        const int work = (by_edge ? s.template edges<upper>(graph, first, last) : last - first) * DOF;
        for (int at = threadIdx.x; at < work; at += THREADS) {
            const int r = at % DOF;
            if constexpr (by_edge) {
                const Edge edge = s.template edge<upper>(graph, first, last, at / DOF);
                const auto row = s.template row<upper>(edge.point);
                const int place = row.place(edge.coupling);
                if (row.neighbour(place) >= 0) atomicAdd(&row.own(r), -product(row, place, r));
            } else {
                const int p = graph.order[first + at / DOF], count = s.template couplings<upper>(p);
                const auto row = s.template row<upper>(p);
                double sum = row.own(r);
                for (int k = 0; k < count; ++k) {
                    const int place = row.place(k);
                    if (row.neighbour(place) >= 0) sum -= product(row, place, r);
                }
                row.own(r) = sum;
            }
        }
        __syncthreads();
    }
}

/// Algorithm 1: a warp has the rows of a point, and its lanes have the columns. `done` of a point is 1 after the lower
/// solve and 2 after the upper one.
template <bool upper, class S>
__device__ void spin(const S& s, volatile int* done) {
    const int lane = threadIdx.x % 32, points = s.points();
    for (int turn = threadIdx.x / 32; turn < points; turn += THREADS / 32) {
        const int p = upper ? points - 1 - turn : turn;
        if (!s.exists(p)) continue;
        const auto row = s.template row<upper>(p);
        double sum[DOF];
#pragma unroll
        for (int r = 0; r < DOF; ++r) sum[r] = 0.0;
        for (int at = lane; at < row.places() * DOF; at += 32) {
            const int place = at / DOF, c = at % DOF;
            const bool own = upper && place == 0;
            const int q = own ? p : row.neighbour(place);
            if (q < 0) continue;
            while (!own && done[q] <= upper) {
            }
            __threadfence_block();
            const double v = own ? row.own(c) : -row.other(place, c);
#pragma unroll
            for (int r = 0; r < DOF; ++r) sum[r] += row.coefficient(place, c, r) * v;
        }
        __syncwarp();
#pragma unroll
        for (int r = 0; r < DOF; ++r) {
#pragma unroll
            for (int half = 16; half > 0; half /= 2) sum[r] += __shfl_xor_sync(~0u, sum[r], half);
            if (lane == r) row.own(r) = upper ? sum[r] : row.own(r) + sum[r];
        }
        __threadfence_block();
        __syncwarp();
        if (lane == 0) done[p] = upper + 1;
    }
    __syncthreads();
}

/// Both solves, of the vector that S holds. Without `spinning` by levels.
template <bool spinning, bool by_edge, class S>
__device__ void solve_subdomain(const S& s, const LevelGraph& lower, const LevelGraph& upper, int* done) {
    if constexpr (spinning) {
        spin<false>(s, done);
        spin<true>(s, done);
    } else {
        walk_levels<false, by_edge>(s, lower);
        scale(s);
        walk_levels<true, by_edge>(s, upper);
    }
}

}  // namespace hyperplane
