// SPDX-License-Identifier: BSD-3-Clause
// The cycles of multigrid: symmetry, errors whose energy never rises, the same bits for any number of threads,
// smoothers and null spaces.
#include <gtest/gtest.h>

#include "core/vector/blas1.hpp"
#include "on_device.hpp"
#include "precond/multigrid/check.hpp"
#include "precond/multigrid_cases.hpp"
#include "precond/support.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;

std::vector<double> times(const StructMatrix& a, const std::vector<double>& x) {
    Vector y(a.context(), a.layout(), a.dof(), "y");
    a.apply(reference::to_vector(a.context(), a.layout(), a.dof(), x), y);
    return reference::from_vector(y);
}

/// e = e - M^-1 A e
void correct(const Preconditioner& m, const StructMatrix& a, std::vector<double>& e) {
    const std::vector<double> step = apply(m, a, times(a, e));
    for (std::size_t at = 0; at < e.size(); ++at) e[at] -= step[at];
}

constexpr const char* fixed_smoothers[] = {"struct_ilu", "fgbilu",          "jacobi_sweeps", "par_ilu",
                                           "multicolor", "subdomain_ildu0", "chebyshev",     "jacobi"};

TEST(MultigridCycles, AreSymmetricWhereTheyClaimItAndMakeTheEnergyOfErrorsSmaller) {
    for (const char* smoother : fixed_smoothers)
        for (const Settings& settings :
             {Settings{}, Settings{{"cycle", "w"}}, Settings{{"pre_smoothing", "2"}, {"post_smoothing", "2"}}})
            for (const int dof : {1, 3}) {
                SCOPED_TRACE(std::string(smoother) + " dof " + std::to_string(dof) +
                             (settings.empty() ? "" : " " + settings[0].second));
                const StructMatrix a = random_system(Context::cpu(1), "star7", {9, 7, 6}, dof, true);
                const auto m = make_multigrid(a, multigrid_keys(settings, smoother));
                m->setup(a);
                ASSERT_GE(dynamic_cast<const Multigrid&>(*m).hierarchy().size(), 3);
                EXPECT_TRUE(m->traits().symmetric);
                reference::Random random(13);
                const std::vector<double> x = random.vector(int(a.unknowns())), y = random.vector(int(a.unknowns()));
                const std::vector<double> mx = apply(*m, a, x), my = apply(*m, a, y);
                EXPECT_NEAR(dot(y, mx), dot(x, my), 1e-13 * std::sqrt(dot(x, x) * dot(my, my)));
                EXPECT_GT(dot(x, mx), 0.0);
                std::vector<double> e = x;
                for (int step = 0; step < 8; ++step) {
                    const double before = dot(e, times(a, e));
                    correct(*m, a, e);
                    EXPECT_LT(dot(e, times(a, e)), before);
                }
            }
}

TEST(MultigridCycles, NeverRaiseTheEnergyWhereCoefficientsJump) {
    for (const char* smoother : fixed_smoothers)
        for (const double contrast : {1e-6, 1.0, 1e6}) {
            SCOPED_TRACE(std::string(smoother) + " contrast " + std::to_string(contrast));
            const StructMatrix a = laplacian(Context::cpu(1), {17, 9, 11}, {1.0, 0.1, 30.0}, 0.0, true, contrast);
            const auto m = make_multigrid(a, multigrid_keys({}, smoother));
            m->setup(a);
            std::vector<double> e = reference::Random(14).vector(int(a.unknowns()));
            for (int step = 0; step < 12; ++step) {
                const double before = dot(e, times(a, e));
                correct(*m, a, e);
                EXPECT_LE(dot(e, times(a, e)), before * (1.0 + 1e-12));
            }
        }
}

TEST(MultigridCycles, HaveTheSameBitsForAnyNumberOfThreads) {
    for (const int dof : {1, 2, 5})
        for (const bool symmetric : {false, true})
            for (const LayoutKind kind : layout_kinds) {
                std::vector<std::vector<double>> results;
                for (const int threads : {1, 2, 3}) {
                    const StructMatrix a = random_system(Context::cpu(), "star7", {9, 7, 5}, dof, symmetric, kind);
                    const SeveralThreads several(a.context(), threads);
                    const auto m = make_multigrid(a, multigrid_keys({{"cycle", "w"}}));
                    m->setup(a);
                    results.push_back(apply(*m, a, reference::Random(16).vector(int(a.unknowns()))));
                }
                EXPECT_EQ(results[0], results[1]);
                EXPECT_EQ(results[0], results[2]);
            }
}

