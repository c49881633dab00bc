// SPDX-License-Identifier: BSD-3-Clause
// The order of sums on a GPU, as far as it can be seen without one.
#include "core/vector/sum_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace hyperplane {
namespace {

using cuda::SumOrder;

Layout natural_layout_of(int nx, int ny, int nz) {
    Grid grid;
    grid.nx = nx, grid.ny = ny, grid.nz = nz;
    return {LayoutKind::natural, grid, {}};
}

TEST(SumOrder, PiecesHaveEveryValueOfAPlaneOnce) {
    for (const int nx : {1, 3, 17, 70, 129, 512})
        for (const int ny : {1, 5, 67, 128, 513})
            for (const int nz : {1, 2, 13, 300, SumOrder::most_planes, SumOrder::most_planes + 1})
                for (const Index least : {2048, 16384}) {
                    const SumOrder order(natural_layout_of(nx, ny, nz), 3, least);
                    Index next = order.first(0);
                    for (Index block = 0; block < order.pieces; ++block) {
                        EXPECT_EQ(order.first(block), next);
                        EXPECT_GT(order.count(block), 0);
                        next += order.count(block);
                    }
                    EXPECT_EQ(next, order.plane);
                    EXPECT_EQ(order.plane * order.planes * order.components, Index(nx) * ny * nz * 3);
                    EXPECT_LE(order.blocks(), SumOrder::most_planes);
                }
}

TEST(SumOrder, OfARankIsThatOfTheWholeGrid) {
    for (const int nz : {4, 13, 64, 300, 1024}) {
        const Layout whole = natural_layout_of(33, 65, nz);
        const SumOrder one(whole, 2);
        for (const auto& [begin, end] : std::vector<std::pair<int, int>>{{0, 1}, {1, nz / 2}, {nz / 2, nz}}) {
            const SumOrder part(whole.of_planes(begin, end, 1), 2);
            EXPECT_EQ(part.pieces, one.pieces);
            EXPECT_EQ(part.length, one.length);
            EXPECT_EQ(part.first_plane, begin);
            EXPECT_EQ(part.planes, end - begin);
            EXPECT_TRUE(part.is_part());
            for (const int columns : {1, 5, 64}) EXPECT_EQ(part.lanes(columns), one.lanes(columns));
            const Index before = Index(begin) * one.pieces;
            for (Index block = 0; block < part.blocks(); ++block)
                for (const int c : {0, 1}) {
                    EXPECT_EQ(part.head(block, c), one.head(before + block, c));
                    EXPECT_EQ(one.head(before + block, c), (c * one.component + one.first(before + block)) % 2);
                }
        }
        EXPECT_FALSE(one.is_part());
    }
}

/// The part of `all` plain rows that lies between two groups.
IndexSpace rows_between(Index all, Index begin, Index end) {
    RowSlab slab;
    slab.first = begin, slab.rows = end - begin, slab.all_rows = all;
    return IndexSpace::plain(std::make_shared<const RowSlab>(slab));
}

TEST(SumOrder, GroupsOfPlainRowsHaveEveryValueOnce) {
    for (const Index all : {1, 511, 512, 513, 9000, 131072, 131073, 1000000})
        for (const int components : {1, 3, 5})
            for (const Index least : {2048, 16384}) {
                const SumOrder order(IndexSpace::plain(all), components, least);
                Index next = 0;
                for (Index block = 0; block < order.blocks(); ++block) {
                    if (order.count(block) == 0) continue;
                    EXPECT_EQ(order.first(block), next);
                    next += order.count(block);
                }
                EXPECT_EQ(next, all * components);
                EXPECT_FALSE(order.is_part());
                EXPECT_LE(order.planes, 256);
                EXPECT_LE(order.blocks(), SumOrder::most_planes);
                EXPECT_TRUE(order.even());
            }
}

TEST(SumOrder, OfARanksRowsIsThatOfAllRows) {
    for (const Index all : {5000, 131073, 1000000}) {
        const Index group = SumOrder::rows_of_group(all), groups = (all + group - 1) / group;
        const SumOrder one(IndexSpace::plain(all), 3);
        for (const auto& [begin, end] :
             std::vector<std::pair<Index, Index>>{{0, 1}, {1, groups / 2}, {groups / 2, groups}}) {
            const SumOrder part(rows_between(all, begin * group, std::min(all, end * group)), 3);
            EXPECT_TRUE(part.is_part());
            EXPECT_EQ(part.planes, end - begin);
            EXPECT_EQ(part.first_plane, begin);
            EXPECT_EQ(part.pieces, one.pieces);
            EXPECT_EQ(part.length, one.length);
            for (const int columns : {1, 5, 64}) EXPECT_EQ(part.lanes(columns), one.lanes(columns));
            for (Index block = 0; block < part.blocks(); ++block) {
                const Index whole = begin * one.pieces + block;
                EXPECT_EQ(part.count(block), one.count(whole));
                EXPECT_EQ(part.first(block) + begin * group * 3, one.first(whole));
                EXPECT_EQ(part.head(block, 0), one.head(whole, 0));
            }
        }
    }
}

TEST(SumOrder, TheHyperplaneLayoutIsOnePlane) {
    Grid grid;
    grid.nx = 7, grid.ny = 5, grid.nz = 9;
    const SumOrder levels(Layout(LayoutKind::hyperplane, grid, {1, 1}), 1);
    EXPECT_EQ(levels.plane, grid.points());
    EXPECT_EQ(levels.planes, 1);
}

}  // namespace
}  // namespace hyperplane
