// SPDX-License-Identifier: BSD-3-Clause
// par_ilu on a GPU: sweeps level by level give the bits and the reports of sweeps over all points.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "on_device.hpp"
#include "precond/par_ilu/sweeps.hpp"
#include "precond/support.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;

struct SweptLevels {
    std::string stencil;
    int dof, fill_level, sweeps;
    Grid grid;
};

std::string name_of_levels(const testing::TestParamInfo<SweptLevels>& info) {
    const auto& [stencil, dof, fill, sweeps, grid] = info.param;
    std::string name = stencil + "_dof" + std::to_string(dof) + "_k" + std::to_string(fill) + "_" +
                       std::to_string(sweeps) + "_sweeps_" + std::to_string(grid.nx) + "x" + std::to_string(grid.ny) +
                       "x" + std::to_string(grid.nz);
    return grid.any_periodic() ? name + "_periodic" : name;
}

/// Factors after some sweeps, and what was reported on pivots.
struct LevelResult {
    std::vector<double> factors;
    Index failures;
    std::string told;
    SetupReport report;
};

LevelResult swept_in_order(const StructMatrix& a, const IluPattern& pattern, FactorSweepOrder order, int sweeps,
                           double alpha) {
    const Context& context = a.context();
    FactorSweeps made(context, pattern, order);
    const Index values = pattern.kept() * pattern.layout.slots() * pattern.dof * pattern.dof;
    // What is not written must not be read.
    const std::vector<double> garbage(std::size_t(values), std::numeric_limits<double>::quiet_NaN());
    Buffer<double> result(context, "result", values), spare(context, "spare", values);
    const auto target = [&](Buffer<double>& x) {
        context.stream().copy(garbage.data(), x.data(), values * Index(sizeof(double)));
        const BlockView triangles = blocks_together(x.data(), pattern.layout.slots(), pattern.dof);
        return FactorTarget{triangles, triangles.entry(pattern.stencil.diagonal())};
    };
    const FactorTarget to = target(result), other = target(spare);
    const PivotRules rules;
    PivotInverter inverter(rules, a.grid(), a.dof(), false);
    made.run(a, to, other, sweeps, FactorSweepMode::sync, alpha, rules, inverter, true);
    LevelResult found{std::vector<double>(std::size_t(values)), inverter.failures(), "", {}};
    context.stream().copy(result.data(), found.factors.data(), values * Index(sizeof(double)));
    if (inverter.failures() > 0) found.told = inverter.explain();
    inverter.add_to(found.report);
    return found;
}

void expect_same_bits(const StructMatrix& here, const SweptLevels& c, const char* what) {
    const StructMatrix a = in_context(Context::cuda(), here);
    const IluPattern pattern = ilu_pattern(a.layout(), a.stencil(), c.fill_level, c.dof, false, Backend::cuda);
    for (const double alpha : {0.0, 0.25}) {
        const LevelResult expected = swept_in_order(a, pattern, FactorSweepOrder::sweep_by_sweep, c.sweeps, alpha);
        for (int repeat = 0; repeat < 3; ++repeat) {
            const LevelResult found = swept_in_order(a, pattern, FactorSweepOrder::level_by_level, c.sweeps, alpha);
            std::size_t different = 0;
            for (std::size_t k = 0; k < found.factors.size(); ++k) {
                const double x = found.factors[k], y = expected.factors[k];
                different += !(x == y || (std::isnan(x) && std::isnan(y)));
            }
            EXPECT_EQ(different, 0u) << what << ", shift " << alpha << ", of " << found.factors.size();
            EXPECT_EQ(found.failures, expected.failures) << what;
            EXPECT_EQ(found.told, expected.told) << what;
            EXPECT_EQ(found.report.smallest_pivot_ratio, expected.report.smallest_pivot_ratio) << what;
        }
    }
}

class ParIluLevelsOnDevice : public DeviceTest, public testing::WithParamInterface<SweptLevels> {};

TEST_P(ParIluLevelsOnDevice, HaveTheBitsOfSweepsOverAllPoints) {
    const SweptLevels& c = GetParam();
    const Stencil stencil = Stencil::by_name(c.stencil);
    const Layout layout(LayoutKind::hyperplane, c.grid, stencil.filled(c.fill_level).level_map());
    StructMatrix a = random_struct_matrix(layout, stencil, c.dof, MatrixStorage::full, 7);
    expect_same_bits(a, c, "as it is");
    const Index slot = layout.slot({c.grid.nx / 2, c.grid.ny / 2, c.grid.nz / 2});
    const int diagonal = stencil.diagonal();
    for (int e = 0; e < stencil.size(); ++e)
        for (int col = 0; col < c.dof; ++col) a.values(e, c.dof - 1, col)[slot] = 0.0;
    expect_same_bits(a, c, "with a row of zeros");
    a.values(diagonal, c.dof - 1, c.dof - 1)[slot] = std::numeric_limits<double>::quiet_NaN();
    expect_same_bits(a, c, "with a pivot that is no number");
}

std::vector<SweptLevels> swept_levels() {
    Grid periodic{9, 7, 5};
    periodic.periodic = {true, false, true};
    return {{"star7", 8, 0, 5, {17, 9, 5}},     {"star7", 6, 0, 5, {47, 35, 19}},     {"star7", 7, 0, 1, {7, 3, 11}},
            {"star13", 8, 0, 5, {23, 21, 17}},  {"star13", 6, 0, 4, {17, 9, 5}},      {"star13", 7, 0, 2, {5, 11, 9}},
            {"diamond13", 8, 0, 5, {17, 9, 5}}, {"diamond13", 6, 0, 5, {23, 21, 17}}, {"star7", 6, 1, 3, {7, 5, 9}},
            {"diamond13", 6, 0, 3, periodic}};
}
INSTANTIATE_TEST_SUITE_P(All, ParIluLevelsOnDevice, testing::ValuesIn(swept_levels()), name_of_levels);

}  // namespace
}  // namespace hyperplane
