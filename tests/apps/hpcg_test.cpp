// SPDX-License-Identifier: BSD-3-Clause
// The parts of `bench hpcg` compared with sweeps over points one after the other.
#include "apps/bench/hpcg.hpp"

#include <gtest/gtest.h>

#include "apps/bench/hpcg_reference.hpp"
#include "on_device.hpp"
#include "precond/multicolor/coloured_points.hpp"
#include "precond/reproductions/hpcg_cycle.hpp"
#include "reference/hpcg.hpp"

namespace hyperplane {
namespace {

using reference::Box;
using reference::Hpcg;
using reference::relative_difference;
using testing_support::DeviceTest;

TEST(Hpcg, TheReferenceSweepsInNaturalOrder) {
    const std::vector<double> expected =
        Hpcg(Box{16, 8, 24}, [](const Box&, reference::Offset) { return 0; }).residuals(12);
    for (const int threads : {1, 3}) {
        const std::vector<double> found = HpcgReference({16, 8, 24}, threads).residuals(12);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t at = 0; at < found.size(); ++at) EXPECT_NEAR(found[at] / expected[at], 1.0, 1e-9) << at;
    }
}

void expect_cycle(const Context& context) {
    const Box box{16, 8, 24};
    const Stencil stencil = Stencil::box27();
    const Hpcg expected(box, [&](const Box& of, reference::Offset p) {
        const ColouredShape shape(reference::to_grid(of), stencil, ColourRule::stencil);
        return shape.map.colour(reference::to_int3(p));
    });
    for (const LayoutKind kind : {LayoutKind::natural, LayoutKind::hyperplane}) {
        const Layout layout(kind, Grid{16, 8, 24}, stencil.level_map());
        StructMatrix a(context, layout, stencil, 1, MatrixStorage::lower);
        fill_hpcg(a);
        HpcgCycle m(gauss_seidel_by_colour);
        m.setup(a);
        const std::vector<double> b = reference::Random(4).vector(box.points());
        const Vector r = testing_support::to_vector(context, layout, 1, b);
        Vector z(context, layout, 1, "z");
        m.apply(r, z);
        EXPECT_LT(relative_difference(testing_support::from_vector(z), expected.cycle(b)), 1e-13);
        a.apply(r, z);
        EXPECT_LT(relative_difference(testing_support::from_vector(z), expected.product(b)), 1e-14);
    }
}

class HpcgOnDevice : public DeviceTest {};
TEST(Hpcg, ACycleSweepsByColour) {
    expect_cycle(Context::cpu(2));
}
TEST_F(HpcgOnDevice, ACycleSweepsByColour) {
    expect_cycle(Context::cuda());
}

TEST_F(HpcgOnDevice, PassesItsChecks) {
    const HpcgBench here = bench_hpcg(Context::cpu(2), {32, 16, 48}, 2);
    const HpcgBench there = bench_hpcg(Context::cuda(), {32, 16, 48}, 2);
    EXPECT_EQ(there.iterations, here.iterations);
    EXPECT_TRUE(there.same_bits);
    EXPECT_LE(there.asymmetry_of_a, 1.0);
    EXPECT_LE(there.asymmetry_of_m, 1.0);
}

}  // namespace
}  // namespace hyperplane
