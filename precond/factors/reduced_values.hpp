// SPDX-License-Identifier: BSD-3-Clause
// Values of factors in reduced precision: IEEE single precision, or half precision with one power of two for each row
// (OCP Microscaling Formats, 2023, section 5.4: E8M0 scales; here one scale serves a row of any length).
//
//     half_scaled     x = h 2^k        h is in binary16; k takes one byte a row and is chosen such that the row's
//                                      largest |h| is in [2^14, 2^15). Nothing overflows; a value 2^-29 times the
//                                      largest one still has 11 significant bits, one 2^-39 times it has one bit
//
// Rounding is to nearest, ties to even; relative errors are at most 2^-24 for single precision and 2^-11 for
// half_scaled. Scales are powers of two, so that widening is exact.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "precond/factors/pivot_log.hpp"

namespace hyperplane {

/// The bits of an IEEE binary16 number.
struct Half {
    std::uint16_t bits;
};

/// The exponent k of a row's scale 2^k, stored as k + 127.
using RowExponent = std::uint8_t;

HYPERPLANE_HD inline double power_of_two(int k) {
    const std::uint64_t bits = std::uint64_t(k + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
HYPERPLANE_HD inline double scale_of(RowExponent kept) {
    return power_of_two(int(kept) - 127);
}

HYPERPLANE_HD inline double widened(double x) {
    return x;
}
HYPERPLANE_HD inline double widened(float x) {
    return x;
}
/// The bits of a half, shifted, are those of a float that is 2^112 times smaller; this holds for subnormals, too.
HYPERPLANE_HD inline double widened(Half x) {
    const std::uint32_t bits = std::uint32_t(x.bits & 0x7fffu) << 13 | std::uint32_t(x.bits & 0x8000u) << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return double(value * 0x1p112f);
}

/// Rounds to nearest, ties to even. |x| must be less than 65520.
HYPERPLANE_HD inline Half half_of(double x) {
    std::uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const std::uint64_t sign = bits >> 63, magnitude = bits & ~(std::uint64_t(1) << 63);
    std::uint64_t rounded;
    if (fabs(x) < 0x1p-14) {
        const double units = (fabs(x) * 0x1p24 + 0x1p52) - 0x1p52;  // rounds to an integer, ties to even
        rounded = std::uint64_t(units);
    } else {
        const std::uint64_t to_even = 0x1ffffffffffu + (magnitude >> 42 & 1);
        rounded = ((magnitude + to_even) >> 42) - (std::uint64_t(1023 - 15) << 10);
    }
    return {std::uint16_t(sign << 15 | rounded)};
}

/// Widens consecutive values of a run; halves are multiplied by the scales of their rows.
inline void widen(const float* from, const RowExponent*, int count, double* to) {
#pragma omp simd
    for (int t = 0; t < count; ++t) to[t] = from[t];
}
inline void widen(const Half* from, const RowExponent* exponents, int count, double* to) {
#pragma omp simd
    for (int t = 0; t < count; ++t) to[t] = widened(from[t]) * scale_of(exponents[t]);
}

/// Rounds one row in four steps: `see` is called with every value, `settle` chooses the row's scale, `rounded` rounds
/// each value, and `tell` adds the row's events to a log. Without scales the first two steps can be left out.
template <class T>
class RowRounding : public RowEvents {
public:
    static constexpr bool scales = sizeof(T) < sizeof(float);

    HYPERPLANE_HD void see(double value) {
        const double size = fabs(value);
        if (size > largest_ && PivotRule::is_number(size)) largest_ = size;
    }
    HYPERPLANE_HD RowExponent settle() {
        if (!scales || largest_ == 0.0) return 127;
        int exponent;
        frexp(largest_, &exponent);
        exponent -= 15;
        exponent = exponent < -126 ? -126 : exponent > 127 ? 127 : exponent;
        inverse_scale_ = power_of_two(-exponent);
        return RowExponent(exponent + 127);
    }
    HYPERPLANE_HD T rounded(double value) {
        if constexpr (scales)
            return half(value);
        else
            return single(value);
    }

private:
    HYPERPLANE_HD Half half(double value) {
        const double scaled = value * inverse_scale_;
        if (!(fabs(scaled) <= 65504.0)) {
            refuse(value);
            return {};
        }
        const Half result = half_of(scaled);
        flush(value != 0.0 && widened(result) == 0.0);
        return result;
    }

    double largest_ = 0.0, inverse_scale_ = 1.0;
};

}  // namespace hyperplane
