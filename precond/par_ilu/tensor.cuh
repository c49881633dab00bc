// SPDX-License-Identifier: BSD-3-Clause
// Sweeps over the factors of points of three to eight unknowns on tensor cores (precond/factors/tensor_blocks.cuh): a
// warp has one point at a time, or two if there are at most four unknowns. A thread block has ROUNDS points a warp, or
// pairs of points, one after the other, and in the guess GUESS_ROUNDS. Definitions: precond/par_ilu/sweep.cuh.
//
// The matrix's entries are copied to shared memory and transposed: in global memory a coefficient is contiguous over
// neighbouring points, in shared memory a block is contiguous. Blocks to be inverted are stored in shared memory, too.
// Each of them is inverted by one thread or, if there are more than four unknowns, by one thread for each column. A
// warp whose lanes invert one block together needs many more instructions, and these would bound the sweep.
#pragma once

#include "precond/factors/tensor_blocks.cuh"
#include "precond/par_ilu/inversion.cuh"

namespace hyperplane {

/// A pass over all points: the initial guess of all entries, or a sweep, which writes those that change.
enum class Pass { guess, sweep };

constexpr int round_points = threads / 32 * points;
template <Pass pass>
constexpr int rounds = pass == Pass::sweep ? ROUNDS : GUESS_ROUNDS;
template <Pass pass>
constexpr int block_points = rounds<pass>* round_points;
constexpr int staged_size = (block_size + 1) / 2 * 2 + 2;  // neighbouring points are in different banks

extern __shared__ double shared[];  // [staged entry][point][staged_size], then blocks to be inverted

/// Whether a pass writes an entry.
template <Pass pass>
__device__ constexpr bool makes(int e) {
    return writes<pass == Pass::guess>(e);
}
/// The place of an entry among those that are staged, which are A's entries where the pass writes.
template <Pass pass>
__device__ constexpr int staged_before(int e) {
    int count = 0;
    for (int before = 0; before < e; ++before) count += makes<pass>(before) && a_entry[before] >= 0;
    return count;
}

/// Whether staged sweeps read an entry of A, and its place among those.
__device__ constexpr bool is_a_block(int e) {
    return writes<false>(e) && a_entry[e] >= 0;
}
__device__ constexpr int a_blocks_before(int e) {
    int count = 0;
    for (int before = 0; before < e; ++before) count += is_a_block(before);
    return count;
}

/// The block at a place of shared memory that belongs to a point of the thread block.
template <Pass pass>
__device__ __forceinline__ double* staged_block(int place, int point) {
    return shared + (place * block_points<pass> + point) * staged_size;
}

/// Starts to copy A's blocks at the points of a chunk.
template <Pass pass>
__device__ __forceinline__ void stage_matrix(const Arguments& a, const Chunk& chunk) {
    const int point = threadIdx.x % block_points<pass>, first = threadIdx.x / block_points<pass>;
    constexpr int step = threads / block_points<pass>;
    if (point < chunk.count)
        unrolled<0, entries>([&](auto index) {
            constexpr int e = index.value;
            if constexpr (makes<pass>(e) && a_entry[e] >= 0) {
                const double* from = a.entry[e].a + first * a.a_stride + chunk.first + point;
                double* const to = staged_block<pass>(staged_before<pass>(e), point);
#pragma unroll 4
                for (int q = first; q < block_size; q += step, from += step * a.a_stride) copy_8_async(to + q, from);
            }
        });
    commit_copies();
}

/// A lane of a warp, and the point that it belongs to.
struct PointOfWarp : Lane {
    const Arguments& a;
    const Point p;
    const bool exists;
    const int point;  // number in the thread block

    __device__ PointOfWarp(const Arguments& arguments, const Chunk& chunk, int point_)
        : Lane(threadIdx.x),
          a(arguments),
          p(arguments, chunk.first + (point_ < chunk.count ? point_ : 0)),
          exists(point_ < chunk.count),
          point(point_) {}
    __device__ PointOfWarp(const Arguments& arguments, const Point& p_, bool exists_, int point_)
        : Lane(threadIdx.x), a(arguments), p(p_), exists(exists_), point(point_) {}

