// SPDX-License-Identifier: BSD-3-Clause
// How groups of threads overlap the rows of two levels (StructILU paper, section 4.2.2, the two-substage pipeline):
// each elimination once, with what is known by then, and the counts that docs/papers.md quotes beside Table 2.
#include "precond/struct_ilu/row_pipeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/grid/stencil.hpp"

namespace hyperplane {
namespace {

struct PipelinedStencil {
    Stencil stencil;
    std::vector<int> levels;
    int lower;
    Eliminations pairs;

    explicit PipelinedStencil(const Stencil& of) : stencil(of), lower(of.lower_size()), pairs(of, false, false) {
        for (const Int3 o : of.offsets()) levels.push_back(of.level_map().level(o));
    }
    RowPipeline of_groups(int groups) const { return {pairs, levels, lower, groups}; }
};

int operations(const std::string& name, int groups) {
    return PipelinedStencil(Stencil::by_name(name)).of_groups(groups).operations;
}

TEST(RowPipeline, OneGroupHasTheSerialCountsOfTable2) {
    EXPECT_EQ(operations("star13", 1), 19);
    EXPECT_EQ(operations("diamond13", 1), 29);
    EXPECT_EQ(operations("diamond25", 1), 95);
    EXPECT_EQ(operations("box27", 1), 115);
}

/// Table 2 has 11, 10, 25 and 30.
TEST(RowPipeline, GroupsOfTable2) {
    EXPECT_EQ(operations("star13", 2), 11);
    EXPECT_EQ(operations("diamond13", 4), 13);
    EXPECT_EQ(operations("diamond25", 4), 31);
    EXPECT_EQ(operations("box27", 4), 39);
}

void expect_valid(const PipelinedStencil& s, int groups) {
    const RowPipeline row = s.of_groups(groups);
    const int entries = s.stencil.size();
    ASSERT_EQ(int(row.group.size()), entries);
    ASSERT_EQ(int(row.update_stage.size()), s.pairs.count());
    std::vector<std::vector<int>> load(2, std::vector<int>(groups));
    for (int e = 0; e < entries; ++e) {
        SCOPED_TRACE("entry " + std::to_string(e));
        ASSERT_TRUE(row.group[e] >= 0 && row.group[e] < groups);
        for (int at = s.pairs.begin[e]; at < s.pairs.begin[e + 1]; ++at) {
            const int l = s.pairs.l[at], stage = row.update_stage[at];
            EXPECT_TRUE(stage >= 0 && stage <= 3);
            EXPECT_TRUE(row.known_at[l] < stage || (row.known_at[l] == stage && row.group[l] == row.group[e]))
                << "E of entry " << l << " is not known";
            EXPECT_TRUE(s.levels[l] <= -2 || stage >= 2) << "reads a point of the level before, which is not finished";
            EXPECT_LE(stage, row.known_at[e]);
            ++load[stage % 2][row.group[e]];
        }
        if (e <= s.lower) ++load[row.ends_at[e] % 2][row.group[e]];
        EXPECT_GE(row.ends_at[e], row.known_at[e]);
        if (e < s.lower) {
            EXPECT_TRUE(s.levels[e] <= -2 || row.ends_at[e] >= 2) << "multiplies by a pivot that is not known";
        }
        if (e == s.lower) {
            EXPECT_EQ(row.ends_at[e], 2);
        }
        if (e > s.lower) {
            EXPECT_EQ(row.ends_at[e], 3);
        }
    }
    EXPECT_EQ(row.operations, *std::ranges::max_element(load[0]) + *std::ranges::max_element(load[1]));
}

TEST(RowPipeline, EverythingIsKnownWhereItIsNeeded) {
    for (const char* name : {"star7", "star13", "diamond13", "diamond25", "box27"})
        for (const int fill : {0, 1})
            for (const int groups : {1, 2, 3, 4, 7}) {
                if (fill > 0 && std::string(name) != "star7" && std::string(name) != "diamond13") continue;
                SCOPED_TRACE(std::string(name) + " fill " + std::to_string(fill) + " groups " + std::to_string(groups));
                expect_valid(PipelinedStencil(Stencil::by_name(name).filled(fill)), groups);
            }
}

}  // namespace
}  // namespace hyperplane
