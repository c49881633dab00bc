// A sweep over the factors of points of six or eight unknowns whose entries have many pairs: neighbours' blocks come to
// shared memory row by row.
//
// What pair (l, u) reads at p is what (l', u) reads at a point near by, where l' differs from l along x alone. A run of
// points is PLANES of the layout's planes of `width` slots each, and planes side by side differ along x: for each u and
// each line of l one row of blocks, a plane's after the other, serves all points and pairs that need it, and is asked
// for once. Some warps ask for rows, some for A's entries, as far ahead as their rings have room, also for the next
// run; the others, workers, have two points a warp. So the second-level cache is read less, and nobody waits for it.
//
// Rows of E_l(p), and of D^-1(p+l), come first, then those of F_u(p+l), for entries that differ along x together.
//
// Definitions: factor_sweeps.cuh's (not of SYMMETRIC), and ROWS, ROW_KIND (0: E, 1: D^-1, 2: F), ROW_VALUES (the entry
// that is read), ROW_FROM (the entry whose offset a row begins at), ROW_SPAN (planes more than the run has), MOST_SPAN;
// ROW_TERMS {ROWS + 1}, TERM_L, TERM_E, TERM_SHIFT (planes from the row's first one); FIRST_TERM, LAST_TERM of an
// entry; FINISHED (entries with A's, as they are completed) and their offsets FINISHED_X, _Y, _Z; PLANES; ROW_RING (of
// STAGE_ROWS rows each), A_RING (of entries).

__device__ constexpr int row_kind[] = ROW_KIND;
__device__ constexpr int row_terms[] = ROW_TERMS;
__device__ constexpr int term_l[] = TERM_L;
__device__ constexpr int term_e[] = TERM_E;
__device__ constexpr int term_shift[] = TERM_SHIFT;
__device__ constexpr int first_term[] = FIRST_TERM;
__device__ constexpr int last_term[] = LAST_TERM;
// What loops find while they run.
__constant__ const int row_values[] = ROW_VALUES;
__constant__ const int row_from[] = ROW_FROM;
__constant__ const int row_span[] = ROW_SPAN;
__constant__ const int finished[] = FINISHED;
__constant__ const int finished_x[] = FINISHED_X;
__constant__ const int finished_y[] = FINISHED_Y;
__constant__ const int finished_z[] = FINISHED_Z;
constexpr int finished_count = sizeof(finished) / sizeof(int);

constexpr int workers = 8, row_warps = STAGE_ROWS, entry_warps = 2,
              row_threads = 32 * (workers + row_warps + entry_warps);
constexpr int turns = 2;  // points of a worker's lane
constexpr int turn_points = workers * points, run_points = turns * turn_points;
constexpr int width = run_points / PLANES;
constexpr int row_size = (PLANES + MOST_SPAN) * width * block_size, entry_size = run_points * staged_size;
extern __shared__ __align__(16) double row_memory[];
// In doubles: rows, A's entries, two times X_0 and A's own block of all points, a block of zeros, barriers.
constexpr int entries_place = ROW_RING * row_warps * row_size, waiting_place = entries_place + A_RING * entry_size;
constexpr int zero_place = waiting_place + 4 * entry_size, barriers_place = zero_place + block_size;

/// Points that rows are asked for together.
struct Run {
    int first, count, planes;  // slot of the first point, points of a plane, planes

    __device__ Run(const Arguments& a, int index) {
        const int pieces = (a.lines * a.inner + width - 1) / width, groups = (a.outer + PLANES - 1) / PLANES;
        const int row = index / pieces, begin = (index - row * pieces) * width;
        const int tile = row / groups * a.lines, plane = row % groups * PLANES;
        first = (plane * a.middle + tile) * a.inner + begin;
        count = max(0, min(width, min(a.lines, a.middle - tile) * a.inner - begin));
        planes = min(PLANES, a.outer - plane);
    }
    /// Runs of the grid; some at the ends of tiles have no points.
    static __device__ int total(const Arguments& a) {
        const int pieces = (a.lines * a.inner + width - 1) / width, groups = (a.outer + PLANES - 1) / PLANES;
        return (a.middle + a.lines - 1) / a.lines * groups * pieces;
    }
    /// Whether there is a point at place `at`, of PLANES rows of `width`; and its slot, or else the first one's.
    __device__ __forceinline__ bool has(int at) const { return at % width < count && at / width < planes; }
    __device__ __forceinline__ int slot(const Arguments& a, int at) const {
        return has(at) ? first + at / width * a.middle * a.inner + at % width : first;
    }
};

