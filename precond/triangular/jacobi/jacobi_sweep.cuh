// SPDX-License-Identifier: BSD-3-Clause
// One Jacobi sweep on a triangular factor on a GPU (precond/triangular/jacobi/sweeps.hpp). The factors have the form
// that precond/factors/view.hpp describes.
//
// With one unknown, each point has a thread, and all loads of a warp are of consecutive values. With several unknowns,
// neighbouring threads load the coefficients of a block, up to 16 bytes each, so that a warp loads whole cache lines. A
// thread sums the products of its rows and columns over all neighbours, then the threads of a point add their sums in
// shared memory. In half precision the sum of a row is multiplied by the row's scale when it is complete; if the
// triangle is mirrored, the values by which a row is multiplied are scaled instead.
//
// If a neighbour is outside the grid, the coefficient stored for it is zero, and the value of some other point is
// multiplied by that zero, as in core/matrix/spmv.cuh. With D-ILU of a periodic matrix the coefficients that wrap are
// stored; then entries that leave the grid are skipped (SKIP_OUTSIDE).
//
// Definitions, besides those of core/grid/grid_point.cuh: DOF, ENTRIES (of the triangle), UPPER, MIRRORED (the lower
// triangle is read as the upper one's transpose), UNIT, SKIP_OUTSIDE; POINTS (of a thread block), ROW_GROUPS (number of
// groups of threads to which the rows of a point are distributed), WIDTH (columns of a thread); STORAGE
// (precond/factors/reduced_values.cuh).

#include "core/grid/grid_point.cuh"
#include "precond/factors/reduced_values.cuh"
#include "precond/triangular/jacobi/arguments.hpp"

namespace hyperplane {

using Arguments = JacobiSweepArguments<const Value, (ENTRIES > 0 ? ENTRIES : 1)>;

/// The address of the first coefficient of entry e.
__device__ __forceinline__ const Value* entry(const Arguments& a, int e) {
    return a.triangle + (MIRRORED ? ENTRIES - 1 - e : e) * a.entry_stride;
}

/// The scales of a row of the triangle and of a row of D^-1. Those that the upper sweep reads are stored in pairs.
__device__ __forceinline__ double scale_of_triangle(const Arguments& a, int slot, int row) {
    return scaled_rows ? scale_of(a.of_triangle[((long long)slot * DOF + row) * (UPPER ? 2 : 1)]) : 1.0;
}
__device__ __forceinline__ double scale_of_inverse(const Arguments& a, int slot, int row) {
    return scaled_rows ? scale_of(a.of_inverse[((long long)slot * DOF + row) * 2]) : 1.0;
}

#if DOF == 1

__device__ __forceinline__ int slot_of_thread() {
    return blockIdx.x * POINTS + threadIdx.x;
}

__device__ __forceinline__ double inverse_at(const Arguments& a, int slot) {
    return scale_of_inverse(a, slot, 0) * widened(__ldcs(a.inverse + slot));
}

/// `times_inverse`: D^-1 multiplies the sum over neighbours in the upper sweep, b minus that sum in the lower one.
template <bool times_inverse>
__device__ __forceinline__ void sweep_point(const Arguments& a) {
    const int slot = slot_of_thread();
    if (slot >= a.slots) return;
    const double b = a.b ? __ldg(a.b + slot) : 0.0, inverse = times_inverse ? inverse_at(a, slot) : 1.0;
    double sum = 0.0;
#pragma unroll
    for (int e = 0; e < ENTRIES; ++e) {
        const int there = neighbour_slot(a, slot, e);
        if (SKIP_OUTSIDE && !GridPoint::at(a, slot).has_neighbour(a, e)) continue;
        const double x = (MIRRORED ? scale_of_triangle(a, there, 0) : 1.0) * __ldg(a.x + there);
        sum += widened(__ldcs(entry(a, e) + (MIRRORED ? there : slot))) * x;
    }
    if (!MIRRORED) sum *= scale_of_triangle(a, slot, 0);
    a.out[slot] = UPPER ? b - inverse * sum : inverse * (b - sum);
}

extern "C" __global__ void __launch_bounds__(POINTS) sweep(const __grid_constant__ Arguments a) {
    sweep_point<false>(a);
}

extern "C" __global__ void __launch_bounds__(POINTS) scaled_sweep(const __grid_constant__ Arguments a) {
    sweep_point<true>(a);
}

/// out = D^-1 b
extern "C" __global__ void __launch_bounds__(POINTS) scale(const __grid_constant__ Arguments a) {
    if (const int slot = slot_of_thread(); slot < a.slots) a.out[slot] = inverse_at(a, slot) * __ldg(a.b + slot);
}

#else

static_assert(UNIT && !SKIP_OUTSIDE, "factors of several unknowns are kept with unit triangles");

constexpr int column_groups = DOF / WIDTH;
constexpr int rows = (DOF + ROW_GROUPS - 1) / ROW_GROUPS;  // rows of a thread: group, group + ROW_GROUPS, ...
constexpr int point_threads = column_groups * ROW_GROUPS;
constexpr int threads = POINTS * point_threads;
static_assert(point_threads >= DOF, "each component of a point has a thread");
constexpr int unrolled_entries = DOF > 3 ? 3 : ENTRIES == 0 ? 1 : ENTRIES < 13 ? ENTRIES : 13;

// The sums of the threads of a point, padded to avoid bank conflicts.
constexpr int pitch = POINTS + 2, group_pitch = DOF * pitch + 4;
__shared__ double partial[(column_groups > ROW_GROUPS ? column_groups : ROW_GROUPS) * group_pitch];
__shared__ double whole[DOF * pitch];

/// What a thread computes: some rows and columns of the products at one point, and one component of the result at one
/// point.
struct Share {
    int point, column, group;         // `column`: first column; `group`: which rows
    int slot;                         // of `point`, or the last slot if there is no such point
    int component, result_point, at;  // `at`: slot of the result, or -1 without a result

