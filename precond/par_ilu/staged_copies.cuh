// SPDX-License-Identifier: BSD-3-Clause
// The copies to shared memory of a staged sweep (precond/par_ilu/staged.cuh): rows of blocks, and A's entries.
//
// Pair (l, u) reads the same block at p as (l', u) at p', if l' differs from l along x alone and p + l = p' + l'. A run
// of points consists of `width` slots in each of two neighbouring planes of the layout, which differ along x. So for
// each u, and for all l that differ along x alone, one row of blocks, plane after plane, has what all points and pairs
// read, and is copied once. Two producer warps copy rows and one copies A's entries, as far ahead as their rings have
// room, also for the next run; the other warps are those of precond/par_ilu/staged.cuh. Thus less is read from the
// second-level cache, and consumers do not wait for it.
//
// If a neighbour is outside the grid, W is zero, and is multiplied by the block of some other point.
//
// Rows of E_l(p) and of D^-1(p+l) come first, then those of F_u(p+l); rows for entries e that differ along x alone are
// adjacent.
//
// For small blocks the time of the sweep was that of the producer warps, as long as their instructions depended on each
// other (docs/log/par_ilu_sweep.md). Therefore they compute the source of the next row before its stage is free, and
// start all copies of a row without branches.
//
// Definitions: precond/par_ilu/sweep.cuh's (not of SYMMETRIC), and ROWS, ROW_KIND (0: E, 1: D^-1, 2: F), ROW_SOURCE
// (bits 0 to 7: the entry that is read; 8 to 15: the entry at whose offset the row begins; from 16 on: number of planes
// that the row has in addition to the run's), MOST_SPAN (the largest of these numbers); ROW_TERMS {ROWS + 1 numbers:
// where the terms of each row begin}, and for each term TERM_L, TERM_E, TERM_SHIFT (planes from the row's first one);
// FIRST_TERM, LAST_TERM of each entry; FINISHED (the entries that A has, in the order in which they are completed);
// ROW_RING (number of stages of STAGE_ROWS rows), A_RING (number of stages of one entry).
#pragma once

#include "precond/par_ilu/tensor.cuh"

namespace hyperplane {

__device__ constexpr int row_kind[] = ROW_KIND;
__device__ constexpr int row_terms[] = ROW_TERMS;
__device__ constexpr int term_l[] = TERM_L;
__device__ constexpr int term_e[] = TERM_E;
__device__ constexpr int term_shift[] = TERM_SHIFT;
__device__ constexpr int first_term[] = FIRST_TERM;
__device__ constexpr int last_term[] = LAST_TERM;
// Tables that are indexed by numbers known only while the kernel runs.
__constant__ const unsigned row_source[] = ROW_SOURCE;
__constant__ const int finished[] = FINISHED;
constexpr int finished_count = sizeof(finished) / sizeof(int);

constexpr int consumers = 8, row_warps = STAGE_ROWS, row_threads = 32 * (consumers + row_warps + 2);
constexpr int run_ring = 4, inverse_ring = 2;
constexpr int planes = 2;  // planes of a run; a consumer warp has a point of each
constexpr int width = consumers, run_points = planes * width;
constexpr int row_size = (planes + MOST_SPAN) * width * block_size, entry_size = run_points * block_size;
constexpr int inverse_size = run_points * staged_size;
extern __shared__ __align__(16) double row_memory[];
// Places in shared memory, in doubles: rows, A's entries, X_0 and A's diagonal block at all points of two runs, the
// numbers of the next runs, barriers.
constexpr int entries_place = ROW_RING * row_warps * row_size, inverse_place = entries_place + A_RING * entry_size;
constexpr int runs_place = inverse_place + inverse_ring * 2 * inverse_size, barriers_place = runs_place + run_ring / 2;

/// A run: the points for which rows are copied together.
struct Run {
    int first, count, there;  // slot of the first point, number of points of a plane, number of planes
    bool whole;               // all planes have `width` points

