// A sweep over the factors of points of six or eight unknowns whose entries have many pairs: neighbours' blocks come to
// shared memory row by row (factor_sweeps_row_copies.cuh, where definitions are told). One warp inverts what becomes
// D^-1; workers have a point of each plane of a run. Where a block of a row is the right operand of a product for both
// planes' points, tensor cores multiply both left ones with it at once, so that there are fewer products.

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
    if (warp >= workers) return bring_rows(a, __shfl_sync(~0u, warp, 0) - workers);  // one number for a warp
    RunSweep mine(a);
    for_each_run(a, false, [&](const Run& run, WaitingTurn waiting) {
        mine.begin(run);
        mine.take(waiting);
    });
}
