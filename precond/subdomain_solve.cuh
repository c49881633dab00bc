// M^-1 r of one subdomain by one block of threads, step by step (precond/subdomain_cuts.hpp); the equations are in
// precond/subdomain_ildu0.hpp. Each row of a step's points has a thread.
//
// Only neighbours one step behind are waited for: between two barriers a thread finishes its row of a step with those
// (`finish`), and begins its row of the next one with all others, and with D^-1 in the upper solve (`begin`).
//
// The values of a step are one contiguous piece. One warp does nothing but ask for the pieces in order, into a ring in
// shared memory, as far ahead as the ring has room; the host has worked out where each piece goes and when. STAGED = 0,
// for blocks too large: pieces are asked for as far as the second-level cache, and read from there.
//
// `in` and `out` may be the same vector. FIRST and LAST say which steps a kernel does: both solves, or one.
//
// Definitions, besides those of subdomain_cells.cuh: STEPS (of one solve), FIRST, LAST, WORKERS (a multiple of 32),
// BLOCKS (resident on a multiprocessor), STAGED, RING (values, whole 16 bytes), BARRIERS, NEWEST and OLDER {lower
// entries that lead one step back for some point, and the others}, their numbers NEWEST_COUNT and OLDER_COUNT, KEPT
// (coefficients of the newest in registers), and for the steps of both solves STEP_COUNT {points}, STEP_FIRST {place of the first in
// `cells`}, STEP_AT {first value}, STEP_SIZE {values}, STEP_PLACE {in the ring}, STEP_ASKED {steps that have been
// asked for when the step's barrier is met}; STEPS_IN (__constant__, or __device__ where there are too many).

TABLE newest[] = NEWEST;
TABLE older[] = OLDER;
STEPS_IN const int step_count[] = STEP_COUNT;
STEPS_IN const int step_first[] = STEP_FIRST;
STEPS_IN const int step_at[] = STEP_AT;
STEPS_IN const int step_size[] = STEP_SIZE;
STEPS_IN const int step_place[] = STEP_PLACE;
STEPS_IN const int step_asked[] = STEP_ASKED;

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
    asm volatile("bar.sync 0, %0;" ::"n"(THREADS) : "memory");
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
            const Value* const from = factors + step_at[asked];
            const unsigned bytes = sizeof(Value) * step_size[asked];
            if (STAGED)
                bring(from, shared_address((Value*)(shared + ring_begin) + step_place[asked]), bytes,
                      barrier_of(asked));
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

/// A thread's row of a step. Of scaled rows `sum` is to be scaled and added to `own`, what it begins with.
struct Worker {
    const Arguments& a;
    const Value* const factors;
    const int thread, component;
    int cell = 0, next_cell = 0;
    double sum = 0.0, own = 0.0, scale = 1.0;
    double kept[KEPT > 0 ? KEPT : 1];

    __device__ Worker(const Arguments& arguments, const Value* factors_, int thread_)
        : a(arguments), factors(factors_), thread(thread_), component(thread_ % DOF) {
        look_ahead(FIRST);
    }

    /// The cell of the point of a step that `begin` will come to.
    __device__ __forceinline__ void look_ahead(int step) {
        if (step < LAST && thread < step_count[step] * DOF)
            next_cell = __ldg(a.cells + step_first[step] + thread / DOF);
    }
    __device__ __forceinline__ double coefficient(int step, int column, int rows) const {
        const int at = column * rows + thread;
        if (STAGED) return widened(((const Value*)(shared + ring_begin))[step_place[step] + at]);
        return widened(__ldg(factors + step_at[step] + at));
    }
    /// The power of two of the thread's row, behind a step's coefficients: of W, or first of D^-1, then of G.
    template <bool upper>
    __device__ __forceinline__ double scale_of_row(int step, int part, int rows) const {
        const int at = rows * DOF * (LOWER + upper) * (int)sizeof(Value) + part * rows + thread;
        if (STAGED)
            return scale_of(((const unsigned char*)((const Value*)(shared + ring_begin) + step_place[step]))[at]);
        return scale_of(__ldg((const unsigned char*)(factors + step_at[step]) + at));
    }
    __device__ __forceinline__ double value(int c, int at) const { return vector_begin()[c * CELLS + at]; }
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
        cell = next_cell;
        look_ahead(step + 1);
        const int rows = step_count[step] * DOF;
        if (thread >= rows) return;
        double even = upper ? 0.0 : value(component, cell), odd = 0.0;
        if (upper) {
#pragma unroll
            for (int c = 0; c < DOF; ++c) even += coefficient(step, c, rows) * value(c, cell);
        }
        if (scaled_rows) {
            own = upper ? even * scale_of_row<upper>(step, 0, rows) : even;
            scale = scale_of_row<upper>(step, upper, rows);
            even = 0.0;
        }
#if UNROLLED
#pragma unroll
#endif
        for (int t = 0; t < OLDER_COUNT; ++t) {
            const int e = older[t], at = cell + way<upper>(e), column = first_column<upper>(e);
#pragma unroll
            for (int c = 0; c < DOF; ++c) {
                const double term = coefficient(step, column + c, rows) * value(c, at);
                if ((t * DOF + c) % 2)
                    odd -= term;
                else
                    even -= term;
            }
        }
        sum = even + odd;
        if (KEPT > 0) {
#pragma unroll
            for (int t = 0; t < NEWEST_COUNT; ++t)
#pragma unroll
                for (int c = 0; c < DOF; ++c)
                    kept[t * DOF + c] = coefficient(step, first_column<upper>(newest[t]) + c, rows);
        }
    }

    template <bool upper>
    __device__ __forceinline__ void finish(int step) {
        const int rows = step_count[step] * DOF;
        if (thread >= rows) return;
        double odd = 0.0;
#if UNROLLED
#pragma unroll
#endif
        for (int t = 0; t < NEWEST_COUNT; ++t) {
            const int e = newest[t], at = cell + way<upper>(e), column = first_column<upper>(e);
#pragma unroll
            for (int c = 0; c < DOF; ++c) {
                const double w = KEPT > 0 ? kept[t * DOF + c] : coefficient(step, column + c, rows);
                if ((t * DOF + c) % 2)
                    odd -= w * value(c, at);
                else
                    sum -= w * value(c, at);
            }
        }
        vector_begin()[component * CELLS + cell] = scaled_rows ? own + scale * (sum + odd) : sum + odd;
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
    loader.ask(step_asked[FIRST]);
    meet_all();
    for (int step = FIRST; step < LAST; ++step) {
        if (step == FIRST || step == STEPS) meet_all();
        loader.ask(step_asked[step]);
        meet_all();
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) subdomain_solve(const __grid_constant__ Arguments a) {
    const int thread = threadIdx.x;
    const Value* const factors = a.factors + blockIdx.x * a.subdomain_values;
    if (thread >= WORKERS) {
        Loader loader(factors, thread - WORKERS);
        load(loader);
        return;
    }
    const Box box(a);
    Worker worker(a, factors, thread);
    load_vector<WORKERS, 8>(a, box, thread);
    meet_all();
    if (does_lower) worker.solve<false>(FIRST, STEPS);
    if (does_upper) worker.solve<true>(does_lower ? STEPS : FIRST, LAST);
    store_vector<WORKERS>(a, box, thread);
}
