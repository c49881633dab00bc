// SPDX-License-Identifier: BSD-3-Clause
// A system that a program hands over, solved on a GPU and on the CPU.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "hyperplane/linear_solver.hpp"

namespace hyperplane::testing_support {

/// Expects as many iterations and nearly the same solution on a GPU as on the CPU. Skips the test where there is no
/// GPU.
template <class Matrix>
void expect_the_cpus_iterations_on_a_gpu(const Matrix& a, const std::vector<double>& b,
                                         const std::map<std::string, std::string>& keys) {
    std::vector<double> x(b.size(), 0.0), y(b.size(), 0.0);
    try {
        LinearSolver on_device(a, {.keys = keys, .gpu = 0});
        const SolveResult result = on_device.solve(b, x);
        EXPECT_TRUE(result.converged);
        LinearSolver on_host(a, {.keys = keys});
        EXPECT_EQ(on_host.solve(b, y).iterations, result.iterations);
        for (std::size_t row = 0; row < x.size(); ++row) EXPECT_NEAR(x[row], y[row], 1e-7);
    } catch (const DeviceError& error) {
        GTEST_SKIP() << error.what();
    }
}

}  // namespace hyperplane::testing_support
