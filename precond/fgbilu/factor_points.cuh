// SPDX-License-Identifier: BSD-3-Clause
// FGBILU's factorisation of one hyperplane (Algorithm 9) for blocks of five to eight unknowns that are contiguous, with
// a warp for each point, on tensor cores (precond/factors/tensor_point.cuh).
//
// A kernel reads A, and writes W, D^-1 and G, or E, D^-1 and F, unless UNIT. A's blocks are copied to shared memory and
// transposed: in global memory a coefficient is contiguous over neighbouring points. They do not depend on other
// hyperplanes, so they are requested before the wait for the hyperplane before (OVERLAPPED). Blocks that lead out of
// the grid stay A's.
//
// Definitions, beside precond/fgbilu/blocks.cuh's: PAIR_BEGIN {LOWER + 1 numbers}, PAIR_U, PAIR_E (the eliminations of
// each l), FACTOR_POINTS (of a thread block).

#include "core/device/async_copies.cuh"
#include "precond/factors/tensor_point.cuh"
#include "precond/fgbilu/blocks.cuh"

namespace hyperplane {

__constant__ const int pair_begin[] = PAIR_BEGIN;
__constant__ const int pair_u[] = PAIR_U;
__constant__ const int pair_e[] = PAIR_E;

constexpr int entries = 2 * LOWER + 1;
constexpr int point_size = entries * padded_block + 2;  // neighbouring points are in different banks
constexpr int factor_threads = 32 * FACTOR_POINTS;
constexpr int at_once = 8;  // pairs

extern __shared__ __align__(16) double shared[];    // [point][point_size]
__shared__ int neighbours[FACTOR_POINTS][entries];  // slots, or -1

/// A's block of an entry.
__device__ __forceinline__ const double* matrix_block(const Arguments& a, int e) {
    return a.diagonal + Index(e - LOWER) * block * a.a_stride;
}

/// Starts to copy A's blocks; the padding of blocks in shared memory must be zero.
__device__ __forceinline__ void start_copies(const Arguments& a) {
    const int point = threadIdx.x % FACTOR_POINTS, first = threadIdx.x / FACTOR_POINTS;
    const Point p(a, blockIdx.x * FACTOR_POINTS + point);
    if (p.exists)
#pragma unroll 2
        for (int e = 0; e < entries; ++e) {
            const double* const from = matrix_block(a, e) + p.slot;
            double* const to = shared + point * point_size + e * padded_block;
#pragma unroll
            for (int q = first; q < block; q += 32)
                copy_8_async(to + padded_place(q / DOF, q % DOF), from + q * a.a_stride);
        }
    commit_copies();
}

/// The factorisation of a point by a warp; `there` are the slots of its neighbours, or -1.
struct FactoredPoint : PointBlocks {
    const Arguments& a;
    const Point& p;
    const int* const there;

    __device__ FactoredPoint(const Arguments& arguments, const Point& point, double* blocks, const int* slots)
        : PointBlocks(threadIdx.x, blocks), a(arguments), p(point), there(slots) {}

    /// A contiguous block of another point as right operand.
    __device__ __forceinline__ Operand block_of(const double* values) const {
        return right([&](int row, int col) { return __ldcg(values + row * DOF + col); });
    }
    __device__ __forceinline__ double* triangle(int e, int slot) const {
        return a.triangles + (Index(e) * a.stride + slot) * block;
    }
    __device__ __forceinline__ double* inverse(int slot) const { return a.inverse + Index(slot) * block; }

    __device__ __forceinline__ void eliminate_lower(int l) const {
        const int near = there[l];
        if (near < 0) return;
        const Operand e_l = left(at(l)), inverse_there = block_of(inverse(near));
        Block w{};
        if (!UNIT) multiply_add<1>(e_l, inverse_there, w);
        // What p + l has is G if UNIT, and F otherwise.
        subtract<at_once>(
            UNIT ? e_l : left(w), pair_begin[l], pair_begin[l + 1],
            [&](int pair) { return there[pair_e[pair]] < 0 ? -1 : pair_e[pair]; },
            [&](int pair) { return block_of(triangle(pair_u[pair], near)); });
        if (UNIT) put_product(l, e_l, inverse_there);
    }

    __device__ __forceinline__ void factor(int column) const {
        const Block own = at(LOWER);
        Block x = own;
#pragma unroll
        for (int m = 0; m < 2; ++m)
            if (r == c + m) x.v[m] *= 1.0 + a.alpha;
        put(LOWER, x);
#pragma unroll 1
        for (int l = 0; l < LOWER; ++l) eliminate_lower(l);
        double ratio = 1.0;
        x = inverted(at(LOWER), own, {{a.tolerance, a.boost, SYMMETRIC}, a.log}, p.row(a), ratio);
        store(inverse(p.slot), x);
        if (UNIT) {
            __syncwarp();
#pragma unroll 2
            for (int e = LOWER + 1; e < entries; ++e)
                if (there[e] >= 0) scale(e, left(x));
        }
#pragma unroll 2
        for (int e = 0; e < entries; ++e)
            if (e != LOWER) store(triangle(e, p.slot), at(e));
        if (lane == 0) a.ratios[column].take(ratio, p.row(a));
    }
};

extern "C" __global__ void __launch_bounds__(factor_threads, FACTOR_POINTS == 8 ? 2 : 1)
    fgbilu_factor_points(const __grid_constant__ Arguments a) {
    const int point = threadIdx.x / 32, lane = threadIdx.x % 32, column = blockIdx.x * FACTOR_POINTS + point;
    double* const blocks = shared + point * point_size;
    let_next_level_begin();
    const Point p(a, column);
    if (DOF < 8) {
        for (int q = lane; q < entries * padded_block; q += 32) blocks[q] = 0.0;
        __syncthreads();
    }
    start_copies(a);
    for (int e = lane; e < entries; e += 32) neighbours[point][e] = e == LOWER ? p.slot : p.neighbour(a, e);
    wait_copies<0>();
    wait_for_level();
    __syncthreads();
    if (p.exists) FactoredPoint(a, p, blocks, neighbours[point]).factor(column);
}

}  // namespace hyperplane
