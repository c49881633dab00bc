// A sweep over the factors of points of six or eight unknowns whose entries have many pairs: neighbours' blocks come to
// shared memory row by row.
//
// What pair (l, u) reads at p is what (l', u) reads at p', where l' differs from l along x alone and p + l = p' + l'. A
// run of points is two of the layout's planes of `width` slots each, and planes side by side differ along x: for each u
// and each line of l one row of blocks, a plane's after the other, serves all points and pairs that need it, and is
// asked for once. Two warps ask for rows, one for A's entries, as far ahead as their rings have room, also for the next
// run; one inverts what becomes D^-1; the others, workers, have a point of each plane. Where a block of a row is the
// right operand of a product for both planes' points, tensor cores multiply both left ones with it at once. So the
// second-level cache is read less, nobody waits for it, and there are fewer products.
//
// A neighbour outside the grid meets a zero of W: its block is then another point's.
//
// Rows of E_l(p), and of D^-1(p+l), come first, then those of F_u(p+l), for entries that differ along x together.
//
// Definitions: factor_sweeps.cuh's (not of SYMMETRIC), and ROWS, ROW_KIND (0: E, 1: D^-1, 2: F), ROW_VALUES (the entry
// that is read), ROW_FROM (the entry whose offset a row begins at), ROW_SPAN (planes more than the run has), MOST_SPAN;
// ROW_TERMS {ROWS + 1}, TERM_L, TERM_E, TERM_SHIFT (planes from the row's first one); FIRST_TERM, LAST_TERM of an
// entry; FINISHED (entries with A's, as they are completed); ROW_RING (of STAGE_ROWS rows each), A_RING (of entries).

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
constexpr int finished_count = sizeof(finished) / sizeof(int);

constexpr int workers = 8, row_warps = STAGE_ROWS, row_threads = 32 * (workers + row_warps + 2);
constexpr int run_ring = 4, waiting_ring = 2;
constexpr int planes = 2;  // of a run; a worker has a point of each
constexpr int width = workers, run_points = planes * width;
constexpr int row_size = (planes + MOST_SPAN) * width * block_size, entry_size = run_points * block_size;
constexpr int waiting_size = run_points * staged_size;
extern __shared__ __align__(16) double row_memory[];
// In doubles: rows, A's entries, two times X_0 and A's own block of all points, the next runs, barriers.
constexpr int entries_place = ROW_RING * row_warps * row_size, waiting_place = entries_place + A_RING * entry_size;
constexpr int runs_place = waiting_place + waiting_ring * 2 * waiting_size, barriers_place = runs_place + run_ring / 2;

/// Points that rows are asked for together.
struct Run {
    int first, count, there;  // slot of the first point, points of a plane, planes that there are

    __device__ Run(const Arguments& a, int index) {
        const int pieces = (a.lines * a.inner + width - 1) / width, groups = (a.outer + planes - 1) / planes;
        const int row = index / pieces, begin = (index - row * pieces) * width;
        const int tile = row / groups * a.lines, plane = row % groups * planes;
        first = (plane * a.middle + tile) * a.inner + begin;
        count = max(0, min(width, min(a.lines, a.middle - tile) * a.inner - begin));
        there = min(planes, a.outer - plane);
    }
    /// Runs of the grid; some at the ends of tiles have no points.
    static __device__ int total(const Arguments& a) {
        const int pieces = (a.lines * a.inner + width - 1) / width, groups = (a.outer + planes - 1) / planes;
        return (a.middle + a.lines - 1) / a.lines * groups * pieces;
    }
    /// Whether there is a point at place `at`, of `planes` rows of `width`; and its slot.
    __device__ __forceinline__ bool has(int at) const { return at % width < count && at / width < there; }
    __device__ __forceinline__ int slot(const Arguments& a, int at) const {
        return first + at / width * a.middle * a.inner + at % width;
    }
};

