// SPDX-License-Identifier: BSD-3-Clause
// Restriction and prolongation (interpolation.hpp) on a GPU, for grids without periodic axes.
//
// A thread has one coarse point and reads its weights once. In a restriction it sums the values of the point's
// children. In a prolongation it corrects the fine points of the cell above the coarse point, whose parents are the
// cell's corners. The weight of a child that does not exist is zero, and multiplies the value of some other point.
//
// Definitions, besides those of coarse_point.cuh: WEIGHT (double or float), REAL (the same of vectors).

#include "precond/multigrid/coarse_point.cuh"

namespace hyperplane::multigrid {

constexpr int axes = AXIS_X + 2 * AXIS_Y + 4 * AXIS_Z;

__device__ constexpr int number_of(int x, int y, int z) {
    return 13 + x + 3 * y + 9 * z;
}
__device__ constexpr bool is_child(int number) {
    const int x = number % 3 - 1, y = number / 3 % 3 - 1, z = number / 9 - 1;
    return number != 13 && (AXIS_X || x == 0) && (AXIS_Y || y == 0) && (AXIS_Z || z == 0);
}
/// The place of a child among the weights.
__device__ constexpr int place_of(int number) {
    int place = 0;
    for (int other = 0; other < number; ++other) place += is_child(other);
    return place;
}
struct Places {
    int of[27];
    __device__ constexpr Places() : of() {
        for (int number = 0; number < 27; ++number) of[number] = place_of(number);
    }
};
__device__ constexpr Places places;

__device__ __forceinline__ double weight(const TransferArguments& a, int number, int slot) {
    return double(__ldcs((const WEIGHT*)a.weights + (long long)places.of[number] * a.weight_stride + slot));
}

extern "C" __global__ void __launch_bounds__(THREADS) restrict_to(const __grid_constant__ TransferArguments a) {
    const CoarsePoint p(a.step);
    if (!p.exists) return;
    double w[27];
#pragma unroll
    for (int number = 0; number < 27; ++number)
        if (is_child(number)) w[number] = weight(a, number, p.slot);
    const int coarse = slot_of(a.step.coarse, p.i, p.j, p.k);
#pragma unroll 1
    for (int c = 0; c < DOF; ++c) {
        const REAL* fine = (const REAL*)a.fine + (long long)c * a.step.fine_slots;
        double sum = double(__ldg(fine + p.fine));
#pragma unroll
        for (int number = 0; number < 27; ++number)
            if (is_child(number))
                sum += w[number] * double(__ldg(fine + shifted(p.fine, a.child[number], a.step.fine_slots)));
        ((REAL*)a.coarse)[(long long)c * a.step.coarse_slots + coarse] = REAL(sum);
    }
}

/// Along an axis, the component of the offset at which a fine point is the child of a corner.
__device__ constexpr int sign_on(int odd, int above, int bit) {
    return odd & bit ? (above & bit ? -1 : 1) : 0;
}

/// Whether the fine point of the cell that lies off the coarse point along these axes is one of this rank's.
__device__ __forceinline__ bool is_own(const GridStep& s, const CoarsePoint& p, int odd) {
    const int z = (p.k << AXIS_Z) + (odd >> 2);
    return p.has_fine(s, odd & 1, odd >> 1 & 1, odd >> 2) && z >= s.own_begin && z < s.own_end;
}

extern "C" __global__ void __launch_bounds__(THREADS) add_to(const __grid_constant__ TransferArguments a) {
    const CoarsePoint p(a.step);
    if (!p.exists) return;
    double w[8][8];
#pragma unroll
    for (int odd = 1; odd < 8; ++odd)
#pragma unroll
        for (int above = 0; above < 8; ++above)
            if ((odd & axes) == odd && (above & odd) == above)
                w[odd][above] =
                    weight(a, number_of(sign_on(odd, above, 1), sign_on(odd, above, 2), sign_on(odd, above, 4)),
                           shifted(p.slot, a.above_order[above], a.step.order_slots));
    const int coarse = slot_of(a.step.coarse, p.i, p.j, p.k);
#pragma unroll 1
    for (int c = 0; c < DOF; ++c) {
        REAL* fine = (REAL*)a.fine + (long long)c * a.step.fine_slots;
        double x[8], corner[8];
#pragma unroll
        for (int odd = 0; odd < 8; ++odd) {
            if ((odd & axes) != odd) continue;
            const bool exists = is_own(a.step, p, odd);
            x[odd] =
                exists
                    ? double(
                          fine[shifted(p.fine, a.child[number_of(odd & 1, odd >> 1 & 1, odd >> 2)], a.step.fine_slots)])
                    : 0.0;
            corner[odd] = p.has_coarse(a.step, odd & 1, odd >> 1 & 1, odd >> 2)
                              ? double(__ldg((const REAL*)a.coarse + (long long)c * a.step.coarse_slots +
                                             shifted(coarse, a.above_coarse[odd], a.step.coarse_slots)))
                              : 0.0;
        }
#pragma unroll
        for (int odd = 0; odd < 8; ++odd) {
            if ((odd & axes) != odd) continue;
#pragma unroll
            for (int above = 7; above >= 0; --above)
                if ((above & odd) == above) x[odd] += (odd == 0 ? 1.0 : w[odd][above]) * corner[above];
            if (is_own(a.step, p, odd))
                fine[shifted(p.fine, a.child[number_of(odd & 1, odd >> 1 & 1, odd >> 2)], a.step.fine_slots)] =
                    REAL(x[odd]);
        }
    }
}

}  // namespace hyperplane::multigrid
