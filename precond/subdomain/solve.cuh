// SPDX-License-Identifier: BSD-3-Clause
// M^-1 r of one subdomain by one block of threads, step by step (precond/subdomain/partition.hpp); the equations are in
// precond/subdomain/ildu0.hpp. Each row of a step's points has a thread, or a thread has several: most steps have fewer
// rows than the largest one, and what a warp does once for a step counts as much as its rows do.
//
// Only neighbours one step behind are waited for: between two barriers a thread finishes its rows of a step with those
// (`finish`), and begins its rows of the next one with all others, and with D^-1 in the upper solve (`begin`).
//
// The values of a step are one contiguous piece. One warp does nothing but ask for the pieces in order, into a ring in
// shared memory, as far ahead as the ring has room; the host has worked out where each piece goes and when. STAGED = 0,
// for blocks too large: pieces are asked for as far as the second-level cache, and read from there.
//
// `in` and `out` may be the same vector. FIRST and LAST say which steps a kernel does: both solves, or one.
//
// Definitions, besides those of precond/subdomain/cells.cuh: STEPS (of one solve), FIRST, LAST, WORKERS (a multiple of
// 32), ROWS (of the largest step, for a thread), BLOCKS (resident on a multiprocessor), STAGED, RING (values, whole 16
// bytes), BARRIERS, NEWEST and OLDER {lower entries that lead one step back for some point, and the others}, their
// numbers NEWEST_COUNT and OLDER_COUNT, KEPT (coefficients of the newest in registers), and for the steps of both
// solves STEP_ROWS {place of the first point in `cells`, rows; once more at the end} and STEP_PIECES {first value,
// values, place in the ring, steps that have been asked for when the step's barrier is met}; STEPS_IN (__constant__, or
// __device__ where there are too many).

#include "precond/subdomain/cells.cuh"
#include "precond/walks/kernel_parts.cuh"

namespace hyperplane {

TABLE newest[] = NEWEST;
TABLE older[] = OLDER;
struct __align__(8) StepRows {
    int first, rows;
};
STEPS_IN const StepRows step_rows[] = STEP_ROWS;
struct __align__(16) StepPiece {
    int at, size, place, asked;
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

/// All threads of a block, wherever in the text each of them is.
__device__ __forceinline__ void meet_all() {
    __syncwarp();
    asm volatile("barrier.sync 0, %0;" ::"n"(THREADS) : "memory");
}

/// The warp that asks for what others will read.
struct Loader {
    const Value* factors;
    int lane, asked;

    __device__ Loader(const Value* factors_, int lane_) : factors(factors_), lane(lane_), asked(FIRST) {
        if (!STAGED) return;
        for (int at = 0; lane == 0 && at < BARRIERS; ++at)
            prepare_barrier(shared_address(shared + barriers_begin + at), arrivals);
        show_barriers();
        __syncwarp();
    }
    /// Asks for the pieces of all steps before `end`.
    __device__ void ask(int end) {
#pragma unroll 1
        for (; asked < end; ++asked) {
            const StepPiece piece = step_piece[asked];
            const Value* const from = factors + piece.at;
            const unsigned bytes = sizeof(Value) * piece.size;
            if (STAGED)
                bring(from, shared_address((Value*)(shared + ring_begin) + piece.place), bytes, barrier_of(asked));
            else
                announce(from, bytes);
        }
    }

private:
    __device__ __forceinline__ void bring(const Value* from, unsigned to, unsigned bytes, unsigned barrier) const {
#if __CUDA_ARCH__ >= 900
        if (lane > 0) return;
        announce_bytes(barrier, bytes);
        if (bytes > 0) copy_bulk(to, from, bytes, barrier);
#else
        copy_shared_out(to, from, bytes, lane);
        arrive_with_copies(barrier);
#endif
    }
    __device__ __forceinline__ void announce(const Value* from, unsigned bytes) const {
#if __CUDA_ARCH__ >= 900
        if (lane == 0 && bytes > 0)
            asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
#endif
    }
};

/// A thread's rows of a step: `thread`, `thread` + WORKERS and so on. A warp's lanes have as many each; beyond the last
/// row they read what it reads, and write nothing. Of scaled rows `sum` is to be scaled and added to `own`, what it
/// begins with.
struct Worker {
    const Arguments& a;
    const int* const cells;  // from the thread's first row on
    const Value* const factors;
    const int thread, warp_begin;
    int rows = 0, next_rows = 0;
    int cell[ROWS], next_cell[ROWS];
    double sum[ROWS], own[ROWS], scale[ROWS], kept[ROWS][KEPT > 0 ? KEPT : 1];

