// SPDX-License-Identifier: BSD-3-Clause
// How groups of threads share the elimination of a row, against the counts of the StructILU paper (section 4.2.2 and
// Table 2), and its dependencies by the definition of an elimination.
#include "precond/struct_ilu/intra_row.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/grid/stencil.hpp"

namespace hyperplane {
namespace {

IntraRowSchedule by_levels(const std::string& name, int groups) {
    const Stencil stencil = Stencil::by_name(name);
    return IntraRowSchedule::by_levels({stencil, false, false}, stencil.lower_size(), stencil.size(), groups);
}

TEST(IntraRow, OneGroupHasTheSerialCountsOfTable2) {
    EXPECT_EQ(by_levels("star13", 1).operations, 19);
    EXPECT_EQ(by_levels("diamond13", 1).operations, 29);
    EXPECT_EQ(by_levels("diamond25", 1).operations, 95);
    EXPECT_EQ(by_levels("box27", 1).operations, 115);
}

/// "N_fp = 13, along with 3 block-syncs between levels", P_row = 4.
TEST(IntraRow, LevelSetsOfDiamond13HaveTheCountsOfFigure4) {
    EXPECT_EQ(by_levels("diamond13", 4).operations, 13);
    EXPECT_EQ(by_levels("diamond13", 4).stages - 1, 3);
}

/// docs/papers.md quotes these.
TEST(IntraRow, LevelSetsOfTheOtherStencils) {
    EXPECT_EQ(by_levels("star13", 2).operations, 13);
    EXPECT_EQ(by_levels("diamond25", 4).operations, 34);
    EXPECT_EQ(by_levels("box27", 4).operations, 48);
    EXPECT_EQ(by_levels("star13", 2).stages, 3);
    EXPECT_EQ(by_levels("diamond25", 4).stages, 7);
    EXPECT_EQ(by_levels("box27", 4).stages, 8);
}

/// Every entry is known to the groups that need it, and no stage takes longer than it says.
void expect_valid(const IntraRowSchedule& schedule, const Stencil& stencil, bool symmetric, int groups) {
    const int lower = stencil.lower_size(), entries = symmetric ? lower + 1 : stencil.size();
    ASSERT_EQ(int(schedule.group.size()), entries);
    ASSERT_EQ(int(schedule.stage.size()), entries);
    std::vector<std::vector<int>> load(schedule.stages, std::vector<int>(groups));
    for (int e = 0; e < entries; ++e) {
        const int stage = schedule.stage.at(e), group = schedule.group.at(e);
        int& mine = load.at(stage).at(group);
        mine += e <= lower;  // W_e = E_e D^-1(p+e), or the inversion
        for (int l = 0; l < lower; ++l) {
            const int u = stencil.find(stencil[e] + -stencil[l]);
            if (u <= lower) continue;
            ++mine;
            EXPECT_TRUE(schedule.stage[l] < stage || (schedule.stage[l] == stage && schedule.group[l] == group))
                << stencil.name() << ": entry " << e << " needs " << l;
        }
    }
    int operations = 0;
    for (const std::vector<int>& stage : load) operations += *std::ranges::max_element(stage);
    EXPECT_EQ(schedule.operations, operations);
}

TEST(IntraRow, ASchedulesEntriesAreKnownWhereTheyAreNeeded) {
    for (const char* name : {"star7", "star13", "diamond13", "diamond25", "box27"})
        for (const bool symmetric : {false, true})
            for (const int groups : {1, 2, 3, 4, 7}) {
                SCOPED_TRACE(std::string(name) + (symmetric ? " lower " : " full ") + std::to_string(groups));
                const Stencil stencil = Stencil::by_name(name);
                const Eliminations pairs(stencil, false, symmetric);
                const int lower = stencil.lower_size(), entries = symmetric ? lower + 1 : stencil.size();
                const auto levels = IntraRowSchedule::by_levels(pairs, lower, entries, groups);
                expect_valid(levels, stencil, symmetric, groups);
                for (const int waiting : {1, 4, 16}) {
                    const auto fastest = IntraRowSchedule::fastest(pairs, lower, entries, groups, waiting);
                    expect_valid(fastest, stencil, symmetric, groups);
                    EXPECT_LE(fastest.operations + waiting * (fastest.stages - 1), by_levels(name, 1).operations)
                        << "no worse than one group";
                }
            }
}

TEST(IntraRow, WaitsThatCostMuchLeaveOneStage) {
    const Stencil stencil = Stencil::by_name("box27");
    const Eliminations pairs(stencil, false, false);
    const auto schedule = IntraRowSchedule::fastest(pairs, stencil.lower_size(), stencil.size(), 4, 1000);
    EXPECT_EQ(schedule.stages, 1);
    EXPECT_EQ(schedule.operations, 115);
}

/// diamond25 with fill of level 1 has more levels than all sets of stages can be tried for.
TEST(IntraRow, RowsOfManyLevelsHaveAScheduleAtOnce) {
    const Stencil stencil = Stencil::by_name("diamond25").filled(1);
    const Eliminations pairs(stencil, false, true);
    const int lower = stencil.lower_size();
    const auto levels = IntraRowSchedule::by_levels(pairs, lower, lower + 1, 4);
    EXPECT_GT(levels.stages, IntraRowSchedule::most_levels);
    const auto fastest = IntraRowSchedule::fastest(pairs, lower, lower + 1, 4, 8);
    expect_valid(fastest, stencil, true, 4);
    EXPECT_EQ(fastest.operations, levels.operations);
}

}  // namespace
}  // namespace hyperplane
