// SPDX-License-Identifier: BSD-3-Clause
// A thread block computes M^-1 r for one subdomain in the ways in which Gondhalekar et al. do it for any sparse matrix:
// threads spin until the rows on which they depend are complete (section 4.1, Algorithm 1), or levels are found in the
// graph of a triangle (4.2, Algorithms 2 and 3). Factors are stored point by point, as in compressed block rows
// (SubdomainOrder::Rows::by_point).
//
// Definitions, besides those of precond/subdomain/cells.cuh: OFFSET_X, OFFSET_Y, OFFSET_Z {coordinates of the lower
// entries' offsets}, MOST_LEVELS (largest number of levels of a triangle), SPIN (Algorithm 1, otherwise Algorithms 2
// and 3), EDGES (a thread has a row of one nonzero block, otherwise a row of a point).

#include "precond/subdomain/cells.cuh"

namespace hyperplane {

TABLE offset_x[] = OFFSET_X;
TABLE offset_y[] = OFFSET_Y;
TABLE offset_z[] = OFFSET_Z;
constexpr int points = SX * SY * SZ, block_size = DOF * DOF;
// The graph of a triangle: the number of levels, the place where each level begins and the last one ends, and the
// points sorted by level.
constexpr int triangle_graph = 1 + MOST_LEVELS + 1 + points;
constexpr int unknown_level = 1 << 30;

/// A subdomain's point.
struct Point {
    int i, j, k;

