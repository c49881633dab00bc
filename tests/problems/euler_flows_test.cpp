// SPDX-License-Identifier: BSD-3-Clause
// The Euler equations in time: a vortex and a shock tube with known errors, and conservation.
#include "problems/euler.hpp"
#include "problems/system.hpp"

namespace hyperplane::test {
namespace {

/// The error of one explicit step is that of the fluxes, which is of second order.
TEST(Euler, VortexIsCarriedAlongExactly) {
    const auto error = [](const char* cells) {
        const auto problem = make_problem(
            "euler", {{"grid.cells", cells}, {"problem.case", "vortex"}, {"problem.reconstruction", "kappa"}});
        const System system(*problem);
        const double t = 1e-4;
        Vector rate = system.vector();
        problem->residual(system.initial(), {.time = 0.0}, rate);  // -dU/dt
        Vector u = system.initial();
        for (Index at = 0; at < u.size(); ++at) u.data()[at] -= t * rate.data()[at];
        for (const ErrorNorm& norm : problem->errors(u, t))
            if (norm.name == "l1") return norm.value;
        return 1.0;
    };
    EXPECT_GE(std::log2(error("40 40 1") / error("80 80 1")), 1.9);
}

/// Time steps of BDF2 from the initial state to `end`, the first of implicit Euler; each is solved by Newton's method
/// until the residual is reduced by `rtol`.
Vector march(const Problem& problem, double end, double rtol) {
    System system(problem);
    Vector u = system.initial(), old = system.initial(), older = system.initial();
    double time = 0.0, before = 0.0;
    const auto copy = [](const Vector& from, Vector& to) { std::copy_n(from.data(), from.size(), to.data()); };
    for (Index step = 1; time < end * (1 - 1e-12); ++step) {
        const double left = end - time, wanted = problem.time_step(u), dt = left / std::ceil(left / wanted);
        copy(old, older);
        copy(u, old);
        system.level =
            step == 1 ? implicit_euler(step, time + dt, dt, old) : bdf2(step, time + dt, dt, before, old, older);
        system.older = &older;
        double first = 0.0;
        for (int k = 0; k < 15; ++k) {
            const Vector f = system.residual(u, old);
            const double norm = std::sqrt(dot_product(f, f));
            if (k == 0) first = norm;
            if (norm <= rtol * first) break;
            Vector du = solve_newton_step(system, system.copy(u), old, 1e-3);
            for (Index at = 0; at < du.size(); ++at) du.data()[at] -= u.data()[at];
            const double s = problem.admissible_step(u, du);
            for (Index at = 0; at < du.size(); ++at) u.data()[at] += s * du.data()[at];
        }
        time += dt;
        before = dt;
    }
    return u;
}

double density_error(const Keys& keys, double end) {
    const auto problem = make_problem("euler", keys);
    for (const ErrorNorm& norm : problem->errors(march(*problem, end, 1e-4), end))
        if (norm.name == "l1") return norm.value;
    return 1.0;
}

/// The isentropic vortex at t = 2 with Courant number 1 has the errors that an independent trial code of the same
/// scheme had, with 40 and 80 cells a side. Finer grids are in inputs/validation/.
TEST(Euler, VortexErrorsAreTheKnownOnes) {
    struct Known {
        const char *flux, *reconstruction, *key, *value;
        double coarse, fine;  ///< fine = 0: not tested here, but by a deck
    };
    for (const Known& known : {Known{"hllc", "kappa", "problem.kappa", "-1", 2.14e-3, 0.0},
                               Known{"hllc", "kappa", "problem.kappa", "0.3333333333333333", 5.98e-4, 0.0},
                               Known{"hllc", "van_albada", "problem.limiter_epsilon", "1e-2", 1.03e-3, 1.87e-4},
                               Known{"rusanov", "kappa", "problem.kappa", "-1", 3.26e-3, 0.0}}) {
        const auto error = [&](const char* cells) {
            return density_error({{"grid.cells", cells},
                                  {"problem.case", "vortex"},
                                  {"problem.flux", known.flux},
                                  {"problem.reconstruction", known.reconstruction},
                                  {known.key, known.value},
                                  {"time.cfl", "1"}},
                                 2.0);
        };
        const double coarse = error("40 40 1");
        EXPECT_NEAR(coarse, known.coarse, 0.01 * known.coarse) << known.flux << " " << known.value;
        if (known.fine == 0.0) continue;
        const double fine = error("80 80 1");
        EXPECT_NEAR(fine, known.fine, 0.01 * known.fine);
        EXPECT_GE(std::log2(coarse / fine), 1.9);
    }
}

/// Sod's tube at t = 0.2 with 100 and 200 cells and Courant number 1/2 has the errors of the same trial code.
TEST(Euler, ShockTubeErrorsAreTheKnownOnes) {
    for (const char* flux : {"hllc", "rusanov"})
        for (int level : {0, 1}) {
            const double known = flux == std::string("hllc") ? (level == 0 ? 6.7e-3 : 3.4e-3)
                                 : level == 0                ? 8.3e-3
                                                             : 4.3e-3;
            const double found = density_error({{"grid.cells", level == 0 ? "100 1 1" : "200 1 1"},
                                                {"problem.case", "sod"},
                                                {"problem.flux", flux},
                                                {"problem.limiter_epsilon", "1e-6"},
                                                {"time.cfl", "0.5"}},
                                               0.2);
            EXPECT_NEAR(found, known, 0.2 * known) << flux << " " << level;
        }
}

/// No wave has reached the ends of the tube: the mass is conserved up to the residual of Newton's method.
TEST(Euler, ShockTubeKeepsItsMass) {
    const auto problem =
        make_problem("euler", {{"grid.cells", "100 1 1"}, {"problem.case", "sod"}, {"time.cfl", "0.5"}});
    const double before = problem->diagnostics(System(*problem).initial()).at(0).value;
    EXPECT_NEAR(problem->diagnostics(march(*problem, 0.2, 1e-10)).at(0).value, before, 1e-8 * before);
}

/// Between walls, mass and energy are conserved up to the residual of Newton's method.
TEST(Euler, BlastBetweenWallsKeepsMassAndEnergy) {
    const auto problem = make_problem("euler", {{"grid.cells", "10"}, {"problem.case", "blast"}, {"time.cfl", "1"}});
    const auto before = problem->diagnostics(System(*problem).initial());
    const auto after = problem->diagnostics(march(*problem, 0.02, 1e-11));
    for (int at : {0, 4}) EXPECT_NEAR(after[at].value, before[at].value, 1e-10 * before[at].value) << after[at].name;
    EXPECT_GT(after[5].value, 1e-4) << "something moved";
}

/// A ball of high pressure between the centres of all cells is in no cell: nothing would happen.
TEST(Euler, BlastThatNoCellHasIsWarnedOf) {
    const struct {
        const char *cells, *lengths, *needed;  // nothing is needed where some cell has it
    } cases[] = {{"8", "1", " 9 cells"}, {"9", "1", ""},         {"10", "1", ""},         {"8 8 1", "1", ""},
                 {"6 6 1", "1", " 8 "},  {"8", "1 2 4", " 23 "}, {"22", "1 2 4", " 23 "}, {"23", "1 2 4", ""},
                 {"24", "1 2 4", ""},    {"7 8 9", "1", ""}};
    for (const auto& [cells, lengths, needed] : cases) {
        const auto problem =
            make_problem("euler", {{"grid.cells", cells}, {"grid.lengths", lengths}, {"problem.case", "blast"}});
        const Vector u = System(*problem).initial();
        bool uniform = true;
        for (Index at = 0; at < problem->shape().grid.points(); ++at)
            uniform = uniform && u(problem->shape().grid.point(at), 4) == u(Int3{}, 4);
        const std::vector<std::string> warnings = problem->warnings();
        EXPECT_EQ(warnings.size(), uniform ? 1u : 0u) << cells << ", " << lengths;
        EXPECT_EQ(uniform, *needed != 0) << cells << ", " << lengths;
        for (const std::string& warning : warnings) EXPECT_NE(warning.find(needed), warning.npos) << warning;
    }
    EXPECT_TRUE(make_problem("euler", {{"grid.cells", "8"}})->warnings().empty());
}

}  // namespace
}  // namespace hyperplane::test
