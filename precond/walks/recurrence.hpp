// SPDX-License-Identifier: BSD-3-Clause
// First-order linear recurrences y_t = c_t + a_t y_{t-1}, eight at a time.
//
// Computed one by one, every element waits for the latency of a multiplication and an addition. If the maps
// y -> c + a y are composed by parallel prefix (Kogge and Stone, IEEE Trans. Computers C-22, 1973), there is one such
// wait for eight elements.
#pragma once

#include <cstring>

/// Vectors of eight doubles that pass through memory, in calls, take longer than what is computed with them.
#define HYPERPLANE_INLINE inline __attribute__((always_inline))

namespace hyperplane {
namespace detail {

constexpr int lanes = 8;
typedef double Lanes __attribute__((vector_size(lanes * sizeof(double))));
typedef long LaneMask __attribute__((vector_size(lanes * sizeof(long))));

HYPERPLANE_INLINE Lanes load(const double* from) {
    Lanes v;
    std::memcpy(&v, from, sizeof v);
    return v;
}

typedef float Singles __attribute__((vector_size(lanes * sizeof(float))));

/// Written out, this is one instruction; gcc 12 converts a vector of floats by halves, which it takes apart and joins.
HYPERPLANE_INLINE Lanes load(const float* from) {
    return Lanes{from[0], from[1], from[2], from[3], from[4], from[5], from[6], from[7]};
}
HYPERPLANE_INLINE void store(const Lanes& v, double* to) {
    std::memcpy(to, &v, sizeof v);
}
HYPERPLANE_INLINE void store(const Lanes& v, float* to) {
    const Singles rounded = __builtin_convertvector(v, Singles);
    std::memcpy(to, &rounded, sizeof rounded);
}

/// Lane i of the result is lane i - by of `v` (i + by if descending), or lane i of `edge` if `v` has no such lane.
template <int by, bool descending>
HYPERPLANE_INLINE Lanes shifted(Lanes v, Lanes edge) {
    LaneMask mask;
    for (int i = 0; i < lanes; ++i) {
        const int from = descending ? i + by : i - by;
        mask[i] = from >= 0 && from < lanes ? from : lanes + i;
    }
    return __builtin_shuffle(v, edge, mask);
}

/// Composes the map y -> c + a y of each lane with that of the lane `by` before it.
template <int by, bool descending>
HYPERPLANE_INLINE void compose(Lanes& a, Lanes& c) {
    c += a * shifted<by, descending>(c, Lanes{});
    a *= shifted<by, descending>(a, Lanes{} + 1.0);
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
        const Lanes result = c + a * before;
        std::memcpy(y + t, &result, sizeof result);
        before = result[descending ? 0 : lanes - 1];
    }
    const int rest = end - begin - blocks * lanes;
    for (int at = 0; at < rest; ++at) {
        const int t = descending ? begin + rest - 1 - at : end - rest + at;
        const auto [a, c] = coefficients.template at<double>(t);
        y[t] = before = c + a * before;
    }
}

/// Loads from `from + t` one double (T = double) or eight (T = detail::Lanes).
template <class T>
T take(const double* from, int t) {
    if constexpr (sizeof(T) == sizeof(double))
        return from[t];
    else
        return detail::load(from + t);
}

}  // namespace hyperplane
