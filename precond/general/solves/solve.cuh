// SPDX-License-Identifier: BSD-3-Clause
// The solve with one triangle of a general matrix's factors, without synchronisation between levels.
//
// The factors lie in slices (precond/general/orders/slices.hpp), in the order of levels, and each warp has every n-th
// slice, where n is the number of warps. A lane polls the records {value, epoch} that it multiplies coefficients with
// until all have this launch's epoch (precond/general/solves/slice_solve.cuh).
//
// All thread blocks are resident (rtc::Kernel::launch_together), no row of a slice depends on another one of it, and a
// warp works on its slices in their order. So the first unfinished slice waits for finished ones alone: there is no
// deadlock.
//
// On several ranks (RANKS) the records of other ranks' rows lie behind the own ones, and the kernels of those ranks
// store them there. In the lower solve a rank waits for earlier ones alone, in the upper solve for later ones, so the
// ranks do not wait for each other in a circle.
//
// Definitions: DOF, UPPER (U z = y, otherwise L y = r), RANKS, STORAGE (precond/factors/reduced_values.cuh).

#include "precond/general/solves/slice_solve.cuh"

namespace hyperplane {

/// Records of this launch.
struct Records {
    typedef EpochRecord Place;
    static constexpr bool ahead = false;
    u64 epoch;

    static __device__ __forceinline__ const EpochRecord* places(const EpochRecord* records) { return records; }
    static __device__ __forceinline__ double lower(const EpochRecord* records, long long at) {
        return records[at].value;
    }
    __device__ __forceinline__ void read(const EpochRecord* const (&from)[batch], unsigned left,
                                         double (&x)[loads]) const {
        while (left) {
            Record seen[loads] = {};  // all are loaded before the first is looked at
#pragma unroll
            for (int q = 0; q < loads; ++q)
                if (left >> q & 1)
                    seen[q] = RANKS ? load_record<Reach::all_gpus>(from[q / chunk] + q % chunk)
                                    : load_record(from[q / chunk] + q % chunk);
#pragma unroll
            for (int q = 0; q < loads; ++q)
                if (left >> q & 1 && epoch == epoch_of(seen[q])) {
                    x[q] = value_of(seen[q]);
                    left &= ~(1u << q);
                }
        }
    }
    __device__ __forceinline__ void store(const Arguments& a, long long position, int r, double x) const {
        store_record(a.records + position * DOF + r, x, epoch);
        if (RANKS)
            for (int at = a.sent_begin[position]; at < a.sent_begin[position + 1]; ++at)
                store_record<Reach::all_gpus>(a.sent_to[at].first + r, x, epoch);
    }
};

extern "C" __global__ void __launch_bounds__(128) general_solve(const __grid_constant__ Arguments a) {
    const u64 epoch = *(volatile u64*)&a.state->epoch;
    const unsigned warps = blockDim.x / 32;
    const int lane = threadIdx.x % 32;
    for (unsigned at = blockIdx.x * warps + threadIdx.x / 32; at < a.count; at += gridDim.x * warps) {
        SliceSolve<Records> own;
        own.begin(a, a.slices[at], lane);
        own.end(a, lane, {epoch});
        __syncwarp();
    }
    end_part(a.state, epoch, gridDim.x);
}

}  // namespace hyperplane
