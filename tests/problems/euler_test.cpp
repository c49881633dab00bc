// SPDX-License-Identifier: BSD-3-Clause
// The Euler equations: derivatives at faces compared with dual numbers, matrices with differences, conservation,
// bounds.
#include "problems/euler.hpp"

#include <map>

#include "problems/dual.hpp"
#include "problems/euler_rows.hpp"
#include "problems/system.hpp"

namespace hyperplane::test {
namespace {

/// A random admissible state: density and pressure in (0.3, 2), velocities up to `speed`.
GasState<double> random_gas(std::mt19937& engine, double speed) {
    std::uniform_real_distribution<double> positive(0.3, 2.0), velocity(-speed, speed);
    return {positive(engine), velocity(engine), velocity(engine), velocity(engine), positive(engine)};
}

/// dF/dU of a face by dual numbers with 20 variables: four cells of five conserved variables.
template <FluxKind kind>
std::array<Dual<20>, 5> dual_flux(const Gas& gas, const Reconstruction& reconstruction,
                                  const GasState<double> (&q)[4]) {
    GasState<Dual<20>> cells[4];
    for (int k = 0; k < 4; ++k) {
        const GasState<double> U = gas.conserved(q[k]);
        GasState<Dual<20>> seeded;
        for (int c = 0; c < 5; ++c) seeded[c] = Dual<20>(U[c], 5 * k + c);
        cells[k] = gas.primitive(seeded);
    }
    return face_flux<kind>(gas, reconstruction, cells[0], cells[1], cells[2], cells[3]);
}

/// The same by the derivatives from which the matrix is computed.
template <FluxKind kind>
void written_flux(const Gas& gas, const Reconstruction& reconstruction, const GasState<double> (&q)[4],
                  double (&d)[5][20]) {
    GasState<double> L, R;
    SlopeDerivatives left[5], right[5];
    for (int c = 0; c < 5; ++c) {
        CellSlopes<double> slopes[2];
        left[c] = reconstruction.derivatives(c, q[0][c], q[1][c], q[2][c], slopes[0]);
        right[c] = reconstruction.derivatives(c, q[1][c], q[2][c], q[3][c], slopes[1]);
        L[c] = q[1][c] + 0.5 * slopes[0].upper;
        R[c] = q[2][c] - 0.5 * slopes[1].lower;
    }
    const auto derivative = flux_derivative<kind>(gas, L, R, false);
    const FaceGradient rows[5] = {derivative.template gradient<0>(gas), derivative.template gradient<1>(gas),
                                  derivative.template gradient<2>(gas), derivative.template gradient<3>(gas),
                                  derivative.template gradient<4>(gas)};
    for (int r = 0; r < 5; ++r) {
        GasState<double> by_q[4] = {};
        for (int c = 0; c < 5; ++c) {
            double column[4] = {};
            follow_upper(left[c], rows[r].left[c], column);
            follow_lower(reconstruction.of_lower(right[c]), rows[r].right[c], column + 1);
            for (int k = 0; k < 4; ++k) by_q[k][c] = column[k];
        }
        for (int k = 0; k < 4; ++k) {
            const GasState<double> by_U = by_conserved(gas, by_q[k], PrimitiveDerivative::at(gas, q[k]));
            for (int c = 0; c < 5; ++c) d[r][5 * k + c] = by_U[c];
        }
    }
}

template <FluxKind kind>
void compare_faces(ReconstructionKind slopes, double speed) {
    const Gas gas;
    const Reconstruction reconstruction{slopes, 1.0 / 3.0, {1e-3, 1e-3, 1e-3, 1e-3, 1e-3}};
    std::mt19937 engine(7);
    for (int trial = 0; trial < 200; ++trial) {
        GasState<double> q[4];
        for (auto& cell : q) cell = random_gas(engine, speed);
        const auto expected = dual_flux<kind>(gas, reconstruction, q);
        double found[5][20];
        written_flux<kind>(gas, reconstruction, q, found);
        double scale = 0.0;
        for (const auto& row : expected)
            for (double value : row.d) scale = std::fmax(scale, std::abs(value));
        for (int r = 0; r < 5; ++r)
            for (int s = 0; s < 20; ++s) ASSERT_NEAR(found[r][s], expected[r].d[s], 1e-12 * scale) << r << " " << s;
    }
}

/// With velocities below and above that of sound: faces on both sides of the contact, and supersonic flow in both
/// directions.
TEST(EulerFaces, DerivativesAreThoseOfDualNumbers) {
    for (ReconstructionKind slopes :
         {ReconstructionKind::van_albada, ReconstructionKind::kappa, ReconstructionKind::first_order})
        for (double speed : {0.3, 1.0, 6.0}) {
            SCOPED_TRACE(speed);
            compare_faces<FluxKind::hllc>(slopes, speed);
            compare_faces<FluxKind::rusanov>(slopes, speed);
        }
}

TEST(EulerFaces, FluxOfEqualStatesIsTheirOwn) {
    const Gas gas;
    std::mt19937 engine(1);
    for (int trial = 0; trial < 100; ++trial) {
        const GasState<double> q = random_gas(engine, 3.0), f = gas.flux(q);
        for (int r = 0; r < 5; ++r) {
            EXPECT_NEAR(hllc_flux(gas, q, q)[r], f[r], 1e-13 * (1 + std::abs(f[r])));
            EXPECT_NEAR(rusanov_flux(gas, q, q)[r], f[r], 1e-13 * (1 + std::abs(f[r])));
        }
    }
}

/// HLLC keeps a stationary contact: no mass and no energy flows through it.
TEST(EulerFaces, HllcKeepsAContactAtRest) {
    const GasState<double> flux = hllc_flux<double>(Gas{}, {1.0, 0.0, 0.3, 0.0, 0.7}, {0.2, 0.0, -0.5, 0.1, 0.7});
    EXPECT_EQ(flux[0], 0.0);
    EXPECT_NEAR(flux[1], 0.7, 1e-15);
    EXPECT_EQ(flux[4], 0.0);
}

/// Sod's shock tube, with the values of Toro, table 4.2, test 1.
TEST(Riemann, SolvesTheShockTube) {
    const Riemann tube({1.0, 0.0, 1.0}, {0.125, 0.0, 0.1}, 1.4);
    EXPECT_NEAR(tube.pressure, 0.303130, 1e-6);
    EXPECT_NEAR(tube.velocity, 0.927453, 1e-6);
    EXPECT_NEAR(tube.density(tube.left), 0.426319, 1e-6);
    EXPECT_NEAR(tube.density(tube.right), 0.265574, 1e-6);
    EXPECT_NEAR(tube.shock_speed_right(), 1.752156, 1e-6);
    EXPECT_EQ(tube.at(-2.0).rho, 1.0);
    EXPECT_EQ(tube.at(1.76).rho, 0.125);
    EXPECT_NEAR(tube.at(1.74).rho, 0.265574, 1e-6);
    EXPECT_NEAR(tube.at(0.92).rho, 0.426319, 1e-6);
    const Riemann::Side fan = tube.at(-0.5);  // u - c = x / t within the rarefaction
    EXPECT_NEAR(fan.u - std::sqrt(1.4 * fan.p / fan.rho), -0.5, 1e-12);
}

/// A vector with the same state in all cells.
Vector uniform_state(const System& system, const GasState<double>& q) {
    Vector u = system.vector();
    const GasState<double> U = Gas{}.conserved(q);
    for (Index row = 0; row < system.layout.slots(); ++row)
        for (int c = 0; c < 5; ++c) u(system.layout.grid().point(row), c) = U[c];
    return u;
}

TEST(Euler, UniformStateStays) {
    for (const char* flux : {"hllc", "rusanov"})
        for (const char* periodic : {"none", "x y z"}) {
            const auto problem =
                make_problem("euler", {{"grid.cells", "6 5 7"}, {"problem.flux", flux}, {"grid.periodic", periodic}});
            const System system(*problem);
            const Vector u = uniform_state(system, {1.3, 0.4, -0.2, 0.7, 0.9});
            const Vector f = system.residual(u, u);
            double largest = 0.0;
            for (Index at = 0; at < f.size(); ++at) largest = std::fmax(largest, std::abs(f.data()[at]));
            EXPECT_LE(largest, 1e-13 * system.level.rate[0]) << flux << " " << periodic;
            EXPECT_FALSE(problem->bad_state(u));
        }
}

/// With walls, and on a periodic domain, the sum of F over the cells contains only the time derivative.
TEST(Euler, NothingLeavesClosedDomains) {
    for (const char* flux : {"hllc", "rusanov"})
        for (const char* how : {"wall", "periodic"}) {
            const bool walls = how == std::string("wall");
            const std::pair<const char*, const char*> closed =
                walls ? std::pair("problem.boundary", "wall") : std::pair("grid.periodic", "x y z");
            const auto problem = make_problem("euler", {{"grid.cells", "6 5 7"}, {"problem.flux", flux}, closed});
            const System system(*problem);
            const Vector u = system.random(3), f = system.residual(u, u);
            for (int c : {0, 1, 2, 3, 4}) {
                if (walls && c > 0 && c < 4) continue;  // the pressure at the walls changes the momentum
                double sum = 0.0, size = 0.0;
                for (Index at = 0; at < system.layout.slots(); ++at) {
                    sum += f.component(c)[at];
                    size += std::abs(f.component(c)[at]);
                }
                EXPECT_LE(std::abs(sum), 1e-13 * size) << flux << " " << how << " " << c;
            }
        }
}

/// The matrix of the operator or (`factored`) of the preconditioner, at a state with moderate slopes.
std::vector<double> matrix_of(const Keys& keys, bool factored) {
    const auto problem = make_problem("euler", keys);
    const System system(*problem);
    Vector u = system.random(3);
    for (int c = 0; c < 5; ++c)
        for (Index at = 0; at < system.layout.slots(); ++at)
            u.component(c)[at] = 0.7 * system.middle(c) + 0.3 * u.component(c)[at];
    StructMatrix a = system.matrix(u, u);
    if (factored) problem->preconditioner_jacobian(u, system.from(u), a);
    return a.to_csr().value;
}

/// upwind2 is the exact derivative if the scheme's slopes are upwind differences, first if there are no slopes.
TEST(Euler, MatricesAreExactDerivativesOfTheirOwnSchemes) {
    const Keys upwind{{"grid.cells", "5 4 6"},
                      {"problem.reconstruction", "kappa"},
                      {"problem.kappa", "-1"},
                      {"problem.preconditioner_jacobian", "upwind2"}};
    const std::vector<double> a = matrix_of(upwind, false), b = matrix_of(upwind, true);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t at = 0; at < a.size(); ++at) ASSERT_NEAR(a[at], b[at], 1e-12);
    const Keys first{{"grid.cells", "5 4 6"}, {"problem.jacobian", "first"}};
    const Keys none{{"grid.cells", "5 4 6"}, {"problem.reconstruction", "first_order"}};
    EXPECT_EQ(matrix_of(first, false), matrix_of(none, false));
    EXPECT_EQ(make_problem("euler", first)->shape().stencil.name(), "star7");
    EXPECT_EQ(make_problem("euler", upwind)->shape().stencil.name(), "star13");
}

/// Next to a cell that is nearly empty, slopes would lead to negative values.
TEST(EulerFaces, StatesStayPositive) {
    const Reconstruction reconstruction{ReconstructionKind::van_albada, 0.0, {1e-3, 1e-3, 1e-3, 1e-3, 1e-3}};
    CellSlopes<double> density = reconstruction.slopes(0, 0.2, 0.002, 0.002);
    EXPECT_EQ(density.lower, 0.0);
    EXPECT_EQ(reconstruction.derivatives(0, 0.2, 0.002, 0.002, density).by_a, 0.0);
    EXPECT_NE(reconstruction.slopes(1, 0.2, 0.002, 0.002).lower, 0.0) << "velocities may have any sign";
    EXPECT_NE(reconstruction.slopes(0, 0.2, 0.1, 0.1).lower, 0.0);
}

/// Density and pressure keep at least a fifth of their values, and no step is shorter than this requires.
TEST(Euler, StepsAreCutWhereTheStateWouldNotBeAdmissible) {
    const auto problem = make_problem("euler", {{"grid.cells", "5 4 3"}});
    const System system(*problem);
    const Gas gas;
    const Vector u = system.random(1);
    for (unsigned seed = 10; seed < 60; ++seed) {
        Vector du = system.random(seed);
        for (Index at = 0; at < du.size(); ++at) du.data()[at] = 3.0 * (du.data()[at] - system.middle(int(at / 60)));
        const double s = problem->admissible_step(u, du);
        const auto kept = [&](double step) {
            double least = 1e300;
            for (Index at = 0; at < 60; ++at) {
                GasState<double> before, after;
                for (int c = 0; c < 5; ++c) {
                    before[c] = u.component(c)[at];
                    after[c] = before[c] + step * du.component(c)[at];
                }
                const double p = gas.primitive(before)[4];
                least = std::fmin(least, std::fmin(after[0] / before[0], gas.primitive(after)[4] / p));
            }
            return least;
        };
        ASSERT_GT(s, 0.0);
        ASSERT_LE(s, 1.0);
        EXPECT_GE(kept(s), 0.2 - 1e-12);
        if (s < 1.0) {
            EXPECT_LT(kept(1.001 * s), 0.2);
        }
    }
}

TEST(Euler, BadStatesAreNamed) {
    const auto problem = make_problem("euler", {{"grid.cells", "5 4 3"}});
    const System system(*problem);
    Vector u = system.random(1);
    EXPECT_FALSE(problem->bad_state(u));
    u({3, 2, 1}, 4) = 0.0;
    auto bad = problem->bad_state(u);
    ASSERT_TRUE(bad);
    EXPECT_EQ(bad->quantity, "pressure");
    EXPECT_EQ(bad->point, (Int3{3, 2, 1}));
    EXPECT_LT(bad->value, 0.0);
    u({4, 0, 2}, 0) = -7.0;
    bad = problem->bad_state(u);
    ASSERT_TRUE(bad);
    EXPECT_EQ(bad->quantity, "density");
    EXPECT_EQ(bad->value, -7.0);
}

/// In dt / CFL, the fastest signal of a uniform stream crosses a cell along its shortest edge.
TEST(Euler, StepsFollowTheCourantNumber) {
    const auto problem = make_problem("euler", {{"grid.cells", "10 5 1"}, {"time.cfl", "3"}});
    const System system(*problem);
    const Vector u = uniform_state(system, {1.4, 2.0, -0.5, 9.0, 1.0});  // speed of sound 1; z is flat
    EXPECT_NEAR(problem->time_step(u), 3 * 0.1 / (2.0 + 1.0), 1e-12);
    EXPECT_EQ(make_problem("euler", {{"time.time_step", "0.25"}})->time_step(u), 0.25);
}

TEST(Euler, DiagnosticsAreIntegrals) {
    const auto problem = make_problem("euler", {{"grid.cells", "4 5 3"}, {"grid.lengths", "1 2 3"}});
    const System system(*problem);
    const Vector u = uniform_state(system, {2.0, 1.0, -0.5, 0.0, 0.4});
    std::map<std::string, double> found;
    for (const Diagnostic& d : problem->diagnostics(u)) found[d.name] = d.value;
    EXPECT_NEAR(found["mass"], 12.0, 1e-12);
    EXPECT_NEAR(found["momentum_y"], -6.0, 1e-12);
    EXPECT_NEAR(found["kinetic_energy"], 7.5, 1e-12);
    EXPECT_NEAR(found["energy"], 6 * (0.4 / 0.4) + 7.5, 1e-12);
}

}  // namespace
}  // namespace hyperplane::test