/// A place of a ring of `size`, and a full and an empty barrier for each.
template <int size, int barriers>
struct Turn {
    int at = 0, phase = 0;

    __device__ __forceinline__ static unsigned full(int place) {
        return shared_address(row_memory + barriers_place + barriers + place);
    }
    __device__ __forceinline__ static unsigned empty(int place) { return full(place) + size * 8; }
    __device__ static void prepare(int producers) {
        for (int place = 0; place < size; ++place) {
            prepare_barrier(full(place), producers);
            prepare_barrier(empty(place), workers);
        }
    }
    __device__ __forceinline__ void wait_full() const {
        while (!has_arrived(full(at), phase))
            ;
        __syncwarp();  // products are all lanes'
    }
    __device__ __forceinline__ void wait_empty() const {
        while (!has_arrived(empty(at), phase ^ 1))
            ;
    }
    __device__ __forceinline__ void advance() {
        if (++at == size) at = 0, phase ^= 1;
    }
    /// All lanes of a worker have read what there is.
    __device__ __forceinline__ void release() {
        __syncwarp();
        if (threadIdx.x % 32 == 0) arrive_at(empty(at));
        advance();
    }
};
typedef Turn<ROW_RING, 0> RowTurn;
typedef Turn<A_RING, 2 * ROW_RING> EntryTurn;

/// Begins to copy a run's points of a plane from slot `first` on, by a warp.
__device__ __forceinline__ void bring_plane(const Arguments& a, const Run& run, const double* values, int first,
                                            double* to) {
    constexpr int block_bytes = block_size * 8;
    const int lane = threadIdx.x % 32;
    const char* const from = (const char*)values + (size_t)first * block_bytes;
    const size_t around = (size_t)a.slots * block_bytes;  // behind the last slot follows the first one
    const int whole = min(a.slots - first, width) * block_bytes;
#pragma unroll
    for (int begin = 0; begin < width * block_bytes; begin += 512) {
        const int byte = begin + lane * 16;
        if (byte < run.count * block_bytes) copy_run((char*)to + byte, from + byte - (byte < whole ? 0 : around));
    }
}

/// Asks for rows, by a few warps, the rows of a stage one each.
__device__ void bring_rows(const Arguments& a, int which) {
    const int total = Run::total(a), plane_slots = a.middle * a.inner;
    RowTurn turn;
#pragma unroll 1
    for (int index = blockIdx.x; index < total; index += gridDim.x) {
        const Run run(a, index);
        if (run.count == 0) continue;
#pragma unroll 1
        for (int row = which; row < ROWS + which; row += row_warps) {
            turn.wait_empty();
            if (row < ROWS) {
                const int planes = run.planes + row_span[row];
                const double* const values = a.old_values[row_values[row]];
                double* to = row_memory + (turn.at * row_warps + which) * row_size;
                int first = run.first + a.delta[row_from[row]];
                for (int plane = 0; plane < planes; ++plane, to += width * block_size, first += plane_slots) {
                    if (first >= a.slots) first -= a.slots;
                    bring_plane(a, run, values, first, to);
                }
            }
            arrive_with_copies(RowTurn::full(turn.at));
            turn.advance();
        }
    }
}

