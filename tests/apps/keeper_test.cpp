// SPDX-License-Identifier: BSD-3-Clause
#include "apps/compare/keeper.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace hyperplane {
namespace {

using Folder = std::filesystem::path;

/// The number of comparisons that were asked for when a keeper was told of so many steps at once.
int asked(const Folder& file, int steps) {
    Keeper keeper(file, Overwrite::own, 0.0);
    int count = 0;
    for (int step = 0; step < steps; ++step)
        keeper.keep([&] {
            ++count;
            return ComparisonData{};
        });
    return count;
}

TEST(Keeper, WritingTakesASmallShareOfTheTime) {
    const Folder folder = Folder(testing::TempDir()) / "hyperplane_keeper";
    std::filesystem::create_directories(folder);
    // A step takes no time, so that even the fastest file system must not be asked twice.
    EXPECT_EQ(asked(folder / "a.h5.part", 10), 1);
    EXPECT_TRUE(std::filesystem::exists(folder / "a.h5.part"));
    std::filesystem::remove_all(folder);
}

TEST(Keeper, AFileThatCannotBeWrittenEndsNothing) {
    EXPECT_NO_THROW(asked("/no/such/folder/a.h5.part", 3));
}

}  // namespace
}  // namespace hyperplane
