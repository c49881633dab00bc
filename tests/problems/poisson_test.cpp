// SPDX-License-Identifier: BSD-3-Clause
// Poisson's equation: known errors and orders, eigenvalues, singular operators.
#include <numbers>

#include "problems/system.hpp"

namespace hyperplane::test {
namespace {

/// A u for u(p) = value(p).
template <class Value>
Vector image(const System& system, const Value& value) {
    Vector u = system.vector(), v = system.vector();
    for (Index row = 0; row < system.layout.slots(); ++row) {
        const Int3 p = system.layout.grid().point(row);
        u(p) = value(p);
    }
    system.matrix().apply(u, v);
    return v;
}

/// The errors of Bueler's manuexp with 17, 33 and 65 nodes a side, as measured with an independent trial code.
TEST(PoissonNodes, ManuexpErrorsAreTheKnownOnes) {
    const std::pair<const char*, double> known[] = {{"17", 6.03e-5}, {"33", 1.522e-5}, {"65", 3.81e-6}};
    double previous = 0.0;
    for (const auto& [cells, error] : known) {
        const double found = solved_error(*make_problem("poisson", {{"grid.cells", cells}}));
        EXPECT_NEAR(found, error, 0.02 * error) << cells;
        if (previous > 0.0) {
            EXPECT_NEAR(std::log2(previous / found), 2.0, 0.1) << cells;
        }
        previous = found;
    }
}

TEST(PoissonNodes, DroppedBoundaryRowsGiveTheSameSolution) {
    const double keep = solved_error(*make_problem("poisson", {{"grid.cells", "17"}}));
    const double drop =
        solved_error(*make_problem("poisson", {{"grid.cells", "15"}, {"problem.boundary_rows", "drop"}}));
    EXPECT_NEAR(keep, drop, 1e-9);  // both are about 6e-5, and the solver stops at a relative residual of 1e-11
}

/// Second order with unequal spacings and coefficients, in one, two and three dimensions.
TEST(Poisson, AnisotropicProblemsConvergeWithOrderTwo) {
    struct Refinement {
        const char *rows, *coarse, *fine;
    };
    for (const Refinement& r : {Refinement{"node", "9 17 13", "17 33 25"}, Refinement{"node", "17 9 1", "33 17 1"},
                                Refinement{"node", "1 17 1", "1 33 1"}, Refinement{"node", "1 9 17", "1 17 33"},
                                Refinement{"cell", "8 16 12", "16 32 24"}, Refinement{"cell", "16 8 1", "32 16 1"},
                                Refinement{"cell", "1 1 16", "1 1 32"}, Refinement{"cell", "1 8 16", "1 16 32"}})
        for (const char* rhs : {"manuexp", "manupoly"}) {
            const auto error = [&](const char* cells) {
                return solved_error(*make_problem("poisson", {{"grid.cells", cells},
                                                              {"grid.lengths", "0.8 1 1.2"},
                                                              {"problem.discretisation", r.rows},
                                                              {"problem.coefficient", "aniso"},
                                                              {"problem.coefficient_scale", "1 2 0.5"},
                                                              {"problem.right_hand_side", rhs}}),
                                    "rms");
            };
            EXPECT_NEAR(std::log2(error(r.coarse) / error(r.fine)), 2.0, 0.15) << r.rows << " " << r.fine << " " << rhs;
        }
}

TEST(PoissonNodes, SineIsAnEigenvector) {
    const auto problem = make_problem("poisson", {{"grid.cells", "20"}, {"problem.boundary_rows", "drop"}});
    const System system(*problem);
    const double h = 1.0 / 21;
    const int p = 3, q = 1, r = 7;
    const auto mode = [&](Int3 at) {
        return std::sin(p * std::numbers::pi * h * (at.x + 1)) * std::sin(q * std::numbers::pi * h * (at.y + 1)) *
               std::sin(r * std::numbers::pi * h * (at.z + 1));
    };
    double lambda = 0.0;
    for (int m : {p, q, r}) lambda += 2 - 2 * std::cos(m * std::numbers::pi * h);
    const Vector v = image(system, mode);
    for (Index row = 0; row < system.layout.slots(); ++row) {
        const Int3 at = system.layout.grid().point(row);
        ASSERT_NEAR(v(at), lambda * mode(at), 1e-12);
    }
}

/// Along periodic axes waves are eigenvectors, on cells and on nodes.
TEST(Poisson, WavesAreEigenvectorsAlongPeriodicAxes) {
    for (const char* discretisation : {"node", "cell"}) {
        const auto problem = make_problem("poisson", {{"grid.cells", "12 16 1"},
                                                      {"grid.periodic", "x y"},
                                                      {"grid.lengths", "1 2 1"},
                                                      {"problem.discretisation", discretisation}});
        ASSERT_TRUE(problem->shape().constant_null_space);
        const System system(*problem);
        const double hx = 1.0 / 12, hy = 2.0 / 16;
        const double unit = discretisation == std::string("node") ? hx * hy : hx * hy * 1.0;  // h^2, or the volume
        const auto mode = [&](Int3 at) {
            return std::cos(2 * std::numbers::pi * 2 * at.x / 12.0 + 0.3) *
                   std::sin(2 * std::numbers::pi * 3 * at.y / 16.0);
        };
        const double lambda = unit * ((2 - 2 * std::cos(2 * std::numbers::pi * 2 / 12.0)) / (hx * hx) +
                                      (2 - 2 * std::cos(2 * std::numbers::pi * 3 / 16.0)) / (hy * hy));
        const Vector v = image(system, mode);
        for (Index row = 0; row < system.layout.slots(); ++row) {
            const Int3 at = system.layout.grid().point(row);
            ASSERT_NEAR(v(at), lambda * mode(at), 1e-12) << discretisation;
        }
    }
}

/// The errors for u = sin(pi x) sin(pi y) sin(2 pi z) with 32 and 64 interior nodes a side, as measured with an
/// independent trial code.
TEST(PoissonBox27, ErrorsAreTheKnownOnes) {
    struct Known {
        const char* weights;
        double at32, at64, order;
    };
    for (const Known& known : {Known{"hpcg", 6.8e-3, 1.75e-3, 2.0}, Known{"q1", 6.8e-3, 1.75e-3, 2.0},
                               Known{"mehr", 1.23e-5, 8.2e-7, 4.0}}) {
        const auto error = [&](const char* cells) {
            return solved_error(*make_problem("poisson", {{"grid.cells", cells},
                                                          {"problem.boundary_rows", "drop"},
                                                          {"problem.stencil", "box27"},
                                                          {"problem.box27_weights", known.weights},
                                                          {"problem.right_hand_side", "manusin"}}));
        };
        const double coarse = error("32"), fine = error("64");
        EXPECT_NEAR(coarse, known.at32, 0.01 * known.at32) << known.weights;
        EXPECT_NEAR(fine, known.at64, 0.01 * known.at64) << known.weights;
        EXPECT_NEAR(std::log2(coarse / fine) / std::log2(65.0 / 33.0), known.order, 0.1) << known.weights;
    }
}

/// The boundary values of all 26 neighbours must enter the right-hand side.
TEST(PoissonBox27, MehrKeepsFourthOrderWithBoundaryValues) {
    const auto error = [](const char* cells, const char* rhs) {
        return solved_error(*make_problem("poisson", {{"grid.cells", cells},
                                                      {"problem.stencil", "box27"},
                                                      {"problem.box27_weights", "mehr"},
                                                      {"problem.right_hand_side", rhs}}));
    };
    for (const char* rhs : {"manuexp", "manusin"})
        EXPECT_NEAR(std::log2(error("9", rhs) / error("17", rhs)), 4.0, 0.2) << rhs;
}

TEST(PoissonBox27, HpcgIs26AndMinusOne) {
    const auto problem =
        make_problem("poisson", {{"grid.cells", "4"}, {"problem.boundary_rows", "drop"}, {"problem.stencil", "box27"}});
    const StructMatrix a = System(*problem).matrix();
    for (int e = 0; e < 27; ++e) EXPECT_EQ(a.at({1, 1, 1}, e), e == 13 ? 26.0 : -1.0) << e;
    EXPECT_EQ(a.nonzeros(), 10 * 10 * 10);  // (3 n - 2)^3
}

TEST(Poisson, RightHandSideOfOnesMeansSolutionOne) {
    for (const char* discretisation : {"node", "cell"}) {
        const auto problem = make_problem(
            "poisson",
            {{"grid.cells", "8"}, {"problem.discretisation", discretisation}, {"problem.right_hand_side", "xones"}});
        EXPECT_LT(solved_error(*problem), 1e-9) << discretisation;
    }
}

TEST(Poisson, InitialStateSatisfiesBoundaryRows) {
    const auto problem = make_problem("poisson", {{"grid.cells", "6 5 7"}});
    const System system(*problem);
    const Vector u = system.initial(), f = system.residual(u, u);
    for (Index row = 0; row < system.layout.slots(); ++row) {
        const Int3 p = system.layout.grid().point(row);
        const bool boundary = p.x % 5 == 0 || p.y % 4 == 0 || p.z % 6 == 0;
        if (boundary) {
            EXPECT_EQ(f(p), 0.0);
        } else {
            EXPECT_EQ(u(p), 0.0);
        }
    }
}

TEST(Poisson, RandomSourceFollowsItsSeed) {
    const auto source = [](const char* seed) {
        const auto problem = make_problem(
            "poisson", {{"grid.cells", "6"}, {"problem.right_hand_side", "random"}, {"problem.seed", seed}});
        const System system(*problem);
        return system.residual(system.initial(), system.initial());
    };
    EXPECT_EQ(max_difference(source("7"), source("7")), 0.0);
    EXPECT_GT(max_difference(source("7"), source("8")), 1e-3);
}

/// Fluxes across a jump of K, T = 2 Ka Kb / (Ka + Kb), computed by hand for three cells along x.
TEST(PoissonCells, ThreeCellsByHand) {
    InputFiles files;
    files.doubles = [](const std::string&, Index) { return std::vector<double>{1, 3, 1, 1, 1, 1, 1, 1, 1}; };
    const auto problem = make_problem("poisson",
                                      {{"grid.cells", "3 1 1"},
                                       {"grid.lengths", "3 1 1"},
                                       {"problem.discretisation", "cell"},
                                       {"problem.coefficient", "file"},
                                       {"problem.coefficient_file", "k"}},
                                      files);
    const StructMatrix a = System(*problem).matrix();
    const double expected[3][3] = {{0.0, 3.5, -1.5}, {-1.5, 3.0, -1.5}, {-1.5, 3.5, 0.0}};
    for (int i = 0; i < 3; ++i)
        for (int side = -1; side <= 1; ++side) EXPECT_EQ(a.at({i, 0, 0}, 3 + side), expected[i][side + 1]) << i;
}

}  // namespace
}  // namespace hyperplane::test
