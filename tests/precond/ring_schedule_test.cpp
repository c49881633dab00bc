// SPDX-License-Identifier: BSD-3-Clause
// The places of pieces in a ring, checked with an array that records for each place which piece was written there last.
#include "precond/subdomain/ring_schedule.hpp"

#include <gtest/gtest.h>

#include <random>

namespace hyperplane {
namespace {

/// Writes pieces as the schedule says, and checks that each step finds its own piece and the next one complete.
void follow(const std::vector<int>& size, int first, int last, Index ring) {
    const RingSchedule schedule(size, first, last, ring);
    ASSERT_TRUE(schedule.fits);
    std::vector<int> owner(ring, -1);
    const auto is_there = [&](int step) {
        for (int at = 0; at < size[step]; ++at)
            ASSERT_EQ(owner.at(schedule.place[step] + at), step) << "value " << at << " of " << size[step];
    };
    int started = first;
    for (int step = first; step < last; ++step) {
        SCOPED_TRACE("step " + std::to_string(step) + " of " + std::to_string(last) + ", ring " + std::to_string(ring));
        EXPECT_LE(schedule.started[step] - step, RingSchedule::ahead);
        for (; started < schedule.started[step]; ++started)
            for (int at = 0; at < size[started]; ++at) owner.at(schedule.place[started] + at) = started;
        is_there(step);
        if (step + 1 < last) is_there(step + 1);
    }
    EXPECT_EQ(started, last);
}

/// Sizes like those of the steps of a box: they grow and shrink, for the lower and then for the upper solve.
std::vector<int> sizes_of_box(int steps, int largest) {
    std::vector<int> size;
    for (int step = 0; step < 2 * steps; ++step) {
        const int at = step % steps, from_end = std::min(at, steps - 1 - at);
        size.push_back(std::min(largest, 2 + largest * from_end / (steps / 3) / 2 * 2));
    }
    return size;
}

TEST(RingSchedule, KeepsWhatStepsRead) {
    for (int steps : {9, 38, 67})
        for (int largest : {14, 434, 784}) {
            const std::vector<int> size = sizes_of_box(steps, largest);
            for (Index ring : {3 * largest, 4 * largest, 10 * largest, 100 * largest}) {
                follow(size, 0, 2 * steps, ring);
                follow(size, 0, steps, ring);
                follow(size, steps, 2 * steps, ring);
            }
        }
    std::mt19937 random(5);
    for (int trial = 0; trial < 100; ++trial) {
        std::vector<int> size(80);
        for (int& values : size) values = 2 * int(random() % 50);
        follow(size, 0, 80, 300);
    }
}

/// If large pieces simply followed one another, the free space for the third would be split in two parts that are too
/// small.
TEST(RingSchedule, NeedsTheRoomOfTwoLargePiecesAlone) {
    follow(sizes_of_box(67, 434), 0, 134, 1270);
    const std::vector<int> large(20, 100);
    follow(large, 0, 20, 200);
    EXPECT_FALSE(RingSchedule(large, 0, 20, 198).fits);
}

TEST(RingSchedule, SaysThatAPieceIsTooLarge) {
    EXPECT_FALSE(RingSchedule({2, 10, 4}, 0, 3, 8).fits);
    EXPECT_FALSE(RingSchedule({6, 6}, 0, 2, 8).fits);
    EXPECT_TRUE(RingSchedule({6, 0, 6}, 0, 3, 6).fits);
    EXPECT_TRUE(RingSchedule({6}, 0, 1, 6).fits);
}

}  // namespace
}  // namespace hyperplane
