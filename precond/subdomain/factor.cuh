// SPDX-License-Identifier: BSD-3-Clause
// Factorisation of subdomains with five to eight unknowns a point (precond/subdomain/ildu0.hpp), a warp a point, on
// tensor cores (precond/factors/tensor_point.cuh). There are two kernels:
//
//   1. subdomain_load sets X = A + alpha diag(A) where the factors will be; couplings between subdomains become zero.
//      A's coefficients are contiguous over neighbouring points, those of the factors over the rows of a point, so
//      they go through shared memory.
//   2. subdomain_factor: a thread block factors one subdomain, level by level, in place.
//
// Reading A in the second kernel would read four times as much: points of a level do not follow each other along x, so
// of each 32 bytes only 8 would be used.
//
// Definitions: DOF, OPERANDS_AS_RESULTS.

#include "precond/factors/pivot_log.hpp"
#include "precond/factors/tensor_point.cuh"
#include "precond/subdomain/factor_arguments.hpp"

namespace hyperplane {

using Arguments = SubdomainFactorArguments;

constexpr int block = DOF * DOF;

struct GridPoint {
    int x, y, z;
};

/// The thread block's subdomain.
struct Box {
    const Arguments& a;
    const GridPoint first;
    double* const values;

    __device__ explicit Box(const Arguments& arguments)
        : a(arguments),
          first{int(blockIdx.x) % a.count_x * a.size_x, int(blockIdx.x) / a.count_x % a.count_y * a.size_y,
                int(blockIdx.x) / (a.count_x * a.count_y) * a.size_z},
          values(a.values + blockIdx.x * a.subdomain_values) {}

    __device__ __forceinline__ int points() const { return a.size_x * a.size_y * a.size_z; }
    __device__ __forceinline__ GridPoint point(int local) const {
        return {first.x + local % a.size_x, first.y + local / a.size_x % a.size_y,
                first.z + local / (a.size_x * a.size_y)};
    }
    __device__ __forceinline__ int local(GridPoint p) const {
        return p.x - first.x + a.size_x * (p.y - first.y + a.size_y * (p.z - first.z));
    }
    __device__ __forceinline__ bool in_grid(GridPoint p) const { return p.x < a.nx && p.y < a.ny && p.z < a.nz; }
    /// Whether a point is in the grid and in the subdomain.
    __device__ __forceinline__ bool holds(GridPoint p) const {
        return unsigned(p.x - first.x) < unsigned(a.size_x) && unsigned(p.y - first.y) < unsigned(a.size_y) &&
               unsigned(p.z - first.z) < unsigned(a.size_z) && in_grid(p);
    }
    __device__ __forceinline__ GridPoint neighbour(GridPoint p, int e) const {
        return {p.x + a.offsets[3 * e], p.y + a.offsets[3 * e + 1], p.z + a.offsets[3 * e + 2]};
    }
    /// The slot of a point of the grid in A's layout.
    __device__ __forceinline__ long long slot(GridPoint p) const {
        if (a.natural) return p.x + a.nx * (p.y + (long long)a.ny * p.z);
        return ((long long)((p.x + a.level_y * p.y + a.level_z * p.z) % a.nx) * a.nz + p.z) * a.ny + p.y;
    }
    __device__ __forceinline__ long long row(GridPoint p) const { return p.x + a.nx * (p.y + (long long)a.ny * p.z); }
    /// The index of a block's coefficient (0, 0).
    __device__ __forceinline__ int block_at(const SubdomainPlace& place, int e) const {
        return e < a.lower ? place.lower + e * DOF * place.stride : place.upper + (e - a.lower) * DOF * place.stride;
    }
};

constexpr int load_threads = 256, load_points = 32;

__shared__ double tile[load_points][block | 1];  // [point][col][row], in different banks

/// Step 1, for one entry of one subdomain, 32 points at a time.
extern "C" __global__ void __launch_bounds__(load_threads, 4) subdomain_load(const __grid_constant__ Arguments a) {
    const Box box(a);
    const int e = blockIdx.y, thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    const bool mirrored = a.a_entry[e] >= a.stored;
    const int own = mirrored ? a.mirror - a.a_entry[e] : a.a_entry[e];
    for (int begin = 0; begin < box.points(); begin += load_points) {
        const GridPoint p = box.point(begin + lane), q = box.neighbour(p, e);
        const bool inside = begin + lane < box.points() && box.in_grid(p) && box.holds(q);
        const double* const from = a.a + own * block * a.a_stride + (inside ? box.slot(mirrored ? q : p) : 0);
#pragma unroll
        for (int at = 0; at < block; at += load_threads / 32) {
            const int coefficient = at + warp, r = coefficient / DOF, c = coefficient % DOF;
            if (coefficient >= block) break;
            double value = inside ? from[(mirrored ? c * DOF + r : coefficient) * a.a_stride] : 0.0;
            if (e == a.lower && r == c) value *= 1.0 + a.alpha;
            tile[lane][c * DOF + r] = value;
        }
        __syncthreads();
#pragma unroll 2
        for (int at = thread; at < load_points * block; at += load_threads) {
            const int number = begin + at / block, coefficient = at % block;
            if (number >= box.points() || !box.in_grid(box.point(number))) continue;
            const SubdomainPlace& place = a.places[number];
            box.values[box.block_at(place, e) + coefficient / DOF * place.stride + coefficient % DOF] =
                tile[at / block][coefficient];
        }
        __syncthreads();
    }
}

extern __shared__ __align__(16) double shared[];  // [warp][entry][8][8], then [warp][3][entry] of Neighbours

constexpr int most_warps = 8, at_once = 4;

__shared__ PivotRatio ratios[most_warps];

/// The neighbours of a warp's point in the subdomain, in shared memory.
struct Neighbours {
    int* const coupled;               ///< [entry]: whether there is one
    int *const upper, *const stride;  ///< [lower entry]: SubdomainPlace's

