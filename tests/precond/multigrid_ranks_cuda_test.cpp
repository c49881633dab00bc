// SPDX-License-Identifier: BSD-3-Clause
// multigrid on several ranks on GPUs: the bits of one GPU, queued once and recorded as a graph; with smoother.scope =
// rank what ranks on a CPU compute.
#include <gtest/gtest.h>

#include "precond/multigrid_ranks_cases.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;

std::vector<MultigridRankCase> cases_of_gpus() {
    std::vector<MultigridRankCase> list = further_multigrid_rank_cases();
    for (const MultigridRankCase& c : cases_of_subdomains()) list.push_back(c);
    for (const MultigridRankCase& c : multigrid_rank_cases()) list.push_back(c);
    // More terms than kernels are written out for; and planes of several tiles.
    for (const bool symmetric : {false, true})
        list.push_back({std::string("box27_5") + (symmetric ? "_spd" : ""), "box27", 5, symmetric, {6, 5, 11}});
    list.push_back({"tiles", "star7", 1, true, {37, 35, 41}});
    list.push_back({"box27_tiles", "box27", 1, true, {33, 35, 26}, {}, "multicolor"});
    return list;
}

class MultigridRanksOnDevice : public MultigridOnRanks {
protected:
    void SetUp() override {
        if (const std::string why = device::unavailable(); !why.empty()) GTEST_SKIP() << why;
    }
};

INSTANTIATE_TEST_SUITE_P(All, MultigridRanksOnDevice, testing::ValuesIn(cases_of_gpus()), name_of_multigrid_case);

TEST_P(MultigridRanksOnDevice, HaveTheBitsOfOneGpu) {
    const Values one = applied(Context::cuda(), {});
    const Values on_cpu = applied(Context::cpu(1), {});
    EXPECT_LT(reference::relative_difference(one, on_cpu), most_beside_a_cpu());
    // A grid that is periodic is coarsened along axes that follow from sums in the order of the layout.
    if (GetParam().smoother == "struct_ilu" && !reference::to_grid(GetParam().box).any_periodic()) {
        EXPECT_EQ(applied(Context::cuda(), {}, LayoutKind::hyperplane), one);
    }
    const std::pair<int, std::string> choices[] = {{2, "0"}, {3, "0"}, {3, "100"}, {2, "4096"}};
    for (const auto& choice : choices) {
        const int ranks = choice.first;
        const std::string& points = choice.second;
        EXPECT_EQ(on_ranks_of_gpus(ranks, points), one)
            << ranks << " ranks, grids of " << points << " points are whole";
    }
}

class MultigridScopesOnDevice : public MultigridRanksOnDevice {};

INSTANTIATE_TEST_SUITE_P(All, MultigridScopesOnDevice, testing::ValuesIn(cases_of_scopes()), name_of_multigrid_case);

TEST_P(MultigridScopesOnDevice, AreThoseOfRanksOnACpu) {
    const std::pair<int, std::string> choices[] = {{2, "0"}, {3, "0"}, {3, "100"}};
    for (const auto& [ranks, points] : choices)
        EXPECT_LT(difference_of_each(on_ranks_of_gpus(ranks, points), on_ranks_of_a_cpu(ranks, points)),
                  most_beside_a_cpu())
            << ranks << " ranks, grids of " << points << " points are whole";
}

class MultigridPartsOnDevice : public DeviceTest {};

TEST_F(MultigridPartsOnDevice, DampFactorisationsAsTheHostWhereCoefficientsJump) {
    const Values expected = omegas_of_jumps(Context::cpu(1));
    for (int ranks = 1; ranks <= 3; ++ranks)
        on_each_gpu_rank(
            ranks, [&](const Context& context) { EXPECT_EQ(omegas_of_jumps(context), expected) << ranks << " ranks"; });
}

}  // namespace
}  // namespace hyperplane
