// SPDX-License-Identifier: BSD-3-Clause
// Triangular solves along a line, one unknown a point, in one pass: for eight points at a time the products with other
// lines are summed in a register, and the recurrence along the line (precond/walks/recurrence.hpp) continues from it.
//
// Sums that went to memory between the products and the recurrence would make each wait for the other: on one thread
// solves of star7 took twice as long so, and in the caches those of box27 four times.
#pragma once

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

#include "core/grid/layout.hpp"
#include "core/vector/run_kernel.hpp"
#include "precond/walks/recurrence.hpp"

namespace hyperplane {

/// Loads eight positions from t on, all of which are valid.
struct TakeAll {
    template <class T>
    HYPERPLANE_INLINE detail::Lanes operator()(const T* from, int t, int /*begin*/, int /*end*/) const {
        return detail::load(from + t);
    }
};

/// Loads eight positions from t on, with zeros for those outside [begin, end), which are not read.
struct TakeValid {
    template <class T>
    HYPERPLANE_INLINE detail::Lanes operator()(const T* from, int t, int begin, int end) const {
        if (t >= begin && t + detail::lanes <= end) return detail::load(from + t);
        return detail::ValidLanes(t, begin, end).load(from + t);
    }
};

/// The greatest number of terms beside the recurrence's own: those of box27's lower triangle.
inline constexpr int most_line_terms = 12;

/// Whether solve_line can read a term that is valid at these positions: no load of eight reads outside them.
inline bool fits_line(const RunNeighbours& valid) {
    return valid.end - valid.begin >= detail::lanes;
}

namespace detail {

/// The terms of a line, read by loops whose number is known. T: of coefficients, X: of vectors, double or float.
template <int N, class T, class X>
struct LineTerms {
    const T* a[N + 1];
    const X* x[N + 1];
    int begin[N + 1], end[N + 1];
    int all_begin = 0, all_end;  ///< where all are valid

    LineTerms(const BasicRunTerm<T, X>* terms, int count) : all_end(count) {
        for (int n = 0; n < N; ++n) {
            a[n] = terms[n].a, x[n] = terms[n].x, begin[n] = terms[n].begin, end[n] = terms[n].end;
            all_begin = std::max(all_begin, begin[n]), all_end = std::min(all_end, end[n]);
        }
    }
};

/// Eight positions from t on: y, and the sums s.
struct LineBlock {
    Lanes y, s;
};

template <bool descending, int sign, int N, class T, class X, class Take, class Line>
HYPERPLANE_INLINE LineBlock line_block(const Take& take, const LineTerms<N, T, X>& terms, const X* in, const Line& line,
                                       int t, int count, double before) {
    Lanes s = in ? take(in, t, 0, count) : Lanes{};
#pragma GCC unroll 12
    for (int n = 0; n < N; ++n)
        s = fused(sign * take(terms.a[n], t, terms.begin[n], terms.end[n]),
                  take(terms.x[n], t, terms.begin[n], terms.end[n]), s);
    auto [factor, constant] = line.at(take, t, count, s);
    compose<1, descending>(factor, constant);
    compose<2, descending>(factor, constant);
    compose<4, descending>(factor, constant);
    return {fused(factor, all_of(before), constant), s};
}

/// Stores up to eight positions, `most` at the most.
template <class T>
void store(const Lanes& v, T* to, int most) {
    if (most >= lanes) return store(v, to);
    for (int i = 0; i < most; ++i) to[i] = T(v[i]);
}

/// The same near the ends of a line, where some positions are not valid; stores those that exist.
template <bool descending, int sign, int N, class T, class X, class Line>
__attribute__((noinline)) double line_end(const LineTerms<N, T, X>& terms, const X* in, const Line& line, int t,
                                          int count, double before, X* y, double* sums) {
    const LineBlock block = line_block<descending, sign>(TakeValid{}, terms, in, line, t, count, before);
    store(block.y, y + t, count - t);
    if (sums) store(block.s, sums + t, count - t);
    return block.y[descending ? 0 : lanes - 1];
}

template <bool descending, int sign, int N, class T, class X, class Line>
void solve_line_of(const BasicRunTerm<T, X>* list, const X* in, const Line& line, int count, double before, X* y,
                   double* sums) {
    const LineTerms<N, T, X> terms(list, count);
    const int blocks = (count + lanes - 1) / lanes;
    const int first = (std::max(terms.all_begin, line.begin) + lanes - 1) / lanes;
    const int last = std::max(first, std::min(terms.all_end, line.end) / lanes);
    const auto ends = [&](int from, int to) {
        for (int at = from; at < to; ++at)
            before = line_end<descending, sign>(terms, in, line, lanes * (descending ? from + to - 1 - at : at), count,
                                                before, y, sums);
    };
    descending ? ends(last, blocks) : ends(0, first);
    double next = before;
    for (int at = first; at < last; ++at) {
        const int t = lanes * (descending ? first + last - 1 - at : at);
        const LineBlock block = line_block<descending, sign>(TakeAll{}, terms, in, line, t, count, next);
        store(block.y, y + t);
        if (sums) store(block.s, sums + t);
        next = block.y[descending ? 0 : lanes - 1];
    }
    before = next;
    descending ? ends(0, first) : ends(last, blocks);
}

template <bool descending, int sign, int... N, class... Arguments>
void solve_line_with(std::integer_sequence<int, N...>, int size, const Arguments&... arguments) {
    ((size == N ? solve_line_of<descending, sign, N>(arguments...) : void()), ...);
}

}  // namespace detail

/// With s = in + sign times the sum of the terms, y_t = c(t) + a(t) y_{t-1} for t = 0 to count - 1, or descending with
/// y_{t+1}, where line.at(take, t, count, s) returns a and c of eight positions. `line` is valid in [line.begin,
/// line.end), outside which a = 0; y_{-1}, or y_count, is `before`. `in` may be null for zeros, and y. The sums s are
/// stored in `sums` unless it is null. `terms` are up to most_line_terms contiguous BasicRunTerm<T, X>, and fits_line()
/// holds for each, and for `line`; T and X are double or float.
template <bool descending, int sign, class Terms, class X, class Line>
void solve_line(const Terms& terms, const std::type_identity_t<X>* in, const Line& line, int count, double before, X* y,
                double* sums) {
    detail::solve_line_with<descending, sign>(std::make_integer_sequence<int, most_line_terms + 1>{},
                                              int(std::size(terms)), std::data(terms), in, line, count, before, y,
                                              sums);
}

}  // namespace hyperplane
