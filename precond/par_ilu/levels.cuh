// SPDX-License-Identifier: BSD-3-Clause
// All sweeps of the points of one level, for points of six to eight unknowns, a warp each, on tensor cores
// (precond/par_ilu/tensor.cuh). A sweep at p reads values of the sweep before at p and at lower neighbours, and these
// lie in earlier levels. So once the levels before have been through all sweeps, a point can make its own one after the
// other, with the operations of a sweep over all points (precond/par_ilu/sweep.cuh) and their bits:
//
//     for sweep n = 1, 2, ...    W_l(p) = E_l(p) D^-1(p+l),    X_e(p) = A_e(p) - sum over l + u = e of W_l(p) F_u(p+l)
//
// where the right-hand sides are those of sweep n - 1. So A is read and W, D^-1 and G are written once, whatever the
// number of sweeps. Besides them each sweep's D^-1 and F are stored, as far as later levels read them, in a ring of as
// many levels as a point looks back to, which the second-level cache holds: as *values*, first each F that no sweep
// changes, then, for the guess and each sweep but the last, D^-1 and each F that sweeps change.
//
// A point's blocks of A lie in shared memory, one for each entry, and give way to the last sweep's F; then follow X_0
// of the guess and of each sweep. A lower neighbour outside the grid has W_l = 0.
//
// Definitions, besides those of precond/par_ilu/sweep.cuh: RING_LEVELS, LEVEL_POINTS (of a thread block), OVERLAPPED.
#pragma once

#include "precond/par_ilu/level_ring.cuh"
#include "precond/walks/next_level.cuh"

namespace hyperplane {

static_assert(points == 1 && steps == 2 && OPERANDS_AS_RESULTS && !SYMMETRIC && !SHARES && !NATURAL);

constexpr int level_points = LEVEL_POINTS, level_threads = 32 * level_points;  // of a thread block
constexpr int resident_blocks = __CUDA_ARCH__ >= 1000 ? 2 : 3;  // of a multiprocessor; with three sm_100 spills

/// How many levels before a point's own its neighbour is.
__device__ constexpr int levels_back(int l) {
    return -(offset_x[l] + LEVEL_Y * offset_y[l] + LEVEL_Z * offset_z[l]);
}

/// A column of the level.
struct Column {
    GridPoint at;
    bool exists;
    int line;  // its place in a level of the ring

    __device__ Column(const Arguments& a, int column) {
        a.level.plane.find(a.nx, LEVEL_Y, LEVEL_Z, column, &at.i, &at.j, &at.k);
        exists = column < a.level.plane.columns && at.in_grid(a);
        line = at.j + a.ny * at.k;
    }
    __device__ int slot(const Arguments& a) const { return a.level.base + line; }
};

__device__ __forceinline__ double* level_block(int place, int point) {
    return shared + (place * level_points + point) * staged_size;
}

/// Starts to copy A's blocks at the points of the thread block.
__device__ __forceinline__ void stage_level(const Arguments& a) {
    const int point = threadIdx.x % level_points, first = threadIdx.x / level_points;
    const Column column(a, blockIdx.x * level_points + point);
    if (column.exists)
        unrolled<0, ENTRIES>([&](auto index) {
            constexpr int e = index.value;
            if constexpr (a_entry[e] >= 0) {
                const double* const from = a.entry[e].a + column.slot(a);
                double* const to = level_block(e, point);
#pragma unroll
                for (int q = first; q < block_size; q += level_threads / level_points)
                    copy_8_async(to + q, from + q * a.a_stride);
            }
        });
    commit_copies();
}

/// All sweeps of a point by a warp.
struct LevelSweeps : PointOfWarp {
    unsigned near;          // bit l is set if lower neighbour l is in the grid
    unsigned here;          // place of the point's block in a value
    unsigned there[LOWER];  // those of lower neighbours
    Operand lower[LOWER];   // E_l, where sweeps change it
    Operand w[LOWER];       // -W_l
    Operand ahead[window];  // blocks of the ring that have been requested

