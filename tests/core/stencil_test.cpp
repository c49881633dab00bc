// SPDX-License-Identifier: BSD-3-Clause
#include "core/grid/stencil.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/error.hpp"
#include "reference/bridge.hpp"

namespace hyperplane {
namespace {

using reference::NamedStencil;
using reference::Offset;
using reference::to_int3;
using reference::to_offset;
using reference::to_stencil;

std::vector<Offset> offsets_of(const Stencil& stencil) {
    std::vector<Offset> offsets;
    for (Int3 s : stencil.offsets()) offsets.push_back(to_offset(s));
    return offsets;
}

class StencilTest : public testing::TestWithParam<NamedStencil> {};

TEST_P(StencilTest, NumbersItsEntriesInNaturalOrder) {
    NamedStencil shuffled = GetParam();
    std::rotate(shuffled.offsets.begin(), shuffled.offsets.begin() + 4, shuffled.offsets.end());
    const Stencil stencil = to_stencil(shuffled);
    ASSERT_EQ(offsets_of(stencil), GetParam().offsets);
    EXPECT_EQ(stencil.size(), int(GetParam().offsets.size()));
    EXPECT_EQ(stencil[stencil.diagonal()], (Int3{0, 0, 0}));
    EXPECT_EQ(stencil.lower_size(), stencil.diagonal());
    EXPECT_EQ(stencil.radius(), reference::radius(GetParam().offsets));
    for (int e = 0; e < stencil.size(); ++e) {
        EXPECT_EQ(natural_less(stencil[e], {0, 0, 0}), e < stencil.diagonal());
        EXPECT_EQ(stencil[stencil.mirror(e)], -stencil[e]);
        EXPECT_EQ(stencil.find(stencil[e]), e);
    }
    EXPECT_EQ(stencil.find({2, 2, 2}), -1);
    EXPECT_EQ(stencil.find({0, 0, 3}), -1);
}

TEST_P(StencilTest, LevelMapIsTheSmallestThatOrdersEveryDependency) {
    const Stencil stencil = to_stencil(GetParam());
    const auto orders = [&](int y, int z) {
        return std::all_of(GetParam().offsets.begin(), GetParam().offsets.end(),
                           [&](Offset s) { return !(s < Offset{}) || s.x + y * s.y + z * s.z < 0; });
    };
    const LevelMap map = stencil.level_map();
    EXPECT_TRUE(orders(map.y, map.z));
    for (int y = 1; y <= map.y; ++y)
        for (int z = 1; z <= map.z; ++z) EXPECT_EQ(orders(y, z), y == map.y && z == map.z) << y << " " << z;
}

TEST_P(StencilTest, PointsOfOneLevelNeverWaitForEachOther) {
    const reference::Box box{9, 7, 5};
    const LevelMap map = to_stencil(GetParam()).level_map();
    const std::vector<int> chains = reference::longest_chains(box, GetParam().offsets);
    for (int row = 0; row < box.points(); ++row) {
        const Offset p = box.point(row);
        EXPECT_LE(chains[row], map.level(to_int3(p)));
        for (Offset s : GetParam().offsets)
            if (s < Offset{} && box.contains(p + s)) {
                ASSERT_LT(map.level(to_int3(p + s)), map.level(to_int3(p)));
            }
    }
}

TEST_P(StencilTest, LineSkewIsTheSmallestThatNeverWaitsForALaterSlab) {
    const auto serves = [&](int skew) {
        return std::all_of(GetParam().offsets.begin(), GetParam().offsets.end(),
                           [&](Offset s) { return !(s < Offset{}) || s.y + skew * s.z <= 0; });
    };
    const int skew = to_stencil(GetParam()).line_skew();
    ASSERT_GE(skew, 0);
    EXPECT_TRUE(serves(skew));
    EXPECT_TRUE(skew == 0 || !serves(skew - 1));
}

TEST_P(StencilTest, FillIsThatOfAMiddleRowOfALargeGrid) {
    const Stencil stencil = to_stencil(GetParam());
    for (int k = 0; k <= 3; ++k)
        EXPECT_EQ(offsets_of(stencil.filled(k)), reference::filled_offsets(GetParam().offsets, k)) << "level " << k;
}

TEST_P(StencilTest, KnowsWhetherEliminationTouchesOffDiagonalEntries) {
    const std::set<Offset> held(GetParam().offsets.begin(), GetParam().offsets.end());
    bool touches = false;
    for (Offset l : held)
        for (Offset u : held)
            if (l < Offset{} && Offset{} < u && !(l + u == Offset{}) && held.count(l + u)) touches = true;
    EXPECT_EQ(to_stencil(GetParam()).eliminates_off_diagonal(), touches);
}

INSTANTIATE_TEST_SUITE_P(All, StencilTest, testing::ValuesIn(reference::all_stencils()),
                         [](const auto& info) { return info.param.name; });

TEST(Stencils, ReadyMadeOnesFollowTheirDefinitions) {
    const auto expected = reference::ready_made_stencils();
    ASSERT_EQ(Stencil::ready_made().size(), expected.size());
    for (const NamedStencil& stencil : expected) {
        EXPECT_EQ(offsets_of(Stencil::by_name(stencil.name)), stencil.offsets) << stencil.name;
        EXPECT_EQ(Stencil::by_name(stencil.name).name(), stencil.name);
        EXPECT_EQ(std::count_if(Stencil::ready_made().begin(), Stencil::ready_made().end(),
                                [&](const Stencil& s) { return s.name() == stencil.name; }),
                  1);
    }
    EXPECT_EQ(Stencil::star7().size(), 7);
    EXPECT_EQ(Stencil::star13().size(), 13);
    EXPECT_EQ(Stencil::diamond13().size(), 13);
    EXPECT_EQ(Stencil::diamond25().size(), 25);
    EXPECT_EQ(Stencil::box27().size(), 27);
}

TEST(Stencils, LevelMapsOfThePaper) {
    EXPECT_EQ(Stencil::star7().level_map(), (LevelMap{1, 1}));
    EXPECT_EQ(Stencil::star13().level_map(), (LevelMap{1, 1}));
    EXPECT_EQ(Stencil::diamond13().level_map(), (LevelMap{2, 3}));
    EXPECT_EQ(Stencil::box27().level_map(), (LevelMap{2, 4}));
    // (1,-1,0) requires y >= 2, and then (0,1,-1) requires z >= 3.
    EXPECT_EQ(Stencil::diamond25().level_map(), (LevelMap{2, 3}));
    // (2,-1,0) requires y >= 3, and then (0,2,-1) requires z >= 7.
    EXPECT_EQ(to_stencil(reference::stencil_named("skewed7")).level_map(), (LevelMap{3, 7}));
}

TEST(Stencils, LevelsAreTheLongestChains) {
    const reference::Box box{7, 6, 5};
    for (const char* name : {"star7", "diamond13", "box27"}) {
        const NamedStencil stencil = reference::stencil_named(name);
        const std::vector<int> chains = reference::longest_chains(box, stencil.offsets);
        const LevelMap map = to_stencil(stencil).level_map();
        for (int row = 0; row < box.points(); ++row) ASSERT_EQ(chains[row], map.level(to_int3(box.point(row)))) << name;
    }
    const auto count = [&](const char* name) {
        const std::vector<int> chains = reference::longest_chains(box, reference::stencil_named(name).offsets);
        return 1 + *std::max_element(chains.begin(), chains.end());
    };
    EXPECT_EQ(count("star7"), box.nx + box.ny + box.nz - 2);
    EXPECT_EQ(count("box27"), box.nx + 2 * box.ny + 4 * box.nz - 6);
}

TEST(Stencils, LevelOneOfStar7IsDiamond13) {
    EXPECT_EQ(Stencil::star7().filled(1).offsets(), Stencil::diamond13().offsets());
}

TEST(Stencils, ClosureAddsMirrorsAndDiagonal) {
    const Stencil custom = Stencil::closure({{2, -1, 0}, {0, 2, -1}, {2, -1, 0}});
    EXPECT_EQ(offsets_of(custom), reference::with_mirrors({{2, -1, 0}, {0, 2, -1}}));
    EXPECT_EQ(custom.name(), "custom5");
    EXPECT_EQ(Stencil::closure({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}).name(), "star7");
    const Stencil alone = Stencil::closure({});
    EXPECT_EQ(alone.size(), 1);
    EXPECT_EQ(alone.diagonal(), 0);
    EXPECT_EQ(alone.radius(), 0);
    EXPECT_EQ(alone.filled(3).size(), 1);
}

std::string refusal(const std::vector<Int3>& offsets) {
    try {
        Stencil("mine", offsets);
    } catch (const UsageError& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        return error.what();
    }
    return "";
}

TEST(Stencils, RefusesWhatIsNoStencil) {
    EXPECT_NE(refusal({{1, 0, 0}, {-1, 0, 0}}), "");
    EXPECT_NE(refusal({{0, 0, 0}, {1, 0, 0}}), "");
    EXPECT_NE(refusal({{0, 0, 0}, {1, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {-1, 0, 0}}), "");
    EXPECT_NE(refusal({{0, 0, 0}, {0, 0, 0}}), "");
    EXPECT_NE(refusal({}), "");
    EXPECT_EQ(refusal({{0, 0, 0}}), "");
}

TEST(Stencils, AnUnknownNameListsTheKnownOnes) {
    try {
        Stencil::by_name("star8");
        FAIL();
    } catch (const UsageError& error) {
        EXPECT_NE(std::string(error.what()).find("star8"), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("diamond25"), std::string::npos);
    }
}

}  // namespace
}  // namespace hyperplane
