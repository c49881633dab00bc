// SPDX-License-Identifier: BSD-3-Clause
// Two tests that do what $PROBE says, a word each: pass, skip, fail, crash or hang. skipped_test.cmake runs them by
// ctest, tests/gpu/run_all_test.py by run_all.sh.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>

namespace {

void act(int which) {
    const char* words = std::getenv("PROBE");
    std::istringstream in(words ? words : "");
    std::string word;
    for (int at = 0; at <= which; ++at) in >> word;
    if (word == "skip") GTEST_SKIP() << "as $PROBE asks";
    if (word == "crash") std::abort();
    if (word == "hang") std::this_thread::sleep_for(std::chrono::minutes(5));
    EXPECT_EQ(word, "pass");
}

TEST(ProbeOnDevice, First) {
    act(0);
}
TEST(ProbeOnDevice, Second) {
    act(1);
}

}  // namespace