/// Asks for A's entries, by a few warps: a lane has one point, and every so many coefficients.
__device__ void bring_entries(const Arguments& a, int thread) {
    constexpr int step = 32 * entry_warps / run_points;
    const int at = thread % run_points, begin = thread / run_points, total = Run::total(a);
    EntryTurn turn;
#pragma unroll 1
    for (int index = blockIdx.x; index < total; index += gridDim.x) {
        const Run run(a, index);
        if (run.count == 0) continue;
        const Point p(a, run.slot(a, at));
        const bool exists = run.has(at);
#pragma unroll 1
        for (int entry = 0; entry < finished_count; ++entry) {
            const GridPoint end{p.in_grid.i + finished_x[entry], p.in_grid.j + finished_y[entry],
                                p.in_grid.k + finished_z[entry]};
            const bool known = exists && (!PERIODIC || end.in_grid(a));
            const double* from = a.a_values[finished[entry]] + begin * a.a_stride + p.slot;
            double* const to = row_memory + entries_place + turn.at * entry_size + at * staged_size;
            turn.wait_empty();
#pragma unroll 8
            for (int q = begin; q < block_size; q += step, from += step * a.a_stride)
                copy_or_clear(to + q, from, known);
            arrive_with_copies(EntryTurn::full(turn.at));
            turn.advance();
        }
    }
}

/// A worker's points of a run.
struct RunSweep {
    const Arguments& a;
    const Lane lane;
    const int place;  // of the first turn's point
    RowTurn row;
    EntryTurn entry;
    int slot[turns];
    unsigned near[turns];  // bits of the point's lower neighbours that there are, and bit 31 where there is the point
    Operand w[LOWER][turns];
    Block x[ENTRIES][turns];

    __device__ explicit RunSweep(const Arguments& arguments)
        : a(arguments), lane(threadIdx.x), place(threadIdx.x / 32 * points + lane.which) {}

    __device__ __forceinline__ int place_of(int turn) const { return place + turn * turn_points; }

    __device__ __forceinline__ void begin(const Run& run) {
#pragma unroll
        for (int q = 0; q < turns; ++q) {
            slot[q] = run.slot(a, place_of(q));
            const Point p(a, slot[q]);
            near[q] = 1u << 31;
#pragma unroll
            for (int l = 0; l < LOWER; ++l)
                if (p.has_neighbour(a, l)) near[q] |= 1u << l;
            if (!run.has(place_of(q))) near[q] = 0;
        }
    }

    /// The point's own block of the row, E_l(p), as left operand; zero where there is no neighbour.
    template <int l>
    __device__ __forceinline__ Operand left(const double* here, int turn) const {
        const double* const values = here + place_of(turn) * block_size + min(lane.r, DOF - 1) * DOF + lane.k;
        Operand x;
#pragma unroll
        for (int h = 0; h < steps; ++h) x.v[h] = (near[turn] >> l & 1u) && lane.k + 4 * h < DOF ? values[4 * h] : 0.0;
        return x;
    }
    /// The block at p+l, so many planes from the row's first one, as right operand; zero where there is none.
    template <int l, int shift>
    __device__ __forceinline__ Operand right(const double* here, int turn) const {
        const double* const values =
            (near[turn] >> l & 1u) ? here + (place_of(turn) + shift * width) * block_size : row_memory + zero_place;
        Operand x;
#pragma unroll
        for (int h = 0; h < steps; ++h) x.v[h] = values[lane.place_of(false, h)];
        return x;
    }

    template <int index>
    __device__ __forceinline__ void take_row() {
        if (index % row_warps == 0) row.wait_full();
        const double* const here = row_memory + (row.at * row_warps + index % row_warps) * row_size;
        unrolled<row_terms[index], row_terms[index + 1]>([&](auto term) {
            constexpr int t = term.value, l = term_l[t], e = term_e[t], shift = term_shift[t];
#pragma unroll
            for (int q = 0; q < turns; ++q) {
                if constexpr (row_kind[index] == 0) {
                    w[l][q] = left<l>(here, q);
                } else if constexpr (row_kind[index] == 1) {
                    Block product{};
                    lane.multiply_add<-1>(w[l][q], right<l, shift>(here, q), product);
                    w[l][q] = lane.as_left(product);
                } else {
                    if constexpr (t == first_term[e]) x[e][q] = Block{};
                    lane.multiply_add<1>(w[l][q], right<l, shift>(here, q), x[e][q]);
                }
            }
        });
        if (index % row_warps == row_warps - 1 || index == ROWS - 1) row.release();
    }

