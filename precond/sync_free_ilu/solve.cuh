// SPDX-License-Identifier: BSD-3-Clause
// The solve with one triangle of a general matrix's factors, without synchronisation between levels.
//
// The factors lie in slices (precond/sync_free_ilu/slices.hpp), in the order of levels, and each warp has every n-th
// slice, where n is the number of warps. A lane loads the coefficients of a batch of blocks, then the records {value,
// epoch} that it multiplies them with, until all have this launch's epoch, and adds. The sums of a row's groups of
// lanes are added pairwise, so the order of each sum follows from the pattern alone.
//
// All thread blocks are resident (rtc::Kernel::launch_together), no row of a slice depends on another one of it, and a
// warp works on its slices in their order. So the first unfinished slice waits for finished ones alone: there is no
// deadlock.
//
// On several ranks (RANKS) the records of other ranks' rows lie behind the own ones, and the kernels of those ranks
// store them there. In the lower solve a rank waits for earlier ones alone, in the upper solve for later ones, so the
// ranks do not wait for each other in a circle.
//
// Factors in double are L and U, and z = U^-1 y = D^-1 (y - (U - D) z); those in reduced precision are W, D^-1 and G,
// and z = D^-1 y - G z, where the scales of a row multiply its sums.
//
// Definitions: DOF, UPPER (U z = y, otherwise L y = r), RANKS, STORAGE (precond/factors/reduced_values.cuh).

#include "precond/factors/reduced_values.cuh"
#include "precond/sync_free_ilu/slice_lane.cuh"
#include "precond/sync_free_ilu/waiting.cuh"

namespace hyperplane {

typedef GeneralSolveArguments Arguments;
constexpr int chunk = DOF < 8 ? DOF : 8;                // columns of a block that are loaded together
constexpr int batch = DOF == 1 ? 4 : DOF <= 3 ? 2 : 1;  // blocks that are loaded together
constexpr int loads = batch * chunk;
constexpr bool reduced = STORAGE != 0;

/// Sums of the products of a batch: blocks e, ... and columns c, ... of each.
__device__ __forceinline__ double batch_sum(const Arguments& a, const SolveSlice& slice, const SliceLane& mine,
                                            int lane, int e, int c, u64 epoch) {
    const RowRecord* from[batch];
    double v[loads], x[loads];
    unsigned left = 0;
#pragma unroll
    for (int b = 0; b < batch; ++b) {
        const bool there = e + b < slice.width;
        const int column = there ? __ldcs(a.column + mine.column(slice, e + b, lane)) : -1;
        from[b] = a.records + (long long)column * DOF + c;
#pragma unroll
        for (int d = 0; d < chunk; ++d) {
            const bool has = there && c + d < DOF;
            v[b * chunk + d] =
                has ? widened(__ldcs((const Value*)a.values + mine.value(slice, e + b, c + d, lane))) : 0.0;
            x[b * chunk + d] = 0.0;
            if (has && column >= 0) left |= 1u << (b * chunk + d);
        }
    }
    while (left) {
        Record seen[loads] = {};  // all are loaded before the first is looked at
#pragma unroll
        for (int q = 0; q < loads; ++q)
            if (left >> q & 1)
                seen[q] =
                    RANKS ? load_record_of_any(from[q / chunk] + q % chunk) : load_record(from[q / chunk] + q % chunk);
#pragma unroll
        for (int q = 0; q < loads; ++q)
            if (left >> q & 1 && u64(seen[q] >> 64) == epoch) {
                x[q] = __longlong_as_double((long long)seen[q]);
                left &= ~(1u << q);
            }
    }
    double sum = 0.0;
#pragma unroll
    for (int q = 0; q < loads; ++q) sum += v[q] * x[q];
    return sum;
}

/// Row r of the product of the row's D^-1 with the values `own` of its lanes; `loaded` has the first columns.
__device__ __forceinline__ double times_inverse(const Arguments& a, const SolveSlice& slice, const SliceLane& mine,
                                                unsigned mask, const double* loaded, double own) {
    double sum = 0.0;
#pragma unroll
    for (int c = 0; c < chunk; ++c) sum += loaded[c] * __shfl_sync(mask, own, mine.first + c);
    for (int c = chunk; c < DOF; ++c)
        sum +=
            widened(__ldg((const Value*)a.inverse + mine.inverse(slice, c))) * __shfl_sync(mask, own, mine.first + c);
    return sum;
}

__device__ __forceinline__ void solve_slice(const Arguments& a, const SolveSlice& slice, int lane, u64 epoch) {
    const SliceLane mine(slice, lane);
    if (lane >= mine.active) return;
    const unsigned mask = mine.mask();
    const long long from = (long long)__ldg(a.from + mine.position) * DOF + mine.r;
    const double given = UPPER ? a.in_record[from].value : __ldg(a.in + from);
    const long long to = UPPER ? (long long)__ldg(a.to + mine.position) * DOF + mine.r : 0;
    double inverse[chunk];
#pragma unroll
    for (int c = 0; c < chunk; ++c)
        inverse[c] = UPPER ? widened(__ldcs((const Value*)a.inverse + mine.inverse(slice, c))) : 0.0;
    const long long scales = mine.position * DOF + mine.r;
    const double scale = scaled_rows ? scale_of(__ldg(a.exponents + scales)) : 1.0;
    const double inverse_scale = scaled_rows && UPPER ? scale_of(__ldg(a.inverse_exponents + scales)) : 1.0;
    double sum = 0.0;
    for (int e = 0; e < slice.width; e += batch)
        for (int c = 0; c < DOF; c += chunk) sum += batch_sum(a, slice, mine, lane, e, c, epoch);
    __syncwarp(mask);
    for (int distance = slice.lanes / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(mask, sum, distance * DOF);
    double x;
    if constexpr (reduced)
        x = (UPPER ? inverse_scale * times_inverse(a, slice, mine, mask, inverse, given) : given) - scale * sum;
    else
        x = UPPER ? times_inverse(a, slice, mine, mask, inverse, given - sum) : given - sum;
    if (mine.group > 0) return;
    store_record(a.records + mine.position * DOF + mine.r, x, epoch);
    if (RANKS)
        for (int at = a.sent_begin[mine.position]; at < a.sent_begin[mine.position + 1]; ++at)
            store_record_there(a.sent_to[at].first + mine.r, x, epoch);
    if (UPPER) a.out[to] = x;
}

extern "C" __global__ void __launch_bounds__(128) general_solve(const __grid_constant__ Arguments a) {
    const u64 epoch = *(volatile u64*)&a.state->epoch;
    const unsigned warps = blockDim.x / 32;
    for (unsigned at = blockIdx.x * warps + threadIdx.x / 32; at < a.count; at += gridDim.x * warps)
        solve_slice(a, a.slices[at], threadIdx.x % 32, epoch), __syncwarp();
    end_part(a.state, epoch, gridDim.x);
}

}  // namespace hyperplane
