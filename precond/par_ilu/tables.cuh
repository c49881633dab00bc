// SPDX-License-Identifier: BSD-3-Clause
// What all kernels of fixed-point sweeps use: tables, points and pivots. Definitions: precond/par_ilu/sweep.cuh.
#pragma once

#include "core/device/async_copies.cuh"
#include "core/grid/grid_point.cuh"
#include "precond/factors/gauss_jordan.cuh"
#include "precond/factors/pivot_rule.hpp"
#include "precond/par_ilu/arguments.hpp"
#include "precond/walks/unrolled.cuh"

namespace hyperplane {

using Arguments = FactorSweepArguments<ENTRIES>;

__device__ constexpr int a_entry[] = A_ENTRY;
__device__ constexpr int pair_l[] = PAIR_L;
__device__ constexpr int pair_u[] = PAIR_U;
__device__ constexpr int pair_e[] = PAIR_E;

constexpr int threads = 256;
constexpr int entries = SYMMETRIC || SHARES ? LOWER + 1 : ENTRIES;  // that are stored
constexpr int pairs = PAIRS;

/// The first and the last pair of each entry e; `pairs` and -1 if it has none.
__device__ constexpr int first_pair[] = FIRST_PAIR;
__device__ constexpr int last_pair[] = LAST_PAIR;

__device__ constexpr bool has_pairs(int e) {
    return last_pair[e] >= 0;
}

/// Calls body(Constant<begin>, Constant<end>) for groups of `size` pairs.
template <int size, class Body>
__device__ __forceinline__ void for_each_group(const Body& body) {
    unrolled<0, (pairs + size - 1) / size>([&](auto group) {
        constexpr int begin = group.value * size, end = begin + size < pairs ? begin + size : pairs;
        body(Constant<begin>{}, Constant<end>{});
    });
}

/// Whether a sweep writes an entry. `all`: the sweep writes all entries, also those that no pair changes.
template <bool all>
__device__ constexpr bool writes(int e) {
    return e == LOWER || (!SHARES && (all || has_pairs(e)));
}

/// The points of a thread block, whose slots are consecutive.
struct Chunk {
    int first, count;

    __device__ Chunk(const Arguments& a, int most) {
        const int row_blocks = (a.lines * a.inner + most - 1) / most;
        const int row = blockIdx.x / row_blocks, begin = (blockIdx.x - row * row_blocks) * most;
        const int tile = row / a.outer * a.lines;
        first = (row % a.outer * a.middle + tile) * a.inner + begin;
        count = max(0, min(most, min(a.lines, a.middle - tile) * a.inner - begin));
    }
};

struct Point {
    int slot;
    GridPoint in_grid;

    __device__ Point(const Arguments& a, int slot_) : slot(slot_), in_grid(GridPoint::at(a, slot_)) {}
    __device__ Point(int slot_, const GridPoint& at) : slot(slot_), in_grid(at) {}
    __device__ __forceinline__ bool has_neighbour(const Arguments& a, int e) const {
        return in_grid.has_neighbour(a, e);
    }
    /// The slot of the neighbour to which an entry leads; if that is outside the grid, the slot of some other point.
    __device__ __forceinline__ int near(const Arguments& a, int e) const {
        return shifted_slot(a, slot, a.entry[e].delta);
    }
    /// The same, but the point's own slot if the neighbour is outside the grid.
    __device__ __forceinline__ int near_or_own(const Arguments& a, int e) const {
        return has_neighbour(a, e) ? near(a, e) : slot;
    }
};

/// The pivots of a point: what replaces those that cannot be used, which is a guess in all sweeps but the last, and
/// what the last sweep reports on them.
struct Pivots {
    const bool last;
    double smallest = 1.0, bad = 0.0;
    int component = -1;

    __device__ explicit Pivots(bool last_) : last(last_) {}
    __device__ double usable(const Arguments& a, int row, double pivot, double own, double scale) {
        const PivotRule rule{a.tolerance, a.boost, SYMMETRIC};
        if (last) smallest = fmin(smallest, rule.ratio(pivot, own));
        if (rule.accepts(pivot, own, a.tolerance * scale)) return pivot;
        if (component < 0) component = row, bad = pivot;
        return last ? 0.0 : rule.guess(own, scale);
    }
    __device__ void report(const Arguments& a, int slot) const {
        a.ratio[slot] = smallest;
        a.failure[slot] = component < 0 ? 0.0 : -1.0;
        a.failed[slot] = component;
        a.failed[(long long)a.slots + slot] = bad;
    }
};

/// The first coefficient of a point that is not finite, in the order of entries and rows.
struct NotFinite {
    static constexpr int none = 1 << 30;
    int key = none;
    double value = 0.0;

    __device__ void look_at(int e, int row, double x) {
        if (key == none && !PivotRule::is_number(x)) key = e * DOF + row, value = x;
    }
    /// Finds the first one over all `lanes` lanes of a point.
    template <int lanes>
    __device__ void gather() {
#pragma unroll
        for (int step = lanes / 2; step > 0; step /= 2) {
            const int other = __shfl_xor_sync(~0u, key, step);
            const double its = __shfl_xor_sync(~0u, value, step);
            if (other < key) key = other, value = its;
        }
    }
    __device__ void add_to(Pivots& pivots) const {
        if (pivots.component < 0 && key != none) pivots.component = key % DOF, pivots.bad = value;
    }
    /// Adds it to what the last sweep has reported on the pivots of a slot.
    __device__ void report(const Arguments& a, int slot) const {
        if (key == none || a.failure[slot] != 0.0) return;
        a.failure[slot] = -1.0;
        a.failed[slot] = key % DOF;
        a.failed[(long long)a.slots + slot] = value;
    }
};

/// Replaces x by its inverse; returns false if a pivot could not be used. `diagonal` is the diagonal of A's block, and
/// `scale` is the largest coefficient of x and of that block.
__device__ __forceinline__ bool invert(const Arguments& a, double (&x)[DOF][DOF], const double (&diagonal)[DOF],
                                       double scale, Pivots& pivots) {
    return invert_unrolled(x, [&](int p, double pivot) { return pivots.usable(a, p, pivot, diagonal[p], scale); });
}

}  // namespace hyperplane
