// SPDX-License-Identifier: BSD-3-Clause
// The coarse point of a thread, in the order of GridStep: neighbouring threads have neighbouring weights, and fine
// points whose slots lie two apart. Blocks along the last coordinate follow each other, so that what they read in
// common is still in the caches; a block may have several places along it, which share what the first cache holds.
//
// Definitions: THREADS (of a block), AXIS_X, AXIS_Y, AXIS_Z (1 where the axis is coarsened), DOF.
#pragma once

#include "precond/multigrid/grid_slots.cuh"

namespace hyperplane::multigrid {

struct CoarsePoint {
    int i, j, k;
    int slot;  // in the order of the weights, in memory
    int fine;  // slot of the fine point that coincides with it
    bool exists;

    __device__ __forceinline__ explicit CoarsePoint(const GridStep& s) {
        unsigned block = blockIdx.x;
        const int u = block % s.tiles * s.columns + threadIdx.x % s.columns;
        block /= s.tiles;
        const int thread = threadIdx.x / s.columns, layers = THREADS / (s.columns * s.rows);
        const int blocks = (s.extent[2] + layers - 1) / layers;
        const int w = block % blocks * layers + thread / s.rows;
        const int v = block / blocks * s.rows + thread % s.rows;
        exists = u < s.extent[0] && v < s.extent[1] && w < s.extent[2];
        slot = ((w + s.begin - s.order.first) * s.extent[1] + v) * s.extent[0] + u;
        i = u, j = v, k = w + s.begin;
        if (!s.order.natural) {
            j = u, k = v;
            i = (w - s.order.level_y * j - s.order.level_z * k) % s.order.nx;
            if (i < 0) i += s.order.nx;
        }
        fine = slot_of(s.fine, i << AXIS_X, j << AXIS_Y, k << AXIS_Z);
    }
    /// Whether the fine point at (x, y, z) from it exists.
    __device__ __forceinline__ bool has_fine(const GridStep& s, int x, int y, int z) const {
        return unsigned((i << AXIS_X) + x) < unsigned(s.fine.nx) && unsigned((j << AXIS_Y) + y) < unsigned(s.fine.ny) &&
               unsigned((k << AXIS_Z) + z) < unsigned(s.fine.nz);
    }
    __device__ __forceinline__ bool has_coarse(const GridStep& s, int x, int y, int z) const {
        return unsigned(i + x) < unsigned(s.order.nx) && unsigned(j + y) < unsigned(s.order.ny) &&
               unsigned(k + z) < unsigned(s.order.nz);
    }
};

/// slot + delta modulo the slots, for delta in [0, slots).
__device__ __forceinline__ int shifted(int slot, int delta, int slots) {
    const unsigned there = unsigned(slot) + unsigned(delta);
    return int(min(there, there - unsigned(slots)));
}

/// The same as a value that the compiler keeps, and does not compute anew wherever it is used.
__device__ __forceinline__ int kept_shifted(int slot, int delta, int slots) {
    int there = shifted(slot, delta, slots);
    asm volatile("" : "+r"(there));
    return there;
}

/// from[slot], which no kernel writes while this one runs. It is one piece for the compiler, which would otherwise hold
/// values and addresses in registers that are needed again much later, and spill them.
__device__ __forceinline__ double loaded(const double* from, int slot) {
    double value;
    asm volatile("{ .reg .u64 at; mad.wide.u32 at, %1, 8, %2; ld.global.nc.f64 %0, [at]; }"
                 : "=d"(value)
                 : "r"(slot), "l"(from));
    return value;
}

/// from[shifted(slot, delta, slots)], which no kernel writes while this one runs. It is one piece for the compiler,
/// which would otherwise hold values and addresses in registers that are needed again much later, and spill them.
__device__ __forceinline__ double loaded(const double* from, int slot, int delta, int slots) {
    double value;
    asm volatile(
        "{ .reg .u32 there, back; .reg .u64 at;\n"
        "add.u32 there, %1, %2; sub.u32 back, there, %3; min.u32 there, there, back;\n"
        "mad.wide.u32 at, there, 8, %4; ld.global.nc.f64 %0, [at]; }"
        : "=d"(value)
        : "r"(slot), "r"(delta), "r"(slots), "l"(from));
    return value;
}

}  // namespace hyperplane::multigrid
