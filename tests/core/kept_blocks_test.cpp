// SPDX-License-Identifier: BSD-3-Clause
// Large blocks of a host's memory that were released are used again, and never add to the most that was held.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <vector>

#include "core/device/context.hpp"

namespace hyperplane {
namespace {

constexpr Index mib = Index(1) << 20;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool checked = true;  // then released memory is held back for a while
#else
constexpr bool checked = false;
#endif

/// Bytes of the process that lie in the machine's memory.
Index resident() {
    Index pages = 0, of_process = 0;
    std::ifstream("/proc/self/statm") >> pages >> of_process;
    return of_process * sysconf(_SC_PAGESIZE);
}

TEST(KeptBlocks, AreUsedAgainForTheSameSize) {
    // The C library gives blocks of this size back to the system at once, which clears what it hands out.
    const Context context = Context::cpu(1);
    auto* const first = static_cast<char*>(context.allocate("test", 64 * mib));
    std::memset(first, 7, 64 * mib);
    context.release("test", first, 64 * mib);
    EXPECT_EQ(context.ledger().held(), 0);
    auto* const again = static_cast<char*>(context.allocate("test", 64 * mib));
    EXPECT_EQ(again[0], 7);
    EXPECT_EQ(again[64 * mib - 1], 7);
    context.release("test", again, 64 * mib);
}

TEST(KeptBlocks, AreZeroInABufferUnlessAnythingWillDo) {
    const Context context = Context::cpu(1);
    for (int turn = 0; turn < 2; ++turn) {
        Buffer<double> values(context, "test", 8 * mib);
        EXPECT_EQ(std::count(values.begin(), values.end(), 0.0), 8 * mib);
        std::fill(values.begin(), values.end(), 1.0);
    }
}

TEST(KeptBlocks, DoNotAddToTheMostThatWasHeld) {
    if (checked) GTEST_SKIP() << "AddressSanitizer keeps released memory";
    const Context context = Context::cpu(1);
    const Index before = resident();
    const auto hold = [&](Index bytes) {
        void* const memory = context.allocate("test", bytes);
        std::memset(memory, 1, std::size_t(bytes));
        return memory;
    };
    void* const large = hold(96 * mib);
    context.release("test", large, 96 * mib);
    void* const smaller = hold(72 * mib);  // too large beside the 96 that were released
    EXPECT_LT(resident() - before, (96 + 16) * mib);
    context.release("test", smaller, 72 * mib);
    void* const half = hold(40 * mib);
    EXPECT_LT(resident() - before, (96 + 16) * mib);
    context.release("test", half, 40 * mib);
    EXPECT_EQ(context.ledger().peak(), 96 * mib);
}

/// As where a run asks how much memory there is.
TEST(KeptBlocks, AreReturnedWhenAsked) {
    if (checked) GTEST_SKIP() << "AddressSanitizer keeps released memory";
    const Context context = Context::cpu(1);
    const Index before = resident();
    void* const memory = context.allocate("test", 64 * mib);
    std::memset(memory, 1, 64 * mib);
    context.release("test", memory, 64 * mib);
    context.return_released();
    EXPECT_LT(resident() - before, 16 * mib);
}

/// A small shortfall costs the smallest block that makes up for it.
TEST(KeptBlocks, AreReturnedTheSmallestThatSufficesFirst) {
    const Context context = Context::cpu(1);
    auto* const large = static_cast<char*>(context.allocate("test", 64 * mib));
    void* const small = context.allocate("test", 8 * mib);
    std::memset(large, 7, 64 * mib);
    context.release("test", small, 8 * mib);
    context.release("test", large, 64 * mib);
    void* const other = context.allocate("test", 1 * mib);
    auto* const again = static_cast<char*>(context.allocate("test", 64 * mib));
    EXPECT_EQ(again[64 * mib - 1], 7);
    context.release("test", other, 1 * mib);
    context.release("test", again, 64 * mib);
}

TEST(KeptBlocks, AreReturnedWithTheContext) {
    if (checked) GTEST_SKIP() << "AddressSanitizer keeps released memory";
    const Index before = resident();
    {
        const Context context = Context::cpu(1);
        void* const memory = context.allocate("test", 64 * mib);
        std::memset(memory, 1, 64 * mib);
        context.release("test", memory, 64 * mib);
    }
    EXPECT_LT(resident() - before, 16 * mib);
}

}  // namespace
}  // namespace hyperplane
