// SPDX-License-Identifier: BSD-3-Clause
// The factorisation of the points of one colour (precond/multicolor/multicolor.hpp) with five to eight unknowns and a
// linear colouring, both triangles of A stored; a warp has a point, on tensor cores (precond/factors/tensor_point.cuh).
//
// A coefficient is contiguous over the places of a colour, a warp needs whole blocks. So a thread block has eight
// places that follow each other, and their blocks go through shared memory: A's, the right operands of products, and in
// the end the factors. All right operands belong to earlier colours; those of a group of products are requested
// together, one or two groups ahead. A warp loads the operands of two products together, which have one E_l and
// different results.
//
// Definitions: DOF, OPERANDS_AS_RESULTS, MOST_PRODUCTS (that the argument has room for).

#include "core/device/async_copies.cuh"
#include "precond/factors/tensor_point.cuh"
#include "precond/multicolor/factor_arguments.hpp"
#include "precond/multicolor/placed_point.cuh"

namespace hyperplane {

using Arguments = ColourFactorArgumentsOf<MOST_PRODUCTS>;

constexpr int block = DOF * DOF, places = 8, factor_threads = 32 * places;
constexpr int group = ColourProduct::group, together = ColourProduct::together;
constexpr int operand_size = padded_block + 2;  // neighbouring places are in different banks
constexpr int stage_size = group * places * operand_size;

// [place] of blocks [entry and the diagonal][8][8] + 2, then the stages [product][place][col][row], then the products
extern __shared__ __align__(16) double shared[];
__shared__ unsigned couplings[places][2];

/// The entries that lead into the grid from a place, a bit each; the last one is the diagonal.
struct Couplings {
    unsigned long long bits;

    __device__ explicit Couplings(const unsigned (&two)[2]) : bits((unsigned long long)two[1] << 32 | two[0]) {}
    __device__ __forceinline__ bool has(int e) const { return bits >> e & 1; }
    __device__ __forceinline__ bool has(const ColourProduct& it) const {
        return it.e != ColourProduct::nothing && has(it.l) && (it.e == ColourProduct::of_pivot || has(it.e));
    }
};

/// A thread of a thread block as one of those that copy coefficients: neighbouring threads have neighbouring places,
/// then the rows of a column.
struct Copier {
    const Arguments& a;
    const PlacedPoint p;
    const int at, first, point_size;
    const Couplings coupled;  // of the place

    __device__ Copier(const Arguments& arguments, int begin, int size)
        : a(arguments),
          p(arguments, begin + int(threadIdx.x) % places),
          at(threadIdx.x % places),
          first(threadIdx.x / places),
          point_size(size),
          coupled(couplings[threadIdx.x % places]) {}

    /// Calls body(row, col) for this thread's coefficients of a block.
    template <class Body>
    __device__ __forceinline__ void for_each(const Body& body) const {
#pragma unroll
        for (int q = 0; q < block; q += 32)
            if (q + first < block) body((q + first) % DOF, (q + first) / DOF);
    }
    __device__ __forceinline__ double* place_of(int e) const {
        return shared + at * point_size + e * padded_block;
    }

    /// Starts to copy A's blocks; those that lead out of the grid stay zero.
    __device__ __forceinline__ void start_matrix() const {
        if (p.exists) {
            const double* const from = a.a + p.slot(a);
#pragma unroll 2
            for (int e = 0; e <= a.entries; ++e) {
                if (!coupled.has(e)) continue;
                const long long own = e < a.entries ? a.entry[e].a_entry : a.a_diagonal;
                for_each([&](int r, int c) {
                    copy_8_async(place_of(e) + padded_place(r, c), from + (own * block + r * DOF + c) * a.a_stride);
                });
            }
        }
        commit_copies();
    }
    /// Starts to copy the right operands of a group of products, column by column.
    __device__ __forceinline__ void start_group(const ColourProduct* products, double* stage) const {
#pragma unroll
        for (int n = 0; n < group; ++n) {
            const ColourProduct it = products[n];
            if (!coupled.has(it)) continue;
            const double* const from = a.values + it.from + p.place;
            double* const to = stage + (n * places + at) * operand_size;
            for_each([&](int r, int c) { copy_8_async(to + c * 8 + r, from + (r * DOF + c) * a.pitch); });
        }
    }
    /// Writes the factors.
    __device__ __forceinline__ void store() const {
        if (!p.exists) return;
#pragma unroll 2
        for (int e = 0; e <= a.entries; ++e) {
            double* const to = a.values + (e < a.entries ? a.entry[e].kept : a.inverse) + p.place;
            for_each([&](int r, int c) { to[(r * DOF + c) * a.pitch] = place_of(e)[padded_place(r, c)]; });
        }
    }
};

/// The factorisation of a point by a warp.
struct FactoredPoint : PointBlocks {
    const Arguments& a;
    const Couplings coupled;
    int lower = -1;  // the entry that products are made with, and its block
    Operand minus_e{};

    __device__ FactoredPoint(const Arguments& arguments, double* blocks)
        : PointBlocks(threadIdx.x, blocks), a(arguments), coupled(couplings[threadIdx.x / 32]) {}

