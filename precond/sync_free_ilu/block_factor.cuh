// SPDX-License-Identifier: BSD-3-Clause
// ILU of rows of few blocks, whose values are polled themselves (precond/sync_free_ilu/polled.cuh).
//
// DOF lanes have a block row, and lane r has row r of each of its blocks, in a part of shared memory that no other lane
// touches. So a product of blocks needs what the other lanes of the row have loaded, by shuffles, and no barrier. Rows
// of one level are a slice of the lower triangle's solve, up to 32 / DOF of them, which one warp works on. In each
// slice:
//
//     1. for each step s, which eliminates the row k of the s-th block below the diagonal: where the entries of row k
//        after its diagonal meet this row (a number of four bits each). That follows from the pattern, so it is found
//        before anything is waited for; lanes share the steps.
//     2. a batch of steps loads the inverse of the diagonal block of row k and the first block that meets this row,
//        all together, until all are known; others that meet this row follow one after another
//     3. the diagonal block is inverted, a row a lane
//
// Thread blocks are resident, and each warp has every n-th slice, in the order of levels (as in
// precond/general/solves/solve.cuh, where it is said why there is no deadlock). Results have the bits of factor.cuh:
// products and sums have its order.
//
// Definitions: DOF, MOST (blocks of a row), SYMMETRIC, BY_ROW (precond/general/factors/row.cuh).

#include "precond/factors/gauss_jordan.hpp"
#include "precond/sync_free_ilu/block_arguments.hpp"
#include "precond/sync_free_ilu/polled.cuh"

#ifndef BY_ROW
#define BY_ROW 0
#endif

namespace hyperplane {

typedef BlockFactorArguments Arguments;
typedef unsigned long long Matches;  // four bits for an entry of row k: the entry of this row that it meets, from 1
constexpr int threads = MOST > 8 ? 64 : 128, batch = 3;
constexpr int rows_of_slice = 32 / DOF, rows_of_block = threads / 32 * rows_of_slice;
static_assert(MOST <= 15, "four bits have the number of an entry");

/// What the lanes of a thread block keep.
struct Memory {
    double x[MOST * DOF][threads];
    long long pivot[MOST - 1][rows_of_block];  // [step]: the place of the diagonal block of row k
    Matches matches[MOST - 1][rows_of_block];
};

/// A lane, and the row that it works on.
struct Lane {
    const Arguments& a;
    Memory& memory;
    int r, first, of_block;  // row of each block; the first lane of the row; the row's number in its thread block
    bool active;
    long long row, begin, diagonal, own;  // own: A's diagonal block, -1 if it is not stored
    int lower, count;                     // blocks below the diagonal, and all

    __device__ __forceinline__ Lane(const Arguments& arguments, Memory& shared, const SolveSlice& slice, int lane)
        : a(arguments), memory(shared) {
        const int which = lane / DOF;
        r = lane % DOF;
        first = lane - r;
        of_block = int(threadIdx.x / 32) * rows_of_slice + which;
        active = which < slice.rows;
        row = active ? __ldg(a.order + slice.first + which) : 0;
        begin = __ldg(a.row_begin + row);
        diagonal = __ldg(a.diagonal + row);
        own = a.a_diagonal ? __ldg(a.a_diagonal + row) : diagonal;
        lower = active ? int(diagonal - begin) : 0;
        count = active ? int(__ldg(a.row_begin + row + 1) - begin) : 0;
    }
    __device__ __forceinline__ double& x(int entry, int c) const { return memory.x[entry * DOF + c][threadIdx.x]; }
    /// Element (r, c) of a block of the pattern.
    __device__ __forceinline__ long long element(long long block, int c) const { return (block * DOF + r) * DOF + c; }
    /// What lane q of the row has.
    __device__ __forceinline__ double from_lane(double own, int q) const {
        return __shfl_sync(~0u, own, (first + q) % 32);
    }

