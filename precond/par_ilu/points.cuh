// SPDX-License-Identifier: BSD-3-Clause
// Sweeps over the factors of points of one or two unknowns: a thread has a row of a point's blocks. Definitions:
// precond/par_ilu/sweep.cuh, and GROUP_VALUES (number of coefficients of F that a thread loads together).
#pragma once

#include "precond/par_ilu/tables.cuh"

namespace hyperplane {

constexpr int block_points = threads / DOF;
constexpr long long block_size = DOF * DOF;

/// Row of a block.
struct Row {
    double v[DOF];
};

/// A block, row by row.
struct Block {
    Row rows[DOF];
};

__device__ __forceinline__ Row row_of(const double* block, int row) {
    Row x;
#pragma unroll
    for (int c = 0; c < DOF; ++c) x.v[c] = block[row * DOF + c];
    return x;
}

/// A block or its transpose.
template <bool transposed>
__device__ __forceinline__ Block block_of(const double* values) {
    Block x;
#pragma unroll
    for (int r = 0; r < DOF; ++r)
#pragma unroll
        for (int c = 0; c < DOF; ++c) x.rows[r].v[c] = values[transposed ? c * DOF + r : r * DOF + c];
    return x;
}

/// sum += sign * left * right
template <int sign>
__device__ __forceinline__ void add_product(Row& sum, const Row& left, const Block& right) {
#pragma unroll
    for (int k = 0; k < DOF; ++k)
#pragma unroll
        for (int c = 0; c < DOF; ++c) sum.v[c] += sign * left.v[k] * right.rows[k].v[c];
}

__device__ __forceinline__ void store(double* block, int row, const Row& x) {
#pragma unroll
    for (int c = 0; c < DOF; ++c) __stcs(block + row * DOF + c, x.v[c]);
}

/// A row of D^-1, computed from the rows of X_0 and of A's diagonal block that the threads of the point have.
__device__ __forceinline__ Row inverted(const Arguments& a, const Row& mine, const Row& own, int row, Pivots& pivots) {
    double x[DOF][DOF], diagonal[DOF], scale = 0.0;
#pragma unroll
    for (int r = 0; r < DOF; ++r)
#pragma unroll
        for (int c = 0; c < DOF; ++c) {
            const int lane = threadIdx.x % 32 / DOF * DOF + r;
            x[r][c] = DOF == 1 ? mine.v[c] : __shfl_sync(~0u, mine.v[c], lane);
            const double its = DOF == 1 ? own.v[c] : __shfl_sync(~0u, own.v[c], lane);
            if (r == c) diagonal[r] = its;
            scale = fmax(scale, fmax(fabs(its), fabs(x[r][c])));
        }
    const bool usable = invert(a, x, diagonal, scale, pivots);
    Row result;
#pragma unroll
    for (int c = 0; c < DOF; ++c) {
        result.v[c] = 0.0;
#pragma unroll
        for (int r = 0; r < DOF; ++r)
            if (r == row && usable) result.v[c] = x[r][c];
    }
    return result;
}

/// A sweep over one row of all entries of a point.
template <bool updates, bool all, bool last>
struct Sweep {
    static constexpr int group_size =
        GROUP_VALUES / block_size;  // number of pairs, or lower neighbours, whose blocks are loaded together

    const Arguments& a;
    const Point& p;
    const int row;
    const bool exists;
    Row w[LOWER] = {};      // rows of W_l
    int lower[LOWER] = {};  // slots of lower neighbours
    Pivots pivots{last};
    NotFinite not_finite;

    __device__ __forceinline__ static const double* at(const double* values, int slot) {
        return values + slot * block_size;
    }

    /// This row of entry e of A.
    template <int e>
    __device__ __forceinline__ Row matrix() const {
        Row x = {};
        if constexpr (a_entry[e] >= 0)
            if (!PERIODIC || p.has_neighbour(a, e))
#pragma unroll
                for (int c = 0; c < DOF; ++c) x.v[c] = __ldcs(a.entry[e].a + (row * DOF + c) * a.a_stride + p.slot);
        return x;
    }

    __device__ __forceinline__ void make_w() {
        unrolled<0, (LOWER + group_size - 1) / group_size>([&](auto group) {
            constexpr int begin = group.value * group_size;
            constexpr int end = begin + group_size < LOWER ? begin + group_size : LOWER;
            Row left[group_size] = {};
            Block right[group_size];
#pragma unroll
            for (int l = begin; l < end; ++l) {
                lower[l] = p.near_or_own(a, l);
                if (p.has_neighbour(a, l)) left[l - begin] = row_of(at(a.entry[l].before, p.slot), row);
                right[l - begin] = block_of<false>(at(a.entry[LOWER].before, lower[l]));
            }
            __syncwarp();  // all loads are issued before one is waited for
#pragma unroll
            for (int l = begin; l < end; ++l) add_product<1>(w[l], left[l - begin], right[l - begin]);
        });
    }

