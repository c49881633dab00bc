// SPDX-License-Identifier: BSD-3-Clause
// The division of a grid into subdomains, and the order of a subdomain's points.
#include <gtest/gtest.h>

#include "precond/subdomain/partition.hpp"
#include "reference/bridge.hpp"
#include "reference/subdomains.hpp"

namespace hyperplane {
namespace {

using reference::Offset;

Grid grid_of(int nx, int ny, int nz) {
    Grid grid;
    grid.nx = nx, grid.ny = ny, grid.nz = nz;
    return grid;
}

/// Number of blocks of a matrix on `stencil` that couple points of the same subdomain without wrapping around.
Index blocks_kept(const Partition& partition, const Stencil& stencil) {
    const auto pairs = [](int extent, int size, int distance) {  // on an axis, in the same piece of `size` positions
        Index count = 0;
        for (int begin = 0; begin < extent; begin += size)
            count += std::max(0, std::min(size, extent - begin) - std::abs(distance));
        return count;
    };
    const auto& [grid, size] = partition;
    Index blocks = 0;
    for (const Int3 o : stencil.offsets())
        blocks += pairs(grid.nx, size.x, o.x) * pairs(grid.ny, size.y, o.y) * pairs(grid.nz, size.z, o.z);
    return blocks;
}

/// The numbers of Gondhalekar et al., Table 5.4: star7, 3 x 3 blocks, subdomains of 2048 points.
TEST(Partition, LeaveAsManyEntriesAsPublished) {
    const Stencil star = Stencil::star7();
    for (const auto& [nx, before, after] :
         {std::tuple{128, 131'235'840, 122'683'392}, {256, 262'766'592, 245'366'784}}) {
        const Grid grid = grid_of(nx, 128, 128);
        const Partition none{grid, {nx, 128, 128}}, partition = Partition::by_default(grid, 3);
        EXPECT_EQ(partition.size, (Int3{16, 16, 8}));
        EXPECT_EQ(partition.subdomains(), nx * 8);
        EXPECT_EQ(9 * blocks_kept(none, star), before);
        EXPECT_EQ(9 * blocks_kept(partition, star), after);
    }
}

TEST(Partition, AreCountedAsByHand) {
    for (const auto& stencil : reference::all_stencils())
        for (Offset size : {Offset{3, 2, 2}, {7, 5, 3}, {1, 4, 3}}) {
            const Partition partition{grid_of(7, 5, 3), reference::to_int3(size)};
            EXPECT_EQ(blocks_kept(partition, reference::to_stencil(stencil)),
                      reference::decoupled_entries({7, 5, 3}, stencil.offsets, 1, size))
                << stencil.name;
        }
}

TEST(Partition, ByDefaultAreEvenAndFitSharedMemory) {
    const auto size = [](int nx, int ny, int nz, int dof) {
        return Partition::by_default(grid_of(nx, ny, nz), dof).size;
    };
    EXPECT_EQ(size(512, 512, 512, 1), (Int3{16, 16, 8}));
    EXPECT_EQ(size(100, 100, 100, 1), (Int3{15, 15, 8}));  // 7, 7 and 13 cuts
    EXPECT_EQ(size(256, 256, 1, 1), (Int3{64, 32, 1}));
    EXPECT_EQ(size(5, 4, 3, 1), (Int3{5, 4, 3}));
    EXPECT_EQ(size(64, 64, 64, 8), (Int3{8, 8, 8}));
    for (int dof = 1; dof <= max_dof; ++dof) {
        const Int3 s = size(97, 61, 83, dof);
        EXPECT_LE(s.x * s.y * s.z * dof, 6144);
    }
}

/// The order contains every point once, after all its neighbours of the triangle; only entries that `newest` marks
/// lead to the step before.
TEST(SubdomainOrder, FollowsDependencies) {
    for (const auto& named : reference::all_stencils())
        for (const Int3 size : {Int3{16, 16, 8}, Int3{5, 3, 7}, Int3{9, 1, 2}, Int3{4, 4, 1}, Int3{1, 1, 1}})
            for (int dof : {1, 3, 8}) {
                const Partition partition{grid_of(size.x, size.y, size.z), size};
                const Stencil stencil = partition.within(reference::to_stencil(named));
                const SubdomainOrder order(partition, stencil, dof, SubdomainOrder::Rows::by_step);
                std::vector<int> step_of(partition.points(), -1);
                for (int step = 0; step < order.steps(); ++step)
                    for (int at = 0; at < order.count(step); ++at) {
                        int& known = step_of[order.points[order.first(step) + at]];
                        EXPECT_EQ(known, -1);
                        known = step;
                    }
                for (int local = 0; local < partition.points(); ++local)
                    for (int e = 0; e < order.lower; ++e) {
                        const Int3 q = partition.point(local, {}) + stencil[e];
                        if (!partition.grid.contains(q)) continue;
                        const int back = step_of[local] - step_of[partition.local(q, {})];
                        ASSERT_GE(back, order.newest[e] ? 1 : 2) << named.name << " " << e;
                    }
            }
}

}  // namespace
}  // namespace hyperplane