    __device__ explicit Share(const Arguments& a) {
        const int thread = threadIdx.x, first = blockIdx.x * POINTS;
        point = thread / point_threads;
        column = thread % column_groups * WIDTH;
        group = thread % point_threads / column_groups;
        slot = min(first + point, a.slots - 1);
        component = thread / POINTS, result_point = thread % POINTS;
        at = component < DOF && first + result_point < a.slots ? first + result_point : -1;
    }

    /// Adds this thread's part of a block times x(component) to the sums of its rows, or, if the block is mirrored, of
    /// the block's transpose to the sums of its columns.
    template <bool mirrored, int sums, class X>
    __device__ __forceinline__ void add_product(double (&sum)[sums], const Value* block, const X& x) const {
        Values<WIDTH> values[rows];
#pragma unroll
        for (int i = 0; i < rows; ++i)
            if (const int row = group + i * ROW_GROUPS; DOF % ROW_GROUPS == 0 || row < DOF)
                values[i] = Values<WIDTH>(block + row * DOF + column);
        if constexpr (mirrored) {
#pragma unroll
            for (int i = 0; i < rows; ++i)
                if (const int row = group + i * ROW_GROUPS; DOF % ROW_GROUPS == 0 || row < DOF) {
                    const double value = x(row);
#pragma unroll
                    for (int m = 0; m < WIDTH; ++m) sum[m] += values[i][m] * value;
                }
        } else {
#pragma unroll
            for (int m = 0; m < WIDTH; ++m) {
                const double value = x(column + m);
#pragma unroll
                for (int i = 0; i < rows; ++i)
                    if (DOF % ROW_GROUPS == 0 || group + i * ROW_GROUPS < DOF) sum[i] += values[i][m] * value;
            }
        }
    }

    /// The sum of the result's component over all threads of its point.
    template <bool mirrored, int sums>
    __device__ __forceinline__ double total(const double (&sum)[sums]) const {
        const int mine = mirrored ? group : column / WIDTH;
#pragma unroll
        for (int i = 0; i < sums; ++i)
            if (const int row = mirrored ? column + i : group + i * ROW_GROUPS; mirrored || row < DOF)
                partial[mine * group_pitch + row * pitch + point] = sum[i];
        __syncthreads();
        double result = 0.0;
        if (at >= 0)
#pragma unroll
            for (int g = 0; g < (mirrored ? ROW_GROUPS : column_groups); ++g)
                result += partial[g * group_pitch + component * pitch + result_point];
        return result;
    }
};

/// b minus the triangle times x, for this thread's component of the result.
__device__ __forceinline__ double swept(const Arguments& a, const Share& share) {
    double sum[MIRRORED ? WIDTH : rows] = {};
#pragma unroll(unrolled_entries)
    for (int e = 0; e < ENTRIES; ++e) {
        const int there = neighbour_slot(a, share.slot, e);
        const Value* const block = entry(a, e) + (long long)(MIRRORED ? there : share.slot) * (DOF * DOF);
        share.add_product<MIRRORED>(sum, block, [&](int component) {
            return (MIRRORED ? scale_of_triangle(a, there, component) : 1.0) *
                   a.x[(long long)component * a.slots + there];
        });
    }
    const double total = share.total<MIRRORED>(sum);
    if (share.at < 0) return 0.0;
    const double b = a.b ? __ldg(a.b + (long long)share.component * a.slots + share.at) : 0.0;
    return b - (MIRRORED ? 1.0 : scale_of_triangle(a, share.at, share.component)) * total;
}

/// D^-1 times x, for this thread's component of the result.
template <class X>
__device__ __forceinline__ double times_inverse(const Arguments& a, const Share& share, const X& x) {
    double sum[rows] = {};
    share.add_product<false>(sum, a.inverse + (long long)share.slot * (DOF * DOF), x);
    const double total = share.total<false>(sum);
    return share.at < 0 ? 0.0 : scale_of_inverse(a, share.at, share.component) * total;
}

__device__ __forceinline__ void store(const Arguments& a, const Share& share, double value) {
    if (share.at >= 0) a.out[(long long)share.component * a.slots + share.at] = value;
}

extern "C" __global__ void __launch_bounds__(threads) sweep(const __grid_constant__ Arguments a) {
    const Share share(a);
    store(a, share, swept(a, share));
}

/// The same sweep, whose result is multiplied by D^-1.
extern "C" __global__ void __launch_bounds__(threads) scaled_sweep(const __grid_constant__ Arguments a) {
    const Share share(a);
    const double value = swept(a, share);
    if (share.component < DOF) whole[share.component * pitch + share.result_point] = value;
    __syncthreads();
    store(a, share, times_inverse(a, share, [&](int component) { return whole[component * pitch + share.point]; }));
}

/// out = D^-1 b
extern "C" __global__ void __launch_bounds__(threads) scale(const __grid_constant__ Arguments a) {
    const Share share(a);
    store(a, share,
          times_inverse(a, share, [&](int component) { return a.b[(long long)component * a.slots + share.slot]; }));
}

#endif

}  // namespace hyperplane