/// b of the next grid from both forms, on random b and x, for one to three threads; cycles take the one in one pass
/// where lines are equal.
void expect_equal_restrictions(const StructMatrix& a, const Settings& settings, bool taken) {
    const auto m = make_multigrid(a, multigrid_keys(settings));
    m->setup(a);
    multigrid::Hierarchy& h = dynamic_cast<Multigrid&>(*m).hierarchy();
    const auto random = [&](int seed) {
        return reference::to_vector(a.context(), a.layout(), a.dof(),
                                    reference::Random(seed).vector(int(a.unknowns())));
    };
    const Vector b = random(31), x = random(32);
    h.residual(0, b, x);
    h.restrict_from(0, b);
    const std::vector<double> apart = reference::from_vector(h[1].b);
    for (const int threads : {1, 2, 3}) {
        const SeveralThreads several(a.context(), threads);
        EXPECT_EQ(h.restricts_residual(0), taken);
        fill(h[1].b, NAN);
        h.restrict_residual(0, b, x);
        EXPECT_EQ(reference::from_vector(h[1].b), apart) << threads << " threads";
    }
}

TEST(MultigridCycles, RestrictAResidualPlaneByPlaneWithTheSameBits) {
    expect_equal_restrictions(random_system(Context::cpu(1), "star7", {33, 5, 25}, 1, true), {}, false);
    expect_equal_restrictions(random_system(Context::cpu(1), "star7", {40, 4, 24}, 2, false), {}, false);
    for (const int weak : {0, 1, 2}) {  // that axis is not coarsened
        std::array<double, 3> coupling{1.0, 1.0, 1.0};
        coupling[weak] = 1e-3;
        expect_equal_restrictions(laplacian(Context::cpu(1), {37, 9, 25}, coupling, 0.0, true),
                                  {{"storage", weak == 1 ? "single" : "double"}}, true);
    }
}

TEST(MultigridCycles, RestrictAResidualApartWhereThreadsWouldHaveFewPlanesOrLinesAreShort) {
    for (const reference::Box box : {reference::Box{33, 9, 23}, {31, 9, 25}}) {
        const StructMatrix a = laplacian(Context::cpu(), box, {1.0, 1.0, 1.0}, 0.0, true);
        const SeveralThreads several(a.context(), box.nx == 33 ? 4 : 1);
        const auto m = make_multigrid(a, multigrid_keys({}));
        m->setup(a);
        EXPECT_FALSE(dynamic_cast<Multigrid&>(*m).hierarchy().restricts_residual(0));
    }
}

TEST(MultigridCycles, PassTheirCheckWithEverySmootherAndNumberOfUnknowns) {
    for (const PreconditionerRow& row : smoothers())
        for (const int dof : reference::small_dofs)
            for (const bool symmetric : {false, true})
                for (const char* cycle : {"v", "w", "f"}) {
                    SCOPED_TRACE(row.name + " dof " + std::to_string(dof) + " " + cycle +
                                 (symmetric ? " symmetric" : ""));
                    const StructMatrix a = random_system(Context::cpu(1), "star7", {7, 5, 4}, dof, symmetric);
                    const Parameters keys = multigrid_keys({{"cycle", cycle}}, row.name);
                    if (row.name == "cusparse_ilu") {
                        EXPECT_THROW(make_multigrid(a, keys), Error);
                        continue;
                    }
                    if (row.needs_symmetry && !symmetric) {
                        expect_error<UsageError>([&] { make_multigrid(a, keys); },
                                                 "smoother.name = " + row.name + " needs a symmetric matrix");
                        continue;
                    }
                    const auto m = make_multigrid(a, keys);
                    m->setup(a);
                    EXPECT_EQ(m->traits().symmetric, symmetric && cycle != std::string("f"));
                    Vector r = reference::to_vector(a.context(), a.layout(), dof,
                                                    reference::Random(17).vector(int(a.unknowns())));
                    Vector z(a.context(), a.layout(), dof, "z");
                    m->apply(r, z);
                    const ApplicationCheck right = m->check_application(a, r, z, {});
                    EXPECT_EQ(right.unchecked, "");
                    EXPECT_LE(right.error, 1e-12);
                    z({3, 2, 1}, 0) += 1e-6;
                    EXPECT_FALSE(m->check_application(a, r, z, {}).passed());
                    z({3, 2, 1}, 0) = NAN;
                    EXPECT_FALSE(m->check_application(a, r, z, {}).passed());
                }
}

