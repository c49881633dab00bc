// SPDX-License-Identifier: BSD-3-Clause
// Copies one triangle of a general matrix's factors into its slices (precond/general/orders/slices.hpp), a warp a
// slice.
//
// Definitions: DOF, UPPER (with the inverses of the diagonal blocks), STORAGE (precond/factors/reduced_values.cuh).

#include "precond/factors/reduced_values.cuh"
#include "precond/general/solves/arguments.hpp"
#include "precond/general/solves/slice_lane.cuh"

namespace hyperplane {

/// Where the blocks of a lane's row lie. Until the columns are in the slices this is read from the pattern and noted
/// for later launches, which so read adjacent places in place of row pointers at scattered ones.
__device__ __forceinline__ SliceRow row_of(const SliceArguments& a, const SliceLane& mine) {
    if (!a.position) return a.rows[mine.position];
    const long long row = __ldg(a.order + mine.position), diagonal = __ldg(a.diagonal + row);
    const long long begin = UPPER ? diagonal + 1 : __ldg(a.row_begin + row);
    const long long end = UPPER ? __ldg(a.row_begin + row + 1) : diagonal;
    const SliceRow found{begin, int(end - begin)};
    if (mine.group == 0 && mine.r == 0) a.rows[mine.position] = found;
    return found;
}

/// The exponent of a lane's row in W (0), D^-1 (1) or G (2).
__device__ __forceinline__ unsigned char exponent_of(const SliceArguments& a, const SliceLane& mine, int part) {
    const long long row = __ldg(a.order + mine.position);
    return __ldg(a.exponents + (part * a.rows_of_pattern + row) * DOF + mine.r);
}

extern "C" __global__ void __launch_bounds__(128) slice_factors(const __grid_constant__ SliceArguments a) {
    const long long which = (long long)blockIdx.x * 4 + threadIdx.x / 32;
    if (which >= a.count) return;
    const int lane = threadIdx.x % 32;
    const SolveSlice slice = a.slices[which];
    const SliceLane mine(slice, lane);
    if (lane >= mine.active) return;
    const SliceRow row = row_of(a, mine);
    const Value* const values = (const Value*)a.values;
    Value* const sliced = (Value*)a.sliced;
    for (int e = 0; e < slice.width; ++e) {
        const int of_row = e * slice.lanes + mine.group;
        const long long block = row.begin + of_row;
        const bool there = of_row < row.blocks;
        if (a.position && mine.r == 0)
            a.sliced_column[mine.column(slice, e, lane)] = there ? __ldg(a.position + __ldg(a.column + block)) : -1;
        for (int c = 0; c < DOF; ++c)
            sliced[mine.value(slice, e, c, lane)] = there ? __ldg(values + (block * DOF + mine.r) * DOF + c) : Value(0);
    }
    if (mine.group > 0) return;
    if (UPPER)
        for (int c = 0; c < DOF; ++c)
            ((Value*)a.inverse)[mine.inverse(slice, c)] = __ldg(values + ((row.begin - 1) * DOF + mine.r) * DOF + c);
    if (!scaled_rows) return;
    const long long at = mine.position * DOF + mine.r;
    a.sliced_exponents[at] = exponent_of(a, mine, UPPER ? 2 : 0);
    if (UPPER) a.inverse_exponents[at] = exponent_of(a, mine, 1);
}

}  // namespace hyperplane