    __device__ LevelSweeps(const Arguments& arguments, const Column& column)
        : PointOfWarp(arguments, Point(column.slot(arguments), column.at), column.exists, threadIdx.x / 32), near(0) {
        const int level = a.level.plane.level % RING_LEVELS, lines = a.ny * a.nz;
        here = unsigned(level * lines + column.line) * block_size;
#pragma unroll
        for (int l = 0; l < LOWER; ++l) {
            near |= unsigned(p.has_neighbour(a, l)) << l;
            const int back = level - levels_back(l), its = back < 0 ? back + RING_LEVELS : back;
            there[l] = unsigned(its * lines + column.line + offset_y[l] + a.ny * offset_z[l]) * block_size;
        }
    }
    __device__ __forceinline__ bool is_near(int l) const {
        return near >> l & 1;
    }

    __device__ __forceinline__ double* value(int number) const {
        return a.level.ring + (size_t)number * a.level.stride;
    }
    __device__ __forceinline__ double* inverse_of(int sweep) const {
        return value(fixed_values + sweep * sweep_values);
    }
    template <int u>
    __device__ __forceinline__ double* upper_of(int sweep) const {
        if constexpr (has_pairs(u)) return value(fixed_values + sweep * sweep_values + 1 + read_before(u, true));
        return value(read_before(u, false));
    }
    /// A neighbour's block as right operand; zero if it is outside the grid. In the ring blocks are transposed, so that
    /// a lane's part is contiguous.
    __device__ __forceinline__ Operand from_ring(const double* values, int l, bool wanted = true) const {
        Operand x{};
        const unsigned first = there[l] + unsigned(min(n, DOF - 1) * DOF);
        const int there_is = wanted && is_near(l);
        if constexpr (DOF % 2 == 0) {
            const double* const at = values + first + min(col(0), DOF - 2);
            asm volatile("{ .reg .pred p; setp.ne.b32 p, %3, 0; @p ld.global.v2.f64 {%0, %1}, [%2]; }"
                         : "+d"(x.v[0]), "+d"(x.v[1])
                         : "l"(at), "r"(there_is)
                         : "memory");
        } else {
#pragma unroll
            for (int h = 0; h < steps; ++h)
                asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p ld.global.f64 %0, [%1]; }"
                             : "+d"(x.v[h])
                             : "l"(values + first + min(col(h), DOF - 1)), "r"(there_is)
                             : "memory");
        }
        return x;
    }
    __device__ __forceinline__ void put_in_ring(double* values, const Block& x) const {
#pragma unroll
        for (int m = 0; m < 2; ++m)
            if (inside(m)) values[here + unsigned((c + m) * DOF + r)] = x.v[m];
    }
    /// The same of a right operand.
    __device__ __forceinline__ void put_in_ring(double* values, const Operand& x) const {
        double* const to = values + here + unsigned(n * DOF + col(0));
        if (n >= DOF) return;
        if (DOF % 2 == 0) {
            if (col(0) < DOF) *(double2*)to = double2{x.v[0], x.v[1]};
        } else {
#pragma unroll
            for (int h = 0; h < steps; ++h)
                if (col(h) < DOF) to[h] = x.v[h];
        }
    }

    /// Requests an item of a sweep's blocks.
    template <int item>
    __device__ __forceinline__ void request(int sweep) {
        const bool wanted = sweep < a.level.sweeps;
        if constexpr (item < LOWER) {
            ahead[item % window] = from_ring(inverse_of(sweep), item, wanted);
        } else {
            constexpr int pair = pair_of(item);
            ahead[item % window] = from_ring(upper_of<pair_u[pair]>(sweep), pair_l[pair], wanted);
        }
    }
    /// Requests what takes the place of an item in the window.
    template <int item>
    __device__ __forceinline__ void request_next(int sweep) {
        constexpr int next = item + window;
        if constexpr (next < items)
            request<next>(sweep);
        else if constexpr (next >= padded_items && next - padded_items < items)
            request<next - padded_items>(sweep + 1);
    }
    /// This lane's place in a kept block, which is transposed, too.
    __device__ __forceinline__ double* kept(int which, int h) const {
        const int row = DOF % 2 == 0 ? min(col(0), DOF - 2) + h : min(col(h), DOF - 1);
        return level_block(ENTRIES + a.level.sweeps + 1 + which, point) + min(n, DOF - 1) * DOF + row;
    }

    /// The block at a place of shared memory, as a result and as an operand.
    __device__ __forceinline__ Block block_at(int place) const {
        Block x{};
        const double* const from = level_block(place, point) + r * DOF + c;
#pragma unroll
        for (int m = 0; m < 2; ++m)
            if (inside(m)) x.v[m] = from[m];
        return x;
    }
    __device__ __forceinline__ Operand left_at(int place) const {
        Operand x;
#pragma unroll
        for (int h = 0; h < steps; ++h)
            x.v[h] = col(h) < DOF ? level_block(place, point)[min(r, DOF - 1) * DOF + col(h)] : 0.0;
        return x;
    }
    __device__ __forceinline__ Operand right_at(int place) const {
        Operand x;
#pragma unroll
        for (int h = 0; h < steps; ++h) x.v[h] = level_block(place, point)[place_of(false, h)];
        return x;
    }
    __device__ __forceinline__ void put_at(int place, const Block& x) const {
        double* const to = level_block(place, point) + r * DOF + c;
#pragma unroll
        for (int m = 0; m < 2; ++m)
            if (inside(m)) to[m] = x.v[m];
    }

    /// A_e, with the shift.
    template <int e>
    __device__ __forceinline__ Block begin() const {
        if constexpr (a_entry[e] < 0) return Block{};
        Block x = block_at(e);
        if constexpr (e == LOWER)
#pragma unroll
            for (int m = 0; m < 2; ++m)
                if (r == c + m) x.v[m] += a.alpha * x.v[m];
        return x;
    }
    /// E_l as left operand, zero if the neighbour is outside the grid.
    template <int l>
    __device__ __forceinline__ Operand lower_block() const {
        Operand x;
        if constexpr (has_pairs(l))
            x = lower[l];
        else
            x = left_at(l);
#pragma unroll
        for (int h = 0; h < steps; ++h)
            if (!is_near(l)) x.v[h] = 0.0;
        return x;
    }

    /// The guess: X = A.
    __device__ __forceinline__ void guess() {
        unrolled<0, ENTRIES>([&](auto index) {
            constexpr int e = index.value;
            if constexpr (PERIODIC && e != LOWER && a_entry[e] >= 0)
                if (!p.has_neighbour(a, e)) put_at(e, Block{});
            if constexpr (e == LOWER) put_at(ENTRIES, begin<e>());
        });
        __syncwarp();
        unrolled<0, ENTRIES>([&](auto index) {
            constexpr int e = index.value;
            if constexpr (e < LOWER && has_pairs(e)) lower[e] = as_left(begin<e>());
            if constexpr (e > LOWER && is_read(e))
                put_in_ring(upper_of<e>(0), a_entry[e] < 0 ? Operand{} : right_at(e));
        });
    }
    /// Requests the first blocks, and keeps those that all sweeps use.
    __device__ __forceinline__ void begin_requests() {
        unrolled<0, window>([&](auto item) {
            if constexpr (item.value < items) request<item.value>(0);
        });
        if constexpr (kept_blocks > 0)
            unrolled<0, pairs>([&](auto pair) {
                if constexpr (!is_streamed(pair.value)) {
                    const Operand x = from_ring(upper_of<pair_u[pair.value]>(0), pair_l[pair.value]);
#pragma unroll
                    for (int h = 0; h < steps; ++h) *kept(kept_before(pair.value), h) = x.v[h];
                }
            });
    }
    template <int e>
    __device__ __forceinline__ void finish(const Block& x, int sweep) {
        if constexpr (e == LOWER) {
            put_at(ENTRIES + sweep, x);
        } else if constexpr (e < LOWER) {
            lower[e] = as_left(x);
        } else if (sweep == a.level.sweeps) {
            put_at(e, x);
        } else if constexpr (is_read(e)) {
            put_in_ring(upper_of<e>(sweep), x);
        }
    }
    /// Makes a sweep, which reads the values of the one before.
    __device__ __forceinline__ void sweep(int number) {
        unrolled<0, LOWER>([&](auto index) {
            constexpr int l = index.value;
            Block product{};
            multiply_add<-1>(lower_block<l>(), ahead[l % window], product);
            request_next<l>(number - 1);
            w[l] = as_left(product);
        });
        Block x[ENTRIES];
        unrolled<0, pairs>([&](auto index) {
            constexpr int pair = index.value, e = pair_e[pair];
            if constexpr (pair == first_pair[e]) x[e] = begin<e>();
            if constexpr (is_streamed(pair)) {
                multiply_add<1>(w[pair_l[pair]], ahead[item_of(pair) % window], x[e]);
                request_next<item_of(pair)>(number - 1);
            } else {
                const Operand right{*kept(kept_before(pair), 0), *kept(kept_before(pair), 1)};
                multiply_add<1>(w[pair_l[pair]], right, x[e]);
            }
            if constexpr (pair == last_pair[e]) finish<e>(x[e], number);
        });
        unrolled<items, padded_items>([&](auto item) { request_next<item.value>(number - 1); });
    }

    /// Writes W.
    __device__ __forceinline__ void write_lower(NotFinite& not_finite) const {
        Operand right[LOWER];
#pragma unroll
        for (int l = 0; l < LOWER; ++l) right[l] = PointOfWarp::right<false>(a.entry[LOWER].after, p.near_or_own(a, l));
        __syncwarp();
        unrolled<0, LOWER>([&](auto index) {
            constexpr int l = index.value;
            const Operand own = lower_block<l>();
            Block x{};
            multiply_add<1>(own, right[l], x);
            look_at(not_finite, l, own, r);
            store(a.entry[l].after, is_near(l) ? x : Block{});
        });
    }
    /// Writes G and D^-1, and the D^-1 of the sweeps before.
    __device__ __forceinline__ void write_upper(NotFinite& not_finite) const {
        const int sweeps = a.level.sweeps;
#pragma unroll 1
        for (int sweep = 0; sweep < sweeps; ++sweep) put_in_ring(inverse_of(sweep), right_at(ENTRIES + sweep));
        store(a.entry[LOWER].after, block_at(ENTRIES + sweeps));
        const Operand inverse = left_at(ENTRIES + sweeps);
        unrolled<LOWER + 1, ENTRIES>([&](auto index) {
            constexpr int e = index.value;
            const Operand own = right_at(e);
            Block x{};
            multiply_add<1>(inverse, own, x);
#pragma unroll
            for (int h = 0; h < steps; ++h) not_finite.look_at(e, min(col(h), DOF - 1), own.v[h]);
            store(a.entry[e].after, p.has_neighbour(a, e) ? x : Block{});
        });
    }
    __device__ __forceinline__ void look_at(NotFinite& not_finite, int e, const Operand& own, int row) const {
#pragma unroll
        for (int h = 0; h < steps; ++h)
            if (in_rows) not_finite.look_at(e, row, own.v[h]);
    }

    /// Inverts X_0 of the guess and of all sweeps, four at a time.
    __device__ __forceinline__ void invert() const {
        const int sweeps = a.level.sweeps;
#pragma unroll 1
        for (int first = 0; first <= sweeps; first += 4) {
            const int sweep = first + lane / 8, which = min(sweep, sweeps);
            invert_columns(a, level_block(ENTRIES + which, point), level_block(LOWER, point),
                           sweep == sweeps ? p.slot : -1, sweep >= sweeps);
        }
    }
};

extern "C" __global__ void __launch_bounds__(level_threads, resident_blocks)
    sweeps_of_level(const __grid_constant__ Arguments a) {
    let_next_level_begin();
    const Column column(a, blockIdx.x * level_points + threadIdx.x / 32);
    stage_level(a);
    wait_copies<0>();
    wait_for_level();
    __syncthreads();
    if (!column.exists) return;
    LevelSweeps point(a, column);
    point.begin_requests();
    point.guess();
#pragma unroll 1
    for (int number = 1; number <= a.level.sweeps; ++number) point.sweep(number);
    NotFinite not_finite;
    point.write_lower(not_finite);
    __syncwarp();
    point.invert();
    __syncwarp();
    point.write_upper(not_finite);
    if (!__any_sync(~0u, not_finite.key != NotFinite::none)) return;
    not_finite.gather<32>();
    if (point.lane == 0) not_finite.report(a, point.p.slot);
}

}  // namespace hyperplane
