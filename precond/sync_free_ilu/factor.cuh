// SPDX-License-Identifier: BSD-3-Clause
// ILU on the pattern of a general matrix's factors, without synchronisation between levels (Freire, Dufrechou and
// Ezzatti, A synchronization-free incomplete LU factorization for GPUs with level-set analysis: rows in the order of
// their levels, as in ILU_levs; LANES threads a row, as in ILU_adapt; a binary search for the entries that two rows
// share, as in ILU_vect).
//
//     for each k < i in row i:  wait for row k;  L_ik = X_ik U_kk^-1;  X_ij -= L_ik U_kj for each j > k in both rows
//     invert X_ii;  publish row i
//
// Of a symmetric matrix (SYMMETRIC) only j >= i is computed, and L_ik = U_ki^T D_k^-1. The row is in global memory; an
// element of a block always belongs to the same lane, so only W = L_ik and the diagonal block, which other lanes read,
// need shared memory. Short rows are kept in registers (factor_short.cuh) or shared memory
// (factor_short_blocks.cuh).
//
// Definitions: DOF, LANES (a power of two; 32 where DOF > 1), SYMMETRIC, WARPS (of a thread block), BATCH (of short
// rows).

#include "precond/factors/gauss_jordan.hpp"
#include "precond/sync_free_ilu/search.cuh"
#include "precond/sync_free_ilu/waiting.cuh"

namespace hyperplane {

typedef GeneralFactorArguments Arguments;
constexpr int threads = 32 * WARPS, rows_of_block = threads / LANES, size = DOF * DOF;
constexpr int share = (size + LANES - 1) / LANES;  // elements of a block that a lane has

/// One row, worked on by the lanes of `mask`; `w` has room for a block in shared memory.
struct Row {
    const Arguments& a;
    long long row, begin, diagonal, end, own;  // own: A's diagonal block, -1 if it is not stored
    int lane;
    unsigned mask;
    double* w;

    __device__ double* element(long long at, int e) const { return a.values + at * size + e; }

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

    /// The product L_ik of block `at` or of the mirrored block, and U_kk^-1; it is left in the row and in `w`.
    __device__ void scale(long long at, long long pivot, long long mirrored) const {
        double product[share];
#pragma unroll
        for (int s = 0; s < share; ++s) {
            const int e = lane + s * LANES, r = e / DOF, c = e % DOF;
            double sum = 0.0;
            if (e < size)
                for (int q = 0; q < DOF; ++q) {
                    const double x = SYMMETRIC ? __ldcg(element(mirrored, q * DOF + r)) : *element(at, r * DOF + q);
                    sum += x * __ldcg(element(pivot, q * DOF + c));
                }
            product[s] = sum;
        }
        __syncwarp(mask);
#pragma unroll
        for (int s = 0; s < share; ++s)
            if (const int e = lane + s * LANES; e < size) *element(at, e) = w[e] = product[s];
        __syncwarp(mask);
    }

