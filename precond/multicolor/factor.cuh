// SPDX-License-Identifier: BSD-3-Clause
// The factorisation of the points of one colour (precond/multicolor/multicolor.hpp) with five to eight unknowns and a
// linear colouring, both triangles of A stored; a warp has a point, on tensor cores (precond/factors/tensor_point.cuh).
//
// A coefficient is contiguous over the places of a colour, a warp needs whole blocks. So a thread block has eight
// places that follow each other, and their blocks go through shared memory: A's, the right operands of products, and in
// the end the factors. All right operands belong to earlier colours; those of a group of products, all with the same
// E_l, are requested together, one to five groups ahead, as many as shared memory has stages for.
//
// Definitions: DOF, OPERANDS_AS_RESULTS.

#include "precond/factors/tensor_point.cuh"
#include "precond/multicolor/factor_arguments.hpp"
#include "precond/walks/async_copies.cuh"

namespace hyperplane {

using Arguments = ColourFactorArguments;

constexpr int block = DOF * DOF, places = 8, factor_threads = 32 * places;
constexpr int group = ColourProduct::group;
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
};

/// The point at a place.
struct PlacedPoint {
    int place, x, y, z;
    bool exists;

    __device__ PlacedPoint(const Arguments& a, int at) : place(at) {
        const long long number = a.base + (long long)at * a.colours + a.colour;
        z = int(number / a.plane);
        const int rest = int(number - (long long)z * a.plane);
        y = rest / a.line;
        x = rest - y * a.line;
        exists = at < a.last && x < a.nx && y < a.ny && z < a.nz;
    }
    __device__ __forceinline__ bool couples(const Arguments& a, int e) const {
        return exists && unsigned(x + a.entry[e].x) < unsigned(a.nx) && unsigned(y + a.entry[e].y) < unsigned(a.ny) &&
               unsigned(z + a.entry[e].z) < unsigned(a.nz);
    }
    __device__ __forceinline__ long long slot(const Arguments& a) const {
        if (a.natural) return x + a.nx * (y + (long long)a.ny * (z - a.begin_plane));
        return ((long long)((x + a.level_y * y + a.level_z * z) % a.nx) * a.nz + z) * a.ny + y;
    }
    __device__ __forceinline__ long long row(const Arguments& a) const {
        return x + a.nx * (y + (long long)a.ny * z) - a.first_row;
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
        double* const to = stage + at * operand_size;
#pragma unroll
        for (int n = 0; n < group; ++n) {
            const ColourProduct it = products[n];
            if (it.e < 0 || !coupled.has(it.l) || !coupled.has(it.e)) continue;
            const double* const from = a.values + it.from + p.place;
            for_each([&](int r, int c) {
                copy_8_async(to + n * places * operand_size + c * 8 + r, from + (r * DOF + c) * a.pitch);
            });
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
    /// The products of a group, whose results are different blocks.
    __device__ __forceinline__ void multiply(const ColourProduct* products, const double* columns) {
        const int l = products[0].l;
        if (!coupled.has(l)) return;
        if (l != lower) {
            lower = l;
            const Block e_l = at(l);
            minus_e = {-e_l.v[0], -e_l.v[1]};
        }
        int to[group];
        Operand met[group];
        Block x[group];
#pragma unroll
        for (int n = 0; n < group; ++n) {
            const int e = products[n].e;
            to[n] = e >= 0 && coupled.has(e) ? e : -1;
        }
#pragma unroll
        for (int n = 0; n < group; ++n) {
            if (to[n] < 0) continue;
            met[n] = operand(columns + n * places * operand_size);
            x[n] = {};
            if (to[n] != l) x[n] = at(to[n]);
        }
#pragma unroll
        for (int n = 0; n < group; ++n)
            if (to[n] >= 0) multiply_add<1>(minus_e, met[n], x[n]);
#pragma unroll
        for (int n = 0; n < group; ++n) {
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

/// Waits until at most `pending` groups, up to five, have not arrived.
__device__ __forceinline__ void wait_groups(int pending) {
    switch (pending) {
        case 0: return wait_copies<0>();
        case 1: return wait_copies<1>();
        case 2: return wait_copies<2>();
        case 3: return wait_copies<3>();
        case 4: return wait_copies<4>();
        default: return wait_copies<5>();
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
        point.multiply(products + number * group, stages_begin + at * stage_size + warp * operand_size);
        if (++at == stages) at = 0;
    }
    if (p.exists) point.finish(own, p);
    __syncthreads();
    copier.store();
}

}  // namespace hyperplane