    /// F_u(p+l); if one triangle is stored, the transpose of E_-u(p+e).
    template <int pair>
    __device__ __forceinline__ Block upper() const {
        constexpr int l = pair_l[pair], u = pair_u[pair], e = pair_e[pair];
        if constexpr (SYMMETRIC)
            return block_of<true>(at(a.entry[ENTRIES - 1 - u].before, p.near(a, e)));
        else
            return block_of<false>(at(a.entry[u].before, lower[l]));
    }

    /// Stores X_e. For the diagonal it stores the inverse, for which A's block is loaded again.
    template <int e>
    __device__ __forceinline__ void finish(Row x) {
        if constexpr (e == LOWER)
            x = inverted(a, x, matrix<e>(), row, pivots);
        else if constexpr (last)
#pragma unroll
            for (int c = 0; c < DOF; ++c) not_finite.look_at(e, row, x.v[c]);
        if (exists) store(a.entry[e].after + p.slot * block_size, row, x);
    }
    template <int e>
    __device__ __forceinline__ Row shifted(Row x) const {
#pragma unroll
        for (int c = 0; c < DOF; ++c)
            if (e == LOWER && c == row) x.v[c] += a.alpha * x.v[c];
        return x;
    }

    __device__ __forceinline__ void run() {
        if constexpr (updates) {
            make_w();
            Row x[ENTRIES];
            for_each_group<group_size>([&](auto begin, auto end) {
                Row from[group_size];
                Block right[group_size];
                unrolled<begin.value, end.value>([&](auto pair) {
                    constexpr int e = pair_e[pair.value];
                    const int place = pair.value - begin.value;
                    if constexpr (pair.value == first_pair[e]) from[place] = matrix<e>();
                    right[place] = upper<pair.value>();
                });
                __syncwarp();
                unrolled<begin.value, end.value>([&](auto pair) {
                    constexpr int e = pair_e[pair.value];
                    const int place = pair.value - begin.value;
                    if constexpr (pair.value == first_pair[e]) x[e] = shifted<e>(from[place]);
                    add_product<-1>(x[e], w[pair_l[pair.value]], right[place]);
                    if constexpr (pair.value == last_pair[e]) finish<e>(x[e]);
                });
            });
        }
        unrolled<0, entries>([&](auto index) {
            constexpr int e = index.value;
            if constexpr (writes<all>(e) && (!updates || !has_pairs(e))) finish<e>(shifted<e>(matrix<e>()));
        });
        if constexpr (last) {
            not_finite.template gather<DOF>();
            not_finite.add_to(pivots);
            if (exists && row == 0) pivots.report(a, p.slot);
        }
    }
};

template <bool updates, bool all, bool last>
__device__ __forceinline__ void sweep(const Arguments& a) {
    const Chunk chunk(a, block_points);
    if (chunk.count == 0) return;
    const int at = threadIdx.x / DOF, row = threadIdx.x % DOF;
    const bool exists = at < chunk.count;
    const Point p(a, chunk.first + (exists ? at : 0));
    Sweep<updates, all, last>{a, p, row, exists}.run();
}

/// Replaces E by W = E D^-1 and F by G = D^-1 F in `after`.
extern "C" __global__ void __launch_bounds__(threads) unit_triangles(const __grid_constant__ Arguments a) {
    const Chunk chunk(a, block_points);
    const int at = threadIdx.x / DOF, row = threadIdx.x % DOF;
    const bool exists = at < chunk.count;
    const Point p(a, exists ? chunk.first + at : 0);
    const Row inverse = row_of(a.entry[LOWER].after + p.slot * block_size, row);
#pragma unroll
    for (int e = 0; e < entries; ++e) {
        if (e == LOWER) continue;
        double* const block = a.entry[e].after + p.slot * block_size;
        Row x = {};
        if (e < LOWER)
            add_product<1>(x, row_of(block, row), block_of<false>(a.entry[LOWER].after + p.near(a, e) * block_size));
        else
            add_product<1>(x, inverse, block_of<false>(block));
        __syncwarp();  // all threads of a point have read its blocks
        if (exists && p.has_neighbour(a, e)) store(block, row, x);
    }
}

}  // namespace hyperplane
