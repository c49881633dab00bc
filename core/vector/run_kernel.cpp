// SPDX-License-Identifier: BSD-3-Clause
#include "core/vector/run_kernel.hpp"

#include <algorithm>

#include "core/vector/lanes.hpp"

namespace hyperplane {
namespace {

using detail::Lanes, detail::lanes, detail::ValidLanes;

// Products are fused where the code says so, not where the compiler likes to: positions near the ends of a run, and
// near the cuts between ranks, are computed by another loop and must have the same bits.

template <int sign>
HYPERPLANE_INLINE Lanes added(const Lanes& a, const Lanes& x, const Lanes& sum) {
    return detail::fused(sign > 0 ? a : -a, x, sum);
}

/// The sums of `blocks` times eight positions from t on, where all terms are valid, in registers.
template <int sign, int blocks, class Term>
void inner(std::span<const Term> terms, const double* in, double* out, int t) {
    Lanes sum[blocks];
#pragma GCC unroll 4
    for (int n = 0; n < blocks; ++n) sum[n] = in ? detail::load(in + t + n * lanes) : Lanes{};
    for (const Term& term : terms) {
        const auto* const a = term.a + t;
        const double* const x = term.x + t;
#pragma GCC unroll 4
        for (int n = 0; n < blocks; ++n)
            sum[n] = added<sign>(detail::load(a + n * lanes), detail::load(x + n * lanes), sum[n]);
    }
#pragma GCC unroll 4
    for (int n = 0; n < blocks; ++n) detail::store(sum[n], out + t + n * lanes);
}

/// The sums of up to eight positions from t on, where some of the terms are not valid, or some positions do not exist.
template <int sign, class Term>
void edge(std::span<const Term> terms, const double* in, double* out, int t, int count) {
    const ValidLanes exist(t, 0, count);
    Lanes sum = in ? exist.load(in + t) : Lanes{};
    for (const Term& term : terms) {
        const auto* const a = term.a + t;
        const double* const x = term.x + t;
        if (term.begin <= t && t + lanes <= term.end) {
            sum = added<sign>(detail::load(a), detail::load(x), sum);
        } else {
            const ValidLanes valid(t, term.begin, term.end);
            sum = valid.choose(added<sign>(valid.load(a), valid.load(x), sum), sum);
        }
    }
    exist.store(sum, out + t);
}

template <int sign, class Term>
void accumulate_all(std::span<const Term> terms, const double* in, double* out, int count) {
    int begin = 0, end = count;  // where all terms are valid
    for (const Term& term : terms) begin = std::max(begin, term.begin), end = std::min(end, term.end);
    int t = 0;
    for (; t < begin && t < count; t += lanes) edge<sign>(terms, in, out, t, count);
    for (; t + 4 * lanes <= end; t += 4 * lanes) inner<sign, 4>(terms, in, out, t);
    for (; t + lanes <= end; t += lanes) inner<sign, 1>(terms, in, out, t);
    for (; t < count; t += lanes) edge<sign>(terms, in, out, t, count);
}

}  // namespace

template <int sign>
void accumulate(std::span<const RunTerm> terms, const double* in, double* out, int count) {
    accumulate_all<sign>(terms, in, out, count);
}

template <int sign>
void accumulate(std::span<const SingleRunTerm> terms, const double* in, double* out, int count) {
    accumulate_all<sign>(terms, in, out, count);
}

template void accumulate<+1>(std::span<const RunTerm>, const double*, double*, int);
template void accumulate<-1>(std::span<const RunTerm>, const double*, double*, int);
template void accumulate<+1>(std::span<const SingleRunTerm>, const double*, double*, int);
template void accumulate<-1>(std::span<const SingleRunTerm>, const double*, double*, int);

}  // namespace hyperplane