    __device__ Run(const Arguments& a, int index) {
        const int pieces = (a.lines * a.inner + width - 1) / width, groups = (a.outer + planes - 1) / planes;
        const int row = index / pieces, begin = (index - row * pieces) * width;
        const int tile = row / groups * a.lines, plane = row % groups * planes;
        first = (plane * a.middle + tile) * a.inner + begin;
        const int rest = min(a.lines, a.middle - tile) * a.inner - begin;
        count = max(0, min(width, rest));
        whole = rest >= width;  // not `count == width`, which ptxas 13.0 miscompiles: true only if rest == width
        there = min(planes, a.outer - plane);
    }
    /// Number of runs of the grid; some runs at the ends of tiles have no points.
    static __device__ int total(const Arguments& a) {
        const int pieces = (a.lines * a.inner + width - 1) / width, groups = (a.outer + planes - 1) / planes;
        return (a.middle + a.lines - 1) / a.lines * groups * pieces;
    }
    /// Whether there is a point at place `at` of the planes x width places of a run; and its slot.
    __device__ __forceinline__ bool has(int at) const { return at % width < count && at / width < there; }
    __device__ __forceinline__ int slot(const Arguments& a, int at) const {
        return first + at / width * a.middle * a.inner + at % width;
    }
};

/// A warp's position in a pipeline of `size` stages, a power of two. Each stage has a full barrier, at which producers
/// arrive, and an empty barrier, at which `readers` warps arrive.
template <int size, int barriers, int readers>
struct Pipeline {
    static_assert((size & (size - 1)) == 0, "the stage and the parity of a position are bits of its number");
    static constexpr int of_empty = size * 8;  // bytes from a stage's full barrier to its empty one
    unsigned number = 0;

    __device__ __forceinline__ unsigned at() const { return number % size; }
    __device__ __forceinline__ unsigned phase() const { return number / size % 2; }
    /// Shared address of the stage's full barrier.
    __device__ __forceinline__ unsigned full() const {
        return shared_address(row_memory + barriers_place + barriers) + at() * 8;
    }

    __device__ static void init(int producers) {
        for (Pipeline pipe; pipe.number < size; pipe.advance()) {
            init_barrier(pipe.full(), producers);
            init_barrier(pipe.full() + of_empty, readers);
        }
    }
    __device__ __forceinline__ void wait_full() const {
        while (!phase_is_complete(full(), phase()))
            ;
        __syncwarp();  // the lanes multiply together
    }
    __device__ __forceinline__ void wait_empty() const {
        while (!phase_is_complete<of_empty>(full(), phase() ^ 1))
            ;
    }
    __device__ __forceinline__ void advance() {
        ++number;
        asm volatile("" : "+r"(number));  // so that the compiler does not keep the addresses of all stages in registers
    }
    /// Called when all lanes of a warp have written their part of the stage.
    __device__ __forceinline__ void commit() { leave<0>(); }
    /// Called when all lanes of a warp have read the stage.
    __device__ __forceinline__ void release() { leave<of_empty>(); }

private:
    template <int offset>
    __device__ __forceinline__ void leave() {
        __syncwarp();
        if (threadIdx.x % 32 == 0) arrive<offset>(full());
        advance();
    }
};
typedef Pipeline<ROW_RING, 0, consumers> RowPipeline;
typedef Pipeline<A_RING, 2 * ROW_RING, consumers> EntryPipeline;
typedef Pipeline<inverse_ring, 2 * (ROW_RING + A_RING), 1> InversePipeline;
typedef Pipeline<run_ring, 2 * (ROW_RING + A_RING + inverse_ring), row_threads / 32> RunPipeline;

/// A warp calls body(run, pipe) for one run after the other; `pipe` is the stage for the run's blocks to be inverted.
/// The warp that is the `leader` takes runs from a counter that all thread blocks share, so that they work on nearby
/// runs and find in the second-level cache what others have read.
template <class Body>
__device__ __forceinline__ void for_each_run(const Arguments& a, bool leader, const Body& body) {
    volatile int* const ring = (volatile int*)(row_memory + runs_place);
    const bool draws = leader && threadIdx.x % 32 == 0;
    RunPipeline pipe;
    int next = draws ? atomicAdd(a.next_run, 1) : 0;
#pragma unroll 1
    for (;;) {
        if (draws) {
            const int total = Run::total(a);
            while (next < total && Run(a, next).count == 0) next = atomicAdd(a.next_run, 1);
            pipe.wait_empty();
            ring[pipe.at()] = next < total ? next : -1;
            arrive(pipe.full());
            next = atomicAdd(a.next_run, 1);  // its latency is hidden by this run's copies
        }
        pipe.wait_full();
        const int index = ring[pipe.at()];
        const InversePipeline inverse{pipe.number};
        pipe.release();
        if (index < 0) return;
        body(Run(a, index), inverse);
    }
}

/// The place of a coefficient in a block in shared memory. With eight unknowns the order avoids bank conflicts between
/// rows of right operands: even rows come before odd ones, and in every second pair of rows the halves are exchanged.
__device__ __forceinline__ int place_of(int row, int col) {
    if (DOF < 8) return row * DOF + col;
    const int place = row % 2 * 4 + row / 2;
    return place * DOF + (col ^ (place & 2) * 2);
}

/// The source of a copy: the blocks of a row, or of one of A's entries.
struct Source {
    const double* values;
    int delta, span;  // from the run's slots to those of the first plane; number of additional planes

