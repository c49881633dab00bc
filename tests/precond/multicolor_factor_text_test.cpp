// SPDX-License-Identifier: BSD-3-Clause
// Multicolour factorisation on tensor cores (precond/multicolor/factor.cuh), its text compiled for the host: the
// factors are those of the loop over points.
#include <gtest/gtest.h>

#include "precond/beside_the_loop.hpp"
#include "precond/factors/gauss_jordan.hpp"

// The host's headers stand before.
#include "precond/emulated_warps.hpp"

#define DOF 5
#define MOST_PRODUCTS most_colour_products
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

using testing_support::FactorsBesideTheLoop;

using ColourFactorCase = std::tuple<std::string, LayoutKind, bool>;
class MulticolorFactorText : public testing::TestWithParam<ColourFactorCase> {};

TEST_P(MulticolorFactorText, FactorsAsALoopOverPointsDoes) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "AddressSanitizer does not know fibers";
#endif
    const auto& [name, kind, eliminates] = GetParam();
    FactorsBesideTheLoop both({{5, 4, 3}, name, kind, DOF, false, eliminates});
    const ColourFactorisation all = both.by_kernel();
    for (int colour = 0; colour < both.points.colours(); ++colour) {
        const ColourFactorArguments arguments = all.arguments(colour);
        const int blocks = (arguments.last - arguments.first + all.places - 1) / all.places;
        ASSERT_TRUE(emulated_warps::launch(unsigned(blocks), 1, all.threads,
                                           [&] { emulated_colour_factors::hyperplane::multicolor_factor(arguments); }));
    }
    both.expect_equal();
}
INSTANTIATE_TEST_SUITE_P(All, MulticolorFactorText,
                         testing::Values(ColourFactorCase{"star7", LayoutKind::natural, true},
                                         ColourFactorCase{"diamond25", LayoutKind::hyperplane, true},
                                         ColourFactorCase{"box27", LayoutKind::natural, true},
                                         ColourFactorCase{"star13", LayoutKind::natural, false}),
                         [](const auto& info) { return std::get<0>(info.param); });

}  // namespace
}  // namespace hyperplane
