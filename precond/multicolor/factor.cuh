// SPDX-License-Identifier: BSD-3-Clause
// The factorisation of the points of one colour (precond/multicolor/multicolor.hpp) with five to eight unknowns and a
// linear colouring, both triangles of A stored; a warp has a point, on tensor cores (precond/factors/tensor_point.cuh).
//
// A coefficient is contiguous over the places of a colour, a warp needs whole blocks. So a thread block has eight
// places that follow each other, and their blocks go through shared memory: A's, the right operands of products, and in
// the end the factors. All right operands belong to earlier colours; they are requested GROUP products at a time,
// STAGES
// - 1 groups ahead.
//
// Definitions: DOF, OPERANDS_AS_RESULTS.

#include "precond/factors/tensor_point.cuh"
#include "precond/multicolor/factor_arguments.hpp"
#include "precond/multicolor/placed_point.cuh"
#include "precond/walks/async_copies.cuh"

namespace hyperplane {

using Arguments = ColourFactorArguments;

constexpr int block = DOF * DOF, places = 8, factor_threads = 32 * places;
constexpr int group = 4, stages = 3;            // products of a group; groups in shared memory
constexpr int operand_size = padded_block + 2;  // neighbouring places are in different banks
constexpr int stage_size = group * places * operand_size;

// [place] of blocks [entry and the diagonal][8][8] + 2, then the stages [product][place][col][row], then flags
// [place][entry]
extern __shared__ __align__(16) double shared[];

/// A thread of a thread block as one of those that copy coefficients: neighbouring threads have neighbouring places,
/// then the rows of a column.
struct Copier {
    const Arguments& a;
    const PlacedPoint p;
    const int at, first, point_size;
    const unsigned char* const coupled;  // of the place

    __device__ Copier(const Arguments& arguments, int begin, int size, const unsigned char* flags)
        : a(arguments),
          p(arguments, begin + int(threadIdx.x) % places),
          at(threadIdx.x % places),
          first(threadIdx.x / places),
          point_size(size),
          coupled(flags + at * (arguments.entries + 1)) {}

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
                if (!coupled[e]) continue;
                const long long own = e < a.entries ? a.entry[e].a_entry : a.a_diagonal;
                for_each([&](int r, int c) {
                    copy_8_async(place_of(e) + padded_place(r, c), from + (own * block + r * DOF + c) * a.a_stride);
                });
            }
        }
        commit_copies();
    }
    /// Starts to copy the right operands of a group of products, column by column.
    __device__ __forceinline__ void start_group(int number, double* stages_begin) const {
        double* const stage = stages_begin + number % stages * stage_size + at * operand_size;
#pragma unroll
        for (int n = 0; n < group; ++n) {
            const int product = number * group + n;
            if (product >= a.products) break;
            const ColourProduct& it = a.product[product];
            if (!coupled[it.l] || (it.e >= 0 && !coupled[it.e])) continue;
            const double* const from = a.values + it.from + p.place;
            double* const to = stage + n * places * operand_size;
            for_each([&](int r, int c) { copy_8_async(to + c * 8 + r, from + (r * DOF + c) * a.pitch); });
        }
        commit_copies();
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
    const unsigned char* const coupled;
    int lower = -1;  // the entry that products are made with, and its block
    Operand e_l{};

    __device__ FactoredPoint(const Arguments& arguments, double* blocks, const unsigned char* flags)
        : PointBlocks(threadIdx.x, blocks), a(arguments), coupled(flags) {}

    /// A right operand in a stage.
    __device__ __forceinline__ Operand operand(const double* columns) const {
        if (DOF % 2 > 0) return right([&](int row, int column) { return columns[column * 8 + row]; });
        if (n >= DOF || col(0) >= DOF) return {0.0, 0.0};
        const double2 two = *(const double2*)(columns + n * 8 + col(0));
        return {two.x, two.y};
    }
    __device__ __forceinline__ void multiply(const ColourProduct& it, const double* columns) {
        if (!coupled[it.l] || (it.e >= 0 && !coupled[it.e])) return;
        if (it.l != lower) lower = it.l, e_l = left(at(it.l));
        const Operand met = operand(columns);
        if (it.e < 0) return put_product(it.l, e_l, met);
        Block x = at(it.e);
        multiply_add<-1>(e_l, met, x);
        put(it.e, x);
    }
    /// Inverts the diagonal block and computes G.
    __device__ __forceinline__ void finish(const Block& own, const PlacedPoint& p) {
        const PivotJudge judge{{a.tolerance, a.boost, 0}, a.log};
        const long long row = p.row(a);
        double ratio = 1.0;
        Block x = at(a.entries);
        invert(x, own, [&](int q, double met, double mine, double scale) {
            ratio = fmin(ratio, judge.ratio(met, mine));
            return judge.usable(met, mine, scale, row * DOF + q, lane == 0);
        });
        put(a.entries, x);
        __syncwarp();
#pragma unroll 2
        for (int e = 0; e < a.entries; ++e)
            if (a.entry[e].later && coupled[e]) scale(e, left(x));
        if (lane == 0) a.ratios[row] = ratio;
    }
};

extern "C" __global__ void __launch_bounds__(factor_threads, 2) multicolor_factor(const __grid_constant__ Arguments a) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, begin = a.first + int(blockIdx.x) * places;
    const int point_size = (a.entries + 1) * padded_block + 2, groups = (a.products + group - 1) / group;
    double* const stages_begin = shared + places * point_size;
    unsigned char* const flags = (unsigned char*)(stages_begin + stages * stage_size);
    double* const blocks = shared + warp * point_size;
    const PlacedPoint p(a, begin + warp);
    for (int q = lane; q < point_size; q += 32) blocks[q] = 0.0;
    for (int e = lane; e <= a.entries; e += 32)
        flags[warp * (a.entries + 1) + e] = e < a.entries ? p.couples(a, e) : p.exists;
    __syncthreads();
    const Copier copier(a, begin, point_size, flags);
    copier.start_matrix();
#pragma unroll
    for (int ahead = 0; ahead < stages - 1; ++ahead) copier.start_group(ahead, stages_begin);
    wait_copies<stages - 1>();
    __syncthreads();
    FactoredPoint point(a, blocks, flags + warp * (a.entries + 1));
    const Block own = point.at(a.entries);
    Block shifted = own;
#pragma unroll
    for (int m = 0; m < 2; ++m)
        if (point.r == point.c + m) shifted.v[m] *= 1.0 + a.alpha;
    point.put(a.entries, shifted);
    for (int number = 0; number < groups; ++number) {
        wait_copies<stages - 2>();
        __syncthreads();  // the group has arrived, and the one before has been read
        copier.start_group(number + stages - 1, stages_begin);
#pragma unroll
        for (int n = 0; n < group; ++n)
            if (const int product = number * group + n; product < a.products)
                point.multiply(a.product[product],
                               stages_begin + number % stages * stage_size + (n * places + warp) * operand_size);
    }
    if (p.exists) point.finish(own, p);
    __syncthreads();
    copier.store();
}

}  // namespace hyperplane
