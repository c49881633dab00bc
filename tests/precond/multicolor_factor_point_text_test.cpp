// SPDX-License-Identifier: BSD-3-Clause
// Multicolour factorisation of one unknown (precond/multicolor/factor_point.cuh), its text compiled for the host: the
// factors, pivots and events are those of the loop over points.
#include <gtest/gtest.h>

#include <limits>

#include "precond/beside_the_loop.hpp"

// The host's headers stand before.
#include "precond/emulated_warps.hpp"
#include "precond/multicolor/placed_point.cuh"

// NOLINTNEXTLINE(clang-diagnostic-reserved-*): a name that CUDA gives to a kernel's text
#define __ldg(at) (*(at))
#define THREADS 128
#define MOST_PRODUCTS most_colour_products
#define SYMMETRIC 0
namespace emulated_point_factors {
namespace hyperplane {
using namespace ::hyperplane;
}
#include "precond/multicolor/factor_point.cuh"
namespace hyperplane {
double shared[38 * THREADS];
}
}  // namespace emulated_point_factors
#undef SYMMETRIC
#define SYMMETRIC 1
#define factor_points_of_colour factor_points_of_colour_symmetric  // both have C linkage
namespace emulated_symmetric_point_factors {
namespace hyperplane {
using namespace ::hyperplane;
}
#include "precond/multicolor/factor_point.cuh"
namespace hyperplane {
double shared[38 * THREADS];
}
}  // namespace emulated_symmetric_point_factors
#undef SYMMETRIC
#undef MOST_PRODUCTS
#undef factor_points_of_colour

namespace hyperplane {
namespace {

using testing_support::FactorsBesideTheLoop;

struct PointFactorCase {
    std::string name, stencil;
    LayoutKind kind = LayoutKind::natural;
    bool symmetric = true, eliminates = true, boosts = false;
};
class MulticolorFactorPointText : public testing::TestWithParam<PointFactorCase> {};

TEST_P(MulticolorFactorPointText, FactorsAsALoopOverPointsDoes) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "AddressSanitizer does not know fibers";
#endif
    const PointFactorCase& given = GetParam();
    PivotRules rules;
    if (given.boosts) rules.policy = PivotPolicy::boost, rules.tolerance = 0.1;
    FactorsBesideTheLoop both({{7, 5, 3},
                               given.stencil,
                               given.kind,
                               1,
                               given.symmetric,
                               given.eliminates,
                               given.boosts ? -0.99 : 0.25,
                               rules});
    const auto factor = [&](const ColourFactorisation& all) {
        for (int colour = 0; colour < both.points.colours(); ++colour) {
            const ColourFactorArguments arguments = all.arguments(colour);
            const int blocks = (arguments.last - arguments.first + THREADS - 1) / THREADS;
            ASSERT_TRUE(emulated_warps::launch(unsigned(blocks), 1, THREADS, [&] {
                given.symmetric
                    ? emulated_symmetric_point_factors::hyperplane::factor_points_of_colour_symmetric(arguments)
                    : emulated_point_factors::hyperplane::factor_points_of_colour(arguments);
            }));
        }
    };
    ColourFactorisation all = both.by_kernel();
    factor(all);
    both.expect_equal();
    EXPECT_EQ(given.boosts, both.expected_log.boosts > 0);