/// A place of a ring of `size`, which `readers` warps empty, and a full and an empty barrier for each. In one register:
/// workers are short of them.
template <int size, int barriers, int readers>
struct Turn {
    int state = 0;  // two times the place, and the phase

    __device__ __forceinline__ int at() const { return unsigned(state) / 2; }
    __device__ __forceinline__ int phase() const { return state % 2; }

    __device__ __forceinline__ static unsigned full(int place) {
        return shared_address(row_memory + barriers_place + barriers + place);
    }
    __device__ __forceinline__ static unsigned empty(int place) { return full(place) + size * 8; }
    __device__ static void prepare(int producers) {
        for (int place = 0; place < size; ++place) {
            prepare_barrier(full(place), producers);
            prepare_barrier(empty(place), readers);
        }
    }
    __device__ __forceinline__ void wait_full() const {
        while (!has_arrived(full(at()), phase()))
            ;
        __syncwarp();  // products are all lanes'
    }
    __device__ __forceinline__ void wait_empty() const {
        while (!has_arrived(empty(at()), phase() ^ 1))
            ;
    }
    __device__ __forceinline__ void advance() {
        state += 2;
        if (state >= 2 * size) state = (state - 2 * size) ^ 1;
    }
    /// All lanes of a warp have written their part of what there is.
    __device__ __forceinline__ void hand_over() {
        __syncwarp();
        if (threadIdx.x % 32 == 0) arrive_at(full(at()));
        advance();
    }
    /// All lanes of a warp have read what there is.
    __device__ __forceinline__ void release() {
        __syncwarp();
        if (threadIdx.x % 32 == 0) arrive_at(empty(at()));
        advance();
    }
};
typedef Turn<ROW_RING, 0, workers> RowTurn;
typedef Turn<A_RING, 2 * ROW_RING, workers> EntryTurn;
typedef Turn<waiting_ring, 2 * (ROW_RING + A_RING), 1> WaitingTurn;
typedef Turn<run_ring, 2 * (ROW_RING + A_RING + waiting_ring), row_threads / 32> RunTurn;
static_assert(run_ring == 2 * waiting_ring, "a run's place among runs tells its place and phase among what waits");

/// body(run, turn) for one run after the other, by a warp; its blocks to be inverted wait where `turn` says. The
/// `leader` gets runs. What is next a counter tells, so that thread blocks stay side by side and find in the
/// second-level cache what others have read.
template <class Body>
__device__ __forceinline__ void for_each_run(const Arguments& a, bool leader, const Body& body) {
    volatile int* const ring = (volatile int*)(row_memory + runs_place);
    const bool asks = leader && threadIdx.x % 32 == 0;
    RunTurn turn;
    int next = asks ? atomicAdd(a.next_run, 1) : 0;
#pragma unroll 1
    for (;;) {
        if (asks) {
            const int total = Run::total(a);
            while (next < total && Run(a, next).count == 0) next = atomicAdd(a.next_run, 1);
            turn.wait_empty();
            ring[turn.at()] = next < total ? next : -1;
            arrive_at(RunTurn::full(turn.at()));
            next = atomicAdd(a.next_run, 1);  // there when this run has been asked for
        }
        turn.wait_full();
        const int index = ring[turn.at()], at = turn.at();
        turn.release();
        if (index < 0) return;
        body(Run(a, index), WaitingTurn{at % waiting_ring * 2 + at / waiting_ring});
    }
}

/// Where a coefficient of a row's block lies in shared memory. Right operands' rows of eight unknowns would meet in
/// banks: even ones lie before odd ones, and every other two of them change halves.
__device__ __forceinline__ int place_of(int row, int col) {
    if (DOF < 8) return row * DOF + col;
    const int place = row % 2 * 4 + row / 2;
    return place * DOF + (col ^ (place & 2) * 2);
}

