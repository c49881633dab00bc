// SPDX-License-Identifier: BSD-3-Clause
// Copies one triangle of a general matrix's factors into its slices (precond/sync_free_ilu/slices.hpp), a warp a slice.
//
// Definitions: DOF, UPPER (with the inverses of the diagonal blocks).

#include "precond/sync_free_ilu/slice_lane.cuh"

namespace hyperplane {

extern "C" __global__ void __launch_bounds__(128) slice_factors(const __grid_constant__ SliceArguments a) {
    const long long at = (long long)blockIdx.x * 4 + threadIdx.x / 32;
    if (at >= a.count) return;
    const int lane = threadIdx.x % 32;
    const SolveSlice slice = a.slices[at];
    const SliceLane mine(slice, lane);
    if (lane >= mine.active) return;
    const long long row = __ldg(a.order + mine.position), diagonal = __ldg(a.diagonal + row);
    const long long begin = UPPER ? diagonal + 1 : __ldg(a.row_begin + row);
    const long long end = UPPER ? __ldg(a.row_begin + row + 1) : diagonal;
    for (int e = 0; e < slice.width; ++e) {
        const long long block = begin + (long long)e * slice.lanes + mine.group;
        const bool there = block < end;
        if (a.position && mine.r == 0)
            a.sliced_column[mine.column(slice, e, lane)] = there ? __ldg(a.position + __ldg(a.column + block)) : -1;
        for (int c = 0; c < DOF; ++c)
            a.sliced[mine.value(slice, e, c, lane)] = there ? __ldg(a.values + (block * DOF + mine.r) * DOF + c) : 0.0;
    }
    if (UPPER && mine.group == 0)
        for (int c = 0; c < DOF; ++c)
            a.inverse[mine.inverse(slice, c)] = __ldg(a.values + (diagonal * DOF + mine.r) * DOF + c);
}

}  // namespace hyperplane
