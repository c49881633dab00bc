// SPDX-License-Identifier: BSD-3-Clause
// A row of a general matrix's factors on a GPU, in global memory, with the steps that an elimination
// (eliminated_row.cuh) and a fixed-point sweep (precond/general/fixed_point/swept_row.cuh) have in common. LANES
// threads have a row. An element of a block always belongs to the same lane, so only W, the block that rows are
// multiplied by, and the diagonal block, which other lanes read, need shared memory. Products are fused by name and
// added up in the order of a CPU (precond/general/factors/cpu.hpp), whose bits the results have.
//
// Definitions: DOF, LANES (a power of two; 32 where DOF > 1), WARPS (of a thread block), BY_ROW (not 0: a boosted pivot
// may have its scale from the row of A; 0 if it is not defined).

#include "precond/factors/gauss_jordan.hpp"
#include "precond/factors/pivot_log.hpp"
#include "precond/general/pattern/search.cuh"

#ifndef BY_ROW
#define BY_ROW 0
#endif

namespace hyperplane {

constexpr int threads = 32 * WARPS, rows_of_block = threads / LANES, size = DOF * DOF;
constexpr int share = (size + LANES - 1) / LANES;  // elements of a block that a lane has

/// The lanes that work on this thread's row.
__device__ __forceinline__ unsigned lanes_of_row() {
    return LANES == 32 ? ~0u : ((1u << (LANES % 32)) - 1) << (threadIdx.x % 32 / LANES * LANES);
}

/// One row, worked on by the lanes of `mask`; `w` has room for a block in shared memory. `others_change` says whether
/// the rows that are eliminated change while the kernel runs.
template <class Arguments, bool others_change>
struct RowOf {
    const Arguments& a;
    long long row, begin, diagonal, end, own;  // own: A's diagonal block, -1 if it is not stored
    int lane;
    unsigned mask;
    double* w;

    static __device__ __forceinline__ RowOf of(const Arguments& a, long long row, double* w) {
        const long long diagonal = __ldg(a.diagonal + row);
        return {a,
                row,
                __ldg(a.row_begin + row),
                diagonal,
                __ldg(a.row_begin + row + 1),
                a.a_diagonal ? __ldg(a.a_diagonal + row) : diagonal,
                int(threadIdx.x % LANES),
                lanes_of_row(),
                w};
    }

    __device__ double* element(long long at, int e) const { return a.values + at * size + e; }
    /// An element of a row that is eliminated.
    __device__ double other_element(long long at, int e) const {
        return others_change ? __ldcg(a.others + at * size + e) : a.others[at * size + e];
    }

    /// X = A + shift diag(A).
    __device__ void load() const {
        const long long from = __ldg(a.a_row_begin + row), to = __ldg(a.a_row_begin + row + 1);
        if (a.place) {
            for (long long at = begin * size + lane; at < end * size; at += LANES) a.values[at] = 0.0;
            __syncwarp(mask);
        }
        for (long long at = from * size + lane; at < to * size; at += LANES) {
            const long long block = at / size;
            const int e = int(at % size);
            const double factor = block == own && e / DOF == e % DOF ? 1.0 + a.shift : 1.0;
            const long long place = a.place ? __ldg(a.place + block) : block - from;
            if (place < 0) continue;  // the factors leave this block out
            const long long there = begin + place;
            *element(there, e) = factor * __ldg(a.a_values + at);
        }
        __syncwarp(mask);
    }

    /// The largest absolute coefficient of A's row, among the entries that the factors keep.
    __device__ double largest_of_a() const {
        return largest_of_row(a.a_values, a.place, a.a_row_begin[row], a.a_row_begin[row + 1], size);
    }

    /// Leaves W = X Y in `w`, where x(r, q) and y(q, c) are the elements of X and Y.
    template <class X, class Y>
    __device__ void multiply(const X& x, const Y& y) const {
        double product[share];
#pragma unroll
        for (int s = 0; s < share; ++s) {
            const int e = lane + s * LANES, r = e / DOF, c = e % DOF;
            double sum = 0.0;
            if (e < size)
#pragma unroll(DOF <= 8 ? DOF : 1)
                for (int q = 0; q < DOF; ++q) sum = fma(x(r, q), y(q, c), sum);
            product[s] = sum;
        }
        __syncwarp(mask);
#pragma unroll
        for (int s = 0; s < share; ++s)
            if (const int e = lane + s * LANES; e < size) w[e] = product[s];
        __syncwarp(mask);
    }
    /// Copies this lane's elements of W.
    __device__ void store(double* to) const {
        for (int e = lane; e < size; e += LANES) to[e] = w[e];
    }