    __device__ explicit Neighbours(int* at, int entries) : coupled(at), upper(at + entries), stride(at + 2 * entries) {}

    __device__ __forceinline__ void find(const Box& box, GridPoint p, int entries, int lane) const {
        for (int e = lane; e < entries; e += 32) {
            const GridPoint q = box.neighbour(p, e);
            coupled[e] = box.holds(q);
            if (e >= box.a.lower || !coupled[e]) continue;
            const SubdomainPlace& place = box.a.places[box.local(q)];
            upper[e] = place.upper;
            stride[e] = place.stride;
        }
        __syncwarp();
    }
};

/// The factorisation of a point by a warp.
struct FactoredPoint : PointBlocks {
    const Box& box;
    const Arguments& a = box.a;
    const Neighbours& near;

    __device__ FactoredPoint(const Box& box_, double* blocks, const Neighbours& neighbours)
        : PointBlocks(threadIdx.x, blocks), box(box_), near(neighbours) {}

    /// The block whose coefficient (0, 0) is at `from`, column by column, as right operand.
    __device__ __forceinline__ Operand block_of(const double* from, int stride) const {
        const double* const mine = from + n * stride + col(0);  // rows col(0) and the next one of column n
        if (DOF % 2 > 0) return right([&](int row, int column) { return from[column * stride + row]; });
        if (n >= DOF || col(0) >= DOF) return {0.0, 0.0};
        const double2 two = *(const double2*)mine;
        return {two.x, two.y};
    }
    /// A block as result, from and to the factors.
    __device__ __forceinline__ Block loaded(const double* from, int stride) const {
        Block x{};
#pragma unroll
        for (int m = 0; m < 2; ++m)
            if (inside(m)) x.v[m] = from[(c + m) * stride + r];
        return x;
    }
    __device__ __forceinline__ void keep(double* to, int stride, const Block& x) const {
#pragma unroll
        for (int m = 0; m < 2; ++m)
            if (inside(m)) to[(c + m) * stride + r] = x.v[m];
    }

    __device__ __forceinline__ void eliminate_lower(int l) const {
        if (!near.coupled[l]) return;
        const int stride = near.stride[l];
        const double* const there = box.values + near.upper[l];
        const Operand e_l = left(at(l)), inverse_there = block_of(there, stride);
        subtract<at_once>(
            e_l, a.updates_begin[l], a.updates_begin[l + 1],
            [&](int update) {
                const int e = a.updates[2 * update + 1];
                return near.coupled[e] ? e : -1;
            },
            [&](int update) { return block_of(there + (a.updates[2 * update] - a.lower) * DOF * stride, stride); });
        put_product(l, e_l, inverse_there);
    }

    /// Loads X, factors it, and writes W, D^-1 and G.
    __device__ __forceinline__ void factor(int local, GridPoint p, PivotRatio& smallest) const {
        const SubdomainPlace place = a.places[local];
        const int entries = 2 * a.lower + 1, stride = place.stride;
#pragma unroll 4
        for (int e = 0; e < entries; ++e)
            if (near.coupled[e]) put(e, loaded(box.values + box.block_at(place, e), stride));
        Block own = at(a.lower);
        if (a.alpha != 0.0)
#pragma unroll
            for (int m = 0; m < 2; ++m)
                if (r == c + m && in_rows)
                    own.v[m] = a.a[(a.a_entry[a.lower] * block + r * DOF + r) * a.a_stride + box.slot(p)];
#pragma unroll 1
        for (int l = 0; l < a.lower; ++l) eliminate_lower(l);
        const PivotJudge judge{{a.tolerance, a.boost, a.definite}, a.log};
        const long long row = box.row(p);
        double ratio = 1.0;
        Block x = at(a.lower);
        invert(x, own, [&](int q, double met, double mine, double scale) {
            ratio = fmin(ratio, judge.ratio(met, mine));
            return judge.usable(met, mine, scale, row * DOF + q, lane == 0);
        });
        if (lane == 0) smallest.take(ratio, row);
        put(a.lower, x);
        __syncwarp();
#pragma unroll 2
        for (int u = a.lower + 1; u < entries; ++u)
            if (near.coupled[u]) scale(u, left(x));
#pragma unroll 4
        for (int e = 0; e < entries; ++e)
            if (near.coupled[e]) keep(box.values + box.block_at(place, e), stride, at(e));
    }
};

/// Step 2.
extern "C" __global__ void __launch_bounds__(32 * most_warps, __CUDA_ARCH__ >= 900 ? 3 : 2)
    subdomain_factor(const __grid_constant__ Arguments a) {
    const int warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32, entries = 2 * a.lower + 1;
    const Box box(a);
    const Neighbours near((int*)(shared + warps * entries * padded_block) + warp * 3 * entries, entries);
    const FactoredPoint point(box, shared + warp * entries * padded_block, near);
    if (lane == 0) ratios[warp] = {};
    for (int level = 0; level < a.levels; ++level) {
        const int end = a.begin[level + 1];
        for (int at = a.begin[level] + warp; at < end; at += warps) {
            const int local = a.points[at];
            const GridPoint p = box.point(local);
            if (!box.in_grid(p)) continue;
            near.find(box, p, entries, lane);
            point.factor(local, p, ratios[warp]);
            __syncwarp();
        }
        __syncthreads();
    }
    if (threadIdx.x > 0) return;
    PivotRatio smallest = ratios[0];
    for (int other = 1; other < warps; ++other) smallest.take(ratios[other].value, ratios[other].row);
    a.smallest[blockIdx.x] = smallest;
}

}  // namespace hyperplane
