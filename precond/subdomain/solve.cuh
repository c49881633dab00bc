// SPDX-License-Identifier: BSD-3-Clause
// A thread block computes M^-1 r for one subdomain, step by step (precond/subdomain/partition.hpp); the equations are
// in precond/subdomain/ildu0.hpp. Each row of a step's points has a consumer thread, or a thread has several rows. The
// latter can be faster, because most steps have fewer rows than the largest one, and what a warp does once a step costs
// as much as the rows.
//
// After a barrier, a row needs only the neighbours of the step just completed. So between two barriers a thread adds
// the terms of these neighbours to its rows of a step (`finish`), and begins its rows of the next step with all other
// terms and, in the upper solve, with D^-1 (`begin`).
//
// The coefficients of a step are one contiguous piece. A producer warp copies the pieces in order to a ring in shared
// memory, as far ahead as the ring has room. The host has computed the place of each piece in the ring, and when its
// copy may start (precond/subdomain/ring_schedule.hpp). If pieces are too large for that (STAGED = 0), the warp
// prefetches them to the second-level cache.
//
// `in` and `out` may be the same vector. A kernel computes the steps from FIRST to LAST - 1, which are those of both
// solves or of one.
//
// Definitions, besides those of precond/subdomain/cells.cuh: STEPS (number of steps of one solve), FIRST, LAST,
// CONSUMERS (number of consumer threads, a multiple of 32), ROWS (largest number of rows that a thread has in a step),
// BLOCKS (resident on a multiprocessor), STAGED, RING (number of values, a multiple of 16 bytes), BARRIERS, NEWEST and
// OLDER {the lower entries that lead some point to the step just before, and the others}, their numbers NEWEST_COUNT
// and OLDER_COUNT, KEPT (number of coefficients of the newest entries that are kept in registers); for each step of
// both solves STEP_ROWS {place of the first point in `cells`, number of rows}, with one more element at the end, and
// STEP_PIECES {first value, number of values, place in the ring, number of pieces whose copies start before the step};
// STEPS_IN (__constant__, or __device__ if the tables are too large for it).

#include "core/device/async_copies.cuh"
#include "precond/subdomain/cells.cuh"
#include "precond/walks/unrolled.cuh"

namespace hyperplane {

TABLE newest[] = NEWEST;
TABLE older[] = OLDER;
struct __align__(8) StepRows {
    int first, rows;
};
STEPS_IN const StepRows step_rows[] = STEP_ROWS;
struct __align__(16) StepPiece {
    int at, size, place, started;
};
STEPS_IN const StepPiece step_piece[] = STEP_PIECES;

constexpr int ring_begin = vector_size, barriers_begin = ring_begin + RING * (int)sizeof(Value) / 8;
#if __CUDA_ARCH__ >= 900
constexpr int arrivals = 1;
#else
constexpr int arrivals = 32;
#endif

__device__ __forceinline__ unsigned barrier_of(int step) {
    return shared_address(shared + barriers_begin + unsigned(step - FIRST) % BARRIERS);
}

/// Waits for all threads of the thread block. Producers and consumers wait at different places of the text, hence
/// barrier.sync.
__device__ __forceinline__ void sync_block() {
    __syncwarp();
    asm volatile("barrier.sync 0, %0;" ::"n"(THREADS) : "memory");
}

/// The producer warp.
struct Producer {
    const Value* factors;
    int lane, started;  // `started`: number of pieces whose copies have started

    __device__ Producer(const Value* factors_, int lane_) : factors(factors_), lane(lane_), started(FIRST) {
        if (!STAGED) return;
        for (int at = 0; lane == 0 && at < BARRIERS; ++at)
            init_barrier(shared_address(shared + barriers_begin + at), arrivals);
        fence_barriers();
        __syncwarp();
    }
    /// Starts to copy the pieces of all steps before `end`.
    __device__ void start(int end) {
#pragma unroll 1
        for (; started < end; ++started) {
            const StepPiece piece = step_piece[started];
            const Value* const from = factors + piece.at;
            const unsigned bytes = sizeof(Value) * piece.size;
            if (STAGED)
                copy(from, shared_address((Value*)(shared + ring_begin) + piece.place), bytes, barrier_of(started));
            else
                prefetch(from, bytes);
        }
    }

private:
    __device__ __forceinline__ void copy(const Value* from, unsigned to, unsigned bytes, unsigned barrier) const {
#if __CUDA_ARCH__ >= 900
        if (lane > 0) return;
        arrive_expecting(barrier, bytes);
        if (bytes > 0) copy_bulk_async(to, from, bytes, barrier);
#else
        copy_share_async(to, from, bytes, lane);
        arrive_after_copies(barrier);
#endif
    }
    __device__ __forceinline__ void prefetch(const Value* from, unsigned bytes) const {
#if __CUDA_ARCH__ >= 900
        if (lane == 0 && bytes > 0)
            asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
#endif
    }
};

/// A consumer thread, whose rows of a step are `thread`, `thread` + CONSUMERS and so on. All lanes of a warp have the
/// same number of rows; those beyond the last row read what the last row reads, and write nothing. The result of a
/// scaled row is its initial value `own` plus `scale` times `sum`.
struct Consumer {
    const Arguments& a;
    const int* const cells;  // from the thread's first row on
    const Value* const factors;
    const int thread, warp_begin;
    int rows = 0, next_rows = 0;
    int cell[ROWS], next_cell[ROWS];
    double sum[ROWS], own[ROWS], scale[ROWS], kept[ROWS][KEPT > 0 ? KEPT : 1];