    /// X = A + shift diag(A).
    __device__ __forceinline__ void load() const {
        if (!active) return;
        const long long from = __ldg(a.a_row_begin + row), to = __ldg(a.a_row_begin + row + 1);
        if (a.place)
            for (int e = 0; e < count; ++e)
#pragma unroll
                for (int c = 0; c < DOF; ++c) x(e, c) = 0.0;
        for (long long block = from; block < to; ++block) {
            const int there = a.place ? __ldg(a.place + block) : int(block - from);
            if (there < 0) continue;  // the factors leave this block out
#pragma unroll
            for (int c = 0; c < DOF; ++c) {
                const double factor = block == own && c == r ? 1.0 + a.shift : 1.0;
                x(there, c) = factor * __ldg(a.a_values + element(block, c));
            }
        }
    }
    /// For each step, where the row k that it eliminates meets this row.
    __device__ __forceinline__ void find_matches() const {
        for (int s = r; s < lower; s += DOF) {
            const int k = __ldg(a.column + begin + s);
            const long long pivot = __ldg(a.diagonal + k);
            const int others = int(__ldg(a.row_begin + k + 1) - pivot) - 1;
            Matches found = 0;
            int e = SYMMETRIC ? lower : s + 1;
            for (int t = 0; t < others; ++t) {
                const int column = __ldg(a.column + pivot + 1 + t);
                while (e < count && __ldg(a.column + begin + e) < column) ++e;
                if (e == count) break;
                if (__ldg(a.column + begin + e) == column) found |= Matches(e + 1) << (4 * t);
            }
            memory.pivot[s][of_block] = pivot;
            memory.matches[s][of_block] = found;
        }
    }

    /// X_ij -= W U_kj; `u` is row r of U_kj, and `entry` the number of X_ij from 1, 0: there is none.
    __device__ __forceinline__ void update(int entry, const double (&w)[DOF], const double (&u)[DOF]) const {
#pragma unroll
        for (int c = 0; c < DOF; ++c) {
            double sum = entry > 0 ? x(entry - 1, c) : 0.0;
#pragma unroll
            for (int q = 0; q < DOF; ++q) sum = fma(-w[q], from_lane(u[c], q), sum);
            if (entry > 0) x(entry - 1, c) = sum;
        }
    }

