// SPDX-License-Identifier: BSD-3-Clause
// Pack: several doubles with which the host computes at once. A formula at a point that is a template over its number
// type runs with it along consecutive slots. Each lane has the bits that plain doubles would give.
#pragma once

#include <cmath>

#include "core/types.hpp"

namespace hyperplane {

/// a b + c, rounded once.
HYPERPLANE_HD inline double fused(double a, double b, double c) {
    return std::fma(a, b, c);
}
/// `yes` if `which`, otherwise `no`.
HYPERPLANE_HD inline double chosen(bool which, double yes, double no) {
    return which ? yes : no;
}
/// a / b and the square root of x, correctly rounded for numbers whose exponents are far from the ends of the range. On
/// a GPU there is no branch for other numbers, so that divisions overlap (Markstein 1990): a division by 0, an infinity
/// or a NaN as operand, and root(0) all give NaN, so that a blow-up is noticed.
HYPERPLANE_HD inline double quotient(double a, double b) {
#ifdef __CUDA_ARCH__
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(b));
    const double error = fma(-b, y, 1.0);
    y = fma(y, fma(error, error, error), y);
    y = fma(y, fma(-b, y, 1.0), y);
    const double q = a * y;
    return fma(y, fma(-b, q, a), q);
#else
    return a / b;
#endif
}
HYPERPLANE_HD inline double root(double x) {
#ifdef __CUDA_ARCH__
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    const double error = fma(-x * y, y, 1.0);
    y = fma(y * error, fma(0.375, error, 0.5), y);
    const double s = x * y;
    return fma(0.5 * y, fma(-s, s, x), s);
#else
    return std::sqrt(x);
#endif
}

struct Pack {
#ifdef __AVX512F__
    static constexpr int lanes = 8;
#else
    static constexpr int lanes = 4;
#endif
    typedef double Lanes __attribute__((vector_size(lanes * sizeof(double))));

    /// One flag a lane.
    struct Flags {
        bool at[lanes];
        Flags operator!() const {
            Flags not_these;
            for (int l = 0; l < lanes; ++l) not_these.at[l] = !at[l];
            return not_these;
        }
    };

    Lanes v;

    Pack() = default;
    Pack(double x) : v(x - Lanes{}) {}
    Pack(Lanes values) : v(values) {}

    Pack& operator+=(const Pack& b) {
        v += b.v;
        return *this;
    }
    Pack& operator-=(const Pack& b) {
        v -= b.v;
        return *this;
    }
    friend Pack operator+(const Pack& a, const Pack& b) {
        return a.v + b.v;
    }
    friend Pack operator-(const Pack& a, const Pack& b) {
        return a.v - b.v;
    }
    friend Pack operator*(const Pack& a, const Pack& b) {
        return a.v * b.v;
    }
    friend Pack operator/(const Pack& a, const Pack& b) {
        return a.v / b.v;
    }
    friend Pack operator-(const Pack& a) {
        return -a.v;
    }

    friend Pack fused(const Pack& a, const Pack& b, const Pack& c) {
        Pack r;
        for (int l = 0; l < lanes; ++l) r.v[l] = std::fma(a.v[l], b.v[l], c.v[l]);
        return r;
    }
    friend Pack chosen(const Flags& which, const Pack& yes, const Pack& no) {
        Pack r;
        for (int l = 0; l < lanes; ++l) r.v[l] = which.at[l] ? yes.v[l] : no.v[l];
        return r;
    }
    friend Pack quotient(const Pack& a, const Pack& b) {
        return a / b;
    }
    friend Pack root(const Pack& x) {
        Pack r;
        for (int l = 0; l < lanes; ++l) r.v[l] = std::sqrt(x.v[l]);
        return r;
    }
};

}  // namespace hyperplane
