// SPDX-License-Identifier: BSD-3-Clause
// Decimal numbers: every text gives what std::from_chars gives, to the last bit and to the last character.
#include "io/decimal.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <string>

namespace hyperplane {
namespace {

testing::AssertionResult is_read_alike(const std::string& text) {
    double expected = -7.0, value = -7.0;
    const char *const begin = text.data(), *const end = begin + text.size();
    const auto theirs = std::from_chars(begin, end, expected);
    const auto ours = decimal::read(begin, end, value);
    if (ours.ptr == theirs.ptr && ours.ec == theirs.ec &&
        std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(expected))
        return testing::AssertionSuccess();
    return testing::AssertionFailure() << text << ": " << value << ", " << ours.ptr - begin << " characters; expected "
                                       << expected << ", " << theirs.ptr - begin;
}

TEST(Decimal, OddTexts) {
    for (const char* text : {"1",
                             "-1",
                             "+1",
                             "1.",
                             "-.5",
                             ".5",
                             "1e",
                             "1e+",
                             "1e5",
                             "1e5 ",
                             "-0",
                             "0.000",
                             "-0.0e99",
                             "1e-400",
                             "1e400",
                             "00001.5",
                             "1.5x",
                             "0x10",
                             "inf",
                             "nan",
                             "-",
                             "",
                             " 1",
                             "--1",
                             "1..2",
                             "1e5e5",
                             "1e00000000000000000001",
                             "12345678901234567890",
                             "1234567890123456789",
                             "9999999999999999999e27",
                             "0.0000000000000000000000000001",
                             "1e27",
                             "1e-27",
                             "1e28",
                             "1e-28",
                             "9007199254740993",
                             "9007199254740993e22",
                             "9007199254740993e-22"})
        EXPECT_TRUE(is_read_alike(text));
}

TEST(Decimal, NumbersAsProgramsWriteThem) {
    std::mt19937_64 source(1);
    for (int k = 0; k < 200000; ++k) {
        const double fraction = double(source() >> 11) * 0x1p-53;
        const double value = fraction * std::pow(10.0, int(source() % 40) - 20);
        ASSERT_TRUE(is_read_alike(fmt::format("{}", value)));
        ASSERT_TRUE(is_read_alike(fmt::format("{:.16e}", -value)));
        ASSERT_TRUE(is_read_alike(fmt::format("{:.6g}", value)));
        ASSERT_TRUE(is_read_alike(fmt::format("{}", std::ldexp(fraction, int(source() % 2000) - 1000))));
    }
}

/// Numbers halfway between two doubles, where the last bit of the quotient or of what is left decides.
TEST(Decimal, HalfwayNumbersAreRoundedToEven) {
    std::mt19937_64 source(2);
    for (int k = 0; k < 100000; ++k) {
        const std::uint64_t odd = 2 * (source() >> 11 | std::uint64_t(1) << 52) + 1;  // 54 bits
        const int shift = int(source() % 10);
        const std::uint64_t tie = odd << shift;
        for (const std::uint64_t near : {tie - 1, tie, tie + 1})
            for (const int e : {0, 1, 2, -1}) ASSERT_TRUE(is_read_alike(fmt::format("{}e{}", near, e)));
        ASSERT_TRUE(is_read_alike(fmt::format("{}5e-1", odd)));
    }
}

}  // namespace
}  // namespace hyperplane