    /// Eliminates the steps from, ..., from + batch - 1.
    __device__ __forceinline__ void eliminate(int from) const {
        const double unknown = __longlong_as_double(unfinished);
        const double *at_p[batch], *at_u[batch];
        double p[batch][DOF], u[batch][DOF];
        Matches matches[batch];
        int met[batch];  // the first entry of row k that meets this row
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            const bool steps = from + b < lower;
            matches[b] = steps ? memory.matches[from + b][of_block] : 0;
            met[b] = matches[b] ? (__ffsll((long long)matches[b]) - 1) / 4 : 0;
            at_p[b] = a.values + element(steps ? memory.pivot[from + b][of_block] : 0, 0);
            at_u[b] = at_p[b] + (1 + met[b]) * DOF * DOF;
#pragma unroll
            for (int c = 0; c < DOF; ++c) p[b][c] = steps ? unknown : 0.0, u[b][c] = matches[b] ? unknown : 0.0;
        }
        // A row that waits looks at one value of each row k alone, and at the others when it is known.
        for (;;) {
            bool missing = false;
#pragma unroll
            for (int b = 0; b < batch; ++b)
#pragma unroll
                for (int c = 0; c < DOF; ++c) {
                    if (!is_finished(p[b][c])) p[b][c] = look_at(at_p[b] + c);
                    if (!is_finished(u[b][c])) u[b][c] = look_at(at_u[b] + c);
                }
#pragma unroll
            for (int b = 0; b < batch; ++b)
#pragma unroll
                for (int c = 0; c < DOF; ++c) missing = missing || !is_finished(p[b][c]) || !is_finished(u[b][c]);
            if (!missing) break;
            for (bool waits = true; waits;) {
                waits = false;
#pragma unroll
                for (int b = 0; b < batch; ++b)
                    if (!is_finished(p[b][0])) p[b][0] = look_at(at_p[b]);
#pragma unroll
                for (int b = 0; b < batch; ++b) waits = waits || !is_finished(p[b][0]);
            }
        }
        __syncwarp();
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            const bool steps = from + b < lower;
            double mine[DOF], w[DOF];  // row r of X_ik, of a symmetric matrix of U_ki^T
#pragma unroll
            for (int q = 0; q < DOF; ++q) {
                mine[q] = !SYMMETRIC && steps ? x(from + b, q) : 0.0;
                if (SYMMETRIC)
#pragma unroll
                    for (int c = 0; c < DOF; ++c)
                        if (const double other = from_lane(u[b][c], q); c == r) mine[q] = other;
            }
#pragma unroll
            for (int c = 0; c < DOF; ++c) {
                double sum = 0.0;
#pragma unroll
                for (int q = 0; q < DOF; ++q) sum = fma(mine[q], from_lane(p[b][c], q), sum);
                w[c] = sum;
                if (steps) a.values[element(begin + from + b, c)] = sum;
            }
            Matches left = matches[b] >> (4 * met[b]);
            update(int(left & 15), w, u[b]);
            for (int t = met[b];;) {
                left &= ~(Matches)15;
                if (!__any_sync(~0u, left != 0)) break;
                const int further = left ? (__ffsll((long long)left) - 1) / 4 : 0;
                left >>= 4 * further;
                t += further;
                double next[DOF];
#pragma unroll
                for (int c = 0; c < DOF; ++c) next[c] = left ? await(at_p[b] + (1 + t) * DOF * DOF + c) : 0.0;
                __syncwarp();
                update(int(left & 15), w, next);
            }
        }
    }

    /// Finishes the blocks after the diagonal, and the diagonal one with its inverse, or with zeros if a pivot cannot
    /// be used.
    __device__ __forceinline__ void finish_row(PivotRatio& smallest) const {
        for (int e = lower + 1; e < count; ++e)
#pragma unroll
            for (int c = 0; c < DOF; ++c) finish(a.values + element(begin + e, c), x(e, c));
        double d[DOF], given[DOF], scale = 0.0;
#pragma unroll
        for (int c = 0; c < DOF; ++c) {
            d[c] = active ? x(lower, c) : 0.0;
            given[c] = active && own >= 0 ? __ldg(a.a_values + element(own, c)) : 0.0;
            scale = fmax(scale, fmax(fabs(d[c]), fabs(given[c])));
        }
        double largest = 0.0;
#pragma unroll
        for (int q = 0; q < DOF; ++q) largest = fmax(largest, from_lane(scale, q));
        const PivotJudge judge{a.rule, a.log};
        const auto of_row = [this] {
            return largest_of_row(a.a_values, a.place, a.a_row_begin[row], a.a_row_begin[row + 1], DOF * DOF);
        };
        double pivots[DOF], before[DOF];
        int judged = 0;
        bool stopped = !active;
#pragma unroll
        for (int p = 0; p < DOF; ++p) {
            pivots[p] = from_lane(d[p], p), before[p] = from_lane(given[p], p);
            double of_pivot[DOF];
#pragma unroll
            for (int c = 0; c < DOF; ++c) of_pivot[c] = from_lane(d[c], p);
            if (stopped) continue;
            judged = p + 1;
            const double used = judge.usable<BY_ROW>(pivots[p], before[p], largest, (unsigned long long)(row * DOF + p),
                                                     r == 0, of_row);
            stopped = used == 0.0;
            const double inverse = 1.0 / used, factor = d[p];
#pragma unroll
            for (int c = 0; c < DOF; ++c)
                d[c] = eliminated(r == p, c == p, d[c], factor, scaled_by_pivot(c == p, of_pivot[c], inverse));
        }
        if (!active) return;
#pragma unroll
        for (int c = 0; c < DOF; ++c) finish(a.values + element(diagonal, c), stopped ? 0.0 : d[c]);
        if (r != 0) return;
        double ratio = 1.0;  // others do not wait for these divisions
#pragma unroll
        for (int p = 0; p < DOF; ++p)
            if (p < judged) ratio = fmin(ratio, judge.ratio(pivots[p], before[p]));
        smallest.take(ratio, row);
    }
};

extern "C" __global__ void __launch_bounds__(threads) block_factor(const __grid_constant__ Arguments a) {
    __shared__ Memory memory;
    const unsigned stride = gridDim.x * (threads / 32);
    PivotRatio ratio;
    for (unsigned at = blockIdx.x * (threads / 32) + threadIdx.x / 32; at < a.count; at += stride) {
        const Lane lane(a, memory, a.slices[at], int(threadIdx.x % 32));
        lane.load();
        lane.find_matches();
        __syncwarp();
        const int steps = int(__reduce_max_sync(~0u, unsigned(lane.lower)));
        for (int from = 0; from < steps; from += batch) lane.eliminate(from);
        lane.finish_row(ratio);
        __syncwarp();
    }
    write_smallest<threads>(ratio, a.ratios + blockIdx.x);
}

}  // namespace hyperplane
