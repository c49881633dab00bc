// SPDX-License-Identifier: BSD-3-Clause
// One slice of the solve with one triangle of a general matrix's factors (precond/general/orders/slices.hpp), for a
// warp.
//
// `Solution` says where what other rows have found lies and how it is read: records that are polled until they have
// this launch's epoch (precond/general/solves/solve.cuh), or plain values, which are there before the slice is ended
// (precond/general/solves/level_solve.cuh). A lane loads the coefficients of a batch of blocks, then what it multiplies
// them with, and adds. The sums of a row's groups of lanes are added pairwise, so the order of each sum follows from
// the pattern alone, and both kernels have the same bits.
//
// Factors in double are L and U, and z = U^-1 y = D^-1 (y - (U - D) z); those in reduced precision are W, D^-1 and G,
// and z = D^-1 y - G z, where the scales of a row multiply its sums.
//
// Definitions: DOF, UPPER (U z = y, otherwise L y = r), STORAGE (precond/factors/reduced_values.cuh).

#include "precond/factors/reduced_values.cuh"
#include "precond/general/solves/arguments.hpp"
#include "precond/general/solves/slice_lane.cuh"
#include "precond/general/solves/waiting.cuh"

namespace hyperplane {

typedef GeneralSolveArguments Arguments;
constexpr int chunk = DOF < 8 ? DOF : 8;                // columns of a block that are loaded together
constexpr int batch = DOF == 1 ? 4 : DOF <= 3 ? 2 : 1;  // blocks that are loaded together
constexpr int loads = batch * chunk;
constexpr bool reduced = STORAGE != 0;

/// A batch: blocks e, ... of a lane and columns c, ... of each.
template <class Solution>
struct SliceBatch {
    int column[batch];  // positions; -1: no such block
    Value v[loads];

    __device__ __forceinline__ void load(const Arguments& a, const SolveSlice& slice, const SliceLane& mine, int lane,
                                         int e, int c) {
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            const bool there = e + b < slice.width;
            column[b] = there ? __ldcs(a.column + mine.column(slice, e + b, lane)) : -1;
#pragma unroll
            for (int d = 0; d < chunk; ++d)
                v[b * chunk + d] = there && c + d < DOF
                                       ? __ldcs((const Value*)a.values + mine.value(slice, e + b, c + d, lane))
                                       : Value();
        }
    }
    __device__ __forceinline__ double sum(const Arguments& a, int c, const Solution& solution) const {
        const typename Solution::Place* from[batch];
        double x[loads];
        unsigned present = 0;
#pragma unroll
        for (int b = 0; b < batch; ++b) {
            from[b] = Solution::places(a.records) + (long long)column[b] * DOF + c;
#pragma unroll
            for (int d = 0; d < chunk; ++d) {
                x[b * chunk + d] = 0.0;
                if (column[b] >= 0 && c + d < DOF) present |= 1u << (b * chunk + d);
            }
        }
        solution.read(from, present, x);
        double sum = 0.0;
#pragma unroll
        for (int q = 0; q < loads; ++q) sum += widened(v[q]) * x[q];
        return sum;
    }
};

/// A slice on its way: what does not depend on other rows is loaded first, the coefficients of the first batch too
/// where the solution is read after a barrier (Solution::ahead).
template <class Solution>
struct SliceSolve {
    SolveSlice slice;
    double given;
    Value inverse[chunk];  // of a row of D^-1, its first columns
    unsigned char exponent, inverse_exponent;
    long long to;
    SliceBatch<Solution> blocks;

    /// Every lane of the warp calls this, and end.
    __device__ __forceinline__ void begin(const Arguments& a, const SolveSlice& of, int lane) {
        slice = of;
        const SliceLane mine(slice, lane);
        if (lane >= mine.active) return;
        const long long from = (long long)__ldg(a.from + mine.position) * DOF + mine.r;
        given = UPPER ? Solution::lower(a.in_record, from) : __ldg(a.in + from);
        to = UPPER ? (long long)__ldg(a.to + mine.position) * DOF + mine.r : 0;
        if (UPPER) {
#pragma unroll
            for (int c = 0; c < chunk; ++c) inverse[c] = __ldcs((const Value*)a.inverse + mine.inverse(slice, c));
        }
        const long long scales = mine.position * DOF + mine.r;
        if (scaled_rows) exponent = __ldg(a.exponents + scales);
        if (scaled_rows && UPPER) inverse_exponent = __ldg(a.inverse_exponents + scales);
        if (Solution::ahead) blocks.load(a, slice, mine, lane, 0, 0);
    }

    __device__ __forceinline__ void end(const Arguments& a, int lane, const Solution& solution) {
        const SliceLane mine(slice, lane);
        if (lane >= mine.active) return;
        const unsigned mask = mine.mask();
        const double scale = scaled_rows ? scale_of(exponent) : 1.0;
        const double inverse_scale = scaled_rows && UPPER ? scale_of(inverse_exponent) : 1.0;
        // In reduced precision D^-1 times y waits for no other row.
        const double own = reduced && UPPER ? inverse_scale * times_inverse(a, mine, mask, given) : given;
        double sum = 0.0;
        for (int e = 0; e < slice.width; e += batch)
            for (int c = 0; c < DOF; c += chunk) {
                if (!Solution::ahead || e > 0 || c > 0) blocks.load(a, slice, mine, lane, e, c);
                sum += blocks.sum(a, c, solution);
            }
        __syncwarp(mask);
        for (int distance = slice.lanes / 2; distance > 0; distance /= 2)
            sum += __shfl_down_sync(mask, sum, distance * DOF);
        double x;
        if constexpr (reduced)
            x = own - scale * sum;
        else
            x = UPPER ? times_inverse(a, mine, mask, given - sum) : given - sum;
        if (mine.group > 0) return;
        solution.store(a, mine.position, mine.r, x);
        if (UPPER) a.out[to] = x;
    }

private:
    /// Row r of the product of the row's D^-1 with the values `own` of its lanes.
    __device__ __forceinline__ double times_inverse(const Arguments& a, const SliceLane& mine, unsigned mask,
                                                    double own) const {
        double sum = 0.0;
#pragma unroll
        for (int c = 0; c < chunk; ++c) sum += widened(inverse[c]) * __shfl_sync(mask, own, mine.first + c);
        for (int c = chunk; c < DOF; ++c)
            sum += widened(__ldg((const Value*)a.inverse + mine.inverse(slice, c))) *
                   __shfl_sync(mask, own, mine.first + c);
        return sum;
    }
};

}  // namespace hyperplane
