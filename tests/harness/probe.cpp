// Two tests that do what $PROBE says, a word each: pass, skip, fail or crash. skipped_test.cmake runs them by ctest.
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>

namespace {

void act(int which) {
    const char* words = std::getenv("PROBE");
    std::istringstream in(words ? words : "");
    std::string word;
    for (int at = 0; at <= which; ++at) in >> word;
    if (word == "skip") GTEST_SKIP() << "as $PROBE asks";
    if (word == "crash") std::abort();
    EXPECT_EQ(word, "pass");
}

TEST(ProbeOnDevice, First) {
    act(0);
}
TEST(ProbeOnDevice, Second) {
    act(1);
}

}  // namespace