    /// The block of a slot as left operand, zero unless `there`, and as right operand. 32 bits are enough for the place
    /// of a coefficient in an entry.
    __device__ __forceinline__ Operand left(const double* values, int slot, bool there) const {
        Operand x;
#pragma unroll
        for (int h = 0; h < steps; ++h)
            x.v[h] = there && col(h) < DOF
                         ? values[unsigned(slot) * block_size + unsigned(min(r, DOF - 1) * DOF + col(h))]
                         : 0.0;
        return x;
    }
    template <bool transposed>
    __device__ __forceinline__ Operand right(const double* values, int slot) const {
        Operand x;
#pragma unroll
        for (int h = 0; h < steps; ++h)
            x.v[h] = values[unsigned(slot) * block_size + unsigned(place_of(transposed, h))];
        return x;
    }
    __device__ __forceinline__ void store(double* values, const Block& x) const {
        double* const to = values + unsigned(p.slot) * block_size + unsigned(r * DOF + c);
        if (!exists) return;
        if (DOF % 2 == 0) {
            if (inside(0)) __stcs((double2*)to, double2{x.v[0], x.v[1]});
        } else {
#pragma unroll
            for (int m = 0; m < 2; ++m)
                if (inside(m)) __stcs(to + m, x.v[m]);
        }
    }

    /// A's block of entry e at the point.
    template <Pass pass, int e>
    __device__ __forceinline__ Block staged() const {
        Block x{};
        if constexpr (a_entry[e] >= 0) {
            const double* const from = staged_block<pass>(staged_before<pass>(e), point) + r * DOF + c;
            const bool known = exists && (!PERIODIC || p.has_neighbour(a, e));
#pragma unroll
            for (int m = 0; m < 2; ++m)
                if (known && inside(m)) x.v[m] = from[m];
        }
        return x;
    }

    /// Stores X_0 among the blocks to be inverted.
    template <Pass pass>
    __device__ __forceinline__ void put_apart(const Block& x) const {
        double* const to = staged_block<pass>(staged_before<pass>(entries), point) + r * DOF + c;
#pragma unroll
        for (int m = 0; m < 2; ++m)
            if (exists && inside(m)) to[m] = x.v[m];
    }
};

/// A pass over the entries of a point.
template <Pass pass>
struct Sweep {
    // The number of pairs whose blocks are loaded together: fewer where two resident thread blocks leave too few
    // registers.
    static constexpr int group_size = BLOCKS > 1 && DOF > 6 ? 4 : 8;

    const PointOfWarp& mine;
    const Arguments& a = mine.a;
    const Point& p = mine.p;
    Operand w[LOWER];           // -W_l
    int lower[LOWER];           // slots of lower neighbours
    Operand right[group_size];  // F of a group of pairs

    __device__ __forceinline__ void find_neighbours() {
#pragma unroll
        for (int l = 0; l < LOWER; ++l) lower[l] = p.near_or_own(a, l);
    }
    __device__ __forceinline__ void make_w() {
        constexpr int size = group_size / 2;
        unrolled<0, (LOWER + size - 1) / size>([&](auto group) {
            constexpr int begin = group.value * size, end = begin + size < LOWER ? begin + size : LOWER;
            Operand left[size], right[size];
#pragma unroll
            for (int l = begin; l < end; ++l) {
                left[l - begin] = mine.left(a.entry[l].before, p.slot, p.has_neighbour(a, l));
                right[l - begin] = mine.right<false>(a.entry[LOWER].before, lower[l]);
            }
            __syncwarp();  // all loads are issued before one is waited for
#pragma unroll
            for (int l = begin; l < end; ++l) {
                Block product{};
                mine.multiply_add<-1>(left[l - begin], right[l - begin], product);
                w[l] = mine.as_left(product);
            }
        });
    }

    /// F_u(p+l); if one triangle is stored, the transpose of E_-u(p+e).
    template <int pair>
    __device__ __forceinline__ Operand upper() const {
        constexpr int l = pair_l[pair], u = pair_u[pair], e = pair_e[pair];
        if constexpr (SYMMETRIC)
            return mine.right<true>(a.entry[ENTRIES - 1 - u].before, p.near(a, e));
        else
            return mine.right<false>(a.entry[u].before, lower[l]);
    }

