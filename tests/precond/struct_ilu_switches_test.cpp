// SPDX-License-Identifier: BSD-3-Clause
// Alternatives to struct_ilu's default give the same M: processing level by level, and separate factors where D-ILU
// would suffice.
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "precond/reproductions/by_level.hpp"
#include "precond/struct_ilu/struct_ilu.hpp"
#include "precond/swept.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::relative_difference;

void expect_same(const Context& context, const SweptCase& c) {
    const SweptSystem system(context, c);
    const reference::BlockIlu ilu = reference_ilu(system.data, c.stencil, c.fill_level);
    const auto expected = reference::apply_inverse(ilu, system.r);
    for (const bool by_level : {true, false})
        for (const bool may_share : {true, false}) {
            IluOptions options;
            options.fill_level = c.fill_level;
            options.may_share = may_share;
            const auto m = by_level ? make_ilu_by_level(context, options) : make_struct_ilu(context, options);
            for (int turn = 0; turn < 2; ++turn) {
                EXPECT_EQ(m->setup(system.a).pivots_modified, 0);
                EXPECT_LT(relative_difference(system.applied(*m), expected), 1e-13)
                    << "by level " << by_level << ", may share " << may_share << ", turn " << turn;
            }
            if (!may_share) {
                EXPECT_EQ(&m->factors().pivots(), &m->factors().triangles());
            }
        }
}

class StructIluSwitches : public testing::TestWithParam<SweptCase> {};
class StructIluSwitchesOnDevice : public DeviceTest, public testing::WithParamInterface<SweptCase> {};

TEST_P(StructIluSwitches, DoNotChangeM) {
    expect_same(Context::cpu(1), GetParam());
}
TEST_P(StructIluSwitchesOnDevice, DoNotChangeM) {
    expect_same(Context::cuda(), GetParam());
}

/// Some cases of each kind, since kernels are compiled for each case on a GPU.
std::vector<SweptCase> few() {
    const std::vector<SweptCase> all = swept_cases(2);
    std::vector<SweptCase> list;
    for (std::size_t at = 0; at < all.size(); at += 11) list.push_back(all[at]);
    return list;
}

INSTANTIATE_TEST_SUITE_P(All, StructIluSwitches, testing::ValuesIn(swept_cases(2)), name_of);
INSTANTIATE_TEST_SUITE_P(All, StructIluSwitchesOnDevice, testing::ValuesIn(few()), name_of);

TEST(StructIluByLevel, RefusesToBoost) {
    const SweptSystem system(Context::cpu(1), {"star7", 1, 0, {5, 4, 3}, LayoutKind::natural, MatrixStorage::full});
    IluOptions options;
    options.pivots.rules.policy = PivotPolicy::boost;
    expect_error<UsageError>([&] { make_ilu_by_level(system.a.context(), options)->setup(system.a); },
                             "an elimination by levels boosts no pivots");
}

}  // namespace
}  // namespace hyperplane