TEST(MultigridCycles, InReducedPrecisionDifferByItsRounding) {
    for (const LayoutKind kind : layout_kinds)
        for (const int dof : {1, 2}) {
            const StructMatrix a = random_system(Context::cpu(1), "star7", {17, 13, 11}, dof, true, kind);
            const std::vector<double> r = reference::Random(20).vector(int(a.unknowns()));
            const auto result = [&](const Settings& settings, Index& bytes) {
                const auto m = make_multigrid(a, multigrid_keys(settings));
                m->setup(a);
                m->setup(a);  // a second set-up begins with rounded values
                bytes = dynamic_cast<const Multigrid&>(*m).hierarchy().bytes();
                Vector z(a.context(), a.layout(), dof, "z");
                m->apply(reference::to_vector(a.context(), a.layout(), dof, r), z);
                const ApplicationCheck right =
                    m->check_application(a, reference::to_vector(a.context(), a.layout(), dof, r), z, {});
                EXPECT_LE(right.error, 1e-12);
                return reference::from_vector(z);
            };
            Index in_double = 0, in_single = 0, from_one = 0, in_half = 0;
            const std::vector<double> z = result({}, in_double);
            const auto difference = [&](const std::vector<double>& other) {
                return reference::relative_difference(other, z);
            };
            const double single = difference(result({{"storage", "single"}}, in_single));
            EXPECT_GT(single, 1e-10);
            EXPECT_LT(single, 1e-6);
            EXPECT_LT(difference(result({{"storage", "single"}, {"storage_from", "1"}}, from_one)), 1e-6);
            const double half = difference(result({{"storage", "half_scaled"}}, in_half));
            EXPECT_GT(half, 1e-6);
            EXPECT_LT(half, 1e-2);
            EXPECT_LT(in_single, from_one);
            EXPECT_LT(from_one, in_double);
            EXPECT_EQ(in_half, in_single) << "weights are in single precision";
        }
}

TEST(MultigridCycles, TakeAnotherSmootherOnCoarseGrids) {
    const StructMatrix a = random_system(Context::cpu(1), "star7", {17, 13, 11}, 1, true);
    const auto m = make_multigrid(a, multigrid_keys({{"coarse_smoother", "jacobi"}}));
    m->setup(a);
    const auto& h = dynamic_cast<const Multigrid&>(*m).hierarchy();
    const auto is_jacobi = [&](int grid) {
        const StructMatrix& of = h.matrix(grid);
        Vector x(of.context(), of.layout(), 1, "x"), y(of.context(), of.layout(), 1, "y");
        x({0, 0, 0}) = 1.0;
        h[grid].smoother.preconditioner().apply(x, y);
        return y({1, 0, 0}) == 0.0;
    };
    EXPECT_FALSE(is_jacobi(0));
    for (int grid = 1; grid + 1 < h.size(); ++grid) EXPECT_TRUE(is_jacobi(grid));
    EXPECT_TRUE(m->traits().symmetric);
    expect_error<UsageError>(
        [&] {
            make_multigrid(a, multigrid_keys({{"coarse_smoother", "multigrid"}}));
        },
        "no smoother is called 'multigrid'");
    expect_error<UsageError>(
        [&] {
            make_multigrid(a, multigrid_keys({{"storage_from", "2"}}));
        },
        "means nothing with preconditioner.storage = double");
}

/// k steps of l1 Jacobi from zero, from the definition.
std::vector<double> l1_jacobi(const StructMatrix& a, const std::vector<double>& b, int steps) {
    const CsrMatrix csr = a.to_csr();
    std::vector<double> x(b.size(), 0.0);
    for (int step = 0; step < steps; ++step) {
        std::vector<double> next = x;
        for (Index row = 0; row < csr.rows; ++row) {
            double l1 = 0.0, r = b[row];
            for (Index at = csr.row_begin[row]; at < csr.row_begin[row + 1]; ++at) {
                l1 += csr.column[at] == row ? csr.value[at] : std::abs(csr.value[at]);
                r -= csr.value[at] * x[csr.column[at]];
            }
            next[row] += r / l1;
        }
        x = next;
    }
    return x;
}