    template <int e>
    __device__ __forceinline__ Block begin() const {
        Block x = mine.template staged<pass, e>();
        if constexpr (e == LOWER)
#pragma unroll
            for (int m = 0; m < 2; ++m)
                if (mine.r == mine.c + m) x.v[m] += a.alpha * x.v[m];
        return x;
    }
    template <int e>
    __device__ __forceinline__ void finish(Block x) {
        if constexpr (BY_ROWS && pass == Pass::guess && is_a_block(e)) {
            mine.store(a.a_blocks + (size_t)a_blocks_before(e) * a.slots * block_size, mine.template staged<pass, e>());
            if (e != LOWER && !a.entry[e].after) return;
        }
        if constexpr (e == LOWER)
            mine.template put_apart<pass>(x);
        else
            mine.store(a.entry[e].after, x);
    }

    template <int begin, int end>
    __device__ __forceinline__ void load_group() {
        unrolled<begin, end>([&](auto pair) { right[pair.value - begin] = upper<pair.value>(); });
    }

    /// Computes all that does not need A, while A's blocks are being copied.
    __device__ __forceinline__ void prepare() {
        if constexpr (pass == Pass::sweep) {
            find_neighbours();
            if constexpr (pairs <= group_size) load_group<0, pairs>();
            make_w();
        }
    }
    __device__ __forceinline__ void run() {
        if constexpr (pass == Pass::sweep) {
            Block x[ENTRIES];
            for_each_group<group_size>([&](auto first, auto end) {
                if constexpr (pairs > group_size) {
                    load_group<first.value, end.value>();
                    __syncwarp();
                }
                unrolled<first.value, end.value>([&](auto pair) {
                    constexpr int e = pair_e[pair.value];
                    if constexpr (pair.value == first_pair[e]) x[e] = begin<e>();
                    mine.multiply_add<1>(w[pair_l[pair.value]], right[pair.value - first.value], x[e]);
                    if constexpr (pair.value == last_pair[e]) finish<e>(x[e]);
                });
            });
        }
        unrolled<0, entries>([&](auto index) {
            constexpr int e = index.value;
            if constexpr (makes<pass>(e) && (pass != Pass::sweep || !has_pairs(e))) finish<e>(begin<e>());
        });
    }
};

/// Inverts the blocks in shared memory and writes them to global memory; the last sweep reports on their pivots.
template <Pass pass, bool last>
__device__ __forceinline__ void invert_apart(const Arguments& a, const Chunk& chunk) {
    double* const waiting = staged_block<pass>(staged_before<pass>(entries), 0);
    const double* const own = staged_block<pass>(staged_before<pass>(LOWER), 0);
    __syncthreads();
    // Whole warps take part, and their last lanes may repeat what another lane does.
    constexpr int warp_points = 32 / inverting_lanes;
    const int first = threadIdx.x / 32 * warp_points, point = threadIdx.x / inverting_lanes;
    if (first < chunk.count) {
        const int at = min(point, chunk.count - 1) * staged_size;
        const int slot = point < chunk.count ? chunk.first + point : -1;
        if constexpr (inverting_lanes > 1)
            invert_columns(a, waiting + at, own + at, slot, a.ratio != nullptr);
        else if (slot >= 0)
            invert_whole<last>(a, waiting + at, own + at, slot);
    }
    __syncthreads();
    double* const to = a.entry[LOWER].after + (long long)chunk.first * block_size;
    for (int q = threadIdx.x; q < chunk.count * block_size; q += threads)
        __stcs(to + q, waiting[q / block_size * staged_size + q % block_size]);
}

/// `last`: whether this is the last sweep, where one thread inverts a block. Where eight lanes do, arguments tell.
template <Pass pass, bool last = false>
__device__ __forceinline__ void sweep(const Arguments& a) {
    const Chunk chunk(a, block_points<pass>);
    if (chunk.count == 0) return;
    stage_matrix<pass>(a, chunk);
#pragma unroll 1
    for (int round = 0; round < rounds<pass>; ++round) {
        const PointOfWarp mine(a, chunk,
                               round * round_points + threadIdx.x / 32 * points + threadIdx.x % 32 / (32 / points));
        Sweep<pass> sweep{mine};
        sweep.prepare();
        if (round == 0) {
            wait_copies<0>();
            __syncthreads();
        }
        sweep.run();
    }
    invert_apart<pass, last>(a, chunk);
}

}  // namespace hyperplane