    /// X_mine -= W U_other; of one unknown by the lane that has found the pair, of blocks by all lanes.
    __device__ void update(long long mine, long long other) const {
        for (int e = DOF == 1 ? 0 : lane; e < size; e += LANES) {
            const int r = e / DOF, c = e % DOF;
            double x = *element(mine, e);
#pragma unroll(DOF <= 8 ? DOF : 1)
            for (int q = 0; q < DOF; ++q) x = fma(-w[r * DOF + q], other_element(other, q * DOF + c), x);
            *element(mine, e) = x;
        }
    }

    /// Calls update for each column that [mine, end) of this row and [other, last) of row k share. The shorter one is
    /// gone through, and the longer one searched.
    __device__ void update_shared(long long mine, long long other, long long last) const {
        const bool through_mine = end - mine <= last - other;
        const long long from = through_mine ? mine : other, to = through_mine ? end : last;
        for (long long base = from; base < to; base += LANES) {
            const long long at = base + lane;
            long long found = -1;
            if (at < to)
                found = find(a.column, through_mine ? other : mine, through_mine ? last : end, __ldg(a.column + at));
            if (DOF == 1) {
                if (found >= 0) update(through_mine ? at : found, through_mine ? found : at);
            } else {
                for (unsigned left = __ballot_sync(mask, found >= 0); left; left &= left - 1) {
                    const int source = __ffs(left) - 1;
                    const long long there = __shfl_sync(mask, found, source), here = base + source;
                    update(through_mine ? here : there, through_mine ? there : here);
                }
            }
        }
        __syncwarp(mask);
    }

    /// Writes the inverse of the diagonal block to `to`; returns the smallest ratio of a pivot to A's diagonal.
    __device__ double invert(double* to) const {
        double scale = 0.0;
        for (int e = lane; e < size; e += LANES) {
            w[e] = *element(diagonal, e);
            scale = fmax(scale, fmax(fabs(w[e]), own < 0 ? 0.0 : fabs(__ldg(a.a_values + own * size + e))));
        }
        for (int distance = LANES / 2; distance > 0; distance /= 2)
            scale = fmax(scale, __shfl_xor_sync(mask, scale, distance, LANES));
        __syncwarp(mask);
        const PivotJudge judge{a.rule, a.log};
        const auto of_row = [this] { return largest_of_a(); };
        double ratio = 1.0;
        bool stopped = false;
        for (int p = 0; p < DOF && !stopped; ++p) {
            const double pivot = w[p * DOF + p];
            const double given = own < 0 ? 0.0 : __ldg(a.a_values + own * size + p * DOF + p);
            ratio = fmin(ratio, judge.ratio(pivot, given));
            const double used = judge.usable<BY_ROW>(pivot, given, scale, (unsigned long long)(row * DOF + p),
                                                     lane == 0 && a.log, of_row);
            stopped = used == 0.0;
            const double inverse = 1.0 / used;
            double after[share];
#pragma unroll
            for (int s = 0; s < share; ++s)
                if (const int e = lane + s * LANES; e < size) {
                    const int r = e / DOF, c = e % DOF;
                    after[s] = eliminated(r == p, c == p, w[e], w[r * DOF + p],
                                          scaled_by_pivot(c == p, w[p * DOF + c], inverse));
                }
            __syncwarp(mask);
#pragma unroll
            for (int s = 0; s < share; ++s)
                if (const int e = lane + s * LANES; e < size) w[e] = after[s];
            __syncwarp(mask);
        }
        for (int e = lane; e < size; e += LANES) to[e] = stopped ? 0.0 : w[e];
        return ratio;
    }
};

/// The smallest ratio of the rows of a thread block, of which each has noted its own; all threads call it.
struct RatiosOfBlock {
    double value[rows_of_block];
    long long row[rows_of_block];

    __device__ __forceinline__ void note(int which, double ratio, long long at) {
        value[which] = ratio, row[which] = at;
    }
    __device__ __forceinline__ void write(PivotRatio* to) const {
        __syncthreads();
        if (threadIdx.x != 0) return;
        PivotRatio all;
        for (int one = 0; one < rows_of_block; ++one) all.take(value[one], row[one]);
        *to = all;
    }
};

}  // namespace hyperplane