/// Begins to copy a run's points of a plane from slot `first` on, by a warp, as they lie or as place_of has them.
template <bool of_row>
__device__ __forceinline__ void bring_plane(const Arguments& a, const Run& run, const double* values, int first,
                                            double* to) {
    constexpr int of_block = block_size / 2, of_plane = width * of_block;  // pieces of 16 bytes
    const int lane = threadIdx.x % 32;
    if (of_row && DOF == 8)
        to += place_of(lane / 4, lane % 4 * 2);
    else
        to += lane * 2;
    if (run.count == width && first + width <= a.slots) {
        const double* const from = values + unsigned(first) * block_size + lane * 2;
#pragma unroll
        for (int piece = 0; piece < of_plane; piece += 32)
            if (piece + 32 <= of_plane || piece + lane < of_plane) copy_run(to + piece * 2, from + piece * 2);
    } else {
        for (int piece = lane; piece < run.count * of_block; piece += 32) {
            const int slot = first + piece / of_block;  // behind the last one follows the first one
            copy_run(to + (piece - lane) * 2, values + unsigned(slot < a.slots ? slot : slot - a.slots) * block_size +
                                                  unsigned(piece % of_block * 2));
        }
    }
}

/// Asks for rows, by a few warps, the rows of a stage one each.
__device__ void bring_rows(const Arguments& a, int which) {
    const int plane_slots = a.middle * a.inner;
    RowTurn turn;
    for_each_run(a, which == 0, [&](const Run& run, WaitingTurn) {
#pragma unroll 1
        for (int row = which; row < ROWS + which; row += row_warps) {
            turn.wait_empty();
            if (row < ROWS) {
                const int count = run.there + row_span[row];
                const double* const values = a.old_values[row_values[row]];
                double* to = row_memory + (turn.at() * row_warps + which) * row_size;
                int first = run.first + a.delta[row_from[row]];
                for (int plane = 0; plane < count; ++plane, to += width * block_size, first += plane_slots) {
                    if (first >= a.slots) first -= a.slots;
                    bring_plane<true>(a, run, values, first, to);
                }
            }
            arrive_with_copies(RowTurn::full(turn.at()));
            turn.advance();
        }
    });
}

/// Asks for A's entries, by a warp.
__device__ void bring_entries(const Arguments& a) {
    EntryTurn turn;
    for_each_run(a, false, [&](const Run& run, WaitingTurn) {
#pragma unroll 1
        for (int entry = 0; entry < finished_count; ++entry) {
            turn.wait_empty();
            double* const to = row_memory + entries_place + turn.at() * entry_size;
            for (int plane = 0; plane < run.there; ++plane)
                bring_plane<false>(a, run, a.a_values[finished[entry]], run.first + plane * a.middle * a.inner,
                                   to + plane * width * block_size);
            arrive_with_copies(EntryTurn::full(turn.at()));
            turn.advance();
        }
    });
}

/// The term of a row whose shift this is, -1 where it has none.
__device__ constexpr int term_at(int row, int shift) {
    for (int term = row_terms[row]; term < row_terms[row + 1]; ++term)
        if (term_shift[term] == shift) return term;
    return -1;
}

/// A worker's points of a run, one of each plane.
struct RunSweep {
    const Arguments& a;
    const Lane lane;
    const int place;  // in a plane
    RowTurn row;
    EntryTurn entry;
    int slot;       // of the first plane's point
    unsigned near;  // of both, 16 bits each: those of the lower neighbours that there are, the last one of the point
    Operand w[LOWER][planes];  // -E_l(p), then -W_l(p)
    Block x[ENTRIES][planes];

    __device__ explicit RunSweep(const Arguments& arguments)
        : a(arguments), lane(threadIdx.x), place(threadIdx.x / 32) {}

    __device__ __forceinline__ int place_in_run(int plane) const { return place + plane * width; }

