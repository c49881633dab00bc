// SPDX-License-Identifier: BSD-3-Clause
#include "core/vector/run_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hyperplane {
namespace {

// Products are fused where the code says so, not where the compiler likes to: positions near the ends of a run, and
// near the cuts between ranks, are computed by another loop and must have the same bits.

/// Number of terms summed in one pass, so that `out` is loaded and stored once for all of them.
constexpr int group_size = 8;

/// Positions [begin, end), where all G terms are valid.
template <int sign, int G, bool from_zero>
void pass(const RunTerm* terms, const double* in, double* out, int begin, int end) {
    const double* a[G];
    const double* x[G];
    for (int g = 0; g < G; ++g) a[g] = terms[g].a, x[g] = terms[g].x;
#pragma omp simd
    for (int t = begin; t < end; ++t) {
        double value = from_zero ? 0.0 : in[t];
#pragma GCC unroll 8
        for (int g = 0; g < G; ++g) value = std::fma(sign * a[g][t], x[g][t], value);
        out[t] = value;
    }
}

template <int sign, bool from_zero, int... G>
void pass_of(int size, std::integer_sequence<int, G...>, const RunTerm* terms, const double* in, double* out, int begin,
             int end) {
    ((size == G + 1 ? pass<sign, G + 1, from_zero>(terms, in, out, begin, end) : void()), ...);
}

/// Positions [begin, end), where some of the terms are not valid.
template <int sign>
void edge(std::span<const RunTerm> terms, const double* in, double* out, int begin, int end) {
    for (int t = begin; t < end; ++t) {
        double value = in ? in[t] : 0.0;
        for (const RunTerm& term : terms)
            if (t >= term.begin && t < term.end) value = std::fma(sign * term.a[t], term.x[t], value);
        out[t] = value;
    }
}

}  // namespace

template <int sign>
void accumulate(std::span<const RunTerm> terms, const double* in, double* out, int count) {
    if (terms.empty()) {
        if (in != out)
            for (int t = 0; t < count; ++t) out[t] = in ? in[t] : 0.0;
        return;
    }
    while (!terms.empty()) {
        const auto group = terms.first(std::min<std::size_t>(terms.size(), group_size));
        int begin = 0, end = count;
        for (const RunTerm& term : group) begin = std::max(begin, term.begin), end = std::min(end, term.end);
        begin = std::min(begin, count);
        end = std::max(begin, end);
        edge<sign>(group, in, out, 0, begin);
        constexpr auto sizes = std::make_integer_sequence<int, group_size>{};
        if (in)
            pass_of<sign, false>(int(group.size()), sizes, group.data(), in, out, begin, end);
        else
            pass_of<sign, true>(int(group.size()), sizes, group.data(), in, out, begin, end);
        edge<sign>(group, in, out, end, count);
        in = out;
        terms = terms.subspan(group.size());
    }
}

template void accumulate<+1>(std::span<const RunTerm>, const double*, double*, int);
template void accumulate<-1>(std::span<const RunTerm>, const double*, double*, int);

}  // namespace hyperplane