    __device__ explicit Point(int local) : i(local % SX), j(local / SX % SY), k(local / (SX * SY)) {}
    __device__ bool in_grid(const Arguments& a, const Box& box) const {
        return box.x + i < a.nx && box.y + j < a.ny && box.z + k < a.nz;
    }
    /// The neighbour at the lower entry e or at its mirror, or -1 if it is outside the subdomain or the grid.
    template <bool upper>
    __device__ int neighbour(const Arguments& a, const Box& box, int e) const {
        constexpr int sign = upper ? -1 : 1;
        const int x = i + sign * offset_x[e], y = j + sign * offset_y[e], z = k + sign * offset_z[e];
        if (unsigned(x) >= SX || unsigned(y) >= SY || unsigned(z) >= SZ) return -1;
        if (box.x + x >= a.nx || box.y + y >= a.ny || box.z + z >= a.nz) return -1;
        return x + SX * (y + SY * z);
    }
};

/// Finds the levels by Algorithm 2, then sorts the points by level.
template <bool upper>
__device__ void find_levels(const Arguments& a, const Box& box, int* graph) {
    int* const level = (int*)shared;
    int* const marked = level + points;
    __shared__ int added;
    const int thread = threadIdx.x;
    for (int p = thread; p < points; p += THREADS) {
        const Point point(p);
        bool free = true;
        for (int e = 0; e < LOWER; ++e) free = free && point.neighbour<upper>(a, box, e) < 0;
        level[p] = !point.in_grid(a, box) ? -1 : free ? 0 : unknown_level;
        marked[p] = 0;
    }
    __syncthreads();
    for (int current = 0;; ++current) {
        if (thread == 0) added = 0;
        __syncthreads();
        for (int p = thread; p < points; p += THREADS) {
            if (level[p] != unknown_level) continue;
            const Point point(p);
            bool valid = true;
            for (int e = 0; e < LOWER && valid; ++e) {
                const int q = point.neighbour<upper>(a, box, e);
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
    int* const begin = graph + 1;
    int* const order = begin + MOST_LEVELS + 1;
    for (int p = thread; p < points; p += THREADS) {
        if (level[p] < 0) continue;
        int place = 0;
        for (int q = 0; q < points; ++q)
            place += level[q] >= 0 && (level[q] < level[p] || (level[q] == level[p] && q < p));
        order[place] = p;
    }
    for (int l = thread; l <= MOST_LEVELS; l += THREADS) {
        int before = 0, all = 0;
        for (int q = 0; q < points; ++q) before += level[q] >= 0 && level[q] < l, all += level[q] >= 0;
        begin[l] = before;
        if (before < all && l == MOST_LEVELS) __trap();
        if (l > 0 && before == all) atomicMin(graph, l);
    }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(THREADS) subdomain_graph(const __grid_constant__ Arguments a) {
    const Box box(a);
    int* const graph = a.graph + 2ll * blockIdx.x * triangle_graph;
    if (threadIdx.x == 0) graph[0] = graph[triangle_graph] = MOST_LEVELS;
    __syncthreads();
    find_levels<false>(a, box, graph);
    find_levels<true>(a, box, graph + triangle_graph);
}

/// A point's coefficients in one triangle: column c of its e-th block begins at (e DOF + c) DOF.
template <bool upper>
__device__ __forceinline__ const Value* row_of(const Value* factors, int p) {
    return factors + (upper ? points * LOWER + p * (LOWER + 1) : p * LOWER) * block_size;
}
/// The scale of a point's row of W, G or D^-1 (part 0, 1 or 2); 1 if rows are not scaled.
__device__ __forceinline__ double scale_of_row(const Value* factors, int part, int p, int r) {
    if (!scaled_rows) return 1.0;
    const unsigned char* const kept = (const unsigned char*)(factors + points * (2 * LOWER + 1) * block_size);
    return scale_of(__ldg(kept + (part * points + p) * DOF + r));
}
/// The position of the block of the lower entry e, or of its mirror, in the point's row; in the upper triangle D^-1 is
/// number 0.
template <bool upper>
__device__ __forceinline__ int place_of(int e) {
    return upper ? LOWER - e : e;
}
__device__ __forceinline__ double& value(int c, int cell) {
    return vector_begin()[c * CELLS + cell];
}

/// v = D^-1 v, with a thread for each point.
__device__ void scale(const Arguments& a, const Value* factors) {
    for (int p = threadIdx.x; p < points; p += THREADS) {
        const Value* const w = row_of<true>(factors, p);
        const int cell = __ldg(a.cells + p);
        double own[DOF];
#pragma unroll
        for (int c = 0; c < DOF; ++c) own[c] = value(c, cell);
#pragma unroll(DOF <= 8 ? DOF : 1)
        for (int r = 0; r < DOF; ++r) {
            double sum = 0.0;
#pragma unroll
            for (int c = 0; c < DOF; ++c) sum += widened(__ldg(w + c * DOF + r)) * own[c];
            value(r, cell) = scaled_rows ? scale_of_row(factors, 2, p, r) * sum : sum;
        }
    }
    __syncthreads();
}

/// The product of row r of the block of entry e and the neighbour's values.
template <bool upper>
__device__ __forceinline__ double product(const Value* w, int r, int e, int cell) {
    double sum = 0.0;
    const int at = cell + cell_delta<upper>(e);
#pragma unroll
    for (int c = 0; c < DOF; ++c) sum += widened(__ldg(w + (place_of<upper>(e) * DOF + c) * DOF + r)) * value(c, at);
    return sum;
}

/// Algorithm 3: a triangular solve level by level.
template <bool upper>
__device__ void walk_levels(const Arguments& a, const Box& box, const Value* factors) {
    const int* const graph = a.graph + (2ll * blockIdx.x + upper) * triangle_graph;
    const int* const begin = graph + 1;
    const int* const order = begin + MOST_LEVELS + 1;
    const int levels = graph[0];
    for (int l = 0; l < levels; ++l) {
        const int first = begin[l], count = begin[l + 1] - first;
        const int work = EDGES ? count * LOWER * DOF : count * DOF;
        for (int at = threadIdx.x; at < work; at += THREADS) {
            const int r = at % DOF, p = order[first + (EDGES ? at / (LOWER * DOF) : at / DOF)];
            const Point point(p);
            const int cell = __ldg(a.cells + p);
            const Value* const w = row_of<upper>(factors, p);
            const double scale = scale_of_row(factors, upper, p, r);
            if (EDGES) {
                const int e = at / DOF % LOWER;
                if (point.neighbour<upper>(a, box, e) >= 0)
                    atomicAdd(&value(r, cell), -scale * product<upper>(w, r, e, cell));
            } else {
                double sum = value(r, cell);
                for (int e = 0; e < LOWER; ++e)
                    if (point.neighbour<upper>(a, box, e) >= 0) sum -= scale * product<upper>(w, r, e, cell);
                value(r, cell) = sum;
            }
        }
        __syncthreads();
    }
}

/// Algorithm 1: a warp has the rows of a point, and its lanes have the columns. `done` of a point is 1 after the lower
/// solve and 2 after the upper one.
template <bool upper>
__device__ void spin(const Arguments& a, const Box& box, const Value* factors, volatile int* done) {
    const int lane = threadIdx.x % 32;
    for (int turn = threadIdx.x / 32; turn < points; turn += THREADS / 32) {
        const int p = upper ? points - 1 - turn : turn;
        const Point point(p);
        if (!point.in_grid(a, box)) continue;
        const int cell = __ldg(a.cells + p);
        const Value* const w = row_of<upper>(factors, p);
        double sum[DOF];
#pragma unroll
        for (int r = 0; r < DOF; ++r) sum[r] = 0.0;
        for (int at = lane; at < (LOWER + upper) * DOF; at += 32) {
            const int place = at / DOF, c = at % DOF, e = upper ? LOWER - place : place;
            const bool own = upper && place == 0;
            const int q = own ? p : point.neighbour<upper>(a, box, e);
            if (q < 0) continue;
            while (!own && done[q] <= upper) {
            }
            __threadfence_block();
            const double v = own ? value(c, cell) : -value(c, cell + cell_delta<upper>(own ? 0 : e));
#pragma unroll
            for (int r = 0; r < DOF; ++r)
                sum[r] += widened(__ldg(w + at * DOF + r)) * v * scale_of_row(factors, own ? 2 : upper, p, r);
        }
        __syncwarp();
#pragma unroll
        for (int r = 0; r < DOF; ++r) {
#pragma unroll
            for (int half = 16; half > 0; half /= 2) sum[r] += __shfl_xor_sync(~0u, sum[r], half);
            if (lane == r) value(r, cell) = upper ? sum[r] : value(r, cell) + sum[r];
        }
        __threadfence_block();
        __syncwarp();
        if (lane == 0) done[p] = upper + 1;
    }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) subdomain_walk(const __grid_constant__ Arguments a) {
    const Box box(a);
    const Value* const factors = a.factors + blockIdx.x * a.subdomain_values;
    int* const done = (int*)(shared + vector_size);
    if (SPIN)
        for (int p = threadIdx.x; p < points; p += THREADS) done[p] = 0;
    load_vector<THREADS>(a, box, threadIdx.x);
    __syncthreads();
    if (SPIN) {
        spin<false>(a, box, factors, done);
        spin<true>(a, box, factors, done);
    } else {
        walk_levels<false>(a, box, factors);
        scale(a, factors);
        walk_levels<true>(a, box, factors);
    }
    store_vector<THREADS>(a, box, threadIdx.x);
}

}  // namespace hyperplane
