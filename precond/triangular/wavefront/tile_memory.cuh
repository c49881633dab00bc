// SPDX-License-Identifier: BSD-3-Clause
// The shared memory of a tile in a wavefront solve, and constants of its threads. Definitions:
// precond/triangular/wavefront/solve.cuh.
#pragma once

#include "core/device/async_copies.cuh"
#include "precond/factors/reduced_values.cuh"
#include "precond/triangular/wavefront/arguments.hpp"
#include "precond/walks/tile_lines.cuh"
#include "precond/walks/unrolled.cuh"

namespace hyperplane {

constexpr bool reduced = STORAGE > 0, halves = scaled_rows;

typedef REAL Real;
using Arguments = SolveArguments<const Value, (LOWER > 0 ? LOWER : 1), Real>;

constexpr int columns = TJ + HALO_J, rows = TK + HALO_K;
constexpr int plane_size = rows * columns;
constexpr int warp_cells = 32 / DOF;  // the rows of a point are adjacent lanes of a warp
constexpr int consumer_threads = tile_threads(warp_cells);
TABLE term_of[] = TERMS;
TABLE group_begin[] = GROUP_BEGIN;
TABLE sum_begin[] = SUM_BEGIN;
TABLE offset_level[] = OFFSET_LEVEL;
constexpr int rhs_group = GROUPS > 1 ? 1 : 0;  // adds the right-hand side
constexpr bool scales = UPPER && !DILU;        // and multiplies it by D^-1
constexpr bool mirrored = UPPER && MIRRORED;

extern __shared__ __align__(16) double shared[];
constexpr int one_ring = (RING * DOF * plane_size + 1) / 2 * 2;
constexpr bool second_ring = EISENSTAT && !UPPER;  // of s, with the sign of D
constexpr int ring_size = one_ring * (EISENSTAT ? 2 : 1);
constexpr int exchange_size = 2 * (GROUPS - 1) * consumer_threads;
// Shared memory holds ring[RING][rows][columns][DOF], with EISENSTAT room for a second one, exchange[2][GROUPS -
// 1][consumer_threads], and the stages of asynchronous copies.

__device__ __forceinline__ double& ring_at(int level, int component, int row, int column) {
    return shared[((level & (RING - 1)) * plane_size + row * columns + column) * DOF + component];
}
/// The same in the second ring, with one unknown a point.
__device__ __forceinline__ double& second_at(int level, int row, int column) {
    return shared[one_ring + (level & (RING - 1)) * plane_size + row * columns + column];
}

/// x, or -x where d is negative.
__device__ __forceinline__ double with_sign_of(double d, double x) {
    return __hiloint2double(__double2hiint(x) ^ (__double2hiint(d) & 0x80000000), __double2loint(x));
}

/// The exponents of a row, which are loaded as part of four aligned bytes and then extracted.
struct RowExponents {
#if STORAGE == 2
    static constexpr int bytes = UPPER ? 2 : 1;

    __device__ __forceinline__ static const unsigned* word(const Arguments& a, int slot, int row) {
        return (const unsigned*)(a.exponents + (((long long)slot * DOF + row) * bytes & ~3ll));
    }
    __device__ __forceinline__ static unsigned found(unsigned word, int slot, int row) {
        return word >> ((unsigned(slot) * DOF + row) * bytes % 4 * 8);
    }
#else
    __device__ __forceinline__ static const unsigned* word(const Arguments&, int, int) {
        return nullptr;
    }
    __device__ __forceinline__ static unsigned found(unsigned, int, int) {
        return 0;
    }
#endif
};

/// Waits at the barrier of a level. After it the values of the level before are in the ring.
__device__ __forceinline__ void sync_level(int level);
/// Arrives at the barrier of a level without waiting, when the edges of the level before are in the ring.
__device__ __forceinline__ void arrive_at_level(int level);

}  // namespace hyperplane
