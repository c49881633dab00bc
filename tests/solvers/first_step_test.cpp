// SPDX-License-Identifier: BSD-3-Clause
// The error of the first of error-controlled steps, which is known after the second.
#include <cmath>

#include "solvers/march_of_steps.hpp"
#include "solvers/time_stepping.hpp"

namespace hyperplane::test {
namespace {

/// ||u - exact|| / ||u|| at time t.
double relative_error(const Vector& u, const Grid& grid, double t) {
    double square = 0.0, size = 0.0;
    for (Index row = 0; row < u.size(); ++row) {
        square += std::pow(u.data()[row] - Logistic::exact(grid.point(row), t), 2);
        size += u.data()[row] * u.data()[row];
    }
    return std::sqrt(square / size);
}

TEST(FirstStep, HasTheErrorThatASecondStepOfAnyLengthTells) {
    const double dt = 1e-3;
    for (const TimeScheme scheme : {TimeScheme::implicit_euler, TimeScheme::bdf2})
        for (const double second : {1.0, 0.6, 0.2, 0.05}) {
            const Logistic logistic(dt);
            March march(logistic, {.scheme = scheme, .steps = 0, .end_time = dt * (1.0 + second), .tolerance = 1.0});
            Vector& u = march.run.u;
            EXPECT_FALSE(march.stepper.error_of_first(u, march.run.newton.work()));
            march.attempt();
            const double error = relative_error(u, logistic.shape().grid, dt);
            march.run.solve(march.stepper.next(u));
            EXPECT_NEAR(march.stepper.row().dt, second * dt, 1e-12);
            const auto found = march.stepper.error_of_first(u, march.run.newton.work());
            ASSERT_TRUE(found);
            EXPECT_NEAR(*found / error, 1.0, 0.01) << int(scheme) << " " << second;
        }
}

TEST(FirstStep, HasNoErrorWhereStepsHaveNoTolerance) {
    const Logistic logistic(1e-3);
    March march(logistic, {.steps = 2});
    march.attempt();
    march.run.solve(march.stepper.next(march.run.u));
    EXPECT_FALSE(march.stepper.error_of_first(march.run.u, march.run.newton.work()));
}

}  // namespace
}  // namespace hyperplane::test