    /// Adds A's block to what pairs gave, and stores it or, X_0, lets it wait with A's.
    template <int e>
    __device__ __forceinline__ void finish(int parity) {
        if constexpr (a_entry[e] >= 0) entry.wait_full();
#pragma unroll
        for (int q = 0; q < turns; ++q) {
            const int at = place_of(q) * staged_size + lane.r * DOF + lane.c;
            Block own{}, &sum = x[e][q];
#pragma unroll
            for (int m = 0; m < 2; ++m)
                if (a_entry[e] >= 0 && lane.inside(m)) {
                    own.v[m] = row_memory[entries_place + entry.at * entry_size + at + m];
                    sum.v[m] += e == LOWER && lane.r == lane.c + m ? own.v[m] + a.alpha * own.v[m] : own.v[m];
                }
            if constexpr (e == LOWER) {
                double* const to = row_memory + waiting_place + parity * 2 * entry_size + at;
#pragma unroll
                for (int m = 0; m < 2; ++m)
                    if (lane.inside(m)) to[m] = sum.v[m], to[entry_size + m] = own.v[m];
            } else if (near[q] >> 31 && lane.inside(0)) {
                double* const to = a.new_values[e] + unsigned(slot[q]) * block_size + unsigned(lane.r * DOF + lane.c);
                __stcs((double2*)to, double2{sum.v[0], sum.v[1]});
            }
        }
        if constexpr (a_entry[e] >= 0) entry.release();
    }

    __device__ __forceinline__ void take(int parity) {
        unrolled<0, ROWS>([&](auto index) {
            constexpr int r = index.value;
            take_row<r>();
            unrolled<row_terms[r], row_terms[r + 1]>([&](auto term) {
                if constexpr (row_kind[r] == 2 && last_term[term_e[term.value]] == term.value)
                    finish<term_e[term.value]>(parity);
            });
        });
    }
};

/// Inverts the blocks of a run that wait, and stores them: some whole warps' work.
__device__ __forceinline__ void invert_waiting(const Arguments& a, const Run& run, int parity) {
    constexpr int warp_points = 32 / inverting_lanes;
    const int first = threadIdx.x / 32 * warp_points, lane = threadIdx.x % 32;
    if (first >= run_points) return;
    double* const waiting = row_memory + waiting_place + parity * 2 * entry_size;
    double* const mine = waiting + (first + lane / inverting_lanes) * staged_size;
    if constexpr (inverting_lanes > 1)
        invert_columns(a, mine, mine + entry_size);
    else
        invert_whole(a, mine, mine + entry_size);
    __syncwarp();
    for (int q = lane; q < warp_points * block_size; q += 32) {
        const int at = first + q / block_size, element = q % block_size;
        if (run.has(at))
            __stcs(a.new_values[LOWER] + (size_t)run.slot(a, at) * block_size + element,
                   waiting[at * staged_size + element]);
    }
}

extern "C" __global__ void __launch_bounds__(row_threads, 1) factor_sweep(const __grid_constant__ Arguments a) {
    const int warp = threadIdx.x / 32;
    if (threadIdx.x < block_size) row_memory[zero_place + threadIdx.x] = 0.0;
    if (threadIdx.x == 0) {
        RowTurn::prepare(32 * row_warps);
        EntryTurn::prepare(32 * entry_warps);
    }
    __syncthreads();
    if (warp >= workers + row_warps) return bring_entries(a, threadIdx.x - 32 * (workers + row_warps));
    if (warp >= workers) return bring_rows(a, warp - workers);
    RunSweep mine(a);
    int parity = 0;
    const int total = Run::total(a);
#pragma unroll 1
    for (int index = blockIdx.x; index < total; index += gridDim.x) {
        const Run run(a, index);
        if (run.count == 0) continue;
        mine.begin(run);
        mine.take(parity);
        asm volatile("barrier.sync 1, %0;" ::"n"(32 * workers) : "memory");
        invert_waiting(a, run, parity);
        parity ^= 1;
    }
}
