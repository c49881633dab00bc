// SPDX-License-Identifier: BSD-3-Clause
// Triangular solves of StructILU on a GPU (Luo et al., StructILU, ICS 2025, sections 4.1, 4.2.1, 4.4).
//
//     M = (I + W) D (I + G)       W = E D^-1,  G = D^-1 F
//     lower   v(p) = r(p) - sum_l W_l(p) v(p+l)
//     upper   z(p) = D^-1(p) v(p) - sum_u G_u(p) z(p+u)
//
// Both sweeps are unit triangular, so D^-1 is never on the path from level to level. For D-ILU, whose E and F are
// the matrix's own (DILU):
//
//     lower   y(p) = D^-1(p) (r(p) - sum_l E_l(p) y(p+l))
//     upper   z(p) = y(p) - D^-1(p) sum_u F_u(p) z(p+u)
//
// The upper solve is the lower one on the grid seen from its far corner (precond/walks/tile_lines.cuh), where u is a
// lower offset. All coordinates below are of that view.
//
// Task mapping (4.1). A block owns a tile and walks its levels. On the skewed coordinate J every dependency goes to
// smaller or equal J and k: tiles depend on each other acyclically, and are taken by a ticket in the order of their
// lowest level, so a block only waits for blocks that have started already.
//
// Within a tile values pass from level to level through a ring of the last RING levels in shared memory.
// Between tiles they pass as edges: one 16-byte {value, epoch} record each, written and read in one piece. A
// record is this solve's when its epoch is, so there is no flag, no fence and nothing to reset. LOOKAHEAD sets of
// HALO_THREADS bring them, each those of every LOOKAHEAD-th level: a set comes to the barrier of its own level and is
// through with it at that of the next, and polls for its next one while other sets bring theirs.
//
// Latency-aware pipelined dot product (4.2.1). The terms of a row are shared out over GROUPS threads. Group 0 has
// those of level l - 1, the only ones on the path from level to level; the other groups sum the older terms of
// level l + 1 while group 0 finishes level l, so one barrier a level is all there is. Coefficients arrive through
// STAGES levels of asynchronous copies: values by LOADERS groups of warps that do nothing else, LOADER_LINES lines by a
// thread, of RUN lines 16 bytes at once, or each thread's own; blocks by bulk copies of one warp. STAGES = 0: they are
// read when they are needed.
//
// Here are the arguments and a tile in shared memory; precond/triangular/wavefront/edges.cuh has what passes between
// tiles, precond/triangular/wavefront/points.cuh and precond/triangular/wavefront/blocks.cuh a row's terms for one
// unknown a point and for more, precond/triangular/wavefront/kernel.cuh the walk over the levels.
//
// Definitions, besides those of precond/walks/tile_lines.cuh: LOWER (offsets, all that there are), OFFSET_LEVEL {their
// levels, below 0}, HALO_J, HALO_K, RING (a power of two), MAX_LEVEL (-min OFFSET_LEVEL), STAGES, DILU, MIRRORED (the
// upper triangle is read from the lower one), SKIP_OUTSIDE (entries that leave the grid are not zero but wrapped), DOT
// (also r^T M^-1 r of a symmetric M), HALO_THREADS, LOOKAHEAD (a power of two), EDGES_MEET, LOADERS, LOADER_LINES, RUN,
// BLOCKS (resident on a multiprocessor), GROUPS, TERMS {offsets, by group}, GROUP_BEGIN {GROUPS + 1 numbers}.
// Coefficients and D^-1 are kept as precond/factors/reduced_values.cuh says.
#pragma once

#include "precond/factors/reduced_values.cuh"
#include "precond/walks/kernel_parts.cuh"
#include "precond/walks/tile_lines.cuh"

namespace hyperplane {

struct alignas(16) Edge {
    double value;
    u64 epoch;
};

struct State {
    unsigned ticket, done;
    u64 epoch;
};

constexpr bool narrow = STORAGE > 0, halves = scaled_rows;

struct Arguments {
#if STORAGE == 2
    const unsigned char* exponents;  // [slot][row] of W; in the upper solve pairs, of what it multiplies and of D^-1
#endif
    const Value* triangles;  // W and G, as factors lie; E and F of one unknown a point: [entry][triangle_stride]
    const Value* inverse;    // D^-1
    const double* in;        // r, or the lower solve's result
    double* out;
    const Tile* tiles;
    const int* tile_at;  // [K][J], -1 where a tile has no line
    Edge* edges;         // [tile][i'][cell][component]
    State* state;
    double* partial;  // [tile]
    double* dot;
    int nx, ny, nz, tiles_j, tile_count, slots, triangle_stride, padding;
    int shift[LOWER];  // slot of p + o minus slot of p, modulo the slots
};

constexpr int columns = TJ + HALO_J, rows = TK + HALO_K;
constexpr int plane_size = rows * columns;
constexpr int warp_cells = 32 / DOF;  // the rows of a point are neighbours in one warp
constexpr int worker_threads = tile_threads(warp_cells);
TABLE term_of[] = TERMS;
TABLE group_begin[] = GROUP_BEGIN;
TABLE offset_level[] = OFFSET_LEVEL;
constexpr int holder = GROUPS > 1 ? 1 : 0;  // the group that has the right-hand side
constexpr bool scales = UPPER && !DILU;     // and D^-1 v
constexpr bool mirrored = UPPER && MIRRORED;

extern __shared__ __align__(16) double shared[];
constexpr int ring_size = (RING * DOF * plane_size + 1) / 2 * 2;
constexpr int exchange_size = 2 * (GROUPS - 1) * worker_threads;
// ring[RING][rows][columns][DOF], exchange, then what is on the way from memory

__device__ __forceinline__ double& ring_at(int level, int component, int row, int column) {
    return shared[((level & (RING - 1)) * plane_size + row * columns + column) * DOF + component];
}

/// The exponents that a row has in a sweep, in four bytes that hold them: asked for together, then found.
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

/// Begins to copy 4 bytes to shared memory.
__device__ __forceinline__ void copy_word(void* to, const void* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from)
                 : "memory");
}

/// Until all have come to a level: the values of the level before are in the ring.
__device__ __forceinline__ void meet_at(int level);
/// Edges of the level before are in the ring: the set of threads that brought them goes on.
__device__ __forceinline__ void show_edges(int level);

}  // namespace hyperplane