    __device__ __forceinline__ void begin(const Run& run) {
        slot = run.slot(a, place);
        near = 0;
#pragma unroll
        for (int q = 0; q < planes; ++q) {
            if (!run.has(place_in_run(q))) continue;
            const Point p(a, slot_of(q));
            near |= 0x8000u << 16 * q;
#pragma unroll
            for (int l = 0; l < LOWER; ++l)
                if (p.has_neighbour(a, l)) near |= 1u << (16 * q + l);
        }
    }
    __device__ __forceinline__ int slot_of(int plane) const { return slot + plane * a.middle * a.inner; }
    /// Whether a plane's point has lower neighbour l; 15: whether there is the point.
    __device__ __forceinline__ bool has(int plane, int l) const { return near >> (16 * plane + l) & 1u; }

    /// -E_l(p) of the row as left operand; zero where there is no neighbour.
    template <int l>
    __device__ __forceinline__ void take_own(const double* here) {
#pragma unroll
        for (int q = 0; q < planes; ++q) {
            const double* const values =
                here + place_in_run(q) * block_size + place_of(min(lane.r, DOF - 1), lane.col(0));
#pragma unroll
            for (int h = 0; h < steps; ++h)
                w[l][q].v[h] = has(q, l) && lane.col(h) < DOF ? -values[h] : 0.0;
        }
    }

    /// Products of W, or E, with the blocks of a row: in its plane `plane` is the right operand of the first point's
    /// term with this shift, and of the second one's with one less.
    template <int index, class Sum>
    __device__ __forceinline__ void multiply_row(const double* here, const Sum& sum) {
        constexpr int count = term_shift[row_terms[index + 1] - 1] + planes;  // terms are sorted by shift
        Operand right[count];
        unrolled<0, count>([&](auto plane) {
            constexpr int p = plane.value;
            if constexpr (term_at(index, p) >= 0 || term_at(index, p - 1) >= 0)
#pragma unroll
                for (int h = 0; h < steps; ++h)
                    right[p].v[h] = here[place_in_run(p) * block_size +
                                         place_of(min(lane.col(h), DOF - 1), min(lane.n, DOF - 1))];
        });
        unrolled<0, steps>([&](auto step) {
            constexpr int h = step.value;
            unrolled<0, count>([&](auto plane) {
                constexpr int p = plane.value, first = term_at(index, p), second = term_at(index, p - 1);
                const double b = right[p].v[h];
                if constexpr (first >= 0 && second >= 0)
                    Lane::multiply_add(w[term_l[first]][0].v[h], w[term_l[second]][1].v[h], b, sum(first, 0),
                                       sum(second, 1));
                else if constexpr (first >= 0)
                    Lane::multiply_add(w[term_l[first]][0].v[h], b, sum(first, 0));
                else if constexpr (second >= 0)
                    Lane::multiply_add(w[term_l[second]][1].v[h], b, sum(second, 1));
            });
        });
    }

    template <int index>
    __device__ __forceinline__ void take_row() {
        constexpr int begin = row_terms[index], end = row_terms[index + 1];
        if (index % row_warps == 0) row.wait_full();
        const double* const here = row_memory + (row.at() * row_warps + index % row_warps) * row_size;
        if constexpr (row_kind[index] == 0) {
            take_own<term_l[begin]>(here);
        } else if constexpr (row_kind[index] == 1) {
            Block product[end - begin][planes] = {};
            multiply_row<index>(here, [&](int term, int q) -> Block& { return product[term - begin][q]; });
            unrolled<begin, end>([&](auto term) {
                constexpr int t = term.value;
#pragma unroll
                for (int q = 0; q < planes; ++q) w[term_l[t]][q] = lane.as_left(product[t - begin][q]);
            });
        } else {
            unrolled<begin, end>([&](auto term) {
                constexpr int e = term_e[term.value];
                if constexpr (first_term[e] == term.value) x[e][0] = x[e][1] = Block{};
            });
            multiply_row<index>(here, [&](int term, int q) -> Block& { return x[term_e[term]][q]; });
        }
        if (index % row_warps == row_warps - 1 || index == ROWS - 1) row.release();
    }

