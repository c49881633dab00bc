// SPDX-License-Identifier: BSD-3-Clause
// Points of a grid and their slots in a layout, for kernels that follow points. Definitions (core/grid/grid_point.hpp
// gives them): NATURAL (the layout), LEVEL_Y, LEVEL_Z (of its levels i + LEVEL_Y j + LEVEL_Z k), OFFSET_X/Y/Z (of the
// entries). A kernel's arguments have nx, ny, nz, slots and `delta`, for each entry: slot of p + o minus slot of p,
// modulo the slots, in [0, slots).
//
// A neighbour's slot is the slot plus a constant of its offset, modulo the slots. Where the neighbour lies outside the
// grid that is some other point.
#pragma once

namespace hyperplane {

__device__ constexpr int offset_x[] = OFFSET_X;
__device__ constexpr int offset_y[] = OFFSET_Y;
__device__ constexpr int offset_z[] = OFFSET_Z;

struct GridPoint {
    int i, j, k;

    template <class Arguments>
    __device__ __forceinline__ static GridPoint at(const Arguments& a, int slot) {
        if (NATURAL) return {slot % a.nx, slot / a.nx % a.ny, slot / (a.nx * a.ny)};
        const int j = slot % a.ny, k = slot / a.ny % a.nz;
        int i = (slot / (a.ny * a.nz) - LEVEL_Y * j - LEVEL_Z * k) % a.nx;
        if (i < 0) i += a.nx;
        return {i, j, k};
    }
    __device__ __forceinline__ GridPoint neighbour(int e) const {
        return {i + offset_x[e], j + offset_y[e], k + offset_z[e]};
    }
    template <class Arguments>
    __device__ __forceinline__ bool in_grid(const Arguments& a) const {
        return unsigned(i) < unsigned(a.nx) && unsigned(j) < unsigned(a.ny) && unsigned(k) < unsigned(a.nz);
    }
    /// neighbour(e).in_grid(a) in fewer registers, of which sweeps have none to spare on sm_100.
    template <class Arguments>
    __device__ __forceinline__ bool has_neighbour(const Arguments& a, int e) const {
        return unsigned(i + offset_x[e]) < unsigned(a.nx) && unsigned(j + offset_y[e]) < unsigned(a.ny) &&
               unsigned(k + offset_z[e]) < unsigned(a.nz);
    }
    template <class Arguments>
    __device__ __forceinline__ int slot(const Arguments& a) const {
        if (NATURAL) return i + a.nx * (j + a.ny * k);
        return ((i + LEVEL_Y * j + LEVEL_Z * k) % a.nx * a.nz + k) * a.ny + j;
    }
};

/// Slot of the neighbour at offset e; some other one where there is none.
template <class Arguments>
__device__ __forceinline__ int neighbour_slot(const Arguments& a, int slot, int e) {
    const int there = slot + a.delta[e];
    return there >= a.slots ? there - a.slots : there;
}

}  // namespace hyperplane
