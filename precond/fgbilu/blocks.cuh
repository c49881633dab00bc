// SPDX-License-Identifier: BSD-3-Clause
// The common part of FGBILU's kernels. Algorithms 9 and 10 of Luo, Edwards, Luo, Mueller, Computers & Fluids 119, 2015,
// are precond/fgbilu/factor.cuh and precond/fgbilu/solve.cuh; the equations are in fgbilu.hpp.
//
// A thread block has neighbouring points of a hyperplane. Its threads are numbered in the order of memory, so that a
// warp reads consecutive values: if the coefficients of a point are contiguous (TOGETHER), so are the numbers of the
// point's threads; otherwise the slots of a coefficient are contiguous, and so are the numbers of the threads that have
// it at all points.
//
// Definitions: those of core/grid/grid_point.cuh for all 2 LOWER + 1 entries; STORAGE
// (precond/factors/reduced_values.cuh; 0 in the factorisation), DOF, LOWER, SYMMETRIC (one triangle is stored, and
// pivots must have the sign of A's diagonal), SHARES (E and F are A's and do not change), UNIT (solves read W = E D^-1
// and G = D^-1 F), TOGETHER (not if SYMMETRIC), OVERLAPPED (kernels follow each other by programmatic dependent
// launch), HALO_PLANES (on one of several ranks, the planes at either end of the grid that other ranks compute; else
// 0).
#pragma once

#include "core/grid/grid_point.cuh"
#include "precond/factors/coefficient_order.hpp"
#include "precond/factors/pivot_log.hpp"
#include "precond/factors/reduced_values.cuh"
#include "precond/fgbilu/arguments.hpp"
#include "precond/walks/next_level.cuh"

namespace hyperplane {

typedef long long Index;

using Arguments = FgBiluArguments<Value, 2 * LOWER + 1>;

// The tables of core/grid/grid_point.cuh for entries that are known only while a kernel runs.
__constant__ const int entry_x[] = OFFSET_X;
__constant__ const int entry_y[] = OFFSET_Y;
__constant__ const int entry_z[] = OFFSET_Z;

/// Whether a plane has points. At the ends of the whole grid the halo of a rank has none.
__device__ __forceinline__ bool is_known_plane(const Arguments& a, int k) {
    return HALO_PLANES > 0 ? unsigned(k - a.known_begin) < unsigned(a.known_planes) : unsigned(k) < unsigned(a.nz);
}

/// The point of a column of a level. If the column has no point, or does not exist, `exists` is false and `slot` is 0;
/// what is read there is not used.
struct Point {
    GridPoint at;
    int slot;
    bool exists;

    __device__ __forceinline__ Point(const Arguments& a, int column) {
        a.plane.find(a.nx, LEVEL_Y, LEVEL_Z, column, &at.i, &at.j, &at.k);
        exists = column < a.plane.columns && at.in_grid(a);
        const int line = at.j + a.ny * at.k;
        slot = !exists ? 0 : NATURAL ? at.i + a.nx * line : a.base + line;
    }
    /// The slot of the neighbour at offset e, or -1 if there is none.
    __device__ __forceinline__ int neighbour(const Arguments& a, int e) const {
        const GridPoint end = {at.i + entry_x[e], at.j + entry_y[e], at.k + entry_z[e]};
        const bool inside = end.in_grid(a) && (HALO_PLANES == 0 || is_known_plane(a, end.k));
        return exists && inside ? neighbour_slot(a, slot, e) : -1;
    }
    /// The same without branches, for e that the compiler knows.
    __device__ __forceinline__ int known_neighbour(const Arguments& a, int e) const {
        const bool inside = exists & (unsigned(at.i + offset_x[e]) < unsigned(a.nx)) &
                            (unsigned(at.j + offset_y[e]) < unsigned(a.ny)) & is_known_plane(a, at.k + offset_z[e]);
        const int there = neighbour_slot(a, slot, e);
        return inside ? there : -1;
    }
    __device__ Index row(const Arguments& a) const { return at.i + a.nx * (at.j + Index(a.ny) * at.k); }
};

constexpr int block = DOF * DOF, lowers = LOWER > 0 ? LOWER : 1;

__device__ __forceinline__ Index triangle_stride(const Arguments& a) {
    return SHARES ? a.a_stride : a.stride;
}
/// The place of coefficient (row, col) of an entry's block.
__device__ __forceinline__ Index place(Index stride, int entry, int slot, int row, int col) {
    return TOGETHER ? place_together<Index>(stride, DOF, entry, slot, row, col)
                    : place_apart<Index>(stride, DOF, entry, slot, row, col);
}
/// The address of coefficient (row, col) of the entry that couples `slot` to `there`.
__device__ __forceinline__ Value* coefficient(const Arguments& a, int entry, int slot, int there, int row, int col) {
    const Index stride = triangle_stride(a);
    if (SYMMETRIC && entry > LOWER) return a.triangles + place(stride, 2 * LOWER - entry, there, col, row);
    return a.triangles + place(stride, entry, slot, row, col);
}
__device__ __forceinline__ Value* inverse_at(const Arguments& a, int slot, int row, int col) {
    return a.inverse + place(a.stride, 0, slot, row, col);
}

/// The number of this thread's point in the thread block, and of this thread in the point.
template <int POINTS, int THREADS>
struct Share {
    const int point, thread;

    __device__ Share()
        : point(TOGETHER ? threadIdx.x / THREADS : threadIdx.x % POINTS),
          thread(TOGETHER ? threadIdx.x % THREADS : threadIdx.x / POINTS) {}
};

}  // namespace hyperplane
