// SPDX-License-Identifier: BSD-3-Clause
// First-order linear recurrences y_t = c_t + a_t y_{t-1}, eight at a time.
//
// Computed one by one, every element waits for the latency of a multiplication and an addition. If the maps
// y -> c + a y are composed by parallel prefix (Kogge and Stone, IEEE Trans. Computers C-22, 1973), there is one such
// wait for eight elements.
#pragma once

#include "core/vector/lanes.hpp"

namespace hyperplane {
namespace detail {

/// Composes the map y -> c + a y of each lane with that of the lane `by` before it.
template <int by, bool descending>
HYPERPLANE_INLINE void compose(Lanes& a, Lanes& c) {
    c = fused(a, shifted<by, descending>(c, Lanes{}), c);
    a *= shifted<by, descending>(a, all_of(1.0));
}

}  // namespace detail

/// Coefficients of y_t = c_t + a_t y_{t-1}: of one position (T = double), or of eight (detail::Lanes).
template <class T>
struct Recurrence {
    T a, c;
};

/// y_t = c(t) + a(t) y_{t-1} for t = begin, ..., end - 1 with y_{begin-1} = `before`.
/// If `descending`, y_t = c(t) + a(t) y_{t+1} for t = end - 1, ..., begin and y_end = `before`.
/// coefficients.at<double>(t) returns {a(t), c(t)}; at<detail::Lanes>(t) returns those of the positions t to t + 7.
template <bool descending, class Coefficients>
void solve_recurrence(const Coefficients& coefficients, int begin, int end, double before, double* y) {
    using namespace detail;
    const int blocks = (end - begin) / lanes;
    for (int block = 0; block < blocks; ++block) {
        const int t = descending ? end - (block + 1) * lanes : begin + block * lanes;
        auto [a, c] = coefficients.template at<Lanes>(t);
        compose<1, descending>(a, c);
        compose<2, descending>(a, c);
        compose<4, descending>(a, c);
        const Lanes result = fused(a, all_of(before), c);
        store(result, y + t);
        before = result[descending ? 0 : lanes - 1];
    }
    const int rest = end - begin - blocks * lanes;
    for (int at = 0; at < rest; ++at) {
        const int t = descending ? begin + rest - 1 - at : end - rest + at;
        const auto [a, c] = coefficients.template at<double>(t);
        y[t] = before = c + a * before;
    }
}

/// Loads from `from + t`, where floats or doubles are, one double (T = double) or eight (T = detail::Lanes).
template <class T, class From>
T take(const From* from, int t) {
    if constexpr (sizeof(T) == sizeof(double))
        return from[t];
    else
        return detail::load(from + t);
}

}  // namespace hyperplane