    static __device__ __forceinline__ Source row(const Arguments& a, int index) {
        const unsigned word = row_source[index];
        return {a.entry[word % 256].before, a.entry[word / 256 % 256].delta, int(word / 65536)};
    }
    static __device__ __forceinline__ Source entry(const Arguments& a, int index) {
        return {a.entry[finished[index]].a, 0, 0};
    }
};

/// A warp starts to copy the blocks for a run, in at most `most` planes.
template <int most>
__device__ __forceinline__ void copy_blocks(const Arguments& a, const Run& run, const Source& source, double* to) {
    constexpr int of_block = block_size / 2, of_plane = width * of_block;  // number of 16-byte pieces
    const int lane = threadIdx.x % 32, plane_slots = a.middle * a.inner, count = run.there + source.span;
    to += DOF == 8 ? place_of(lane / 4, lane % 4 * 2) : lane * 2;
    int first = run.first + source.delta;
    if (first >= a.slots) first -= a.slots;
    if (run.whole && first + (count - 1) * plane_slots + width <= a.slots) {
        const double* from = source.values + unsigned(first) * block_size + lane * 2;
        const unsigned to_address = shared_address(to);
        unrolled<0, most>([&](auto index) {
            constexpr int plane = index.value;
            unrolled<0, (of_plane + 31) / 32>([&](auto at) {
                constexpr int piece = at.value * 32;
                copy_16_async_if<(plane * of_plane + piece) * 16, piece * 16>(
                    plane < count && (piece + 32 <= of_plane || piece + lane < of_plane), to_address, from);
            });
            from += (long long)plane_slots * block_size;
        });
    } else {
#pragma unroll 1
        for (int plane = 0; plane < count; ++plane) {
            for (int piece = lane; piece < run.count * of_block; piece += 32) {
                const int slot = first + piece / of_block;  // slots wrap around
                copy_16_async(to + (plane * of_plane + piece - lane) * 2,
                              source.values + unsigned(slot < a.slots ? slot : slot - a.slots) * block_size +
                                  unsigned(piece % of_block * 2));
            }
            first += plane_slots;
            if (first >= a.slots) first -= a.slots;
        }
    }
}

/// A producer warp of rows: it copies row number `which` of each stage.
__device__ __forceinline__ void produce_rows(const Arguments& a, int which) {
    constexpr int stages = (ROWS + row_warps - 1) / row_warps;
    RowPipeline pipe;
    Source next = Source::row(a, which);
    for_each_run(a, which == 0, [&](const Run& run, InversePipeline) {
#pragma unroll 1
        for (int stage = 0; stage < stages; ++stage) {
            const int row = stage * row_warps + which;
            const Source source = next;
            next = Source::row(a, stage + 1 < stages ? min(row + row_warps, ROWS - 1) : which);
            pipe.wait_empty();
            if (ROWS % row_warps == 0 || row < ROWS)
                copy_blocks<planes + MOST_SPAN>(a, run, source,
                                                row_memory + (pipe.at() * row_warps + which) * row_size);
            arrive_after_copies(pipe.full());
            pipe.advance();
        }
    });
}

/// The producer warp of A's entries.
__device__ __forceinline__ void produce_entries(const Arguments& a) {
    EntryPipeline pipe;
    Source next = Source::entry(a, 0);
    for_each_run(a, false, [&](const Run& run, InversePipeline) {
#pragma unroll 1
        for (int entry = 0; entry < finished_count; ++entry) {
            const Source source = next;
            next = Source::entry(a, entry + 1 < finished_count ? entry + 1 : 0);
            pipe.wait_empty();
            copy_blocks<planes>(a, run, source, row_memory + entries_place + pipe.at() * entry_size);
            arrive_after_copies(pipe.full());
            pipe.advance();
        }
    });
}

}  // namespace hyperplane
