// SPDX-License-Identifier: BSD-3-Clause
// Multicolour factorisation on tensor cores (precond/multicolor/factor.cuh), its text compiled for the host: the
// factors are those of the loop over points.
#include <gtest/gtest.h>

#include "on_device.hpp"
#include "precond/factors/gauss_jordan.hpp"
#include "precond/multicolor/by_point.hpp"
#include "precond/multicolor/factor_cuda.hpp"
#include "precond/support.hpp"

// The host's headers stand before.
#include "precond/emulated_warps.hpp"

#define DOF 5
namespace emulated_colour_factors {
namespace hyperplane {
using namespace ::hyperplane;
}
#include "precond/multicolor/factor.cuh"
namespace hyperplane {
alignas(16) double shared[28 * 1024];
}
}  // namespace emulated_colour_factors

namespace hyperplane {
namespace {

using testing_support::random_struct_matrix;

using ColourFactorCase = std::tuple<std::string, LayoutKind, bool>;
class MulticolorFactorText : public testing::TestWithParam<ColourFactorCase> {};

TEST_P(MulticolorFactorText, FactorsAsALoopOverPointsDoes) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "AddressSanitizer does not know fibers";
#endif
    const auto& [name, kind, eliminates] = GetParam();
    constexpr double alpha = 0.25;
    const Stencil stencil = Stencil::by_name(name);
    const Grid grid{5, 4, 3};
    const Context cpu = Context::cpu(1);
    const StructMatrix a =
        random_struct_matrix(Layout(kind, grid, stencil.level_map()), stencil, DOF, MatrixStorage::full, 3);
    const ColouredShape shape(a.layout(), stencil, ColourRule::stencil);
    ASSERT_TRUE(MulticolorFactorCuda::serves(shape, DOF, false));
    const ColouredPoints points(cpu, shape, DOF, false);
    std::vector<Index> a_entry;
    for (const Int3 o : shape.offsets) a_entry.push_back(stencil.find(o));
    const auto nothing = [&] { return std::vector<double>(std::size_t(shape.coefficients(DOF, false)), 0.0); };
    std::vector<double> expected = nothing(), values = nothing();
    std::vector<double> expected_ratios(std::size_t(grid.points())), ratios(std::size_t(grid.points()));
    PivotLog log{}, text_log{};
    const PivotRules rules;
    multicolor::factor(a, points, a_entry.data(), alpha, rules, &log, eliminates, expected_ratios.data(),
                       expected.data());
    const ColourFactorisation all{a,          points,    alpha,         rule_of(rules, false),
                                  eliminates, &text_log, ratios.data(), values.data()};
    for (int colour = 0; colour < points.colours(); ++colour) {
        const ColourFactorArguments arguments = all.arguments(colour);
        const int blocks = (arguments.last - arguments.first + all.places - 1) / all.places;
        ASSERT_TRUE(emulated_warps::launch(unsigned(blocks), 1, all.threads,
                                           [&] { emulated_colour_factors::hyperplane::multicolor_factor(arguments); }));
    }
    double worst = 0.0, largest = 0.0, worst_ratio = 0.0;
    for (std::size_t at = 0; at < values.size(); ++at) {
        worst = std::max(worst, std::abs(values[at] - expected[at]));
        largest = std::max(largest, std::abs(expected[at]));
    }
    for (std::size_t at = 0; at < ratios.size(); ++at)
        worst_ratio = std::max(worst_ratio, std::abs(ratios[at] - expected_ratios[at]));
    EXPECT_LT(worst, 1e-13 * largest);
    EXPECT_LT(worst_ratio, 1e-13);
}
INSTANTIATE_TEST_SUITE_P(All, MulticolorFactorText,
                         testing::Values(ColourFactorCase{"star7", LayoutKind::natural, true},
                                         ColourFactorCase{"diamond25", LayoutKind::hyperplane, true},
                                         ColourFactorCase{"box27", LayoutKind::natural, true},
                                         ColourFactorCase{"star13", LayoutKind::natural, false}),
                         [](const auto& info) { return std::get<0>(info.param); });

}  // namespace
}  // namespace hyperplane
