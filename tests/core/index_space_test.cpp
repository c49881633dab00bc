// SPDX-License-Identifier: BSD-3-Clause
#include "core/grid/index_space.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "core/error.hpp"
#include "core/vector/blas1.hpp"
#include "on_device.hpp"

namespace hyperplane {
namespace {

Layout skewed(const Grid& grid) {
    return Layout(LayoutKind::hyperplane, grid, {1, 1});
}

TEST(IndexSpace, OfAGridIsItsLayout) {
    const Grid grid{.nx = 5, .ny = 3, .nz = 2};
    const Layout layout = skewed(grid);
    const IndexSpace space = layout;
    EXPECT_TRUE(space.has_grid());
    EXPECT_EQ(space.block_rows(), 30);
    EXPECT_EQ(space.name(), "hyperplane");
    EXPECT_TRUE(space.layout() == layout);
    for (Index row = 0; row < 30; ++row) EXPECT_EQ(space.slot(row), layout.slot(grid.point(row)));
}

TEST(IndexSpace, OfPlainRowsHasNoGrid) {
    const IndexSpace rows = IndexSpace::plain(7);
    EXPECT_FALSE(rows.has_grid());
    EXPECT_EQ(rows.block_rows(), 7);
    EXPECT_EQ(rows.name(), "rows");
    EXPECT_EQ(rows.slot(5), 5);
    try {
        rows.layout();
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::internal);
    }
}

TEST(IndexSpace, EqualsThoseWithTheSameSlots) {
    const Grid grid{.nx = 5, .ny = 3, .nz = 2};
    const IndexSpace natural = Layout(LayoutKind::natural, grid, {});
    EXPECT_TRUE(IndexSpace() == IndexSpace::plain(0));
    EXPECT_TRUE(IndexSpace::plain(30) == IndexSpace::plain(30));
    EXPECT_FALSE(IndexSpace::plain(30) == IndexSpace::plain(29));
    EXPECT_TRUE(natural == natural);
    EXPECT_FALSE(natural == IndexSpace(skewed(grid)));
    EXPECT_FALSE(natural == IndexSpace::plain(30)) << "values of several unknowns lie in another order";
}

/// 0, 1, 2, ... by block row, dof fastest.
Vector counted(const Context& context, const IndexSpace& space, int dof) {
    Vector x(context, space, dof, "counted");
    std::vector<double> values(std::size_t(x.size()));
    std::iota(values.begin(), values.end(), 0.0);
    from_natural(values, x);
    return x;
}

/// Sums and shifts of a component leave the others alone; 3000 block rows are more than a block of a sum.
void expect_components(const Context& context, const IndexSpace& space) {
    for (int dof : {1, 3, 8}) {
        const double rows = double(space.block_rows()), mean = (rows - 1) * dof / 2.0;
        Vector x = counted(context, space, dof);
        const std::vector<double> before = to_natural(x);
        for (int c = 0; c < dof; ++c) EXPECT_DOUBLE_EQ(sum(x, c), rows * (mean + c));
        add_constant(x, dof - 1, -2.5);
        const std::vector<double> after = to_natural(x);
        for (std::size_t at = 0; at < before.size(); ++at)
            ASSERT_EQ(after[at], before[at] - (int(at) % dof == dof - 1 ? 2.5 : 0.0)) << at;
    }
}

TEST(VectorOfAnyIndexSpace, HasComponents) {
    expect_components(Context::cpu(1), IndexSpace::plain(3000));
    expect_components(Context::cpu(1), skewed({.nx = 50, .ny = 20, .nz = 3}));
}

TEST(VectorOfAnyIndexSpace, KeepsABlockRowsValuesTogetherOnPlainRows) {
    const Vector x = counted(Context::cpu(1), IndexSpace::plain(4), 3);
    for (Index at = 0; at < 12; ++at) EXPECT_EQ(x.data()[at], double(at));
}

/// Values come in natural order, x fastest, wherever a layout places them.
TEST(VectorOfAnyIndexSpace, IsReadAndWrittenInNaturalOrderInEveryLayout) {
    const Grid grid{.nx = 7, .ny = 5, .nz = 3};
    for (const LayoutKind kind : {LayoutKind::natural, LayoutKind::hyperplane}) {
        Vector x(Context::cpu(1), Layout(kind, grid, {2, 3}), 2, "x"), again(Context::cpu(1), x.space(), 2, "again");
        std::vector<double> values;
        for (int k = 0; k < grid.nz; ++k)
            for (int j = 0; j < grid.ny; ++j)
                for (int i = 0; i < grid.nx; ++i) {
                    x({i, j, k}, 0) = 100 * k + 10 * j + i, x({i, j, k}, 1) = -1 - x({i, j, k}, 0);
                    values.insert(values.end(), {x({i, j, k}, 0), x({i, j, k}, 1)});
                }
        EXPECT_EQ(to_natural(x), values);
        from_natural(values, again);
        for (Index at = 0; at < x.size(); ++at) EXPECT_EQ(again.data()[at], x.data()[at]);
    }
}

class VectorOfAnyIndexSpaceOnDevice : public testing_support::DeviceTest {};

TEST_F(VectorOfAnyIndexSpaceOnDevice, HasComponents) {
    expect_components(Context::cuda(), IndexSpace::plain(3000));
    expect_components(Context::cuda(), skewed({.nx = 50, .ny = 20, .nz = 3}));
}

}  // namespace
}  // namespace hyperplane
