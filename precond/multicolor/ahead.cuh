// SPDX-License-Identifier: BSD-3-Clause
// Multicolour solves of small grids on a GPU, one unknown a point. There the time of a step is not that of its bytes
// but of its loads one after another: with few warps a multiprocessor waits for each. So a step loads its coefficients
// and computes where its neighbours' values are, which does not depend on the step before, before it waits for that
// step, and then loads all these values at once.
//
// The arithmetic is that of precond/multicolor/solve.cuh, term by term, so the results have the same bits.
//
// Definitions, besides those of solve.cuh, which alone includes this text, once: AHEAD (1: as above).

#include "precond/multicolor/step.cuh"

namespace hyperplane {

#if AHEAD

/// The coefficients of a step at one place, and the slots of the values that they multiply, in registers.
struct Ahead {
    double inverse, weight[MOST_TERMS];
    int near[MOST_TERMS];

    /// Loads W in a lower and G in an upper step, and the coefficient of D^-1 if `inverts`. A mirrored coefficient that
    /// does not exist is zero.
    template <int part>
    __device__ __forceinline__ void load(const Step& s, int place, bool inverts) {
        if (inverts) inverse = widened(__ldcs(coefficient(s, s.inverse, 0, 0, place)));
        constexpr bool mirrored = part == of_g && SYMMETRIC;
#pragma unroll
        for (int t = 0; t < MOST_TERMS; ++t) {
            if (t >= s.terms) continue;
            const int there = place + s.term[t].shift;
            const bool inside = unsigned(there) < unsigned(s.stride), known = !mirrored || inside;
            near[t] = s.term[t].base + (inside ? there : place);
            asm volatile("" : "+r"(near[t]));  // it is not computed again after the wait
            weight[t] = known ? widened(__ldcs(coefficient(s, s.term[t].block, 0, 0, mirrored ? there : place))) : 0.0;
        }
    }
    /// Subtracts the terms of the step from `sum`.
    template <int part>
    __device__ __forceinline__ void subtract(const Step& s, double (&sum)[ROWS], int /*first*/, int /*place*/,
                                             const Real* x) const {
        Real value[MOST_TERMS];
#pragma unroll
        for (int t = 0; t < MOST_TERMS; ++t)
            if (t < s.terms) value[t] = x[near[t]];
#pragma unroll
        for (int t = 0; t < MOST_TERMS; ++t)
            if (t < s.terms) sum[0] -= weight[t] * double(value[t]);
    }
    /// sum = D^-1 v - G z
    __device__ __forceinline__ void upper_sum(const Step& s, double (&sum)[ROWS], int first, int place) const {
        sum[0] += inverse * double(s.v[s.colour * s.stride + place]);
        subtract<of_g>(s, sum, first, place, s.w);
    }
};

#else

/// Coefficients are loaded when they are needed.
struct Ahead {
    template <int part>
    __device__ __forceinline__ void load(const Step&, int, bool) {}
    template <int part>
    __device__ __forceinline__ void subtract(const Step& s, double (&sum)[ROWS], int first, int place,
                                             const Real* x) const {
        subtract_terms<part>(s, sum, first, place, x);
    }
    __device__ __forceinline__ void upper_sum(const Step& s, double (&sum)[ROWS], int first, int place) const {
        hyperplane::upper_sum(s, sum, first, place);
    }
};

#endif

}  // namespace hyperplane