    // Rounded at once, in memory that holds anything, of which there is as much as later colours read.
    constexpr double anything = std::numeric_limits<double>::quiet_NaN();
    std::vector<float> rounded(both.values.size(), float(anything));
    std::vector<double> read(std::size_t(MulticolorFactorCuda::read_by_later(both.shape, 1, given.symmetric)),
                             anything);
    PivotLog other_log = empty_pivot_log();
    RoundingLog roundings{empty_pivot_log(), 0};
    all.log = &other_log, all.roundings = &roundings, all.rounded = rounded.data(), all.values = read.data();
    factor(all);
    for (std::size_t at = 0; at < both.values.size(); ++at) ASSERT_EQ(rounded[at], float(both.values[at])) << at;
    for (std::size_t at = 0; at < read.size(); ++at) ASSERT_EQ(read[at], both.values[at]) << at;
    EXPECT_EQ(other_log.boosts, both.log.boosts);
    EXPECT_EQ(roundings.overflows.failures, 0u);
    EXPECT_EQ(roundings.flushed, 0u);
}

TEST(MulticolorFactorPointTextOfSingles, LogsWhatSinglePrecisionCannotHold) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "AddressSanitizer does not know fibers";
#endif
    const Stencil stencil = Stencil::by_name("star7");
    const Grid grid{4, 3, 2};
    const Context cpu = Context::cpu(1);
    StructMatrix a(cpu, Layout(LayoutKind::natural, grid, stencil.level_map()), stencil, 1, MatrixStorage::lower);
    for (Index at = 0; at < grid.points(); ++at) a.values(stencil.diagonal())[at] = 1.0;
    a.values(stencil.diagonal())[5] = 1e-60;  // the inverse is too large
    a.values(stencil.diagonal())[7] = 1e50;   // the inverse becomes zero
    const ColouredShape shape(a.layout(), stencil, ColourRule::stencil);
    const ColouredPoints points(cpu, shape, 1, true);
    std::vector<double> values(std::size_t(shape.coefficients(1, true))), ratios(std::size_t(grid.points()));
    std::vector<float> rounded(values.size());
    PivotLog log = empty_pivot_log();
    RoundingLog roundings{empty_pivot_log(), 0};
    const ColourFactorisation all{a,    points,        0.0,           rule_of({}, true), true,
                                  &log, ratios.data(), values.data(), rounded.data(),    &roundings};
    for (int colour = 0; colour < points.colours(); ++colour) {
        const ColourFactorArguments arguments = all.arguments(colour);
        ASSERT_TRUE(emulated_warps::launch(1, 1, THREADS, [&] {
            emulated_symmetric_point_factors::hyperplane::factor_points_of_colour_symmetric(arguments);
        }));
    }
    EXPECT_EQ(roundings.overflows.failures, 1u);
    EXPECT_EQ(roundings.overflows.failed[0], 3u * 5u + 1u);  // the row of D^-1 at point 5
    EXPECT_EQ(roundings.overflows.failed_value[0], 1e60);
    EXPECT_EQ(roundings.flushed, 1u);
}

/// The largest number of products at the points of a colour, after a check of where they lie.
int most_products(const std::string& stencil_name, MatrixStorage storage, int dof) {
    const Stencil stencil = Stencil::by_name(stencil_name);
    const Context cpu = Context::cpu(1);
    const StructMatrix a(cpu, Layout(LayoutKind::natural, {7, 5, 3}, stencil.level_map()), stencil, dof, storage);
    const ColouredShape shape(a.layout(), stencil, ColourRule::stencil);
    const ColouredPoints points(cpu, shape, dof, a.symmetric());
    const ColourFactorisation all{a, points, 0.0, rule_of({}, a.symmetric()), true, nullptr, nullptr, nullptr};
    int most = 0;
    for (int colour = 0; colour < points.colours(); ++colour) most = std::max(most, all.arguments(colour).products);
    EXPECT_LE(most, MulticolorFactorCuda::room_for_products(shape, dof));
    return most;
}

TEST(MulticolorFactorArguments, HaveRoomForTheProductsOfTheColouringAndForFewMore) {
    EXPECT_EQ(most_products("box27", MatrixStorage::lower, 1), 158);
    EXPECT_EQ(most_products("box27", MatrixStorage::full, 1), 184);
    for (const char* stencil : {"star7", "star13", "diamond13", "diamond25", "box27"})
        for (const int dof : {1, 5, 8}) {
            SCOPED_TRACE(std::string(stencil) + " " + std::to_string(dof));
            EXPECT_GT(most_products(stencil, MatrixStorage::full, dof), 0);
            if (dof == 1) {
                EXPECT_GT(most_products(stencil, MatrixStorage::lower, dof), 0);
            }
        }
    const auto bytes_of = [](const char* name) {
        const Stencil stencil = Stencil::by_name(name);
        const ColouredShape shape(Grid{7, 5, 3}, stencil, ColourRule::stencil);
        return sizeof(ColourFactorArguments) -
               sizeof(ColourProduct) *
                   std::size_t(most_colour_products - MulticolorFactorCuda::room_for_products(shape, 1));
    };
    EXPECT_LE(bytes_of("star7"), 6u * 1024);
    EXPECT_LE(bytes_of("box27"), 6u * 1024);
    EXPECT_EQ(bytes_of("box27"), sizeof(ColourFactorArgumentsOf<256>));
}

INSTANTIATE_TEST_SUITE_P(
    All, MulticolorFactorPointText,
    testing::Values(PointFactorCase{"star7", "star7"}, PointFactorCase{"box27", "box27"},
                    PointFactorCase{"box27_hyperplanes", "box27", LayoutKind::hyperplane},
                    PointFactorCase{"star13", "star13", LayoutKind::hyperplane},
                    PointFactorCase{"diamond25", "diamond25"},
                    PointFactorCase{"box27_boosted", "box27", LayoutKind::natural, true, true, true},
                    PointFactorCase{"star7_gauss_seidel", "star7", LayoutKind::natural, true, false},
                    PointFactorCase{"box27_full", "box27", LayoutKind::natural, false},
                    PointFactorCase{"star7_full", "star7", LayoutKind::hyperplane, false},
                    PointFactorCase{"box27_full_gauss_seidel", "box27", LayoutKind::natural, false, false}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace hyperplane
