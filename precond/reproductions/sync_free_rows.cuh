// SPDX-License-Identifier: BSD-3-Clause
// The incomplete LU factorisation of a general matrix of one unknown in the variants that Freire, Dufrechou and Ezzatti
// describe (A synchronization-free incomplete LU factorization for GPUs with level-set analysis, section IV):
//
//     Algorithm 2  for each k < i in row i:  wait for row k;  L_ik = X_ik / U_kk;  update row i by row k
//     ILU_shared   32 threads a row; updates by Algorithm 3
//     ILU_vect     the same, but by Algorithm 4 where the two rows have more than 128 entries together
//     ILU_adapt    as ILU_vect, with as many threads a row as the average row has entries, rounded to a power of two
//     ILU_levs     as ILU_vect, with rows in the order of their levels
//
// The others take rows in natural order. All lanes of a row wait together. As in the other factorisations of this
// family, the diagonal holds 1 / U_kk, so that L_ik is a product; of a symmetric matrix (SYMMETRIC) only j >= i is
// computed, and L_ik = U_ki / D_k.
//
// Definitions: LANES (threads of a row, a power of two), SEARCHES (whether Algorithm 4 is used), SYMMETRIC, DOF 1,
// WARPS (of a thread block).

#include "precond/general/factors/eliminated_row.cuh"
#include "precond/general/solves/waiting.cuh"
#include "precond/reproductions/update_by_intersection.cuh"
#include "precond/reproductions/update_by_search.cuh"
#include "precond/sync_free_ilu/polled.cuh"

namespace hyperplane {

/// Rows with more entries together are searched, where that is done.
constexpr long long most_intersected = 128;

/// Algorithm 2, after the row has been loaded.
__device__ __forceinline__ void eliminate(const Row& x, u64 epoch, ReferenceBatch& batch) {
    const Arguments& a = x.a;
    for (long long at = x.begin; at < x.diagonal; ++at) {
        const int k = __ldg(a.column + at);  // the reference row
        const long long pivot = __ldg(a.diagonal + k), first = __ldg(a.row_begin + k),
                        last = __ldg(a.row_begin + k + 1);
        const long long mirrored = SYMMETRIC ? find(a.column, pivot + 1, last, int(x.row)) : 0;
        wait_for(a.finished + k, epoch);
        const double mine = SYMMETRIC ? x.other_element(mirrored, 0) : *x.element(at, 0);
        const double w = mine * x.other_element(pivot, 0);
        __syncwarp(x.mask);
        if (x.lane == 0) *x.element(at, 0) = w;
        const long long from = SYMMETRIC ? x.diagonal : at + 1, other = SYMMETRIC ? mirrored : pivot + 1;
        if (SEARCHES && x.end - x.begin + last - first > most_intersected)
            update_by_search(x, w, from, x.end, other, last);
        else
            update_by_intersection(x, w, from, x.end, other, last, batch);
        __syncwarp(x.mask);
    }
}

/// As many thread blocks as are resident take rows by tickets until none is left, in an order in which each row comes
/// after all that it waits for.
extern "C" __global__ void __launch_bounds__(threads) sync_free_rows(const __grid_constant__ Arguments a) {
    __shared__ ReferenceBatch batches[rows_of_block];
    __shared__ double diagonals[rows_of_block];
    const int which = threadIdx.x / LANES;
    PivotRatio smallest;
    u64 epoch;
    for (unsigned part = take_ticket(a.state, epoch); part < a.parts; part = take_ticket(a.state, epoch)) {
        const long long index = (long long)part * rows_of_block + which;
        if (index < a.rows) {
            const Row x = Row::of(a, a.order ? __ldg(a.order + index) : index, diagonals + which);
            x.load();
            eliminate(x, epoch, batches[which]);
            const double ratio = x.invert(x.element(x.diagonal, 0));
            __syncwarp(x.mask);
            if (x.lane == 0) {
                publish(a.finished + x.row, epoch);
                smallest.take(ratio, x.row);
            }
        }
        __syncthreads();
    }
    write_smallest<threads>(smallest, a.ratios + blockIdx.x);
    end_part(a.state, epoch, gridDim.x);
}

}  // namespace hyperplane
