// SPDX-License-Identifier: BSD-3-Clause
// The factorisation of the points of one colour (precond/multicolor/multicolor.hpp) with one unknown and a linear
// colouring. A thread has a point, and its X_e lie in shared memory, where tables can index them.
//
// All right operands of products belong to earlier colours and depend on no result of this kernel. So they are loaded
// AT_ONCE at a time, and the next ones before the last ones are used: a thread waits for memory once for as many
// products, not for each.
//
// If factors are kept in single precision, they are rounded here, and those in double precision are stored for later
// colours alone. Empty places get zeros, so that nobody has to fill the memory before.
//
// Definitions: THREADS, SYMMETRIC, MOST_PRODUCTS (that the argument has room for).

#include "precond/factors/pivot_log.hpp"
#include "precond/multicolor/factor_arguments.hpp"
#include "precond/multicolor/placed_point.cuh"

namespace hyperplane {

using Arguments = ColourFactorArgumentsOf<MOST_PRODUCTS>;

constexpr int at_once = 8;

extern __shared__ double shared[];  // X [entry][thread]

/// The right operands of some products that follow each other; what leads out of the grid is not loaded.
struct RightOperands {
    double value[at_once];

    __device__ __forceinline__ void load(const Arguments& a, int first, int place, unsigned long long coupled) {
#pragma unroll
        for (int n = 0; n < at_once; ++n) {
            if (first + n >= a.products) continue;
            const ColourProduct& it = a.product[first + n];
            const bool exists = coupled >> it.l & (it.e < 0 ? 1 : coupled >> it.e) & 1;
            value[n] = exists ? __ldg(a.values + it.from + place) : 0.0;
        }
    }
};

/// Stores a coefficient, rounded or not, as the arguments say.
__device__ __forceinline__ void store(const Arguments& a, long long at, double value, RowEvents& row) {
    if (a.rounded) a.rounded[at] = row.single(value);
    if (a.keeps_doubles) a.values[at] = value;
}

extern "C" __global__ void __launch_bounds__(THREADS) factor_points_of_colour(const __grid_constant__ Arguments a) {
    const PlacedPoint p(a, a.first + int(blockIdx.x * THREADS + threadIdx.x));
    if (p.place >= a.last) return;
    RowEvents of_w, of_inverse, of_g;
    if (!p.exists) {
        for (int e = 0; e < a.entries; ++e)
            if (a.entry[e].kept >= 0) store(a, a.entry[e].kept + p.place, 0.0, of_w);
        return store(a, a.inverse + p.place, 0.0, of_inverse);
    }
    double* const x = shared + threadIdx.x;
    unsigned long long coupled = 1ull << a.entries;  // a bit for each entry, and one for the diagonal
    const long long slot = p.slot(a);
    RightOperands now, next;
    for (int e = 0; e < a.entries; ++e)
        if (p.couples(a, e)) coupled |= 1ull << e;
    now.load(a, 0, p.place, coupled);
#pragma unroll 4
    for (int e = 0; e < a.entries; ++e) {
        const ColourEntry& entry = a.entry[e];
        if (entry.kept < 0) continue;
        const bool mirrored = SYMMETRIC && entry.a_entry > a.a_diagonal;
        const double* const from = a.a + (mirrored ? 2 * a.a_diagonal - entry.a_entry : entry.a_entry) * a.a_stride;
        double value = 0.0;
        if (coupled >> e & 1) value = __ldg(from + (mirrored ? p.neighbour(a, e).slot(a) : slot));
        x[e * THREADS] = value;
    }
    const double own = __ldg(a.a + a.a_diagonal * a.a_stride + slot);
    double diagonal = (1.0 + a.alpha) * own, e_l = 0.0;
    int lower = -1;
    for (int first = 0; first < a.products; first += at_once) {
        next.load(a, first + at_once, p.place, coupled);
#pragma unroll
        for (int n = 0; n < at_once; ++n) {
            if (first + n >= a.products) break;
            const ColourProduct& it = a.product[first + n];
            if (it.l != lower) lower = it.l, e_l = x[it.l * THREADS];
            if (!(coupled >> it.l & 1)) continue;
            if (it.e < 0) {
                const double w = e_l * now.value[n];
                if (it.e == ColourProduct::of_pivot_and_diagonal) diagonal -= w * e_l;
                x[it.l * THREADS] = w;
            } else if (it.e == a.entries) {
                diagonal -= e_l * now.value[n];
            } else if (coupled >> it.e & 1) {
                x[it.e * THREADS] -= e_l * now.value[n];
            }
        }
        now = next;
    }
    const PivotJudge judge{{a.tolerance, a.boost, a.definite}, a.log};
    const long long row = p.row(a);
    const double pivot = judge.usable(diagonal, own, fmax(fabs(own), fabs(diagonal)), (unsigned long long)row, true);
    const double inverse = pivot == 0.0 ? 0.0 : 1.0 / pivot;
    store(a, a.inverse + p.place, inverse, of_inverse);
    a.ratios[row] = fmin(1.0, judge.ratio(diagonal, own));
    for (int e = 0; e < a.entries; ++e) {
        const ColourEntry& entry = a.entry[e];
        if (entry.kept < 0) continue;
        const double value = x[e * THREADS];
        if (SYMMETRIC || !entry.later)
            store(a, entry.kept + p.place, value, of_w);
        else
            store(a, entry.kept + p.place, coupled >> e & 1 ? inverse * value : value, of_g);
    }
    if (!a.rounded) return;
    const unsigned long long of_matrix = 3 * (unsigned long long)p.number(a);
    of_w.tell(*a.roundings, of_matrix);
    of_inverse.tell(*a.roundings, of_matrix + 1);
    of_g.tell(*a.roundings, of_matrix + 2);
}

}  // namespace hyperplane
