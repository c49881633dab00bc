// SPDX-License-Identifier: BSD-3-Clause
#include "core/grid/layout.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <tuple>
#include <vector>

#include "core/grid/slots.hpp"
#include "reference/bridge.hpp"

namespace hyperplane {
namespace {

using reference::Box;

struct LayoutCase {
    Box box;
    std::string levels;  ///< stencil whose level map defines the layout; empty: natural layout
};

Layout layout_of(const LayoutCase& c) {
    if (c.levels.empty()) return Layout(LayoutKind::natural, reference::to_grid(c.box), {});
    const LevelMap map = reference::to_stencil(reference::stencil_named(c.levels)).level_map();
    return Layout(LayoutKind::hyperplane, reference::to_grid(c.box), map);
}

std::vector<LayoutCase> layout_cases() {
    std::vector<LayoutCase> all;
    for (Box box : {Box{17, 9, 5}, Box{7, 5, 3}, Box{1, 1, 9}, Box{9, 1, 1}, Box{1, 9, 1}, Box{33, 1, 7}, Box{5, 4, 1},
                    Box{2, 2, 2}, Box{1, 1, 1}, Box{2, 9, 3}}) {
        all.push_back({box, ""});
        for (const auto& stencil : reference::all_stencils()) all.push_back({box, stencil.name});
    }
    return all;
}

class LayoutTest : public testing::TestWithParam<LayoutCase> {
protected:
    Layout layout = layout_of(GetParam());
    Grid grid = layout.grid();
};

TEST_P(LayoutTest, PointsAndSlotsMatchOneToOne) {
    ASSERT_EQ(layout.slots(), GetParam().box.points());
    std::set<Index> met;
    for (Index row = 0; row < grid.points(); ++row) {
        const Int3 p = grid.point(row);
        const Index slot = layout.slot(p);
        ASSERT_TRUE(0 <= slot && slot < layout.slots());
        ASSERT_EQ(layout.point(slot), p);
        ASSERT_EQ(layout.point(unsigned(slot)), p);  // 32-bit slots, as on a GPU
        met.insert(slot);
        ASSERT_TRUE(layout.kind() == LayoutKind::hyperplane || slot == row);
    }
    EXPECT_EQ(Index(met.size()), layout.slots());
}

/// The formulas that kernels use.
TEST_P(LayoutTest, HasTheSlotsThatKernelsFind) {
    const auto [nx, ny, nz] = std::tuple(grid.nx, grid.ny, grid.nz);
    for (Index slot = 0; slot < layout.slots(); ++slot) {
        const Int3 p = layout.point(slot);
        if (layout.kind() == LayoutKind::natural) {
            ASSERT_EQ(natural_slot(p.x, p.y, p.z, nx, ny), slot);
            continue;
        }
        ASSERT_EQ(hyperplane_slot(layout.levels().level(p), p.y, p.z, nx, ny, nz), slot);
        ASSERT_EQ(hyperplane_slot<Index>(layout.levels().level(p), p.y, p.z, nx, ny, nz), slot);
        ASSERT_EQ(x_of_rest(slot / (Index(ny) * nz) - layout.levels().level({0, p.y, p.z}), nx), p.x);
    }
}

TEST_P(LayoutTest, RunsHoldEverySlotOnce) {
    std::vector<int> visits(layout.slots(), 0);
    std::mutex mutex;
    for_each_run(Context::cpu(1), layout, 1, [&](const hyperplane::Run& run) {
        const std::lock_guard lock(mutex);
        Int3 p = run.first;
        for (int t = 0; t < run.count; ++t, p = p + layout.step()) {
            ASSERT_TRUE(grid.contains(p));
            ASSERT_EQ(layout.slot(p), run.slot + t);
            ASSERT_TRUE(layout.kind() == LayoutKind::natural ||
                        layout.levels().level(p) == layout.levels().level(run.first));
            ++visits[run.slot + t];
        }
    });
    EXPECT_EQ(visits, std::vector<int>(layout.slots(), 1));
}

TEST_P(LayoutTest, PointsAreVisitedOnce) {
    std::vector<int> visits(layout.slots(), 0);
    std::mutex mutex;
    for_each_point(Context::cpu(1), layout, [&](Int3 p, Index slot) {
        const std::lock_guard lock(mutex);
        ASSERT_EQ(layout.slot(p), slot);
        ++visits[grid.row(p)];
    });
    EXPECT_EQ(visits, std::vector<int>(layout.slots(), 1));
}

TEST_P(LayoutTest, LevelRunsHoldExactlyThePointsOfTheirLevelAndPlane) {
    if (layout.kind() == LayoutKind::natural) return;
    const LevelMap map = layout.levels();
    ASSERT_EQ(layout.level_count(), 1 + map.level({grid.nx - 1, grid.ny - 1, grid.nz - 1}));
    for (int level = 0; level < layout.level_count(); ++level)
        for (int k = 0; k < grid.nz; ++k) {
            int expected = 0;
            for (int j = 0; j < grid.ny; ++j)
                for (int i = 0; i < grid.nx; ++i) expected += map.level({i, j, k}) == level;
            const bool asked = layout.level_first_plane(level) <= k && k <= layout.level_last_plane(level);
            ASSERT_TRUE(asked || expected == 0) << "level " << level << " plane " << k;
            if (!asked) continue;
            const hyperplane::Run run = layout.level_run(level, k);
            ASSERT_EQ(std::max(0, run.count), expected) << "level " << level << " plane " << k;
            ASSERT_TRUE(expected == 0 || map.level(run.first) == level);
        }
}

TEST_P(LayoutTest, NeighboursOfRunsAgreeWithPointByPoint) {
    std::vector<Int3> offsets;
    for (int z = -3; z <= 3; ++z)
        for (int y = -3; y <= 3; ++y)
            for (int x = -3; x <= 3; ++x) offsets.push_back({x, y, z});
    offsets.push_back({8, -4, 1});
    offsets.push_back({-8, 4, 0});
    std::mutex mutex;
    for_each_run(Context::cpu(1), layout, 1, [&](const hyperplane::Run& run) {
        const std::lock_guard lock(mutex);
        for (Int3 offset : offsets) {
            const RunNeighbours neighbours = layout.neighbours(run, offset);
            ASSERT_TRUE(neighbours.begin >= neighbours.end || (0 <= neighbours.begin && neighbours.end <= run.count));
            Int3 p = run.first;
            for (int t = 0; t < run.count; ++t, p = p + layout.step()) {
                const bool inside = neighbours.begin <= t && t < neighbours.end;
                ASSERT_EQ(inside, grid.contains(p + offset));
                ASSERT_TRUE(!inside || neighbours.slot + t == layout.slot(p + offset));
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(All, LayoutTest, testing::ValuesIn(layout_cases()), [](const auto& info) {
    return reference::name_of(info.param.box) + "_" + (info.param.levels.empty() ? "natural" : info.param.levels);
});

TEST(Layouts, LevelsOfARunLieInConsecutiveSlots) {
    // The formula in layout.hpp on a 3 x 3 x 1 grid with star7's levels: slots are sorted by l mod 3, then by j.
    Grid grid;
    grid.nx = grid.ny = 3;
    const Layout layout(LayoutKind::hyperplane, grid, {1, 1});
    const Int3 expected[] = {{0, 0, 0}, {2, 1, 0}, {1, 2, 0}, {1, 0, 0}, {0, 1, 0},
                             {2, 2, 0}, {2, 0, 0}, {1, 1, 0}, {0, 2, 0}};
    for (int slot = 0; slot < 9; ++slot) EXPECT_EQ(layout.point(slot), expected[slot]) << slot;
}

TEST(Layouts, EqualityLooksAtWhatMatters) {
    Grid grid;
    grid.nx = 4;
    grid.ny = 3;
    const Layout natural(LayoutKind::natural, grid, {1, 1});
    EXPECT_TRUE(natural == Layout(LayoutKind::natural, grid, {2, 4}));
    EXPECT_FALSE(natural == Layout(LayoutKind::hyperplane, grid, {1, 1}));
    EXPECT_FALSE(Layout(LayoutKind::hyperplane, grid, {2, 4}) == Layout(LayoutKind::hyperplane, grid, {1, 1}));
    Grid other = grid;
    other.nz = 2;
    EXPECT_FALSE(natural == Layout(LayoutKind::natural, other, {1, 1}));
}

}  // namespace
}  // namespace hyperplane
