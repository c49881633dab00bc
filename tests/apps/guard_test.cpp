// SPDX-License-Identifier: BSD-3-Clause
#include "apps/base/guard.hpp"

#include <gtest/gtest.h>

#include <new>
#include <utility>

#include "apps/base/log.hpp"
#include "core/error.hpp"

namespace hyperplane {
namespace {

class Guard : public testing::Test {
protected:
    static void SetUpTestSuite() { start_log(); }
};

/// What `guarded` returns and prints when its body throws.
template <class Thrown>
std::pair<int, std::string> when_throwing(const Thrown& thrown, bool json) {
    testing::internal::CaptureStdout();
    const int status = guarded(json, [&]() -> int { throw thrown; });
    std::fflush(stdout);
    return {status, testing::internal::GetCapturedStdout()};
}

TEST_F(Guard, PassesTheStatusOn) {
    EXPECT_EQ(guarded(false, [] { return 0; }), 0);
    EXPECT_EQ(guarded(false, [] { return 75; }), 75);
}

TEST_F(Guard, GivesEachErrorItsExitCode) {
    EXPECT_EQ(when_throwing(UsageError("u"), false).first, 2);
    EXPECT_EQ(when_throwing(SetupError("s"), false).first, 5);
    EXPECT_EQ(when_throwing(OutOfMemory("o"), false).first, 6);
    EXPECT_EQ(when_throwing(std::bad_alloc(), false).first, 6);
    EXPECT_EQ(when_throwing(FileError("f"), false).first, 7);
    EXPECT_EQ(when_throwing(DeviceError("d"), false).first, 9);
}

TEST_F(Guard, CallsTheUnknownABug) {
    const auto [status, printed] = when_throwing(std::logic_error("no such thing"), true);
    EXPECT_EQ(status, 1);
    EXPECT_NE(printed.find("no such thing"), std::string::npos);
    EXPECT_NE(printed.find("please report it"), std::string::npos);
}

TEST_F(Guard, PrintsAnObjectForScripts) {
    EXPECT_EQ(when_throwing(UsageError("a \"quoted\" word"), true).second,
              "{\n  \"exit_code\": 2,\n  \"message\": \"a \\\"quoted\\\" word\",\n  \"status\": \"failed\"\n}\n");
    EXPECT_EQ(when_throwing(UsageError("u"), false).second, "");
}

}  // namespace
}  // namespace hyperplane
