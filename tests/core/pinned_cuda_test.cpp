// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/pinned_cuda.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "core/device/device.hpp"

namespace hyperplane::cuda {
namespace {

TEST(PinnedOnDevice, IsKeptForTheNextOneUpToAPage) {
    if (!device::available()) GTEST_SKIP() << device::unavailable();
    const double* const first = Pinned(6).data();
    Pinned again(512);
    EXPECT_EQ(again.data(), first);
    Pinned other(1), large(513);
    EXPECT_NE(other.data(), first);
    EXPECT_EQ(large.count(), 513);
    large.data()[512] = other.data()[0] = 1.0;
    const Pinned moved = std::move(again);
    EXPECT_EQ(moved.data(), first);
    EXPECT_EQ(again.data(), nullptr);  // NOLINT(bugprone-use-after-move): what a move leaves is tested
}

}  // namespace
}  // namespace hyperplane::cuda
