// SPDX-License-Identifier: BSD-3-Clause
// The threads of GROUPS groups that share the entries of a row (StructILU paper, section 4.2.2), with what
// precond/struct_ilu/row_groups.cuh and row_pipeline.cuh have in common. Definition besides those of
// precond/struct_ilu/registers.cuh: GROUP_OF (of each entry that is computed). RING is not 0.
//
// The groups have the same points, so thread t of each group has the same row of the same point. They give each other
// results in shared memory. Only the warps of the same points wait for each other.
#pragma once

#include "precond/struct_ilu/places.cuh"
#include "precond/struct_ilu/row.cuh"

namespace hyperplane {

TABLE group_of[] = GROUP_OF;
constexpr int exchange_place = stage_place + STAGES * staged_entries * DOF * consumer_threads;

/// Coefficient c of a thread's row of what the groups give each other at place `at`.
__device__ __forceinline__ double& exchanged(int at, int c, int thread) {
    return shared[exchange_place + (at * DOF + c) * consumer_threads + thread];
}

/// A thread with one row of a point's blocks of its group's entries.
struct RowOfGroup : RowOfPoint {
    static constexpr int threads = GROUPS * consumer_threads;
    const int group, column, tile_row;

    __device__ RowOfGroup(const Arguments& arguments, const Tile& tile, int, int thread_)
        : RowOfPoint(arguments, tile, thread_ % consumer_threads, thread_ % consumer_threads / DOF, thread_ % DOF),
          group(thread_ / consumer_threads),
          column(HALO_J + thread / DOF % TJ),
          tile_row(HALO_K + thread / DOF / TJ) {}

    /// Pivots are reported by the group that inverts them.
    __device__ bool exists() const { return line.valid && group == group_of[LOWER]; }

    /// The warps of these points wait for each other.
    __device__ __forceinline__ void wait_for_groups() const {
        static_assert(consumer_threads / 32 <= 13);
        asm volatile("barrier.sync %0, %1;" ::"r"(2 + thread / 32), "n"(32 * GROUPS) : "memory");
    }

    /// Coefficient (m, c) of a block of the factors, or of its transpose: entry `entry` at the neighbour to which entry
    /// `at` leads.
    __device__ __forceinline__ double neighbour(int entry, int at, int m, int c, int level,
                                                bool transposed = false) const {
        return near_at(level + B * offset_y[at] + C * offset_z[at] + offset_x[at],
                       (entry - first_shared) * block_size + (transposed ? c * DOF + m : m * DOF + c),
                       tile_row + offset_z[at], column + offset_y[at] + SKEW * offset_z[at]);
    }

    /// Stores a row of an entry for the solves, and for the neighbours if they read it.
    template <int e>
    __device__ __forceinline__ void store(const double* x, int level, int at) const {
#pragma unroll
        for (int c = 0; c < DOF; ++c) {
            a.entry[e].x[(long long)at * block_size + row * DOF + c] = x[c];
            if (e >= first_shared)
                near_at(level, (e - first_shared) * block_size + row * DOF + c, tile_row, column) = x[c];
        }
    }
};

}  // namespace hyperplane
