// SPDX-License-Identifier: BSD-3-Clause
// One fixed-point sweep over the factors of all points, on a GPU (precond/par_ilu/sweeps.hpp):
//
//     X_e(p) <- A_e(p) - sum over l + u = e of W_l(p) F_u(p+l),     W_l(p) = E_l(p) D^-1(p+l)
//
// Right-hand sides are those of the sweep before, or, where new values replace old ones in place, whatever is there;
// all W_l(p) are made first, then one entry after the other. An entry that no pair (l, u) leads to is A's in every
// sweep: the first one writes it, the last one where results are wanted, the others read it. One and two unknowns are
// in precond/par_ilu/points.cuh, three to eight in precond/par_ilu/tensor.cuh, and where pairs share much of what they
// read sweeps before the last in precond/par_ilu/staged.cuh.
//
// What neighbours have is found again in the second-level cache: blocks of threads take the points plane by plane of
// the layout's outermost axis, but only a few lines of its middle axis at a time.
//
// The blocks that pairs need are asked for together, a group of pairs at a time, across entries. Of larger blocks those
// that points side by side have in common follow each other (precond/par_ilu/sweeps_cuda.cpp gives the order), for the
// first-level cache: the sums of entries that differ along the innermost axis grow side by side.
//
// Factors lie as [entry][slot][row][col], zero where the neighbour is outside the grid; those of D-ILU (SHARES) but
// D^-1 are A's. A lower neighbour outside the grid counts as the point itself, times W_l = 0.
//
// Definitions, besides those of core/grid/grid_point.cuh: DOF, ENTRIES, LOWER, A_ENTRY {for each entry, A's entry or
// -1}, PAIRS, PAIR_L, PAIR_U, PAIR_E, FIRST_PAIR, LAST_PAIR; SYMMETRIC (one triangle; pivots must have A's sign),
// SHARES, PERIODIC (A has entries that wrap); BLOCKS (resident on a multiprocessor), ROUNDS (of
// precond/par_ilu/tensor.cuh), BY_ROWS.
#pragma once

#include "core/grid/grid_point.cuh"
#include "precond/walks/kernel_parts.cuh"

namespace hyperplane {

struct Arguments {
    const double* a_values[ENTRIES];    // [row][col][a_stride], by the factors' entries; of a sweep by rows as factors
    const double* old_values[ENTRIES];  // of the sweep before, or new_values; LOWER: D^-1
    double* new_values[ENTRIES];
    double* a_blocks;                  // BY_ROWS, of the guess: A's entries that sweeps change, as factors lie
    int* next_run;                     // of a sweep by rows, 0 before it
    double *ratio, *failure, *failed;  // of the last sweep's pivots, as FactorSweeps reads them
    double alpha, tolerance, boost;
    long long a_stride;
    int slots, nx, ny, nz;
    int outer, middle, inner, lines;  // extents of the layout's axes; middle ones taken at a time
    int delta[ENTRIES];
};

__device__ constexpr int a_entry[] = A_ENTRY;
__device__ constexpr int pair_l[] = PAIR_L;
__device__ constexpr int pair_u[] = PAIR_U;
__device__ constexpr int pair_e[] = PAIR_E;

constexpr int threads = 256;
constexpr int entries = SYMMETRIC || SHARES ? LOWER + 1 : ENTRIES;  // kept
constexpr int pairs = PAIRS;

/// The pairs that X_e begins and ends with; `pairs` and -1 where it has none.
__device__ constexpr int first_pair[] = FIRST_PAIR;
__device__ constexpr int last_pair[] = LAST_PAIR;

__device__ constexpr bool has_pairs(int e) {
    return last_pair[e] >= 0;
}

/// Pairs are taken in groups of so many.
template <int size, class Body>
__device__ __forceinline__ void for_each_group(const Body& body) {
    unrolled<0, (pairs + size - 1) / size>([&](auto group) {
        constexpr int begin = group.value * size, end = begin + size < pairs ? begin + size : pairs;
        body(Constant<begin>{}, Constant<end>{});
    });
}

/// Whether a sweep writes an entry.
template <bool all>
__device__ constexpr bool writes(int e) {
    return e == LOWER || (!SHARES && (all || has_pairs(e)));
}

/// The points of a block of threads, whose slots follow each other.
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
    __device__ __forceinline__ bool has_neighbour(const Arguments& a, int e) const {
        return in_grid.has_neighbour(a, e);
    }
    __device__ __forceinline__ int near(const Arguments& a, int e) const { return neighbour_slot(a, slot, e); }
    /// The same, but the own one where there is none.
    __device__ __forceinline__ int near_or_own(const Arguments& a, int e) const {
        return has_neighbour(a, e) ? near(a, e) : slot;
    }
};

__device__ __forceinline__ bool is_finite(double x) {
    return x - x == 0.0;
}

/// What a point's pivots are told by, and what they are replaced by where they cannot be used: before the last sweep
/// they are guesses.
template <bool last>
struct Pivots {
    double smallest = 1.0, bad = 0.0;
    int component = -1;

    __device__ double usable(const Arguments& a, int row, double pivot, double own, double scale) {
        const bool wrong_sign = SYMMETRIC && pivot * own < 0.0;
        if (last && own != 0.0 && is_finite(pivot)) smallest = fmin(smallest, wrong_sign ? 0.0 : fabs(pivot / own));
        if (is_finite(pivot) && fabs(pivot) > a.tolerance * scale && !wrong_sign) return pivot;
        if (component < 0) component = row, bad = pivot;
        const double guess = a.boost * scale;
        return last || !is_finite(guess) ? 0.0 : own < 0.0 ? -guess : guess;
    }
    __device__ void tell(const Arguments& a, int slot) const {
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
        if (key == none && !is_finite(x)) key = e * DOF + row, value = x;
    }
    /// Of all `lanes` of a point.
    template <int lanes>
    __device__ void gather() {
#pragma unroll
        for (int step = lanes / 2; step > 0; step /= 2) {
            const int other = __shfl_xor_sync(~0u, key, step);
            const double its = __shfl_xor_sync(~0u, value, step);
            if (other < key) key = other, value = its;
        }
    }
    template <bool last>
    __device__ void add_to(Pivots<last>& pivots) const {
        if (pivots.component < 0 && key != none) pivots.component = key % DOF, pivots.bad = value;
    }
};

/// x becomes its inverse; false where a pivot could not be used. `diagonal` is A's, `scale` the largest entry of both.
template <bool last>
__device__ __forceinline__ bool invert(const Arguments& a, double (&x)[DOF][DOF], const double (&diagonal)[DOF],
                                       double scale, Pivots<last>& pivots) {
    bool gave_up = false;
#pragma unroll
    for (int p = 0; p < DOF; ++p) {
        double pivot = 1.0;
        if (!gave_up) {
            pivot = pivots.usable(a, p, x[p][p], diagonal[p], scale);
            if (pivot == 0.0) gave_up = true, pivot = 1.0;
        }
        const double inverse = 1.0 / pivot;
        x[p][p] = 1.0;
#pragma unroll
        for (int c = 0; c < DOF; ++c) x[p][c] *= inverse;
#pragma unroll
        for (int r = 0; r < DOF; ++r) {
            if (r == p) continue;
            const double factor = x[r][p];
            x[r][p] = 0.0;
#pragma unroll
            for (int c = 0; c < DOF; ++c) x[r][c] -= factor * x[p][c];
        }
    }
    return !gave_up;
}

}  // namespace hyperplane
