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

#include "precond/general/factors/eliminated_row.cuh"
#include "precond/general/solves/waiting.cuh"

#define SHORT_ROWS (DOF <= 8)
#if DOF == 1
#include "precond/general/factors/factor_short.cuh"
#elif SHORT_ROWS
#include "precond/general/factors/factor_short_blocks.cuh"
#endif

namespace hyperplane {

__device__ void eliminate(const Row& x, u64 epoch) {
    const Arguments& a = x.a;
    for (long long at = x.begin; at < x.diagonal; ++at) {
        const int k = __ldg(a.column + at);
        const long long pivot = __ldg(a.diagonal + k), last = __ldg(a.row_begin + k + 1);
        const long long mirrored = SYMMETRIC ? find(a.column, pivot + 1, last, int(x.row)) : 0;
        wait_for(a.finished + k, epoch);
        x.multiply(
            [&](int r, int q) {
                return SYMMETRIC ? x.other_element(mirrored, q * DOF + r) : *x.element(at, r * DOF + q);
            },
            [&](int q, int c) { return x.other_element(pivot, q * DOF + c); });
        x.store(x.element(at, 0));
        x.update_shared(SYMMETRIC ? x.diagonal : at + 1, SYMMETRIC ? mirrored : pivot + 1, last);
    }
}

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
        return row.invert(row.element(row.diagonal, 0));
    }
#endif
    row.load();
    eliminate(row, epoch);
    return row.invert(row.element(row.diagonal, 0));
}

extern "C" __global__ void __launch_bounds__(threads) general_factor(const __grid_constant__ Arguments a) {
    __shared__ double blocks[rows_of_block * size];
    __shared__ ShortRow::Memory memory[rows_of_block];
    __shared__ RatiosOfBlock ratios;
    u64 epoch;
    const unsigned part = take_ticket(a.state, epoch);
    const int which = threadIdx.x / LANES;
    const long long index = (long long)part * rows_of_block + which;
    if (threadIdx.x % LANES == 0) ratios.note(which, 1.0, 0);
    if (index < a.rows) {
        const Row row = Row::of(a, __ldg(a.order + index), blocks + which * size);
        const double ratio = factor(row, memory[which], epoch);
        __syncwarp(row.mask);
        if (row.lane == 0) {
            publish(a.finished + row.row, epoch);
            ratios.note(which, ratio, row.row);
        }
    }
    ratios.write(a.ratios + part);
    end_part(a.state, epoch, a.parts);
}

}  // namespace hyperplane