    __device__ Consumer(const Arguments& arguments, const Value* factors_, int warp, int thread_)
        : a(arguments),
          cells(arguments.cells + thread_ / DOF),
          factors(factors_),
          thread(thread_),
          warp_begin(32 * warp) {
        look_ahead(FIRST);
    }

    /// Loads the number of rows of the next step to begin, and the cells of their points. Lanes beyond the last row
    /// load the last row's cell, and warps without a row load whatever follows.
    __device__ __forceinline__ void look_ahead(int step) {
        const StepRows next = step_rows[step];
        const int* const from = cells + next.first;
        next_rows = next.rows;
#pragma unroll
        for (int k = 0; k < ROWS; ++k)
            next_cell[k] = __ldg(from + (DOF == 1 ? k * CONSUMERS : (thread + k * CONSUMERS) / DOF - thread / DOF));
    }
    /// Calls body(Constant<n>) if the lanes of the warp have n rows each; does nothing if they have none.
    template <int n = 1, class Body>
    __device__ __forceinline__ void with_count(const Body& body) const {
        if (n == 1 && warp_begin >= rows) return;
        if constexpr (n == ROWS)
            body(Constant<n>{});
        else if (warp_begin + n * CONSUMERS >= rows)
            body(Constant<n>{});
        else
            with_count<n + 1>(body);
    }
    __device__ __forceinline__ int component(int k) const {
        return (thread + k * CONSUMERS) % DOF;
    }
    /// The number of the lane's k-th row, of n.
    template <int n>
    __device__ __forceinline__ int row(int k) const {
        const int own_row = thread + k * CONSUMERS;
        return k + 1 < n ? own_row : min(own_row, rows - 1);
    }
    template <int n>
    __device__ __forceinline__ bool has_row(int k) const {
        return k + 1 < n || thread + k * CONSUMERS < rows;
    }
    __device__ __forceinline__ double coefficient(int step, int column, int row) const {
        const int at = column * rows + row;
        if (STAGED) return widened(((const Value*)(shared + ring_begin))[step_piece[step].place + at]);
        return widened(__ldg(factors + step_piece[step].at + at));
    }
    /// The scale of a row. Scales follow the step's coefficients: those of W in the lower solve, of D^-1 and then of G
    /// in the upper one.
    template <bool upper>
    __device__ __forceinline__ double scale_of_row(int step, int part, int row) const {
        const int at = rows * DOF * (LOWER + upper) * (int)sizeof(Value) + part * rows + row;
        if (STAGED)
            return scale_of(((const unsigned char*)((const Value*)(shared + ring_begin) + step_piece[step].place))[at]);
        return scale_of(__ldg((const unsigned char*)(factors + step_piece[step].at) + at));
    }
    __device__ __forceinline__ double& value(int c, int at) const {
        return vector_begin()[c * CELLS + at];
    }
    /// The position, among a step's columns, of column 0 of the lower entry e, or of the entry that mirrors it.
    template <bool upper>
    __device__ __forceinline__ static int first_column(int e) {
        return (upper ? LOWER - e : e) * DOF;
    }

