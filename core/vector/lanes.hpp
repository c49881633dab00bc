// SPDX-License-Identifier: BSD-3-Clause
// Eight doubles at a time, on a CPU. A processor with registers of 512 bits keeps them in one; others, in two of four
// doubles: gcc leaves a vector that is longer than the registers in memory, and shuffles it value by value.
//
// Not for sources that are compiled with -ffp-contract=off: immintrin.h saves and restores gcc's options, and what gcc
// 12 restores are those of the precompiled header, which contract.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "core/vector/quad.hpp"

/// Vectors of eight doubles that pass through memory, in calls, take longer than what is computed with them.
#define HYPERPLANE_INLINE inline __attribute__((always_inline))

namespace hyperplane {
namespace detail {

constexpr int lanes = 8;

/// The values with these numbers, where those of `b` are counted on from those of `a`.
template <long... numbers, class V>
HYPERPLANE_INLINE V picked(const V& a, const V& b) {
    typedef long Mask __attribute__((vector_size(sizeof(V))));
    constexpr Mask mask{numbers...};
    return __builtin_shuffle(a, b, mask);
}

#if defined(__AVX512F__)

typedef double Lanes __attribute__((vector_size(lanes * sizeof(double))));
typedef long LaneMask __attribute__((vector_size(lanes * sizeof(long))));

HYPERPLANE_INLINE Lanes load(const double* from) {
    Lanes v;
    std::memcpy(&v, from, sizeof v);
    return v;
}
HYPERPLANE_INLINE void store(const Lanes& v, double* to) {
    std::memcpy(to, &v, sizeof v);
}
HYPERPLANE_INLINE void store(const Lanes& v, float* to) {
    typedef float Floats __attribute__((vector_size(lanes * sizeof(float))));
    const Floats rounded = __builtin_convertvector(v, Floats);
    std::memcpy(to, &rounded, sizeof rounded);
}
HYPERPLANE_INLINE Lanes all_of(double value) {
    return _mm512_set1_pd(value);
}
/// a x + v, rounded once. Where lanes are added to products this says so: which product of two a compiler would fuse
/// depends on the width of the registers.
HYPERPLANE_INLINE Lanes fused(const Lanes& a, const Lanes& x, const Lanes& v) {
    return _mm512_fmadd_pd(a, x, v);
}

/// Lane i of the result is lane i - by of `v` (i + by if descending), or lane i of `edge` if `v` has no such lane.
template <int by, bool descending>
HYPERPLANE_INLINE Lanes shifted(const Lanes& v, const Lanes& edge) {
    LaneMask mask;
    for (int i = 0; i < lanes; ++i) {
        const int from = descending ? i + by : i - by;
        mask[i] = from >= 0 && from < lanes ? from : lanes + i;
    }
    return __builtin_shuffle(v, edge, mask);
}

/// These two return the even and the odd ones of sixteen values, the lanes of `a` and then those of `b`.
HYPERPLANE_INLINE Lanes even_of(const Lanes& a, const Lanes& b) {
    return picked<0, 2, 4, 6, 8, 10, 12, 14>(a, b);
}
HYPERPLANE_INLINE Lanes odd_of(const Lanes& a, const Lanes& b) {
    return picked<1, 3, 5, 7, 9, 11, 13, 15>(a, b);
}
/// These two return the first and the last eight of the sixteen values a_0, b_0, a_1, b_1, ...
HYPERPLANE_INLINE Lanes first_pairs(const Lanes& a, const Lanes& b) {
    return picked<0, 8, 1, 9, 2, 10, 3, 11>(a, b);
}
HYPERPLANE_INLINE Lanes last_pairs(const Lanes& a, const Lanes& b) {
    return picked<4, 12, 5, 13, 6, 14, 7, 15>(a, b);
}

#else

typedef long QuadMask __attribute__((vector_size(4 * sizeof(long))));

struct Lanes {
    Quad low, high;