    __device__ Worker(const Arguments& arguments, const Value* factors_, int warp, int thread_)
        : a(arguments),
          cells(arguments.cells + thread_ / DOF),
          factors(factors_),
          thread(thread_),
          warp_begin(32 * warp) {
        look_ahead(FIRST);
    }

    /// How many rows the step that `begin` will come to has, and the cells of their points: the last one's again for
    /// the remaining lanes of a warp, and what comes next for warps that have no row.
    __device__ __forceinline__ void look_ahead(int step) {
        const StepRows next = step_rows[step];
        const int* const from = cells + next.first;
        next_rows = next.rows;
#pragma unroll
        for (int k = 0; k < ROWS; ++k)
            next_cell[k] = __ldg(from + (DOF == 1 ? k * WORKERS : (thread + k * WORKERS) / DOF - thread / DOF));
    }
    /// Calls body(Constant<n>) where a warp's lanes have n rows of a step, nothing where they have none.
    template <int n = 1, class Body>
    __device__ __forceinline__ void with_count(const Body& body) const {
        if (n == 1 && warp_begin >= rows) return;
        if constexpr (n == ROWS)
            body(Constant<n>{});
        else if (warp_begin + n * WORKERS >= rows)
            body(Constant<n>{});
        else
            with_count<n + 1>(body);
    }
    __device__ __forceinline__ int component(int k) const {
        return (thread + k * WORKERS) % DOF;
    }
    /// A lane's k-th of n rows.
    template <int n>
    __device__ __forceinline__ int row(int k) const {
        const int own_row = thread + k * WORKERS;
        return k + 1 < n ? own_row : min(own_row, rows - 1);
    }
    template <int n>
    __device__ __forceinline__ bool has_row(int k) const {
        return k + 1 < n || thread + k * WORKERS < rows;
    }
    __device__ __forceinline__ double coefficient(int step, int column, int row) const {
        const int at = column * rows + row;
        if (STAGED) return widened(((const Value*)(shared + ring_begin))[step_piece[step].place + at]);
        return widened(__ldg(factors + step_piece[step].at + at));
    }
    /// The power of two of a row, behind a step's coefficients: of W, or first of D^-1, then of G.
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
    /// Column 0 of the lower entry e, or of the one that mirrors it, among a step's columns.
    template <bool upper>
    __device__ __forceinline__ static int first_column(int e) {
        return (upper ? LOWER - e : e) * DOF;
    }

    template <bool upper>
    __device__ __forceinline__ void begin(int step) {
        if (STAGED)
            while (!has_arrived(barrier_of(step), unsigned(step - FIRST) / BARRIERS % 2)) {
            }
        rows = next_rows;
#pragma unroll
        for (int k = 0; k < ROWS; ++k) cell[k] = next_cell[k];
        look_ahead(step + 1);
        with_count([&](auto count) { begin_rows<upper, decltype(count)::value>(step); });
    }
    /// A step's n rows: what they begin with, and all terms but those of neighbours one step behind.
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
                    const double term = coefficient(step, column + c, row<n>(k)) * value(c, cell[k] + way<upper>(e));
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
                    const double term = w * value(c, cell[k] + way<upper>(e));
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

    /// The steps of one solve. All threads have met before; the values of the vector are complete.
    template <bool upper>
    __device__ void solve(int first, int last) {
        begin<upper>(first);
        meet_all();  // the rows of a point read its whole vector before one of them writes
        for (int step = first; step < last; ++step) {
            finish<upper>(step);
            if (step + 1 < last) begin<upper>(step + 1);
            meet_all();
        }
    }
};

constexpr bool does_lower = FIRST<STEPS, does_upper = LAST> STEPS;

/// Meets the workers as often as they meet.
__device__ void load(Loader& loader) {
    loader.ask(step_piece[FIRST].asked);
    meet_all();
    for (int step = FIRST; step < LAST; ++step) {
        if (step == FIRST || step == STEPS) meet_all();
        loader.ask(step_piece[step].asked);
        meet_all();
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) subdomain_solve(const __grid_constant__ Arguments a) {
    const int thread = threadIdx.x;
    const int warp = __shfl_sync(~0u, thread / 32, 0);  // as the compiler sees it, too, one number a warp
    const Value* const factors = a.factors + blockIdx.x * a.subdomain_values;
    if (warp >= WORKERS / 32) {
        Loader loader(factors, thread - WORKERS);
        load(loader);
        return;
    }
    const Box box(a);
    Worker worker(a, factors, warp, thread);
    load_vector<WORKERS>(a, box, thread);
    meet_all();
    if (does_lower) worker.solve<false>(FIRST, STEPS);
    if (does_upper) worker.solve<true>(does_lower ? STEPS : FIRST, LAST);
    store_vector<WORKERS>(a, box, thread);
}

}  // namespace hyperplane