    /// A right operand in a stage.
    __device__ __forceinline__ Operand operand(const double* columns) const {
        if (DOF % 2 > 0) return right([&](int row, int column) { return columns[column * 8 + row]; });
        if (n >= DOF || col(0) >= DOF) return {0.0, 0.0};
        const double2 two = *(const double2*)(columns + n * 8 + col(0));
        return {two.x, two.y};
    }
    /// Products with one E_l, whose results are different blocks.
    __device__ __forceinline__ void multiply(const ColourProduct* products, const double* columns) {
        const int l = products[0].l;
        if (!coupled.has(l)) return;
        if (l != lower) {
            lower = l;
            const Block e_l = at(l);
            minus_e = {-e_l.v[0], -e_l.v[1]};
        }
        int to[together];
        Operand met[together];
        Block x[together];
#pragma unroll
        for (int n = 0; n < together; ++n) {
            const ColourProduct it = products[n];
            to[n] = !coupled.has(it) ? -1 : it.e == ColourProduct::of_pivot ? l : it.e;
        }
#pragma unroll
        for (int n = 0; n < together; ++n) {
            if (to[n] < 0) continue;
            met[n] = operand(columns + n * places * operand_size);
            x[n] = {};
            if (to[n] != l) x[n] = at(to[n]);
        }
#pragma unroll
        for (int n = 0; n < together; ++n)
            if (to[n] >= 0) multiply_add<1>(minus_e, met[n], x[n]);
#pragma unroll
        for (int n = 0; n < together; ++n) {
            if (to[n] < 0) continue;
            if (to[n] == l) x[n] = {-x[n].v[0], -x[n].v[1]};
            put(to[n], x[n]);
        }
    }
    /// Inverts the diagonal block and computes G.
    __device__ __forceinline__ void finish(const Block& own, const PlacedPoint& p) {
        const long long row = p.row(a);
        double ratio = 1.0;
        const Block x = inverted(at(a.entries), own, {{a.tolerance, a.boost, 0}, a.log}, row, ratio);
        put(a.entries, x);
        __syncwarp();
#pragma unroll 2
        for (int e = 0; e < a.entries; ++e)
            if (a.entry[e].later && coupled.has(e)) scale(e, left(x));
        if (lane == 0) a.ratios[row] = ratio;
    }
};

/// Waits until at most `pending` groups, up to two, have not arrived.
__device__ __forceinline__ void wait_groups(int pending) {
    switch (pending) {
        case 0: return wait_copies<0>();
        case 1: return wait_copies<1>();
        default: return wait_copies<2>();
    }
}

/// The products, at an address of which the compiler does not know that it is the argument's: the lanes of a warp read
/// constants one after the other.
__device__ __forceinline__ const ColourProduct* products_of(const Arguments& a) {
    const ColourProduct* at = a.product;
#ifdef __CUDA_ARCH__
    asm("" : "+l"(at));
#endif
    return at;
}

extern "C" __global__ void __launch_bounds__(factor_threads, 3) multicolor_factor(const __grid_constant__ Arguments a) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, begin = a.first + int(blockIdx.x) * places;
    const int point_size = (a.entries + 1) * padded_block + 2, groups = a.products / group;
    const int stages = a.stages;
    double* const stages_begin = shared + places * point_size;
    ColourProduct* const products = (ColourProduct*)(stages_begin + stages * stage_size);
    double* const blocks = shared + warp * point_size;
    const PlacedPoint p(a, begin + warp);
    for (int q = lane; q < point_size; q += 32) blocks[q] = 0.0;
    const ColourProduct* const given = products_of(a);
    for (int q = threadIdx.x; q < a.products; q += factor_threads) products[q] = given[q];
#pragma unroll
    for (int word = 0; word < 2; ++word) {
        const int e = 32 * word + lane;
        const unsigned bits = __ballot_sync(~0u, e < a.entries ? p.couples(a, e) : e == a.entries && p.exists);
        if (lane == 0) couplings[warp][word] = bits;
    }
    __syncthreads();
    const Copier copier(a, begin, point_size);
    copier.start_matrix();
    int requested = 0, at = 0;  // stages
    const auto start = [&](int number) {
        if (number < groups) copier.start_group(products + number * group, stages_begin + requested * stage_size);
        commit_copies();
        if (++requested == stages) requested = 0;
    };
    for (int ahead = 0; ahead < stages - 1; ++ahead) start(ahead);
    wait_groups(stages - 1);
    __syncthreads();
    FactoredPoint point(a, blocks);
    const Block own = point.at(a.entries);
    Block shifted = own;
#pragma unroll
    for (int m = 0; m < 2; ++m)
        if (point.r == point.c + m) shifted.v[m] *= 1.0 + a.alpha;
    point.put(a.entries, shifted);
    for (int number = 0; number < groups; ++number) {
        wait_groups(stages - 2);
        __syncthreads();  // the group has arrived, and the one before has been read
        start(number + stages - 1);
#pragma unroll
        for (int n = 0; n < group; n += together)
            point.multiply(products + number * group + n,
                           stages_begin + at * stage_size + (n * places + warp) * operand_size);
        if (++at == stages) at = 0;
    }
    if (p.exists) point.finish(own, p);
    __syncthreads();
    copier.store();
}

}  // namespace hyperplane
