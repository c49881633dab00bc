// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/initial_state.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace hyperplane {
namespace {

double linear_at(double x, double y, double z, int c) {
    return 1.0 + 2.0 * x - 3.0 * y + 5.0 * z + c * (x - z);
}

std::vector<double> linear_values(const Grid& grid, int dof) {
    std::vector<double> values;
    for (int k = 0; k < grid.nz; ++k)
        for (int j = 0; j < grid.ny; ++j)
            for (int i = 0; i < grid.nx; ++i)
                for (int c = 0; c < dof; ++c)
                    values.push_back(linear_at(i * grid.spacing[0], j * grid.spacing[1], k * grid.spacing[2], c));
    return values;
}

TEST(InitialState, InterpolationKeepsLinearFunctionsAndReadsEachPlaneItNeedsOnce) {
    constexpr int dof = 2;
    const Grid from{.nx = 5, .ny = 3, .nz = 9, .spacing = {1.0 / 4, 1.0 / 2, 1.0 / 8}};
    const Grid to{.nx = 7, .ny = 9, .nz = 17, .spacing = {1.0 / 6, 1.0 / 8, 1.0 / 16}};
    const std::vector<double> saved = linear_values(from, dof), wanted = linear_values(to, dof);
    const Index plane = Index(from.nx) * from.ny * dof, plane_of_to = Index(to.nx) * to.ny * dof;
    std::vector<int> reads(std::size_t(from.nz), 0);
    const SavedValues counted(Index(saved.size()), [&](Index first, Index count, double* values) {
        EXPECT_EQ(first % plane, 0);
        EXPECT_EQ(count, plane);
        ++reads[std::size_t(first / plane)];
        std::copy_n(saved.data() + first, count, values);
    });
    const SavedValues found = interpolated(counted, from, to, dof);
    ASSERT_EQ(found.size(), Index(wanted.size()));
    // The upper planes, as a rank reads them: in pieces that end anywhere.
    const Index begin = 12 * plane_of_to;
    std::vector<double> piece(101);
    for (Index first = begin; first < found.size(); first += Index(piece.size())) {
        const Index count = std::min(Index(piece.size()), found.size() - first);
        found.read(first, count, piece.data());
        for (Index at = 0; at < count; ++at) ASSERT_NEAR(piece[at], wanted[first + at], 1e-14) << first + at;
    }
    EXPECT_EQ(reads, (std::vector<int>{0, 0, 0, 0, 0, 0, 1, 1, 1}));
}

TEST(InitialState, InterpolationCrossesTheBoundaryOfPeriodicAxes) {
    const Grid from{.nz = 5, .spacing = {1.0, 1.0, 0.2}, .periodic = {false, false, true}};
    const Grid to{.nz = 10, .spacing = {1.0, 1.0, 0.1}, .periodic = {false, false, true}};
    const std::vector<double> saved{3.0, 1.0, 4.0, 1.0, 5.0};
    const std::vector<double> wanted{3.0, 2.0, 1.0, 2.5, 4.0, 2.5, 1.0, 3.0, 5.0, 4.0};
    const std::vector<double> found = interpolated(saved, from, to, 1).all();
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k) EXPECT_NEAR(found[k], wanted[k], 1e-14) << k;
}

}  // namespace
}  // namespace hyperplane
