// SPDX-License-Identifier: BSD-3-Clause
#include "core/timer.hpp"

#include <gtest/gtest.h>

namespace hyperplane {
namespace {

TEST(Timing, IsMedianLeastAndMost) {
    const Timing odd = timing_of({3.0, 1.0, 9.0, 2.0, 7.0});
    EXPECT_EQ(odd.median, 3.0);
    EXPECT_EQ(odd.least, 1.0);
    EXPECT_EQ(odd.most, 9.0);
    EXPECT_EQ(timing_of({4.0}).median, 4.0);
    EXPECT_EQ(timing_of({4.0, 5.0}).median, 5.0);
    EXPECT_EQ(timing_of({}).most, 0.0);
}

TEST(Timer, RowsAccumulate) {
    TimerTree timers;
    timers.add("solve", 1.0);
    timers.add("solve/spmv", 0.25, 8);
    timers.add("solve/spmv", 0.5, 8);
    ASSERT_EQ(timers.rows().size(), 2u);
    EXPECT_EQ(timers.rows()[1].calls, 2);
    EXPECT_EQ(timers.rows()[1].bytes, 16);
    EXPECT_EQ(timers.seconds("solve/spmv"), 0.75);
    EXPECT_EQ(timers.seconds("none"), 0.0);
}

}  // namespace
}  // namespace hyperplane
