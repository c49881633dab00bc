// SPDX-License-Identifier: BSD-3-Clause
// Stabilised elements for incompressible flow: derivatives, exact flows, boundary rows, plane flows.
#include "problems/navier_stokes.hpp"

#include <fmt/format.h>

#include <span>

#include "problems/dual.hpp"
#include "problems/navier_stokes_keys.hpp"
#include "problems/system.hpp"

namespace hyperplane::test {
namespace {

using Seeds = Dual<32>;

/// An element with given states.
template <class T, class G>
struct Element : q1::ElementTerms<G> {
    T values[4][8];
    G knowns[4][8];

    const T& value(int k, int c) const { return values[k][c]; }
    T rate(int k, int c) const { return fused(T(this->mass), values[k][c], T(knowns[k][c])); }
};

/// An element with unequal edges in a random state; unknown number 4 c + k is component k at corner c.
template <class T>
Element<T, double> random_element(unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    Element<T, double> element;
    for (int c = 0; c < 8; ++c)
        for (int k = 0; k < 4; ++k) {
            element.values[k][c] = T(uniform(engine));
            element.knowns[k][c] = uniform(engine);
            if constexpr (!std::is_same_v<T, double>) element.values[k][c].d[4 * c + k] = 1.0;
        }
    const double h[3] = {0.5, 0.3, 0.4};
    for (int axis = 0; axis < 3; ++axis) element.inverse_h[axis] = 1.0 / h[axis];
    element.weight = h[0] * h[1] * h[2] / 8;
    element.tau = 0.07;
    element.scale = 1.0;
    element.mass = 1.7;
    element.viscosity = 0.05;
    element.compliance = 0.6;
    return element;
}

/// An element in axes that lead from its corner a, which becomes corner 0.
template <class T, class G>
Element<T, G> seen_from(int a, Element<T, G> element) {
    const Element<T, G> given = element;
    for (int axis = 0; axis < 3; ++axis)
        if (a >> axis & 1) element.inverse_h[axis] = -element.inverse_h[axis];
    for (int c = 0; c < 8; ++c)
        for (int k = 0; k < 4; ++k) {
            element.values[k][c] = given.values[k][c ^ a];
            element.knowns[k][c] = given.knowns[k][c ^ a];
        }
    return element;
}

/// The 32 x 32 Jacobian of an element, computed like the rows of the matrix.
void element_jacobian(const Element<double, double>& element, double (&jacobian)[32][32]) {
    for (int a = 0; a < 8; ++a) {
        const auto seen = seen_from(a, element);
        q1::CornerTerms<double> terms;
        double of_corners[8];
        const std::span<double, 8> transport(of_corners);
        q1::make_corner_terms(seen, terms, transport);
        for_constants<4>([&](auto row) {
            q1::make_row<row>(seen, terms, transport,
                              [&](int b, int col, double value) { jacobian[4 * a + row][4 * (b ^ a) + col] = value; });
        });
    }
}

TEST(FlowElement, JacobianIsTheDerivativeByDualNumbers) {
    for (unsigned seed : {1u, 2u, 3u}) {
        double jacobian[32][32];
        element_jacobian(random_element<double>(seed), jacobian);
        const auto dual = random_element<Seeds>(seed);
        double scale = 0.0;
        for (const auto& row : jacobian)
            for (double value : row) scale = std::fmax(scale, std::abs(value));
        for (int a = 0; a < 8; ++a) {
            Seeds f[4];
            q1::add_residual(seen_from(a, dual), f);
            for (int k = 0; k < 4; ++k)
                for (int at = 0; at < 32; ++at)
                    ASSERT_NEAR(jacobian[4 * a + k][at], f[k].d[at], 1e-12 * scale)
                        << "corner " << a << " row " << k << " unknown " << at;
        }
    }
}

/// F of an element, written directly from the equations at the head of navier_stokes.hpp, Gauss point by Gauss point.
void plain_residual(const Element<double, double>& e, int a, double (&f)[4]) {
    const double near = (1 + 1 / std::sqrt(3.0)) / 2;
    for (double& value : f) value = 0.0;
    for (int q = 0; q < 8; ++q) {
        double n[8], dn[8][3];
        for (int c = 0; c < 8; ++c) {
            double at[3], slope[3];
            for (int d = 0; d < 3; ++d) {
                at[d] = (c >> d & 1) == (q >> d & 1) ? near : 1 - near;
                slope[d] = (c >> d & 1 ? 1 : -1) * e.inverse_h[d];
            }
            n[c] = at[0] * at[1] * at[2];
            dn[c][0] = slope[0] * at[1] * at[2];
            dn[c][1] = at[0] * slope[1] * at[2];
            dn[c][2] = at[0] * at[1] * slope[2];
        }
        double u[4] = {}, du[4][3] = {}, rate[4] = {};
        for (int c = 0; c < 8; ++c)
            for (int k = 0; k < 4; ++k) {
                u[k] += n[c] * e.value(k, c);
                rate[k] += n[c] * (e.mass * e.value(k, c) + e.knowns[k][c]);
                for (int d = 0; d < 3; ++d) du[k][d] += dn[c][d] * e.value(k, c);
            }
        double advection = 0.0, divergence = 0.0, stabilised = 0.0;
        for (int d = 0; d < 3; ++d) advection += u[d] * dn[a][d];
        for (int i = 0; i < 3; ++i) {
            double r = rate[i] + du[3][i], viscous = 0.0;
            for (int d = 0; d < 3; ++d) {
                r += u[d] * du[i][d];
                viscous += dn[a][d] * du[i][d];
            }
            divergence += du[i][i];
            stabilised += dn[a][i] * r;
            f[i] +=
                e.weight * (n[a] * (r - du[3][i]) + e.viscosity * viscous - dn[a][i] * u[3] + e.tau * advection * r);
        }
        f[3] += e.weight * (n[a] * (e.compliance * rate[3] + divergence) + e.tau * stabilised);
    }
}

TEST(FlowElement, ResidualIsTheWeakFormPointByPoint) {
    const auto element = random_element<double>(4);
    for (int a = 0; a < 8; ++a) {
        double f[4] = {}, plain[4];
        q1::add_residual(seen_from(a, element), f);
        plain_residual(element, a, plain);
        for (int k = 0; k < 4; ++k) EXPECT_NEAR(f[k], plain[k], 1e-14) << a << " " << k;
    }
}

TEST(FlowElement, LanesOfAPackHaveTheBitsOfDoubles) {
    Element<Pack, Pack> packed;
    for (int l = 0; l < Pack::lanes; ++l) {
        const auto one = random_element<double>(10 + l);
        for (int k = 0; k < 4; ++k)
            for (int c = 0; c < 8; ++c) {
                packed.values[k][c].v[l] = one.value(k, c);
                packed.knowns[k][c].v[l] = one.knowns[k][c];
            }
    }
    const auto shape = random_element<double>(1);
    for (int axis = 0; axis < 3; ++axis) packed.inverse_h[axis] = shape.inverse_h[axis];
    packed.weight = shape.weight;
    packed.tau = shape.tau;
    packed.mass = shape.mass;
    packed.viscosity = shape.viscosity;
    packed.compliance = shape.compliance;
    Pack rows[4] = {0.0, 0.0, 0.0, 0.0};
    q1::add_residual(packed, rows);
    for (int l = 0; l < Pack::lanes; ++l) {
        double f[4] = {};
        q1::add_residual(random_element<double>(10 + l), f);
        for (int k = 0; k < 4; ++k) EXPECT_EQ(f[k], rows[k].v[l]);
    }
}

/// A step at a random state with independent random earlier states; BDF2 if the regime is transient.
struct FlowSystem {
    std::unique_ptr<Problem> problem;
    System system;

