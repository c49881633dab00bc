// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic of a step of multicolour solves on a GPU: the products of a place's rows with blocks of the factors
// (precond/multicolor/solve.cuh).
//
// Definitions: as in precond/multicolor/solve.cuh. A test that compiles this text for several sets of them undefines
// its guard in between.
#ifndef HYPERPLANE_MULTICOLOR_STEP
#define HYPERPLANE_MULTICOLOR_STEP

#include "precond/factors/reduced_values.cuh"
#include "precond/multicolor/arguments.hpp"

namespace hyperplane {

typedef REAL Real;
using Step = ColourArguments<const Value, MOST_TERMS, Real>;

constexpr int of_w = 0, of_inverse = 1, of_g = 2;                      // the parts of a row of factors
constexpr int unrolled_terms = DOF > 1 ? 1 : MOST_TERMS == 6 ? 6 : 4;  // for star7 all
constexpr int unrolled_columns = DOF <= 8 ? DOF : 4;

__device__ __forceinline__ const Value* coefficient(const Step& s, long long block, int row, int col, int place) {
    return s.factors + block + (long long)(row * DOF + col) * s.stride + place;
}

__device__ __forceinline__ unsigned char exponent(const Step& s, int part, int row, int slot) {
    return s.exponents[(long long)(part * DOF + row) * s.slots + slot];
}

/// Converts `sum` to units of the scales of its rows in a part, or back if `out`.
template <int part, bool out>
__device__ __forceinline__ void change_units(const Step& s, double (&sum)[ROWS], int first, int place) {
    if constexpr (scaled_rows)
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            if (DOF % ROWS != 0 && first + r >= DOF) continue;
            const unsigned char kept = exponent(s, part, first + r, s.colour * s.stride + place);
            sum[r] *= scale_of(out ? kept : 254 - kept);
        }
}

/// sum += sign * block * x, for the block at `place`; consecutive components of x are `slots` apart.
template <int sign>
__device__ __forceinline__ void add(const Step& s, double (&sum)[ROWS], int first, long long block, int place,
                                    const Real* x, long long slots) {
#pragma unroll(unrolled_columns)
    for (int c = 0; c < DOF; ++c) {
        const double value = double(x[c * slots]);
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
            if (DOF % ROWS == 0 || first + r < DOF)
                sum[r] += sign * widened(__ldcs(coefficient(s, block, first + r, c, place))) * value;
    }
}

/// Subtracts the terms of a step, with W or with G, from `sum`; x is in coloured order.
template <int part>
__device__ __forceinline__ void subtract_terms(const Step& s, double (&sum)[ROWS], int first, int place,
                                               const Real* x) {
    constexpr bool mirrored = part == of_g && SYMMETRIC;
    if constexpr (!mirrored) change_units<part, false>(s, sum, first, place);
#pragma unroll(unrolled_terms)
    for (int t = 0; t < s.terms; ++t) {
        const ColourTerm& term = s.term[t];
        const int there = place + term.shift;
        const bool known = unsigned(there) < unsigned(s.stride);
        const int near = known ? there : place;
        const Real* at = x + term.base + near;
#pragma unroll(unrolled_columns)
        for (int c = 0; c < DOF; ++c) {
            double value = double(at[(long long)c * s.slots]);
            if (scaled_rows && mirrored) value *= scale_of(exponent(s, of_w, c, term.base + near));
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const int row = first + r;
                if (DOF % ROWS != 0 && row >= DOF) continue;
                const Value* from =
                    mirrored ? coefficient(s, term.block, c, row, near) : coefficient(s, term.block, row, c, place);
                const double weight = widened(__ldcs(from));
                sum[r] -= (mirrored && !known ? 0.0 : weight) * value;
            }
        }
    }
    if constexpr (!mirrored) change_units<part, true>(s, sum, first, place);
}

__device__ __forceinline__ void store(Real* x, const double (&sum)[ROWS], int first, long long component,
                                      long long slot) {
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
        if (DOF % ROWS == 0 || first + r < DOF) x[(first + r) * component + slot] = Real(sum[r]);
}

/// Stores a value of z = M^-1 r, or omega times it, or adds that, rounding as an update of vectors after the solve
/// does.
__device__ __forceinline__ void put(const Step& s, long long at, Real z) {
    if (s.result == writes_result)
        s.z[at] = z;
    else if (s.result == scales_result)
        s.z[at] = Real(s.omega * double(z));
    else
        s.z[at] = Real(fma(s.omega, double(z), double(s.z[at])));
}

/// Stores v of a colour or, for the last colour if a thread has all rows of a point, z = D^-1 v.
__device__ __forceinline__ void finish_lower(const Step& s, const double (&sum)[ROWS], int first, int place) {
    const int slot = s.colour * s.stride + place;
    if (ROWS < DOF || s.colour < COLOURS - 1) return store(s.v, sum, first, s.slots, slot);
    double z[ROWS] = {};
#pragma unroll
    for (int c = 0; c < ROWS; ++c)
#pragma unroll
        for (int r = 0; r < ROWS; ++r) z[r] += widened(__ldcs(coefficient(s, s.inverse, r, c, place))) * sum[c];
    change_units<of_inverse, true>(s, z, 0, place);
    store(s.w, z, 0, s.slots, slot);
}

/// Computes z of a colour from v and from z of later colours.
__device__ __forceinline__ void upper_sum(const Step& s, double (&sum)[ROWS], int first, int place) {
    add<1>(s, sum, first, s.inverse, place, s.v + s.colour * s.stride + place, s.slots);
    change_units<of_inverse, true>(s, sum, first, place);
    subtract_terms<of_g>(s, sum, first, place, s.w);
}

}  // namespace hyperplane

#endif
