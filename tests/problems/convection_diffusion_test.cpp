// SPDX-License-Identifier: BSD-3-Clause
// Convection and diffusion: known errors, M-matrices, the maximum principle, winds, time steps.
#include "problems/convection_diffusion.hpp"

#include <numbers>

#include "problems/system.hpp"

namespace hyperplane::test {
namespace {

Keys steady(Keys more) {
    more.insert(more.end(), {{"problem.regime", "steady"}, {"problem.boundary_rows", "drop"}});
    return more;
}

/// The errors for u = -x e^(y+z), the unit diagonal wind and viscosity 0.05 with 15, 31 and 63 interior nodes a side,
/// as measured with an independent trial code.
TEST(ConvectionDiffusion, ErrorsAreTheKnownOnes) {
    struct Known {
        const char* scheme;
        double errors[3];
        double order;
    };
    for (const Known& known :
         {Known{"upwind", {4.01e-2, 2.24e-2, 1.18e-2}, 0.9}, Known{"central", {1.02e-3, 2.52e-4, 6.28e-5}, 2.0},
          Known{"sg", {4.97e-3, 1.25e-3, 3.15e-4}, 2.0}}) {
        const char* cells[3] = {"15", "31", "63"};
        double found[3];
        for (int level = 0; level < 3; ++level) {
            found[level] =
                solved_error(*make_problem("convection_diffusion", steady({{"grid.cells", cells[level]},
                                                                           {"problem.wind", "const"},
                                                                           {"problem.viscosity", "0.05"},
                                                                           {"problem.scheme", known.scheme},
                                                                           {"problem.right_hand_side", "manuexp"}})));
            EXPECT_NEAR(found[level], known.errors[level], 0.01 * known.errors[level]) << known.scheme;
        }
        EXPECT_NEAR(std::log2(found[1] / found[2]), known.order, 0.1) << known.scheme;
    }
}

/// The manufactured source is correct for winds that vary and for unequal spacings, too.
TEST(ConvectionDiffusion, SecondOrderWithEveryWind) {
    for (const char* wind : {"const", "rotate", "recirc", "abc"})
        for (const char* scheme : {"central", "sg"}) {
            const auto error = [&](const char* cells) {
                return solved_error(*make_problem("convection_diffusion", {{"grid.cells", cells},
                                                                           {"problem.regime", "steady"},
                                                                           {"problem.wind", wind},
                                                                           {"problem.viscosity", "0.5"},
                                                                           {"problem.scheme", scheme},
                                                                           {"problem.right_hand_side", "manuexp"}}));
            };
            EXPECT_NEAR(std::log2(error("9 13 11") / error("17 25 21")), 2.0, 0.25) << wind << " " << scheme;
        }
}

TEST(Wind, IsFreeOfDivergenceInTheSenseOfFaces) {
    std::mt19937 engine(1);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    const double h[3] = {0.1, 0.07, 0.13};
    for (WindKind kind : {WindKind::constant, WindKind::rotate, WindKind::recirc, WindKind::abc}) {
        const Wind wind{kind, {1.0, -2.0, 0.5}, {2.0, 2.0, 3.0}};
        for (int trial = 0; trial < 100; ++trial) {
            const Position at{2 * uniform(engine), 2 * uniform(engine), 3 * uniform(engine)};
            double divergence = 0.0;
            for (int axis = 0; axis < 3; ++axis)
                for (int side = -1; side <= 1; side += 2) {
                    Position face = at;
                    face[axis] += side * h[axis] / 2;
                    divergence += side * wind.component(axis, face) / h[axis];
                    EXPECT_LE(std::abs(wind.component(axis, at)), wind.largest(axis));
                }
            EXPECT_NEAR(divergence, 0.0, 1e-13 / h[1]) << int(kind);
        }
    }
}

/// Off-diagonal coefficients are not positive and, away from the boundary, row sums are zero.
TEST(ConvectionDiffusion, UpwindAndScharfetterGummelAreMMatrices) {
    for (const char* wind : {"const", "rotate", "recirc", "abc"})
        for (const char* viscosity : {"1", "1e-2", "1e-4", "1e-8"})
            for (const char* scheme : {"upwind", "sg", "central"}) {
                const auto problem = make_problem("convection_diffusion", steady({{"grid.cells", "8 7 6"},
                                                                                  {"problem.wind", wind},
                                                                                  {"problem.viscosity", viscosity},
                                                                                  {"problem.scheme", scheme}}));
                const StructMatrix a = System(*problem).matrix();
                bool m_matrix = true;
                for (Index row = 0; row < a.grid().points(); ++row) {
                    const Int3 p = a.grid().point(row);
                    double sum = 0.0;
                    for (int e = 0; e < 7; ++e) {
                        sum += a.at(p, e);
                        m_matrix = m_matrix && (e == 3 ? a.at(p, e) > 0.0 : a.at(p, e) <= 0.0);
                    }
                    m_matrix = m_matrix && sum >= -1e-12 * a.at(p, 3);
                }
                const bool oscillates = !problem->warnings().empty();
                EXPECT_EQ(m_matrix, !oscillates) << wind << " " << viscosity << " " << scheme;
                EXPECT_EQ(oscillates, scheme == std::string("central") && viscosity != std::string("1"));
            }
}

/// Without sources, u stays within the range of its boundary and initial values; with central differences and
/// |B| / D > 1 it does not.
TEST(ConvectionDiffusion, UpwindObeysTheMaximumPrinciple) {
    const auto range = [](const char* scheme) {
        const auto problem = make_problem("convection_diffusion", {{"grid.cells", "13 13 5"},
                                                                   {"problem.wind", "recirc"},
                                                                   {"problem.viscosity", "0.01"},
                                                                   {"problem.scheme", scheme},
                                                                   {"time.cfl", "2"}});
        const System system(*problem);
        Vector u = system.initial();
        double low = 0.0, high = 0.0;
        for (int step = 0; step < 4; ++step) {
            const Vector old = system.vector();
            Vector before = system.vector();
            for (Index at = 0; at < u.size(); ++at) before.data()[at] = u.data()[at];
            u = solve_linear(system, std::move(u), before, 1e-14);
            for (Index at = 0; at < u.size(); ++at) {
                low = std::fmin(low, u.data()[at]);
                high = std::fmax(high, u.data()[at]);
            }
        }
        return std::pair{low, high};
    };
    for (const char* scheme : {"upwind", "sg"}) {
        EXPECT_GE(range(scheme).first, -1e-12) << scheme;
        EXPECT_LE(range(scheme).second, 1 + 1e-12) << scheme;
    }
    EXPECT_TRUE(range("central").first < -1e-6 || range("central").second > 1 + 1e-6);
}

/// A step of implicit Euler for a wave gives u_1 = u_0 / (1 + dt nu (2 - 2 cos(2 pi h)) / h^2).
TEST(ConvectionDiffusion, WaveDecaysAtTheRateOfImplicitEuler) {
    const auto problem = make_problem("convection_diffusion", {{"grid.cells", "16 1 1"},
                                                               {"grid.periodic", "x"},
                                                               {"problem.wind", "const"},
                                                               {"problem.wind_velocity", "0 0 0"},
                                                               {"problem.viscosity", "0.2"},
                                                               {"time.time_step", "0.05"}});
    ASSERT_FALSE(problem->shape().constant_null_space);
    const System system(*problem);
    ASSERT_EQ(system.level.dt, 0.05);
    Vector old = system.vector();
    for (int i = 0; i < 16; ++i) old({i, 0, 0}) = std::cos(2 * std::numbers::pi * i / 16);
    const Vector u = solve_linear(system, system.vector(), old);
    const double factor = 1 / (1 + 0.05 * 0.2 * (2 - 2 * std::cos(2 * std::numbers::pi / 16)) * 256);
    for (int i = 0; i < 16; ++i) EXPECT_NEAR(u({i, 0, 0}), factor * old({i, 0, 0}), 1e-12);
}

/// Steps of BDF2 of any length for the same wave satisfy rate[0] u + rate[1] old + rate[2] older = -lambda u.
TEST(ConvectionDiffusion, WaveDecaysAtTheRateOfBdf2) {
    const auto problem = make_problem("convection_diffusion", {{"grid.cells", "16 1 1"},
                                                               {"grid.periodic", "x"},
                                                               {"problem.wind", "const"},
                                                               {"problem.wind_velocity", "0 0 0"},
                                                               {"problem.viscosity", "0.2"},
                                                               {"time.time_step", "0.05"}});
    System system(*problem);
    Vector old = system.vector(), older = system.vector();
    for (int i = 0; i < 16; ++i) {
        old({i, 0, 0}) = std::cos(2 * std::numbers::pi * i / 16);
        older({i, 0, 0}) = 1.5 * old({i, 0, 0});
    }
    for (const double before : {0.05, 0.02, 0.08}) {
        system.level = bdf2(2, 0.1, 0.05, before, old, older);
        const double lambda = 0.2 * (2 - 2 * std::cos(2 * std::numbers::pi / 16)) * 256;
        const auto& rate = system.level.rate;
        const double factor = -(rate[1] + 1.5 * rate[2]) / (rate[0] + lambda);
        Vector u = system.vector(), f = system.vector();
        for (int i = 0; i < 16; ++i) u({i, 0, 0}) = factor * old({i, 0, 0});
        problem->residual(u, system.from(old, &older), f);
        for (int i = 0; i < 16; ++i) EXPECT_NEAR(f({i, 0, 0}), 0.0, 1e-14) << before;
        const StructMatrix a = system.matrix();
        const double h = 1.0 / 16;
        EXPECT_NEAR(a.at({3, 0, 0}, 3), h * h * rate[0] + 2 * 0.2, 1e-12);
    }
}

/// The order in time: a wave transported around the unit interval in a given number of steps, compared with many steps.
TEST(ConvectionDiffusion, Bdf2IsOfSecondOrderInTime) {
    const auto state = [](int steps, bool second) {
        const auto problem = make_problem("convection_diffusion", {{"grid.cells", "16 1 1"},
                                                                   {"grid.periodic", "x"},
                                                                   {"problem.wind", "const"},
                                                                   {"problem.wind_velocity", "1 0 0"},
                                                                   {"problem.scheme", "central"},
                                                                   {"problem.viscosity", "0.05"},
                                                                   {"time.time_step", "1"}});
        System system(*problem);
        const double dt = 0.4 / steps;
        Vector u = system.vector();
        for (int i = 0; i < 16; ++i) u({i, 0, 0}) = std::cos(2 * std::numbers::pi * i / 16);
        Vector old = system.vector(), older = system.vector();
        for (int step = 1; step <= steps; ++step) {
            std::swap(old, older);
            std::copy(u.data(), u.data() + u.size(), old.data());
            system.level = second && step > 1 ? bdf2(step, step * dt, dt, dt, old, older)
                                              : implicit_euler(step, step * dt, dt, old);
            u = solve_linear(system, std::move(u), old, 1e-13);
        }
        return u;
    };
    for (const bool second : {false, true}) {
        const Vector fine = state(320, true);
        const double coarse_error = max_difference(state(20, second), fine),
                     fine_error = max_difference(state(40, second), fine);
        EXPECT_NEAR(std::log2(coarse_error / fine_error), second ? 2.0 : 1.0, 0.15);
    }
}

TEST(ConvectionDiffusion, StepsFollowTheCourantNumber) {
    const auto time_step = [](Keys keys) {
        keys.push_back({"grid.cells", "11"});
        return System(*make_problem("cd", keys)).level.dt;
    };
    EXPECT_NEAR(time_step({}), 38 * 0.1, 1e-12);
    EXPECT_NEAR(time_step({{"problem.wind", "abc"}, {"time.cfl", "3"}}), 3 * 0.1 / 2, 1e-12);
    EXPECT_TRUE(std::isinf(time_step({{"problem.regime", "steady"}})));
}

TEST(ConvectionDiffusion, PecletIsAnotherWayToGiveTheViscosity) {
    const auto matrix = [](std::pair<const char*, const char*> key) {
        return System(*make_problem("cd", steady({{"grid.cells", "5"}, key}))).matrix().to_csr().value;
    };
    EXPECT_EQ(matrix({"problem.peclet", "100"}), matrix({"problem.viscosity", "0.01"}));
}

TEST(ConvectionDiffusion, PreconditionerMayUseAnotherScheme) {
    const Keys common = steady({{"grid.cells", "5"}, {"problem.scheme", "central"}});
    Keys split = common;
    split.push_back({"problem.preconditioner_scheme", "upwind"});
    const auto problem = make_problem("cd", split);
    const auto upwind = make_problem("cd", steady({{"grid.cells", "5"}}));
    ASSERT_TRUE(problem->shape().separate_preconditioner_matrix);
    ASSERT_FALSE(make_problem("cd", common)->shape().separate_preconditioner_matrix);
    const System system(*problem);
    StructMatrix p = system.matrix();
    EXPECT_EQ(p.to_csr().value, System(*make_problem("cd", common)).matrix().to_csr().value);
    problem->preconditioner_jacobian(system.vector(), {}, p);
    EXPECT_EQ(p.to_csr().value, System(*upwind).matrix().to_csr().value);
}

TEST(ConvectionDiffusion, InitialGaussianPeaksAtItsCentre) {
    const auto problem = make_problem("cd", {{"grid.cells", "11"}});
    const Vector u = System(*problem).initial();
    EXPECT_NEAR(u({3, 3, 3}), 1.0, 1e-12);
    EXPECT_NEAR(u({4, 3, 3}), std::exp(-1.0), 1e-12);
    EXPECT_EQ(u({0, 3, 3}), 0.0);
}

TEST(Bernoulli, IsSmoothAtZeroAndFiniteFarAway) {
    EXPECT_EQ(bernoulli(0.0), 1.0);
    EXPECT_NEAR(bernoulli(1e-7), 1.0 - 0.5e-7, 1e-15);
    EXPECT_NEAR(bernoulli(2.0), 2.0 / (std::exp(2.0) - 1.0), 1e-15);
    EXPECT_EQ(bernoulli(1e4), 0.0);
    EXPECT_EQ(bernoulli(-1e4), 1e4);
}

}  // namespace
}  // namespace hyperplane::test
