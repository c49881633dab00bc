// SPDX-License-Identifier: BSD-3-Clause
// Step 1 of the factorisation of subdomains on tensor cores (precond/subdomain/factor.cuh): which points a subdomain
// has, and the kernel that sets X = A + alpha diag(A) where the factors will be; couplings between subdomains become
// zero. A's coefficients are contiguous over neighbouring points, those of the factors over the rows of a point, so
// they go through shared memory.
//
// Definition: DOF.
#pragma once

#include "core/grid/slots.hpp"
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

    __device__ Box(const Arguments& arguments, int number)
        : a(arguments),
          first{number % a.count_x * a.size_x, number / a.count_x % a.count_y * a.size_y,
                number / (a.count_x * a.count_y) * a.size_z},
          values(a.values + number * a.subdomain_values) {}

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
        if (a.natural) return natural_slot<long long>(p.x, p.y, p.z, a.nx, a.ny);
        return hyperplane_slot<long long>(p.x + a.level_y * p.y + a.level_z * p.z, p.y, p.z, a.nx, a.ny, a.nz);
    }
    __device__ __forceinline__ long long row(GridPoint p) const { return p.x + a.nx * (p.y + (long long)a.ny * p.z); }
    /// The index of a block's coefficient (0, 0).
    template <class Place>
    __device__ __forceinline__ int block_at(const Place& place, int e) const {
        return e < a.lower ? place.lower + e * DOF * place.stride : place.upper + (e - a.lower) * DOF * place.stride;
    }
};

constexpr int load_threads = 256, load_points = 32;
constexpr int width = DOF % 2 == 0 ? 2 : 1;                // rows of a column that are moved at once
constexpr int pieces = block / width;                      // of a block
constexpr int tile_size = width == 2 ? block + 2 : block;  // neighbouring points are in different banks
static_assert(tile_size % width == 0, "what is moved at once is aligned");

__shared__ __align__(16) double tiles[2][load_points][tile_size];  // [entry % 2][point][col][row]
__shared__ SubdomainPlace load_places[load_points];

/// The two coefficients, or the one, that are moved at once.
__device__ __forceinline__ void move(double* to, const double* from) {
    if constexpr (width == 2)
        *(double2*)to = *(const double2*)from;
    else
        *to = *from;
}

/// Step 1, for 32 points of one subdomain; the next thread block has the next ones, since a step of the factors has
/// points of many lines, whose columns lie side by side.
struct Loader {
    static constexpr int warps = load_threads / 32, each = (block + warps - 1) / warps;  // coefficients of a thread

    const Box& box;
    const Arguments& a = box.a;
    const GridPoint p;  // whose coefficients this lane reads
    const bool exists;
    const long long slot;
    double read[each] = {};

    __device__ Loader(const Box& box_, int begin)
        : box(box_),
          p(box_.point(begin + int(threadIdx.x) % 32)),
          exists(begin + int(threadIdx.x) % 32 < box_.points() && box_.in_grid(p)),
          slot(exists ? box_.slot(p) : 0) {}

    __device__ __forceinline__ void request(int e) {
        const int warp = threadIdx.x / 32, entry = a.a_entry[e];
        const GridPoint q = box.neighbour(p, e);
        const bool inside = exists && box.holds(q), mirrored = entry >= a.stored;
        const int own = mirrored ? a.mirror - entry : entry;
        const double* const from =
            a.a + (long long)own * block * a.a_stride + (inside && mirrored ? box.slot(q) : slot);
#pragma unroll
        for (int n = 0; n < each; ++n) {
            const int coefficient = n * warps + warp, r = coefficient / DOF, c = coefficient % DOF;
            if (coefficient >= block) break;
            read[n] = inside ? from[(mirrored ? c * DOF + r : coefficient) * a.a_stride] : 0.0;
        }
    }
    __device__ __forceinline__ void put(int e) const {
        const int warp = threadIdx.x / 32;
#pragma unroll
        for (int n = 0; n < each; ++n) {
            const int coefficient = n * warps + warp, r = coefficient / DOF, c = coefficient % DOF;
            if (coefficient >= block) break;
            tiles[e % 2][threadIdx.x % 32][c * DOF + r] = e == a.lower && r == c ? read[n] * (1.0 + a.alpha) : read[n];
        }
    }
    __device__ __forceinline__ void write(int e) const {
        const int piece = threadIdx.x % pieces, first = threadIdx.x / pieces, step = load_threads / pieces;
        if (first >= step) return;
#pragma unroll 2
        for (int at = first; at < load_points; at += step) {
            const SubdomainPlace place = load_places[at];
            if (place.stride == 0) continue;
            move(box.values + box.block_at(place, e) + piece * width / DOF * place.stride + piece * width % DOF,
                 tiles[e % 2][at] + piece * width);
        }
    }
};

extern "C" __global__ void __launch_bounds__(load_threads, 4) subdomain_load(const __grid_constant__ Arguments a) {
    const int parts = (a.size_x * a.size_y * a.size_z + load_points - 1) / load_points, number = blockIdx.x;
    const Box box(a, number / parts);
    const int begin = number % parts * load_points, entries = 2 * a.lower + 1;
    Loader loader(box, begin);
    if (threadIdx.x < load_points) {
        load_places[threadIdx.x] = {};
        if (loader.exists) load_places[threadIdx.x] = a.places[begin + threadIdx.x];
    }
    loader.request(0);
    for (int e = 0; e < entries; ++e) {
        loader.put(e);
        __syncthreads();
        if (e + 1 < entries) loader.request(e + 1);
        loader.write(e);
    }
}

}  // namespace hyperplane
