// SPDX-License-Identifier: BSD-3-Clause
// multicolor on a GPU compared with a CPU, on grids with many blocks of threads.
#include <gtest/gtest.h>

#include "precond/large_multicolor.hpp"
#include "precond/multicolor/multicolor.hpp"
#include "precond/swept.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::relative_difference;

/// Both backends agree, with factors kept in each storage; repeated applications and set-ups give the same bits.
void expect_equal_to_the_hosts(const Grid& grid, const Stencil& stencil, int dof, MatrixStorage storage) {
    const StructMatrix here =
        random_struct_matrix(Layout(LayoutKind::natural, grid, stencil.level_map()), stencil, dof, storage, 3);
    const StructMatrix there = in_context(Context::cuda(), here);
    const std::vector<double> r = reference::Random(6).vector(int(here.unknowns()));
    const Vector in = to_vector(there.context(), there.layout(), dof, r);
    Vector z = poisoned(there.context(), there.layout(), dof);
    for (const FactorStorage factors : all_factor_storages) {
        SCOPED_TRACE(stencil.name() + std::to_string(dof) + to_string(factors));
        const Settings settings{{"storage", to_string(factors)}};
        const auto expected = make("multicolor", here, settings), m = make("multicolor", there, settings);
        const SetupReport report = expected->setup(here), report_there = m->setup(there);
        EXPECT_NEAR(report_there.smallest_pivot_ratio, report.smallest_pivot_ratio, 1e-12);
        EXPECT_EQ(report_there.smallest_pivot_cell, report.smallest_pivot_cell);
        EXPECT_EQ(report_there.values_flushed, report.values_flushed);
        m->apply(in, z);
        const std::vector<double> first = from_vector(z);
        // A few values lie so close to the midpoint of two floats that backends round them differently.
        const double most = factors == FactorStorage::single_precision ? 1e-7 : is_reduced(factors) ? 1e-12 : 1e-13;
        EXPECT_LT(relative_difference(first, apply(*expected, here, r)), most);
        for (int repeat = 0; repeat < 20; ++repeat) {
            if (repeat % 10 == 0) m->setup(there);
            m->apply(in, z);
            ASSERT_EQ(from_vector(z), first);
        }
    }
}

/// A stencil's name and its unknowns a point.
using Points = std::tuple<std::string, int>;
class LargeMulticolorPointsOnDevice : public DeviceTest, public testing::WithParamInterface<Points> {};

/// Grids with many blocks of threads; the grid is smaller where a point is much work for the host.
TEST_P(LargeMulticolorPointsOnDevice, EqualTheHostsAndHaveTheSameBitsTwentyTimes) {
    const auto& [stencil, dof] = GetParam();
    const Grid grid = dof < 8 ? Grid{67, 35, 19} : Grid{37, 35, 11};
    for (MatrixStorage storage : storages) expect_equal_to_the_hosts(grid, Stencil::by_name(stencil), dof, storage);
}
INSTANTIATE_TEST_SUITE_P(All, LargeMulticolorPointsOnDevice,
                         testing::Combine(testing::ValuesIn([] {
                                              std::vector<std::string> names;
                                              for (const Stencil& s : Stencil::ready_made()) names.push_back(s.name());
                                              return names;
                                          }()),
                                          testing::Values(1, 3, 8, 9)),
                         [](const auto& info) {
                             return std::get<0>(info.param) + "_dof" + std::to_string(std::get<1>(info.param));
                         });

/// The grid has 2.1 thread blocks of 256 threads for each multiprocessor, so that some would execute three; thread
/// blocks of 192 threads are chosen instead.
TEST_F(LargeMulticolorOnDevice, EqualsTheHostsInBlocksOfFewerThreads) {
    const int places = int(2.1 * 256) * device::properties_of(0).multiprocessors;
    const Grid grid{67, 53, (2 * places + 67 * 53 - 1) / (67 * 53)};  // two colours with `places` points each
    for (MatrixStorage storage : storages) expect_equal_to_the_hosts(grid, Stencil::star7(), 2, storage);
}

}  // namespace
}  // namespace hyperplane
