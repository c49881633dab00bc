// SPDX-License-Identifier: BSD-3-Clause
// The pattern of ILU(k) derived on the stencil, compared with graph-based ILU(k) on the finite grid.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "precond/support.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using reference::Pattern;

Pattern on_stencil(const Box& box, const std::string& stencil, int k) {
    return reference::stencil_pattern(box, filled(stencil, k));
}

Pattern on_graph(const Box& box, const std::string& stencil, int k) {
    return reference::symbolic_ilu(reference::stencil_pattern(box, reference::stencil_named(stencil).offsets), k);
}

TEST(FillPattern, Star7LevelOneIsDiamond13OnEveryGrid) {
    for (const Box& box : {Box{7, 5, 3}, Box{5, 4, 1}, Box{9, 1, 1}, Box{1, 2, 5}, Box{2, 2, 2}}) {
        EXPECT_EQ(on_graph(box, "star7", 1), on_stencil(box, "star7", 1)) << reference::name_of(box);
        EXPECT_EQ(on_graph(box, "star7", 1), on_stencil(box, "diamond13", 0)) << reference::name_of(box);
    }
}

TEST(FillPattern, TheStencilsPatternHoldsTheGraphs) {
    for (const auto& stencil : reference::all_stencils())
        for (int k = 0; k <= 3; ++k) {
            const Box box{6, 5, 4};
            const Pattern larger = on_stencil(box, stencil.name, k), smaller = on_graph(box, stencil.name, k);
            for (std::size_t row = 0; row < larger.size(); ++row)
                ASSERT_TRUE(
                    std::includes(larger[row].begin(), larger[row].end(), smaller[row].begin(), smaller[row].end()))
                    << stencil.name << " " << k;
        }
}

/// If a path that creates fill leaves the grid, the graph lacks an entry that the stencil's pattern has. The list has
/// the stencils and fill levels for which this occurs.
TEST(FillPattern, WhereTheGraphLacksEntriesNearBoundaries) {
    std::set<std::string> differing;
    for (const auto& stencil : reference::all_stencils())
        for (int k = 0; k <= 3; ++k)
            if (on_stencil({6, 5, 4}, stencil.name, k) != on_graph({6, 5, 4}, stencil.name, k))
                differing.insert(stencil.name + " " + std::to_string(k));
    EXPECT_EQ(differing, (std::set<std::string>{"box27 1", "box27 2", "box27 3", "diamond13 2", "diamond13 3",
                                                "diamond25 2", "diamond25 3", "scattered11 1", "scattered11 2",
                                                "scattered11 3", "skewed7 3", "star13 2", "star13 3", "star7 3"}));
}

}  // namespace
}  // namespace hyperplane
