// SPDX-License-Identifier: BSD-3-Clause
// Fixed-point sweeps for the factors of a general matrix on a GPU, LANES threads a row (the iteration is in
// precond/general/fixed_point/fixed_point_cpu.cpp, whose order of sums this has). A sweep reads only the values from
// before it, so no row waits for another one.
//
// Definitions: as in precond/general/factors/row.cuh, and SYMMETRIC.

#include "precond/general/fixed_point/swept_row.cuh"
#if DOF == 1
#include "precond/general/fixed_point/long_row.cuh"
#endif

namespace hyperplane {

/// The row of this thread; -1 if there is none.
__device__ __forceinline__ long long row_of_thread(const Arguments& a) {
    const long long row = (long long)blockIdx.x * rows_of_block + threadIdx.x / LANES;
    return row < a.rows ? a.first + row : -1;
}

/// X_ij -= sum over k < min(i, j) of X_ik X_kk^-1 X_kj: for each k, all j that rows i and k share.
__device__ void subtract_by_row(const Row& x) {
    const Arguments& a = x.a;
    for (long long at = x.begin; at < x.diagonal; ++at) {
        const int k = __ldg(a.column + at);
        x.multiply([&](int r, int q) { return x.other_element(at, r * DOF + q); },
                   [&](int q, int c) { return a.inverse[(long long)k * size + q * DOF + c]; });
        x.update_shared(at + 1, __ldg(a.diagonal + k) + 1, __ldg(a.row_begin + k + 1));
    }
}

/// The same of a short row of one unknown: each lane has entries of its own, and goes through all k.
__device__ void subtract_by_entry(const Row& x) {
    const Arguments& a = x.a;
    for (long long mine = x.begin + x.lane; mine < x.end; mine += LANES) {
        const int j = __ldg(a.column + mine);
        const long long last = mine < x.diagonal ? mine : x.diagonal;
        double sum = a.values[mine];
        for (long long at = x.begin; at < last; ++at) {
            const int k = __ldg(a.column + at);
            const long long found = find(a.column, __ldg(a.diagonal + k) + 1, __ldg(a.row_begin + k + 1), j);
            if (found >= 0) sum = fma(-(a.others[at] * a.inverse[k]), a.others[found], sum);
        }
        a.values[mine] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(threads) fixed_point_sweep(const __grid_constant__ Arguments a) {
    __shared__ double blocks[rows_of_block * size];
    const long long at = row_of_thread(a);
    if (at < 0) return;
    const Row row = Row::of(a, at, blocks + threadIdx.x / LANES * size);
    if (a.long_row > 0 && row.end - row.begin > a.long_row) return;
    row.load();
    if (!a.others) return;
    if (DOF == 1 && row.end - row.begin <= 4 * LANES)
        subtract_by_entry(row);
    else
        subtract_by_row(row);
}

/// The inverses of the diagonal blocks of X.
extern "C" __global__ void __launch_bounds__(threads) invert_diagonals(const __grid_constant__ Arguments a) {
    __shared__ double blocks[rows_of_block * size];
    __shared__ RatiosOfBlock ratios;
    const int which = threadIdx.x / LANES;
    if (threadIdx.x % LANES == 0) ratios.note(which, 1.0, 0);
    if (const long long at = row_of_thread(a); at >= 0) {
        const Row row = Row::of(a, at, blocks + which * size);
        const double ratio = row.invert(a.inverse + at * size);
        if (row.lane == 0) ratios.note(which, ratio, at);
    }
    ratios.write(a.ratios + blockIdx.x);
}

/// Turns X into L, U and the inverses of U's diagonal blocks: L_ik = X_ik X_kk^-1, of a symmetric matrix
/// X_ki^T X_kk^-1.
extern "C" __global__ void __launch_bounds__(threads) finish_factors(const __grid_constant__ Arguments a) {
    __shared__ double blocks[rows_of_block * size];
    const long long own = row_of_thread(a);
    if (own < 0) return;
    const Row x = Row::of(a, own, blocks + threadIdx.x / LANES * size);
    for (long long at = x.begin; at < x.diagonal; ++at) {
        const int k = __ldg(a.column + at);
        const long long from =
            SYMMETRIC ? find(a.column, __ldg(a.diagonal + k) + 1, __ldg(a.row_begin + k + 1), int(own)) : at;
        x.multiply([&](int r, int q) { return *x.element(from, SYMMETRIC ? q * DOF + r : r * DOF + q); },
                   [&](int q, int c) { return a.inverse[(long long)k * size + q * DOF + c]; });
        x.store(x.element(at, 0));
    }
    for (int e = x.lane; e < size; e += LANES) *x.element(x.diagonal, e) = a.inverse[own * size + e];
}

}  // namespace hyperplane