    template <bool upper>
    __device__ __forceinline__ void begin(int step) {
        if (STAGED)
            while (!phase_is_complete(barrier_of(step), unsigned(step - FIRST) / BARRIERS % 2)) {
            }
        rows = next_rows;
#pragma unroll
        for (int k = 0; k < ROWS; ++k) cell[k] = next_cell[k];
        look_ahead(step + 1);
        with_count([&](auto count) { begin_rows<upper, decltype(count)::value>(step); });
    }
    /// Begins n rows of a step: initial values, and all terms except those of neighbours in the step just before.
    template <bool upper, int n>
    __device__ __forceinline__ void begin_rows(int step) {
        double even[n], odd[n];
#pragma unroll
        for (int k = 0; k < n; ++k) {
            even[k] = upper ? 0.0 : value(component(k), cell[k]);
            odd[k] = 0.0;
            if (upper) {
#pragma unroll
                for (int c = 0; c < DOF; ++c) even[k] += coefficient(step, c, row<n>(k)) * value(c, cell[k]);
            }
            if (scaled_rows) {
                own[k] = upper ? even[k] * scale_of_row<upper>(step, 0, row<n>(k)) : even[k];
                scale[k] = scale_of_row<upper>(step, upper, row<n>(k));
                even[k] = 0.0;
            }
        }
#if UNROLLED
#pragma unroll
#endif
        for (int t = 0; t < OLDER_COUNT; ++t) {
            const int e = older[t], column = first_column<upper>(e);
#pragma unroll
            for (int k = 0; k < n; ++k)
#pragma unroll
                for (int c = 0; c < DOF; ++c) {
                    const double term =
                        coefficient(step, column + c, row<n>(k)) * value(c, cell[k] + cell_delta<upper>(e));
                    if ((t * DOF + c) % 2)
                        odd[k] -= term;
                    else
                        even[k] -= term;
                }
        }
#pragma unroll
        for (int k = 0; k < n; ++k) {
            sum[k] = even[k] + odd[k];
            if (KEPT == 0) continue;
#pragma unroll
            for (int t = 0; t < NEWEST_COUNT; ++t)
#pragma unroll
                for (int c = 0; c < DOF; ++c)
                    kept[k][t * DOF + c] = coefficient(step, first_column<upper>(newest[t]) + c, row<n>(k));
        }
    }

    template <bool upper>
    __device__ __forceinline__ void finish(int step) {
        with_count([&](auto count) { finish_rows<upper, decltype(count)::value>(step); });
    }
    template <bool upper, int n>
    __device__ __forceinline__ void finish_rows(int step) {
        double odd[n];
#pragma unroll
        for (int k = 0; k < n; ++k) odd[k] = 0.0;
#if UNROLLED
#pragma unroll
#endif
        for (int t = 0; t < NEWEST_COUNT; ++t) {
            const int e = newest[t], column = first_column<upper>(e);
#pragma unroll
            for (int k = 0; k < n; ++k)
#pragma unroll
                for (int c = 0; c < DOF; ++c) {
                    const double w = KEPT > 0 ? kept[k][t * DOF + c] : coefficient(step, column + c, row<n>(k));
                    const double term = w * value(c, cell[k] + cell_delta<upper>(e));
                    if ((t * DOF + c) % 2)
                        odd[k] -= term;
                    else
                        sum[k] -= term;
                }
        }
#pragma unroll
        for (int k = 0; k < n; ++k)
            if (has_row<n>(k))
                value(component(k), cell[k]) = scaled_rows ? own[k] + scale[k] * (sum[k] + odd[k]) : sum[k] + odd[k];
    }

    /// Computes the steps of one solve. The block must have been synchronised after the vector was written.
    template <bool upper>
    __device__ void solve(int first, int last) {
        begin<upper>(first);
        sync_block();  // all rows of a point have read its components; now rows may write
        for (int step = first; step < last; ++step) {
            finish<upper>(step);
            if (step + 1 < last) begin<upper>(step + 1);
            sync_block();
        }
    }
};

constexpr bool does_lower = FIRST<STEPS, does_upper = LAST> STEPS;

/// The producer warp's loop; it waits at as many barriers as the consumers.
__device__ void produce(Producer& producer) {
    producer.start(step_piece[FIRST].started);
    sync_block();
    for (int step = FIRST; step < LAST; ++step) {
        if (step == FIRST || step == STEPS) sync_block();
        producer.start(step_piece[step].started);
        sync_block();
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) subdomain_solve(const __grid_constant__ Arguments a) {
    const int thread = threadIdx.x;
    const int warp = __shfl_sync(~0u, thread / 32, 0);  // tells the compiler that it is uniform in a warp
    const Value* const factors = a.factors + blockIdx.x * a.subdomain_values;
    if (warp >= CONSUMERS / 32) {
        Producer producer(factors, thread - CONSUMERS);
        produce(producer);
        return;
    }
    const Box box(a);
    Consumer consumer(a, factors, warp, thread);
    load_vector<CONSUMERS>(a, box, thread);
    sync_block();
    if (does_lower) consumer.solve<false>(FIRST, STEPS);
    if (does_upper) consumer.solve<true>(does_lower ? STEPS : FIRST, LAST);
    store_vector<CONSUMERS>(a, box, thread);
}

}  // namespace hyperplane
