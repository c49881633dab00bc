// SPDX-License-Identifier: BSD-3-Clause
// The inner loop of SpMV, of triangular solves and of their Jacobi sweeps: sums of products along a run.
#pragma once

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
