// SPDX-License-Identifier: BSD-3-Clause
// multicolor with factors = gauss_seidel compared with sweeps over the points, one after the other.
#include <gtest/gtest.h>

#include "precond/support.hpp"
#include "precond/swept.hpp"
#include "reference/coloured_ilu.hpp"
#include "reference/gauss_seidel.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::relative_difference;

const Settings gauss_seidel{{"factors", "gauss_seidel"}};

std::vector<SweptCase> swept_by_colour() {
    std::vector<SweptCase> list;
    int turn = 0;
    for (const char* stencil : {"star7", "box27", "diamond25"})
        for (const MatrixStorage storage : storages)
            for (const int dof : {1, 2, 5})
                for (const reference::Box& box : {reference::Box{7, 5, 3}, reference::Box{9, 6, 1}})
                    list.push_back({stencil, dof, 0, box, layout_kinds[turn++ % 2], storage});
    return list;
}

class GaussSeidelTest : public testing::TestWithParam<SweptCase> {};
class GaussSeidelOnDevice : public DeviceTest, public testing::WithParamInterface<SweptCase> {};

void expect_sweeps(const Context& context, const SweptCase& c) {
    const SweptSystem system(context, c);
    const auto m = make("multicolor", system.a, gauss_seidel);
    EXPECT_EQ(m->setup(system.a).pivots_modified, 0);
    EXPECT_EQ(m->traits().symmetric, c.storage == MatrixStorage::lower);
    const std::vector<int> order = reference::sorted_by_colour(linearly_coloured(system.data));
    const auto expected = reference::symmetric_gauss_seidel(reference::assembled(system.data, false), order, system.r);
    EXPECT_LT(relative_difference(system.applied(*m), expected), 1e-13);
}

TEST_P(GaussSeidelTest, SweepsForwardAndBackward) {
    expect_sweeps(Context::cpu(1), GetParam());
}
TEST_P(GaussSeidelOnDevice, SweepsForwardAndBackward) {
    expect_sweeps(Context::cuda(), GetParam());
}
INSTANTIATE_TEST_SUITE_P(All, GaussSeidelTest, testing::ValuesIn(swept_by_colour()), name_of);
INSTANTIATE_TEST_SUITE_P(All, GaussSeidelOnDevice, testing::ValuesIn(swept_by_colour()), name_of);

TEST(GaussSeidel, InSinglePrecisionAndForAnyThreads) {
    const SweptSystem system(Context::cpu(1), {"box27", 2, 0, {7, 5, 3}, LayoutKind::natural, MatrixStorage::lower});
    const auto of = [&](Settings settings) {
        settings.insert(settings.end(), gauss_seidel.begin(), gauss_seidel.end());
        const auto m = make("multicolor", system.a, settings);
        m->setup(system.a);
        return system.applied(*m);
    };
    const std::vector<double> expected = of({});
    EXPECT_LT(relative_difference(of({{"storage", "single"}}), expected), 1e-6);
    expect_same_bits_for_any_threads(system.a.context(), [&] { return of({}); });
}

}  // namespace
}  // namespace hyperplane
