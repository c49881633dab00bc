// SPDX-License-Identifier: BSD-3-Clause
// Points of a grid and their slots in a layout, for kernels that find neighbours by their coordinates.
//
// Definitions (grid_point_definitions in core/grid/grid_point.hpp): NATURAL (the layout), LEVEL_Y, LEVEL_Z (of its
// levels i + LEVEL_Y j + LEVEL_Z k), OFFSET_X/Y/Z (of the entries). A kernel's arguments have nx, ny, nz and slots;
// those of kernels that call neighbour_slot have delta[entries], too (slot_deltas in core/grid/grid_point.hpp).
#pragma once

#include "core/grid/slots.hpp"

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
        return {x_of_rest(slot / (a.ny * a.nz) - LEVEL_Y * j - LEVEL_Z * k, a.nx), j, k};
    }
    __device__ __forceinline__ GridPoint neighbour(int e) const {
        return {i + offset_x[e], j + offset_y[e], k + offset_z[e]};
    }
    template <class Arguments>
    __device__ __forceinline__ bool in_grid(const Arguments& a) const {
        return unsigned(i) < unsigned(a.nx) && unsigned(j) < unsigned(a.ny) && unsigned(k) < unsigned(a.nz);
    }
    /// neighbour(e).in_grid(a) with fewer registers: on sm_100 par_ilu's sweeps would spill otherwise.
    template <class Arguments>
    __device__ __forceinline__ bool has_neighbour(const Arguments& a, int e) const {
        return unsigned(i + offset_x[e]) < unsigned(a.nx) && unsigned(j + offset_y[e]) < unsigned(a.ny) &&
               unsigned(k + offset_z[e]) < unsigned(a.nz);
    }
    template <class Arguments>
    __device__ __forceinline__ int slot(const Arguments& a) const {
        if (NATURAL) return natural_slot(i, j, k, a.nx, a.ny);
        return hyperplane_slot(i + LEVEL_Y * j + LEVEL_Z * k, j, k, a.nx, a.ny, a.nz);
    }
};

/// Slot of the neighbour at offset e; of some other point where it lies outside the grid.
template <class Arguments>
__device__ __forceinline__ int neighbour_slot(const Arguments& a, int slot, int e) {
    return shifted_slot(a, slot, a.delta[e]);
}

}  // namespace hyperplane
