// SPDX-License-Identifier: BSD-3-Clause
// Eight doubles at a time, beside loops over them.
#include "core/vector/lanes.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace hyperplane::detail {
namespace {

/// Sixteen values, the first of which is `first`.
std::vector<double> sixteen(double first) {
    std::vector<double> values(16);
    std::iota(values.begin(), values.end(), first);
    return values;
}

template <int by, bool descending>
void expect_shift() {
    const std::vector<double> v = sixteen(1), edge = sixteen(101);
    const Lanes moved = shifted<by, descending>(load(v.data()), load(edge.data()));
    for (int i = 0; i < lanes; ++i) {
        const int from = descending ? i + by : i - by;
        EXPECT_EQ(moved[i], from >= 0 && from < lanes ? v[from] : edge[i]) << by << " " << descending << " " << i;
    }
}

TEST(Lanes, AreShifted) {
    expect_shift<1, false>(), expect_shift<2, false>(), expect_shift<4, false>();
    expect_shift<1, true>(), expect_shift<2, true>(), expect_shift<4, true>();
}

TEST(Lanes, ArePickedAndPaired) {
    const std::vector<double> v = sixteen(1);
    const Lanes a = load(v.data()), b = load(v.data() + lanes);
    const Lanes even = even_of(a, b), odd = odd_of(a, b), first = first_pairs(a, b), last = last_pairs(a, b);
    for (int i = 0; i < lanes; ++i) {
        EXPECT_EQ(even[i], v[2 * i]);
        EXPECT_EQ(odd[i], v[2 * i + 1]);
        EXPECT_EQ(first[i], v[i / 2 + lanes * (i % 2)]);
        EXPECT_EQ(last[i], v[lanes / 2 + i / 2 + lanes * (i % 2)]);
    }
}

TEST(Lanes, AreLoadedAndStoredAsDoublesAndAsFloats) {
    const std::vector<float> from{1.5f, -2, 3, 4, 5, 6, 7, 8};
    std::vector<float> floats(lanes);
    std::vector<double> doubles(lanes);
    store(load(from.data()), floats.data());
    store(load(from.data()), doubles.data());
    EXPECT_EQ(floats, from);
    EXPECT_EQ(doubles, std::vector<double>(from.begin(), from.end()));
    doubles[0] = 1.0 + 1e-12;
    store(load(doubles.data()), floats.data());
    EXPECT_EQ(floats[0], 1.0f);
}

TEST(Lanes, FuseProducts) {
    const double a = 1.0 + 0x1p-30, v = -1.0 - 0x1p-29;  // a a = 1 + 2^-29 + 2^-60
    const std::vector<double> as(lanes, a), vs(lanes, v);
    const Lanes sum = fused(load(as.data()), load(as.data()), load(vs.data()));
    for (int i = 0; i < lanes; ++i) EXPECT_EQ(sum[i], 0x1p-60);
}

template <class T>
void expect_valid_only() {
    constexpr int begin = 3, end = 12;
    for (int t = -8; t <= 16; ++t) {
        const ValidLanes valid(t, begin, end);
        const std::vector<T> values{3, 4, 5, 6, 7, 8, 9, 10, 11};  // the addresses before and behind are not read
        const Lanes taken = valid.load(values.data() + (t - begin));
        const Lanes chosen = valid.choose(all_of(1.0), all_of(2.0));
        for (int i = 0; i < lanes; ++i) {
            const bool is_valid = t + i >= begin && t + i < end;
            EXPECT_EQ(taken[i], is_valid ? t + i : 0) << t << " " << i;
            EXPECT_EQ(chosen[i], is_valid ? 1 : 2) << t << " " << i;
        }
    }
}

TEST(Lanes, ThatAreNotValidAreNotRead) {
    expect_valid_only<double>();
    expect_valid_only<float>();
}

TEST(Lanes, ThatAreNotValidAreNotWritten) {
    for (int t = -8; t <= 16; ++t) {
        std::vector<double> values(40, -1.0);
        ValidLanes(t, 3, 12).store(all_of(5.0), values.data() + 12 + t);
        for (int at = 0; at < 40; ++at) {
            const int position = at - 12;
            const bool written = position >= t && position < t + lanes && position >= 3 && position < 12;
            EXPECT_EQ(values[at], written ? 5.0 : -1.0) << t << " " << position;
        }
    }
}

}  // namespace
}  // namespace hyperplane::detail
