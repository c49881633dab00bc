// SPDX-License-Identifier: BSD-3-Clause
// The inner loop of SpMV, of triangular solves and of their Jacobi sweeps: sums of products along a run.
#pragma once

#include <algorithm>
#include <span>

#include "core/types.hpp"

namespace hyperplane {

/// The product a[t] x[t] for positions t in [begin, end) of a run; X is the type of x.
template <class T, class X = T>
struct BasicRunTerm {
    const T* a;
    const X* x;
    int begin, end;
};
using RunTerm = BasicRunTerm<double>;
using SingleRunTerm = BasicRunTerm<float, double>;  ///< a coefficient in single precision

/// out[t] = in[t] + sign * sum of the terms at t, for t in [0, count); the terms are added in their order.
/// `in` may be `out`, or null for zeros. `out` must not overlap the valid positions of any term's x.
template <int sign>
void accumulate(std::span<const RunTerm> terms, const double* in, double* out, int count);
template <int sign>
void accumulate(std::span<const SingleRunTerm> terms, const double* in, double* out, int count);

/// Asks for a value that is read soon, and the others in its line of the cache.
inline void ask_for(const void* value) {
    __builtin_prefetch(value, 0, 2);
}
/// Asks for `count` values that are read soon, those of the next run as a rule; they come into the second-level cache
/// meanwhile. Where a point has several unknowns, a run has so many coefficients, each an array of its own, that the
/// processor does not see that all are read on from run to run. Addresses may lie beyond an array.
template <class T>
void ask_for(const T* values, int count) {
    constexpr int line = 64 / int(sizeof(T)), most = 64;  // it sees that longer runs go on
    for (int t = 0; t < std::min(count, most) + line - 1; t += line) ask_for(values + t);
}

/// Loops that go point by point ask for values so many points ahead, once for those that share a line of the cache.
inline constexpr int points_ahead = 64, points_of_line = 8;

/// out[t] = in[t] - sum of the terms at t, summed in twice the working precision (Ogita, Rump and Oishi,
/// Accurate sum and dot product, SIAM J. Sci. Comput. 26, 2005, algorithm 5.3). `low` is scratch of `count` values.
void subtract_exactly(std::span<const RunTerm> terms, const double* in, double* out, double* low, int count);

/// The sum of `count` values, x^T y, and the sum of x y z, in the order of core/vector/lane_sums.hpp.
double sum_run(const double* x, Index count);
double dot_run(const double* x, const double* y, Index count);
double dot_run3(const double* x, const double* y, const double* z, Index count);

extern template void accumulate<+1>(std::span<const RunTerm>, const double*, double*, int);
extern template void accumulate<-1>(std::span<const RunTerm>, const double*, double*, int);
extern template void accumulate<+1>(std::span<const SingleRunTerm>, const double*, double*, int);
extern template void accumulate<-1>(std::span<const SingleRunTerm>, const double*, double*, int);

}  // namespace hyperplane