    HYPERPLANE_INLINE double operator[](int lane) const { return lane < 4 ? low[lane] : high[lane - 4]; }
    HYPERPLANE_INLINE Lanes& operator+=(const Lanes& other) { return low += other.low, high += other.high, *this; }
    HYPERPLANE_INLINE Lanes& operator*=(const Lanes& other) { return low *= other.low, high *= other.high, *this; }
};

HYPERPLANE_INLINE Lanes operator-(const Lanes& a) {
    return {-a.low, -a.high};
}
HYPERPLANE_INLINE Lanes operator+(const Lanes& a, const Lanes& b) {
    return {a.low + b.low, a.high + b.high};
}
HYPERPLANE_INLINE Lanes operator-(const Lanes& a, const Lanes& b) {
    return {a.low - b.low, a.high - b.high};
}
HYPERPLANE_INLINE Lanes operator*(const Lanes& a, const Lanes& b) {
    return {a.low * b.low, a.high * b.high};
}
HYPERPLANE_INLINE Lanes operator*(double a, const Lanes& b) {
    return {a * b.low, a * b.high};
}

HYPERPLANE_INLINE Lanes load(const double* from) {
    Lanes v;
    std::memcpy(&v.low, from, sizeof v.low);
    std::memcpy(&v.high, from + 4, sizeof v.high);
    return v;
}
HYPERPLANE_INLINE void store(const Lanes& v, double* to) {
    std::memcpy(to, &v.low, sizeof v.low);
    std::memcpy(to + 4, &v.high, sizeof v.high);
}
typedef float QuadOfSingles __attribute__((vector_size(4 * sizeof(float))));
HYPERPLANE_INLINE void store(const Lanes& v, float* to) {
    const QuadOfSingles low = __builtin_convertvector(v.low, QuadOfSingles);
    const QuadOfSingles high = __builtin_convertvector(v.high, QuadOfSingles);
    std::memcpy(to, &low, sizeof low);
    std::memcpy(to + 4, &high, sizeof high);
}
HYPERPLANE_INLINE Lanes all_of(double value) {
    return {Quad{value, value, value, value}, Quad{value, value, value, value}};
}
HYPERPLANE_INLINE Lanes fused(const Lanes& a, const Lanes& x, const Lanes& v) {
#if defined(__FMA__)
    return {_mm256_fmadd_pd(a.low, x.low, v.low), _mm256_fmadd_pd(a.high, x.high, v.high)};
#else
    Lanes sum = v;
    for (int i = 0; i < 4; ++i) {
        sum.low[i] = std::fma(a.low[i], x.low[i], v.low[i]);
        sum.high[i] = std::fma(a.high[i], x.high[i], v.high[i]);
    }
    return sum;
#endif
}

template <int by, bool descending>
HYPERPLANE_INLINE Lanes shifted(const Lanes& v, const Lanes& edge) {
    static_assert(by == 1 || by == 2 || by == 4);
    if constexpr (by == 4) return descending ? Lanes{v.high, edge.high} : Lanes{edge.low, v.low};
    if constexpr (by == 1 && descending)
        return {picked<1, 2, 3, 4>(v.low, v.high), picked<1, 2, 3, 7>(v.high, edge.high)};
    if constexpr (by == 2 && descending)
        return {picked<2, 3, 4, 5>(v.low, v.high), picked<2, 3, 6, 7>(v.high, edge.high)};
    if constexpr (by == 1 && !descending)
        return {picked<0, 4, 5, 6>(edge.low, v.low), picked<3, 4, 5, 6>(v.low, v.high)};
    if constexpr (by == 2 && !descending)
        return {picked<0, 1, 4, 5>(edge.low, v.low), picked<2, 3, 4, 5>(v.low, v.high)};
}

HYPERPLANE_INLINE Lanes even_of(const Lanes& a, const Lanes& b) {
    return {picked<0, 2, 4, 6>(a.low, a.high), picked<0, 2, 4, 6>(b.low, b.high)};
}
HYPERPLANE_INLINE Lanes odd_of(const Lanes& a, const Lanes& b) {
    return {picked<1, 3, 5, 7>(a.low, a.high), picked<1, 3, 5, 7>(b.low, b.high)};
}
HYPERPLANE_INLINE Lanes pairs(const Quad& a, const Quad& b) {
    return {picked<0, 4, 1, 5>(a, b), picked<2, 6, 3, 7>(a, b)};
}
HYPERPLANE_INLINE Lanes first_pairs(const Lanes& a, const Lanes& b) {
    return pairs(a.low, b.low);
}
HYPERPLANE_INLINE Lanes last_pairs(const Lanes& a, const Lanes& b) {
    return pairs(a.high, b.high);
}

#endif

/// Written out, this is one instruction; gcc 12 converts a vector of floats by halves, which it takes apart and joins.
HYPERPLANE_INLINE Lanes load(const float* from) {
    return Lanes{from[0], from[1], from[2], from[3], from[4], from[5], from[6], from[7]};
}
/// The positions among t to t + 7 that lie in [begin, end).
class ValidLanes {
public:
    HYPERPLANE_INLINE ValidLanes(int t, int begin, int end) {
        const int first = std::clamp(begin - t, 0, lanes), last = std::clamp(end - t, first, lanes);
#if defined(__AVX512F__)
        mask_ = __mmask8((1u << last) - (1u << first));
#else
        for (int i = 0; i < 4; ++i) {
            low_[i] = i >= first && i < last ? -1 : 0;
            high_[i] = i + 4 >= first && i + 4 < last ? -1 : 0;
        }
#endif
    }

    /// The values there, and zeros, without reading others.
    HYPERPLANE_INLINE Lanes load(const double* from) const {
#if defined(__AVX512F__)
        return _mm512_maskz_loadu_pd(mask_, from);
#elif defined(__AVX2__)
        return {_mm256_maskload_pd(from, __m256i(low_)), _mm256_maskload_pd(from + 4, __m256i(high_))};
#else
        return one_by_one(from);
#endif
    }
    HYPERPLANE_INLINE Lanes load(const float* from) const {
        return one_by_one(from);
    }
    /// Writes no other values.
    HYPERPLANE_INLINE void store(const Lanes& v, double* to) const {
#if defined(__AVX512F__)
        _mm512_mask_storeu_pd(to, mask_, v);
#elif defined(__AVX2__)
        _mm256_maskstore_pd(to, __m256i(low_), v.low);
        _mm256_maskstore_pd(to + 4, __m256i(high_), v.high);
#else
        for (int i = 0; i < lanes; ++i)
            if (has(i)) to[i] = v[i];
#endif
    }
    /// The lanes of `there` for these positions, and those of `elsewhere` for the others.
    HYPERPLANE_INLINE Lanes choose(const Lanes& there, const Lanes& elsewhere) const {
#if defined(__AVX512F__)
        return _mm512_mask_blend_pd(mask_, elsewhere, there);
#else
        return {low_ ? there.low : elsewhere.low, high_ ? there.high : elsewhere.high};
#endif
    }

private:
#if defined(__AVX512F__)
    bool has(int lane) const {
        return mask_ >> lane & 1;
    }
    __mmask8 mask_;
#else
    bool has(int lane) const {
        return (lane < 4 ? low_[lane] : high_[lane - 4]) != 0;
    }
    QuadMask low_, high_;
#endif
    template <class T>
    Lanes one_by_one(const T* from) const {
        double v[lanes];
        for (int i = 0; i < lanes; ++i) v[i] = has(i) ? double(from[i]) : 0.0;
        return detail::load(v);
    }
};

}  // namespace detail
}  // namespace hyperplane