    /// X_mine -= W U_other; of one unknown by the lane that has found the pair, of blocks by all lanes.
    __device__ void update(long long mine, long long other) const {
        for (int e = DOF == 1 ? 0 : lane; e < size; e += LANES) {
            const int r = e / DOF, c = e % DOF;
            double x = *element(mine, e);
            for (int q = 0; q < DOF; ++q) x -= w[r * DOF + q] * __ldcg(element(other, q * DOF + c));
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

    __device__ void eliminate(u64 epoch) const {
        for (long long at = begin; at < diagonal; ++at) {
            const int k = __ldg(a.column + at);
            const long long pivot = __ldg(a.diagonal + k), last = __ldg(a.row_begin + k + 1);
            const long long mirrored = SYMMETRIC ? find(a.column, pivot + 1, last, int(row)) : 0;
            wait_for(a.finished + k, epoch);
            scale(at, pivot, mirrored);
            update_shared(SYMMETRIC ? diagonal : at + 1, SYMMETRIC ? mirrored : pivot + 1, last);
        }
    }

    /// Inverts the diagonal block; returns the smallest ratio of a pivot to A's diagonal.
    __device__ double invert() const {
        double scale = 0.0;
        for (int e = lane; e < size; e += LANES) {
            w[e] = *element(diagonal, e);
            scale = fmax(scale, fmax(fabs(w[e]), own < 0 ? 0.0 : fabs(__ldg(a.a_values + own * size + e))));
        }
        for (int distance = LANES / 2; distance > 0; distance /= 2)
            scale = fmax(scale, __shfl_xor_sync(mask, scale, distance, LANES));
        __syncwarp(mask);
        const PivotJudge judge{a.rule, a.log};
        double ratio = 1.0;
        bool stopped = false;
        for (int p = 0; p < DOF && !stopped; ++p) {
            const double pivot = w[p * DOF + p];
            const double given = own < 0 ? 0.0 : __ldg(a.a_values + own * size + p * DOF + p);
            ratio = fmin(ratio, judge.ratio(pivot, given));
            const double used = judge.usable(pivot, given, scale, (u64)(row * DOF + p), lane == 0);
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
        for (int e = lane; e < size; e += LANES) *element(diagonal, e) = stopped ? 0.0 : w[e];
        return ratio;
    }
};

}  // namespace hyperplane

#define SHORT_ROWS (DOF <= 8)
#if DOF == 1
#include "precond/sync_free_ilu/factor_short.cuh"
#elif SHORT_ROWS
#include "precond/sync_free_ilu/factor_short_blocks.cuh"
#endif

namespace hyperplane {

#if !SHORT_ROWS
struct ShortRow {
    struct Memory {};
};
#endif

/// Factors a row; returns the smallest ratio of a pivot to A's diagonal.
__device__ __forceinline__ double factor(const Row& row, ShortRow::Memory& memory, u64 epoch) {
#if DOF == 1
    if (ShortRow::takes(row)) return ShortRow(row, epoch).factor();
#elif SHORT_ROWS
    if (ShortRow::takes(row)) {
        ShortRow(row, memory, epoch).factor();
        return row.invert();
    }
#endif
    row.load();
    row.eliminate(epoch);
    return row.invert();
}

extern "C" __global__ void __launch_bounds__(threads) general_factor(const __grid_constant__ Arguments a) {
    __shared__ double blocks[rows_of_block * size];
    __shared__ ShortRow::Memory memory[rows_of_block];
    __shared__ double ratios[rows_of_block];
    __shared__ long long ratio_rows[rows_of_block];
    u64 epoch;
    const unsigned part = take_ticket(a.state, epoch);
    const int which = threadIdx.x / LANES;
    const long long index = (long long)part * rows_of_block + which;
    if (threadIdx.x % LANES == 0) ratios[which] = 1.0, ratio_rows[which] = 0;
    if (index < a.rows) {
        const long long at = __ldg(a.order + index), diagonal = __ldg(a.diagonal + at);
        const Row row{a,
                      at,
                      __ldg(a.row_begin + at),
                      diagonal,
                      __ldg(a.row_begin + at + 1),
                      a.a_diagonal ? __ldg(a.a_diagonal + at) : diagonal,
                      int(threadIdx.x % LANES),
                      lanes_of_row<LANES>(),
                      blocks + which * size};
        const double ratio = factor(row, memory[which], epoch);
        __syncwarp(row.mask);
        if (row.lane == 0) {
            publish(a.finished + at, epoch);
            ratios[which] = ratio;
            ratio_rows[which] = at;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        PivotRatio all;
        for (int one = 0; one < rows_of_block; ++one) all.take(ratios[one], ratio_rows[one]);
        a.ratios[part] = all;
    }
    end_part(a.state, epoch, a.parts);
}

}  // namespace hyperplane