    /// Adds A's block to what pairs gave, and stores it or, X_0, lets it wait with A's.
    template <int e>
    __device__ __forceinline__ void finish(WaitingTurn waiting) {
        if constexpr (a_entry[e] >= 0) entry.wait_full();
        if constexpr (e == LOWER) waiting.wait_empty();
#pragma unroll
        for (int q = 0; q < planes; ++q) {
            Block own{}, &sum = x[e][q];
            if (a_entry[e] >= 0 && lane.inside(0)) {
                const double2 a_block =
                    *(const double2*)(row_memory + entries_place + entry.at() * entry_size +
                                      place_in_run(q) * block_size + lane.r * DOF + lane.c);
                own = Block{a_block.x, a_block.y};
            }
#pragma unroll
            for (int m = 0; m < 2; ++m)
                sum.v[m] += e == LOWER && lane.r == lane.c + m ? own.v[m] + a.alpha * own.v[m] : own.v[m];
            if constexpr (e == LOWER) {
                double* const to = row_memory + waiting_place + waiting.at() * 2 * waiting_size +
                                   place_in_run(q) * staged_size + lane.r * DOF + lane.c;
#pragma unroll
                for (int m = 0; m < 2; ++m)
                    if (lane.inside(m)) to[m] = sum.v[m], to[waiting_size + m] = own.v[m];
            } else if (has(q, 15) && lane.inside(0)) {
                double* const to =
                    a.new_values[e] + unsigned(slot_of(q)) * block_size + unsigned(lane.r * DOF + lane.c);
                __stcs((double2*)to, double2{sum.v[0], sum.v[1]});
            }
        }
        if constexpr (e == LOWER) waiting.hand_over();
        if constexpr (a_entry[e] >= 0) entry.release();
    }

    __device__ __forceinline__ void take(WaitingTurn waiting) {
        unrolled<0, ROWS>([&](auto index) {
            constexpr int r = index.value;
            take_row<r>();
            unrolled<row_terms[r], row_terms[r + 1]>([&](auto term) {
                if constexpr (row_kind[r] == 2 && last_term[term_e[term.value]] == term.value)
                    finish<term_e[term.value]>(waiting);
            });
        });
    }
};

/// Inverts the blocks of runs that wait, and stores them, by a warp.
__device__ void invert_waiting(const Arguments& a) {
    constexpr int warp_points = 4;
    const int lane = threadIdx.x % 32;
    for_each_run(a, false, [&](const Run& run, WaitingTurn turn) {
        double* const blocks = row_memory + waiting_place + turn.at() * 2 * waiting_size;
        turn.wait_full();
#pragma unroll 1
        for (int first = 0; first < run_points; first += warp_points) {
            double* const mine = blocks + (first + lane / 8) * staged_size;
            invert_columns(a, mine, mine + waiting_size);
            __syncwarp();
            for (int q = lane; q < warp_points * block_size; q += 32) {
                const int at = first + q / block_size, element = q % block_size;
                if (run.has(at))
                    __stcs(a.new_values[LOWER] + (size_t)run.slot(a, at) * block_size + element,
                           blocks[at * staged_size + element]);
            }
        }
        turn.release();
    });
}

extern "C" __global__ void __launch_bounds__(row_threads, 1) factor_sweep(const __grid_constant__ Arguments a) {
    const int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        RowTurn::prepare(32 * row_warps);
        EntryTurn::prepare(32);
        WaitingTurn::prepare(workers);
        RunTurn::prepare(1);
    }
    __syncthreads();
    if (warp == workers + row_warps + 1) return invert_waiting(a);
    if (warp == workers + row_warps) return bring_entries(a);
    if (warp >= workers) return bring_rows(a, warp - workers);
    RunSweep mine(a);
    for_each_run(a, false, [&](const Run& run, WaitingTurn waiting) {
        mine.begin(run);
        mine.take(waiting);
    });
}