    explicit FlowSystem(const Keys& keys) : problem(make_problem("navier_stokes", keys)), system(*problem) {
        if (problem->shape().regime == Regime::transient) system.level.rate = {1.5 / 0.1, -2 / 0.1, 0.5 / 0.1};
    }
    Vector residual(const Vector& u) const {
        const Vector old = system.random(11), older = system.random(12);
        Vector f = system.vector();
        problem->residual(u, system.from(old, &older), f);
        return f;
    }
    StructMatrix jacobian(const Vector& u) const {
        const Vector old = system.random(11), older = system.random(12);
        StructMatrix a(system.context, system.layout, problem->shape().stencil, 4);
        problem->jacobian(u, system.from(old, &older), a);
        return a;
    }
};

/// No row depends on two points that are 3 apart, so 27 x 4 differences give every coefficient of the matrix. A row
/// none of whose columns was perturbed must not change at all.
void expect_exact_derivative(const Keys& keys) {
    const FlowSystem flow(keys);
    const Vector u = flow.system.random(5);
    const StructMatrix a = flow.jacobian(u);
    const Grid& grid = a.grid();
    double scale = 0.0;
    for (Index at = 0; at < a.bytes() / Index(sizeof(double)); ++at)
        scale = std::fmax(scale, std::abs(a.values(0)[at]));
    for (int colour = 0; colour < 27; ++colour)
        for (int c = 0; c < 4; ++c) {
            constexpr double step = 1e-5;
            const auto moved = [&](Int3 p) {
                return p.x % 3 == colour % 3 && p.y % 3 == colour / 3 % 3 && p.z % 3 == colour / 9;
            };
            const auto shifted = [&](double by) {
                Vector v = flow.system.random(5);
                for (Index row = 0; row < grid.points(); ++row)
                    if (const Int3 p = grid.point(row); moved(p)) v(p, c) += by;
                return flow.residual(v);
            };
            const Vector plus = shifted(step), minus = shifted(-step);
            for (Index row = 0; row < grid.points(); ++row) {
                const Int3 p = grid.point(row);
                int entry = -1;
                for (int e = 0; e < 27; ++e)
                    if (const Int3 q = p + a.stencil()[e]; grid.contains(q) && moved(q)) entry = e;
                for (int r = 0; r < 4; ++r) {
                    const double difference = plus(p, r) - minus(p, r);
                    if (entry < 0)
                        ASSERT_EQ(difference, 0.0) << "a derivative outside the stencil";
                    else
                        ASSERT_NEAR(a.at(p, entry, r, c), difference / (2 * step), 1e-6 * scale)
                            << "point " << p.x << " " << p.y << " " << p.z << " entry " << entry << " " << r << c;
                }
            }
        }
}

TEST(NavierStokes, JacobianIsTheDerivativeOfTheResidual) {
    expect_exact_derivative({{"grid.cells", "6"}});
    expect_exact_derivative({{"grid.cells", "6 5 7"}, {"grid.lengths", "1 0.5 2"}, {"problem.symmetry", "y"}});
    expect_exact_derivative({{"grid.cells", "6"}, {"problem.stretching", "1 0 2"}, {"problem.regime", "transient"}});
    expect_exact_derivative({{"grid.cells", "7 6 2"}});
    expect_exact_derivative({{"grid.cells", "6 5 3"}, {"problem.case", "kovasznay"}});
    expect_exact_derivative({{"grid.cells", "5 6 4"}, {"problem.case", "ethier_steinman"}});
}

/// The steps with which the pressure's error had doubled, with five steps of Ethier's and Steinman's flow.
TEST(NavierStokes, WarnsOfStepsTooShortForThePressure) {
    struct Measured {
        const char *cells, *reynolds;
        double doubled;
    };
    for (const Measured& one : {Measured{"5", "1", 8.3e-4}, Measured{"9", "1", 1.8e-4}, Measured{"5", "100", 8.5e-3},
                                Measured{"9", "100", 3.7e-3}}) {
        const auto warnings = [&](double dt) {
            const std::string step = fmt::format("{}", dt);
            return make_problem("navier_stokes", {{"grid.cells", one.cells},
                                                  {"problem.case", "ethier_steinman"},
                                                  {"problem.reynolds", one.reynolds},
                                                  {"time.time_step", step.c_str()}})
                ->warnings();
        };
        EXPECT_TRUE(warnings(1.4 * one.doubled).empty()) << one.cells << " " << one.reynolds;
        ASSERT_EQ(warnings(0.7 * one.doubled).size(), 1u) << one.cells << " " << one.reynolds;
        EXPECT_NE(warnings(0.7 * one.doubled)[0].find("time.time_step = "), std::string::npos);
    }
    EXPECT_TRUE(make_problem("navier_stokes", {{"grid.cells", "5"}, {"time.cfl", "1e-9"}})->warnings().empty());
}

TEST(NavierStokes, AllBlocksAreFull) {
    const FlowSystem flow(Keys{{"grid.cells", "5"}});
    const StructMatrix a = flow.jacobian(flow.system.random(5));
    for (int e = 0; e < 27; ++e)
        for (int r = 0; r < 4; ++r)
            for (int c = 0; c < 4; ++c) EXPECT_NE(a.at({2, 2, 2}, e, r, c), 0.0) << e << " " << r << c;
}

}  // namespace
}  // namespace hyperplane::test
