// SPDX-License-Identifier: BSD-3-Clause
// Decimal numbers of usual length and size, read exactly: the nearest double, as std::from_chars gives it, in less
// time.
//
// A number is w 10^e with an integer w of at most 19 digits.
//   1. If w < 2^53 and |e| <= 22, both factors are doubles, and one product or quotient rounds once (Clinger, How to
//      read floating point numbers accurately, PLDI 1990).
//   2. If |e| <= 27, 5^|e| has at most 63 bits. w 5^e, or w / 5^-e with at least 63 bits of the quotient, is computed
//      in integers. Whether anything is left goes to the last bit, so rounding to 53 bits is that of the exact number;
//      2^e only changes the exponent.
// Other numbers, and text that is no such number, are left to std::from_chars.
#pragma once

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>

namespace hyperplane::decimal {

inline constexpr int most_digits = 19, most_exponent = 27, most_exact_power = 22;

inline constexpr std::array<std::uint64_t, most_exponent + 1> powers_of_5 = [] {
    std::array<std::uint64_t, most_exponent + 1> powers{1};
    for (int e = 1; e <= most_exponent; ++e) powers[std::size_t(e)] = 5 * powers[std::size_t(e) - 1];
    return powers;
}();
inline constexpr std::array<double, most_exact_power + 1> powers_of_10 = [] {
    std::array<double, most_exact_power + 1> powers{1.0};
    for (int e = 1; e <= most_exact_power; ++e) powers[std::size_t(e)] = 10.0 * powers[std::size_t(e) - 1];
    return powers;
}();

/// bits 2^exponent, for results that are neither too small nor too large; bits has 62 significant bits or more.
inline double scaled(std::uint64_t bits, int exponent) {
    const auto half = std::int64_t(bits >> 1 | (bits & 1));  // converted as a signed number, with one rounding
    return double(half) * std::bit_cast<double>(std::uint64_t(1023 + exponent + 1) << 52);
}

/// The double that is nearest to w 10^e, for 0 < w < 10^19 and |e| <= most_exponent.
inline double nearest(std::uint64_t w, int e) {
    using Wide = unsigned __int128;
    if (w < std::uint64_t(1) << 53 && e >= -most_exact_power && e <= most_exact_power)
        return e < 0 ? double(w) / powers_of_10[std::size_t(-e)] : double(w) * powers_of_10[std::size_t(e)];
    const int shift = std::countl_zero(w);
    if (e < 0) {
        const std::uint64_t power = powers_of_5[std::size_t(-e)];
        const int power_shift = std::countl_zero(power);
        const Wide number = Wide(w << shift) << 63;
        const std::uint64_t divisor = power << power_shift, quotient = std::uint64_t(number / divisor);
        const bool left = number != Wide(quotient) * divisor;
        return scaled(quotient | std::uint64_t(left), power_shift - shift + e - 63);
    }
    const Wide product = Wide(w << shift) * powers_of_5[std::size_t(e)];
    const auto high = std::uint64_t(product >> 64);
    if (high == 0) return scaled(std::uint64_t(product), e - shift);
    const int again = std::countl_zero(high);
    const Wide normal = product << again;
    return scaled(std::uint64_t(normal >> 64) | std::uint64_t(std::uint64_t(normal) != 0), 64 - again + e - shift);
}

/// Reads a number at the beginning of [at, end) as std::from_chars does: no sign or a minus, digits, a point, an
/// exponent. Returns where it ends, or null if it is left to std::from_chars.
inline const char* read_usual(const char* at, const char* end, double& value) {
    const auto is_digit = [&] { return at < end && *at >= '0' && *at <= '9'; };
    const bool negative = at < end && *at == '-';
    at += negative;
    if (!is_digit()) return nullptr;
    std::uint64_t w = 0;
    int digits = 0, e = 0;
    const auto take = [&] {
        const auto digit = std::uint64_t(*at++ - '0');
        digits += w > 0 || digit > 0;
        w = 10 * w + digit;  // wraps around beyond most_digits, and then is not used
    };
    while (is_digit()) take();
    if (at < end && *at == '.')
        for (++at; is_digit(); --e) take();
    if (digits > most_digits) return nullptr;
    if (at < end && (*at == 'e' || *at == 'E')) {
        ++at;
        const bool minus = at < end && *at == '-';
        at += minus || (at < end && *at == '+');
        if (!is_digit()) return nullptr;
        int given = 0;
        while (is_digit() && given < 1000) given = 10 * given + (*at++ - '0');
        if (is_digit()) return nullptr;
        e += minus ? -given : given;
    }
    if (w > 0 && (e < -most_exponent || e > most_exponent)) return nullptr;
    value = w > 0 ? nearest(w, e) : 0.0;
    if (negative) value = -value;
    return at;
}

/// Does the same as std::from_chars.
inline std::from_chars_result read(const char* at, const char* end, double& value) {
    if (const char* const after = read_usual(at, end, value)) return {after, std::errc{}};
    return std::from_chars(at, end, value);
}

}  // namespace hyperplane::decimal
