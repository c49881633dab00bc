// SPDX-License-Identifier: BSD-3-Clause
#include "harness/exit_code.hpp"

#include <gtest/gtest.h>

namespace hyperplane::testing_support {
namespace {

Tally without_device(int failed, int passed, int skipped) {
    return {failed, passed, skipped, true, false, false};
}
Tally with_device(int failed, int passed, int skipped) {
    return {failed, passed, skipped, true, true, true};
}

TEST(ExitCode, TellsAFailureBesideASkippedTest) {
    for (const auto& tally_of : {without_device, with_device}) {
        EXPECT_EQ(exit_code(tally_of(1, 0, 1)), some_failed);
        EXPECT_EQ(exit_code(tally_of(1, 1, 1)), some_failed);
        EXPECT_EQ(exit_code(tally_of(1, 0, 0)), some_failed);
    }
}

TEST(ExitCode, TellsThatTestsPassedWhereSomeWereSkipped) {
    for (const auto& tally_of : {without_device, with_device}) {
        EXPECT_EQ(exit_code(tally_of(0, 1, 1)), all_passed);
        EXPECT_EQ(exit_code(tally_of(0, 1, 0)), all_passed);
        EXPECT_EQ(exit_code(tally_of(0, 0, 0)), all_passed);
    }
}

TEST(ExitCode, TellsThatAllWereSkippedOnlyWithoutAGpu) {
    EXPECT_EQ(exit_code(without_device(0, 0, 2)), all_skipped);
    EXPECT_EQ(exit_code(with_device(0, 0, 2)), some_failed);
    Tally of_the_cpu = with_device(0, 0, 2);
    of_the_cpu.needs_device = false;
    EXPECT_EQ(exit_code(of_the_cpu), all_skipped);
}

TEST(ExitCode, TellsOfAGpuThatWasLost) {
    Tally lost = with_device(0, 5, 3);
    lost.has_device = false;
    EXPECT_EQ(exit_code(lost), some_failed);
}

}  // namespace
}  // namespace hyperplane::testing_support
