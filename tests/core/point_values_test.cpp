// SPDX-License-Identifier: BSD-3-Clause
#include "core/vector/point_values.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <tuple>

#include "core/random.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

class PointValuesReduced : public testing::TestWithParam<std::tuple<Backend, LayoutKind>> {
protected:
    void SetUp() override {
        if (std::get<0>(GetParam()) == Backend::cuda) {
            if (!device::available()) GTEST_SKIP() << device::unavailable();
            context = Context::cuda();
        }
    }
    /// The smallest of value(row) over all points; their sum is written to `total`.
    template <class Value>
    PointValue smallest(const Value& value, double* total = nullptr) const {
        Vector host(Context::cpu(1), layout, 1, "host");
        for (Index row = 0; row < grid.points(); ++row) host(grid.point(row)) = value(row);
        PointValues values(context, grid, "test");
        copy_there(host, values.view(layout).values);
        if (total) *total = values.sum();
        return values.smallest(layout);
    }
    void copy_there(const Vector& from, double* to) const {
        if (context.backend() == Backend::cuda)
            context.stream().copy(from.data(), to, from.size() * Index(sizeof(double)));
        else
            std::copy(from.data(), from.data() + from.size(), to);
    }

    Context context = Context::cpu();
    Grid grid{.nx = 37, .ny = 19, .nz = 23};  // several thread blocks, the last one not full
    Layout layout{std::get<1>(GetParam()), grid, Stencil::star7().level_map()};
};

TEST_P(PointValuesReduced, FindsTheSmallestAndItsPoint) {
    for (Index where : {Index(0), Index(4095), Index(4096), Index(9999), grid.points() - 1}) {
        const PointValue found =
            smallest([&](Index row) { return row == where ? -2.0 : random_symmetric(3, std::uint64_t(row)); });
        EXPECT_EQ(found.value, -2.0);
        EXPECT_EQ(grid.row(found.point), where);
    }
}

TEST_P(PointValuesReduced, TakesTheFirstOfEqualsInNaturalOrder) {
    const PointValue found = smallest([](Index row) { return row % 1000 == 777 ? 1.0 : 2.0; });
    EXPECT_EQ(grid.row(found.point), 777);
}

TEST_P(PointValuesReduced, CountsNanAsTheSmallest) {
    const PointValue found = smallest([](Index row) {
        return row == 8000 || row == 12000 ? nan_value : row == 3 ? -std::numeric_limits<double>::infinity() : 1.0;
    });
    EXPECT_TRUE(std::isnan(found.value));
    EXPECT_EQ(grid.row(found.point), 8000);
}

TEST_P(PointValuesReduced, SumsEveryPointOnce) {
    double total = 0.0;
    smallest([](Index row) { return double(row); }, &total);
    EXPECT_EQ(total, 0.5 * double(grid.points()) * double(grid.points() - 1));
}

INSTANTIATE_TEST_SUITE_P(Host, PointValuesReduced,
                         testing::Combine(testing::Values(Backend::cpu),
                                          testing::Values(LayoutKind::natural, LayoutKind::hyperplane)));
INSTANTIATE_TEST_SUITE_P(OnDevice, PointValuesReduced,
                         testing::Combine(testing::Values(Backend::cuda),
                                          testing::Values(LayoutKind::natural, LayoutKind::hyperplane)));

TEST(PointValues, NumberOfThreadsDoesNotMatter) {
    const Grid grid{.nx = 37, .ny = 19, .nz = 23};
    const Layout layout(LayoutKind::natural, grid, {});
    std::vector<double> sums;
    std::vector<Index> smallest;
    for (int threads : {1, 3}) {
        const Context context = Context::cpu();
        const SeveralThreads several(context, threads);
        PointValues values(context, grid, "test");
        for (Index row = 0; row < grid.points(); ++row)
            values.view(layout).at(row) = random_symmetric(1, std::uint64_t(row));
        sums.push_back(values.sum());
        smallest.push_back(grid.row(values.smallest(layout).point));
    }
    EXPECT_EQ(sums[0], sums[1]);
    EXPECT_EQ(smallest[0], smallest[1]);
}

}  // namespace
}  // namespace hyperplane
