// SPDX-License-Identifier: BSD-3-Clause
// Where the factorisation of points of one, two or four unknowns has its values in shared memory: the factors of the
// last RING levels of a tile with its halo, and the rows of the matrix for STAGES levels. Definitions:
// precond/struct_ilu/registers.cuh.
#pragma once

#include "precond/struct_ilu/tables.cuh"

namespace hyperplane {

constexpr int consumer_threads = (TJ * TK * DOF + 31) / 32 * 32;
constexpr int block_size = DOF * DOF;
constexpr int first_shared = SYMMETRIC || SHARES ? 0 : LOWER;  // the first entry in shared memory
constexpr int shared_entries = SHARES ? 1 : LOWER + 1, shared_values = shared_entries * block_size;
constexpr int columns = TJ + HALO_J, rows = TK + HALO_K, plane_size = rows * columns;
constexpr int level_size = shared_values * plane_size;
constexpr int stage_place = RING * level_size;
constexpr bool stages_upper = SHARES && !SYMMETRIC;  // F_-l(p+l) is staged, too
constexpr int staged_entries = entries + (stages_upper ? LOWER : 0);

/// Value `v` of entry first_shared + v / block_size at a level, in a row and column of the tile with its halo.
__device__ __forceinline__ double& near_at(int level, int v, int row, int column) {
    return shared[(level & (RING - 1)) * level_size + v * plane_size + row * columns + column];
}

/// Coefficient c of entry e in a thread's row of the matrix. The levels use STAGES stages in turn.
__device__ __forceinline__ double& staged(int level, int e, int c, int thread) {
    return shared[stage_place + (((level % STAGES) * staged_entries + e) * DOF + c) * consumer_threads + thread];
}

}  // namespace hyperplane
