// SPDX-License-Identifier: BSD-3-Clause
// The multicolour factors of a random matrix, once by the loop over points and once by a kernel's text.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "on_device.hpp"
#include "precond/multicolor/by_point.hpp"
#include "precond/multicolor/factor_cuda.hpp"

namespace hyperplane::testing_support {

/// What is factored, and how.
struct ColourFactorSetting {
    Grid grid;
    std::string stencil;
    LayoutKind kind = LayoutKind::natural;
    int dof = 1;
    bool symmetric = false, eliminates = true;
    double alpha = 0.25;
    PivotRules rules = {};
};

struct FactorsBesideTheLoop {
    explicit FactorsBesideTheLoop(const ColourFactorSetting& setting)
        : given(setting),
          stencil(Stencil::by_name(given.stencil)),
          a(random_struct_matrix(Layout(given.kind, given.grid, stencil.level_map()), stencil, given.dof,
                                 given.symmetric ? MatrixStorage::lower : MatrixStorage::full, 3)),
          shape(a.layout(), stencil, ColourRule::stencil),
          points(Context::cpu(1), shape, given.dof, given.symmetric),
          values(std::size_t(shape.coefficients(given.dof, given.symmetric)), 0.0),
          expected(values),
          ratios(std::size_t(given.grid.points())),
          expected_ratios(ratios) {
        EXPECT_TRUE(MulticolorFactorCuda::serves(shape, given.dof, given.symmetric));
        std::vector<Index> a_entry;
        for (const Int3 o : shape.offsets) a_entry.push_back(stencil.find(o));
        multicolor::factor(a, points, a_entry.data(), given.alpha, given.rules, &expected_log, given.eliminates,
                           expected_ratios.data(), expected.data());
    }
    FactorsBesideTheLoop(const FactorsBesideTheLoop&) = delete;
    FactorsBesideTheLoop& operator=(const FactorsBesideTheLoop&) = delete;

    /// The factorisation whose colours a test gives to the kernel one after the other.
    ColourFactorisation by_kernel() {
        return {a,    points,        given.alpha,  rule_of(given.rules, given.symmetric), given.eliminates,
                &log, ratios.data(), values.data()};
    }
    /// Factors, ratios of pivots and events are those of the loop.
    void expect_equal() const {
        double worst = 0.0, largest = 0.0, worst_ratio = 0.0;
        for (std::size_t at = 0; at < values.size(); ++at) {
            worst = std::max(worst, std::abs(values[at] - expected[at]));
            largest = std::max(largest, std::abs(expected[at]));
        }
        for (std::size_t at = 0; at < ratios.size(); ++at)
            worst_ratio = std::max(worst_ratio, std::abs(ratios[at] - expected_ratios[at]));
        EXPECT_LT(worst, 1e-13 * largest);
        EXPECT_LT(worst_ratio, 1e-13);
        EXPECT_EQ(log.boosts, expected_log.boosts);
        EXPECT_EQ(log.failures, expected_log.failures);
        for (int at = 0; at < expected_log.boosted_size; ++at) EXPECT_EQ(log.boosted[at], expected_log.boosted[at]);
    }

    ColourFactorSetting given;
    Stencil stencil;
    StructMatrix a;
    ColouredShape shape;
    ColouredPoints points;
    std::vector<double> values;  ///< of the kernel
    PivotLog log = empty_pivot_log(), expected_log = empty_pivot_log();
    std::vector<double> expected, ratios, expected_ratios;
};

}  // namespace hyperplane::testing_support