TEST(MultigridCycles, SolveOnTheCoarsestGridByJacobi) {
    const StructMatrix only = random_system(Context::cpu(1), "star7", {7, 5, 4}, 1, true);
    for (const int sweeps : {1, 2, 7}) {
        const auto m = make_multigrid(
            only,
            multigrid_keys({{"grids", "1"}, {"coarsest", "jacobi"}, {"coarsest_sweeps", std::to_string(sweeps)}}));
        m->setup(only);
        const std::vector<double> r = reference::Random(21).vector(int(only.unknowns()));
        EXPECT_LE(reference::relative_difference(apply(*m, only, r), l1_jacobi(only, r, sweeps)), 1e-14);
    }
    for (const char* cycle : {"v", "w"})
        for (const int dof : {1, 3})
            for (const Box& box : {Box{17, 13, 11}, Box{12, 8, 6, {true, false, true}}}) {
                SCOPED_TRACE(std::string(cycle) + " dof " + std::to_string(dof) + " " + name_of(box));
                const StructMatrix a = random_system(Context::cpu(1), "star7", box, dof, true);
                const auto m = make_multigrid(a, multigrid_keys({{"coarsest", "jacobi"}, {"cycle", cycle}}));
                for (int setups = 0; setups < 2; ++setups) {
                    m->setup(a);
                    EXPECT_TRUE(m->traits().symmetric);
                    reference::Random random(13);
                    const std::vector<double> x = random.vector(int(a.unknowns())),
                                              y = random.vector(int(a.unknowns()));
                    const std::vector<double> mx = apply(*m, a, x), my = apply(*m, a, y);
                    EXPECT_NEAR(dot(y, mx), dot(x, my), 1e-13 * std::sqrt(dot(x, x) * dot(my, my)));
                    EXPECT_GT(dot(x, mx), 0.0);
                    Vector z(a.context(), a.layout(), dof, "z");
                    const Vector r = reference::to_vector(a.context(), a.layout(), dof, x);
                    m->apply(r, z);
                    EXPECT_LE(m->check_application(a, r, z, {}).error, 1e-12);
                    std::vector<double> e = x;
                    for (int step = 0; step < 4; ++step) {
                        const double before = dot(e, times(a, e));
                        correct(*m, a, e);
                        EXPECT_LT(dot(e, times(a, e)), before);
                    }
                }
            }
    // A grid that is too large for a dense solve, and keys that do not belong together.
    const StructMatrix large = random_system(Context::cpu(1), "star7", {33, 33, 33}, 1, true);
    const auto m = make_multigrid(large, multigrid_keys({{"grids", "2"}, {"coarsest", "jacobi"}}));
    m->setup(large);
    EXPECT_EQ(dynamic_cast<const Multigrid&>(*m).hierarchy().size(), 2);
    expect_error<UsageError>(
        [&] {
            Parameters keys = multigrid_keys({});
            keys.set("preconditioner", "coarsest_sweeps", "3", {Provenance::Source::deck, "a.ini", 7});
            make_multigrid(large, keys);
        },
        "means nothing with preconditioner.coarsest = dense");
}

TEST(MultigridCycles, ReduceErrorsOfEveryStencilAndBox) {
    for (const auto& stencil : reference::all_stencils())
        for (const Box& box : {Box{11, 9, 7}, Box{13, 12, 1}, Box{1, 1, 40}, Box{12, 7, 5, {true, false, true}},
                               Box{11, 10, 9, {true, true, true}}})
            for (const bool symmetric : {false, true}) {
                SCOPED_TRACE(stencil.name + " " + name_of(box) + (symmetric ? " symmetric" : ""));
                const StructMatrix a = random_system(Context::cpu(1), stencil.name, box, 2, symmetric);
                const auto m = make_multigrid(a, multigrid_keys({}));
                m->setup(a);
                std::vector<double> e = reference::Random(18).vector(int(a.unknowns()));
                const double before = dot(e, e);
                for (int step = 0; step < 4; ++step) correct(*m, a, e);
                EXPECT_LT(dot(e, e), 1e-2 * before);
            }
}

TEST(MultigridCycles, ProjectConstantsOutOfPureNeumannProblems) {
    for (const Box& box : {Box{17, 9, 11}, Box{12, 8, 6, {true, true, true}}}) {
        const StructMatrix a = laplacian(Context::cpu(1), box, {1.0, 1.0, 1.0}, 0.0, false);
        const auto m = make_multigrid(a, multigrid_keys({}));
        m->setup(a);
        std::vector<double> e = reference::Random(19).vector(int(a.unknowns()));
        const auto deviation = [&] {
            double mean = 0.0, square = 0.0;
            for (const double value : e) mean += value / double(e.size());
            for (const double value : e) square += (value - mean) * (value - mean);
            return std::sqrt(square);
        };
        const double before = deviation();
        for (int step = 0; step < 8; ++step) correct(*m, a, e);
        EXPECT_LT(deviation(), (box.periodic[0] ? 0.3 : 1e-3) * before)
            << "across periodic boundaries ILU drops couplings";
        for (const double value : e) EXPECT_TRUE(std::isfinite(value));
    }
}

}  // namespace
}  // namespace hyperplane
