// SPDX-License-Identifier: BSD-3-Clause
// Cycles of multigrid whose vectors are in single precision: they are those in double precision but for its rounding,
// whatever the size of what enters.
#include <gtest/gtest.h>

#include "core/vector/blas1.hpp"
#include "precond/multigrid/check.hpp"
#include "precond/multigrid/jumps.hpp"
#include "precond/multigrid_cases.hpp"
#include "precond/support.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;

Settings single(Settings more = {}) {
    more.insert(more.end(), {{"storage", "single"}, {"vectors", "single"}});
    return more;
}

std::vector<double> random_values(const StructMatrix& a, int seed) {
    return reference::Random(seed).vector(int(a.unknowns()));
}

/// What a cycle with these keys gives, and its check.
std::vector<double> cycle(const StructMatrix& a, const Parameters& keys, const std::vector<double>& r) {
    const auto m = make_multigrid(a, keys);
    m->setup(a);
    m->setup(a);  // again in the same memory
    Vector z(a.context(), a.layout(), a.dof(), "z");
    const Vector x = reference::to_vector(a.context(), a.layout(), a.dof(), r);
    m->apply(x, z);
    const ApplicationCheck right = m->check_application(a, x, z, {});
    EXPECT_EQ(right.unchecked, "");
    EXPECT_TRUE(right.passed()) << right.error;
    EXPECT_LE(right.error, 3e-6);
    return reference::from_vector(z);
}

void expect_rounding(const StructMatrix& a, const std::string& smoother, const Settings& settings) {
    const std::vector<double> r = random_values(a, 31);
    const std::vector<double> z = cycle(a, multigrid_keys(single(settings), smoother), r);
    Settings in_double = settings;
    in_double.push_back({"storage", "single"});
    const double difference =
        reference::relative_difference(z, apply(
                                              *[&] {
                                                  auto m = make_multigrid(a, multigrid_keys(in_double, smoother));
                                                  m->setup(a);
                                                  return m;
                                              }(),
                                              a, r));
    const bool everywhere = std::none_of(settings.begin(), settings.end(),
                                         [](const auto& setting) { return setting.first == "storage_from"; });
    if (everywhere) {
        EXPECT_GT(difference, 1e-10) << "nothing was rounded";
    }
    EXPECT_LT(difference, 3e-6);
}

TEST(MultigridSingleVectors, DifferFromDoubleOnesByRoundingWithEverySmoother) {
    for (const PreconditionerRow& row : smoothers())
        for (const int dof : {1, 2})
            for (const bool symmetric : {false, true}) {
                if (row.name == "cusparse_ilu" || (row.needs_symmetry && !symmetric)) continue;
                SCOPED_TRACE(row.name + " dof " + std::to_string(dof) + (symmetric ? " symmetric" : ""));
                expect_rounding(random_system(Context::cpu(1), "star7", {19, 13, 11}, dof, symmetric), row.name, {});
            }
}

TEST(MultigridSingleVectors, DifferFromDoubleOnesByRoundingOnEveryGridAndCycle) {
    for (const Box& box :
         {Box{33, 18, 1}, Box{1, 1, 80}, Box{12, 7, 5, {true, false, true}}, Box{40, 9, 8}, Box{9, 17, 8}})
        for (const char* stencil : {"star7", "box27"})
            for (const LayoutKind kind : layout_kinds)
                for (const bool symmetric : {false, true})
                    for (const Settings& settings :
                         {Settings{}, Settings{{"cycle", "w"}}, Settings{{"cycle", "f"}, {"post_smoothing", "2"}},
                          Settings{{"storage_from", "1"}}, Settings{{"cycle", "w"}, {"storage_from", "2"}},
                          Settings{{"coarsest", "jacobi"}}, Settings{{"pre_smoothing", "0"}}}) {
                        SCOPED_TRACE(name_of(box) + " " + stencil + (symmetric ? " symmetric " : " ") +
                                     (settings.empty() ? "" : settings[0].first + settings[0].second));
                        expect_rounding(random_system(Context::cpu(1), stencil, box, 1, symmetric, kind), "struct_ilu",
                                        settings);
                    }
}

TEST(MultigridSingleVectors, HaveTheSameBitsForAnyNumberOfThreads) {
    for (const int dof : {1, 2})
        for (const char* stencil : {"star7", "box27"}) {
            const StructMatrix a = random_system(Context::cpu(), stencil, {21, 11, 9}, dof, true);
            expect_same_bits_for_any_threads(a.context(),
                                             [&] { return cycle(a, multigrid_keys(single()), random_values(a, 32)); });
        }
}

TEST(MultigridSingleVectors, TakeVectorsOfAnySize) {
    const StructMatrix a = random_system(Context::cpu(1), "star7", {17, 13, 11}, 1, true);
    const std::vector<double> r = random_values(a, 33);
    const std::vector<double> expected = cycle(a, multigrid_keys(single()), r);
    for (const int exponent : {-400, -140, 140, 400}) {
        std::vector<double> scaled = r;
        for (double& value : scaled) value = std::ldexp(value, exponent);
        std::vector<double> got = cycle(a, multigrid_keys(single()), scaled);
        for (double& value : got) value = std::ldexp(value, -exponent);
        EXPECT_EQ(got, expected) << "2^" << exponent;
    }
    const std::vector<double> zero(r.size(), 0.0);
    Vector z(a.context(), a.layout(), 1, "z");
    const auto m = make_multigrid(a, multigrid_keys(single()));
    m->setup(a);
    EXPECT_EQ(apply(*m, a, zero), zero);
}

TEST(MultigridSingleVectors, AreSymmetricButForTheRoundingOfStoredValues) {
    for (const char* smoother : {"struct_ilu", "multicolor", "jacobi"}) {
        const StructMatrix a = random_system(Context::cpu(1), "star7", {19, 14, 9}, 1, true);
        const auto m = make_multigrid(a, multigrid_keys(single(), smoother));
        m->setup(a);
        EXPECT_TRUE(m->traits().symmetric);
        const std::vector<double> x = random_values(a, 34), y = random_values(a, 35);
        const std::vector<double> mx = apply(*m, a, x), my = apply(*m, a, y);
        EXPECT_NEAR(dot(y, mx), dot(x, my), 1e-7 * std::sqrt(dot(x, x) * dot(my, my)));
        EXPECT_GT(dot(x, mx), 0.0);
    }
}

TEST(MultigridSingleVectors, HoldWhatIsPlanned) {
    for (const char* smoother : {"struct_ilu", "jacobi", "multicolor"})
        for (const char* from : {"0", "1", "2"})
            for (const char* coarsest : {"dense", "jacobi"})
                for (const int dof : {1, 3}) {
                    SCOPED_TRACE(std::string(smoother) + " from " + from + " " + coarsest + " " + std::to_string(dof));
                    const StructMatrix a = random_system(Context::cpu(1), "star7", {33, 21, 19}, dof, true);
                    const Parameters keys = multigrid_keys(
                        single({{"strength", "0"}, {"storage_from", from}, {"coarsest", coarsest}}), smoother);
                    const auto [plan, m, report, held, peak] = set_up_watched(a, keys);
                    EXPECT_NEAR(double(plan.bytes), double(held), 0.01 * double(held));
                    EXPECT_LE(peak, Index(1.01 * double(plan.bytes + plan.setup_bytes)));
                    EXPECT_NEAR(double(plan.bytes_per_apply), double(m->bytes_per_apply()),
                                0.1 * double(plan.bytes_per_apply));
                    EXPECT_LE(double(dynamic_cast<const Multigrid&>(*m).hierarchy().bytes()), double(held));
                }
}

/// Whether a diagonal that has these values in turns jumps, for any number of threads.
bool jumps(const std::vector<double>& values, int dof = 1) {
    StructMatrix a = random_system(Context::cpu(), "star7", {23, 17, 13}, dof, true);
    a.context().set_least_parallel_work(0);
    for (int c = 0; c < dof; ++c)
        for (Index slot = 0; slot < a.layout().slots(); ++slot)
            a.values(a.stencil().diagonal(), c, c)[slot] =
                values[std::size_t(c) + std::size_t(dof * slot) % values.size()];
    Vector scratch;
    a.context().set_threads(1);
    const bool jump = multigrid::jumps_beyond_single(a, scratch);
    a.context().set_threads(3);
    EXPECT_EQ(multigrid::jumps_beyond_single(a, scratch), jump);
    return jump;
}

TEST(MultigridSingleVectors, SeeWhichDiagonalsJump) {
    constexpr double most = multigrid::most_resolved;
    const double above = std::nextafter(most, 2 * most);
    EXPECT_FALSE(jumps({1.0}));
    EXPECT_FALSE(jumps({0.0}));
    EXPECT_FALSE(jumps({most, 1.0, 3.0}));
    EXPECT_TRUE(jumps({above, 1.0, 3.0}));
    EXPECT_FALSE(jumps({-1.0, -7.0, -most}));
    EXPECT_TRUE(jumps({-1.0, -7.0, -above}));
    EXPECT_TRUE(jumps({1.0, 0.0}));
    EXPECT_TRUE(jumps({1.0, -1.0}));
    EXPECT_FALSE(jumps({1.0, std::nan(""), 1e9}));
    EXPECT_FALSE(jumps({1.0, 1e9}, 2)) << "each unknown has one value";
    EXPECT_TRUE(jumps({2.0, 1.0, 2.0, 1e9}, 2));
}

/// The grids that have a copy of their matrix in single precision.
std::vector<int> copied_grids(const Preconditioner& m) {
    std::vector<int> found;
    const auto& h = dynamic_cast<const Multigrid&>(m).hierarchy();
    for (int grid = 0; grid < h.size(); ++grid)
        if (h[grid].single.matrix) found.push_back(grid);
    return found;
}

TEST(MultigridSingleVectors, KeepTheMatricesOfCoarseGridsWhereCoefficientsJump) {
    const Context context = Context::cpu(2);
    const auto system = [&](double contrast, bool periodic = false) {
        return laplacian(context, {33, 31, 29, {periodic, periodic, false}}, {1.0, 1.0, 1.0}, 0.0, true, contrast);
    };
    const StructMatrix constant = system(1.0), moderate = system(1e4), jumping = system(1e8);
    const std::vector<double> r = random_values(constant, 36);
    for (const auto& [settings, all, kept, warning] :
         {std::tuple{Settings{}, std::vector{0, 1, 2, 3}, std::vector{0}, "matrices of grids 1 to 3"},
          std::tuple{Settings{{"cycle", "w"}, {"coarsest", "jacobi"}}, std::vector{0, 1, 2, 3, 4}, std::vector{0},
                     "matrices of grids 1 to 4"},
          std::tuple{Settings{{"cycle", "f"}, {"storage_from", "3"}}, std::vector{3}, std::vector<int>{},
                     "matrix of grid 3"},
          std::tuple{Settings{{"grids", "1"}, {"coarsest", "jacobi"}}, std::vector{0}, std::vector{0}, ""}}) {
        SCOPED_TRACE(settings.empty() ? "" : settings[0].first + settings[0].second);
        const Parameters keys = multigrid_keys(single(settings));
        const auto m = make_multigrid(constant, keys);
        for (const StructMatrix* a : {&jumping, &constant, &moderate, &jumping, &jumping, &constant}) {
            const bool jump = a == &jumping;
            const std::string told = m->setup(*a).warning;
            EXPECT_EQ(copied_grids(*m), jump ? kept : all);
            EXPECT_EQ(told.find("preconditioner.vectors = single does not round the " + std::string(warning)) == 0,
                      jump && *warning)
                << told;
            const auto fresh = make_multigrid(*a, keys);
            fresh->setup(*a);
            EXPECT_EQ(apply(*m, *a, r), apply(*fresh, *a, r));
            EXPECT_EQ(m->bytes_per_apply(), fresh->bytes_per_apply());
        }
    }
    // Residuals with a periodic axis take the matrices themselves on a CPU.
    const StructMatrix periodic = system(1e8, true);
    const auto m = make_multigrid(periodic, multigrid_keys(single()));
    EXPECT_EQ(m->setup(periodic).warning, "");
    EXPECT_EQ(copied_grids(*m), std::vector<int>{});
}

TEST(MultigridSingleVectors, TakeTheMatricesOfSeveralUnknownsWhereCoefficientsJump) {
    for (const bool symmetric : {false, true})
        for (const char* smoother : {"struct_ilu", "multicolor", "jacobi"}) {
            StructMatrix a = random_system(Context::cpu(2), "star7", {19, 13, 11}, 2, symmetric);
            const auto scale_of = [&](Int3 p) { return 2 * p.x < a.grid().nx && 2 * p.z < a.grid().nz ? 1e4 : 1.0; };
            for (Index row = 0; row < a.grid().points(); ++row)
                for (int e = 0; e < a.stored_entries(); ++e) {
                    const Int3 p = a.grid().point(row), q = p + a.stencil()[e];
                    for (int at = 0; at < 4; ++at)
                        a.values(e, at / 2, at % 2)[a.layout().slot(p)] *= scale_of(p) * scale_of(q);
                }
            const Parameters keys = multigrid_keys(single(), smoother);
            const auto m = make_multigrid(a, keys);
            m->setup(a);
            EXPECT_EQ(copied_grids(*m), std::vector{0});
            cycle(a, keys, random_values(a, 37));
        }
}

TEST(MultigridSingleVectors, HoldNoMoreThanIsPlannedWhereCoefficientsJump) {
    for (const char* smoother : {"struct_ilu", "multicolor"}) {
        const StructMatrix a = laplacian(Context::cpu(1), {33, 31, 29}, {1.0, 1.0, 1.0}, 0.0, true, 1e8);
        const Parameters keys = multigrid_keys(single({{"strength", "0"}}), smoother);
        const auto [plan, m, report, held, peak] = set_up_watched(a, keys);
        Index copies = 0;
        const auto& h = dynamic_cast<const Multigrid&>(*m).hierarchy();
        for (int grid = 1; grid + 1 < h.size(); ++grid) copies += SingleMatrix::bytes(h.matrix(grid).bytes());
        EXPECT_GT(copies, 0);
        EXPECT_NEAR(double(plan.bytes), double(held + copies), 0.01 * double(held));
        EXPECT_LE(peak, plan.bytes + plan.setup_bytes);
        EXPECT_LE(h.bytes(), held);
        EXPECT_LE(report.factor_bytes, held);
    }
}

TEST(MultigridSingleVectors, AreRefusedWithFactorsInDoublePrecision) {
    const StructMatrix a = random_system(Context::cpu(1), "star7", {9, 7, 6}, 1, true);
    expect_error<UsageError>(
        [&] {
            make_multigrid(a, multigrid_keys({{"vectors", "single"}}));
        },
        "set preconditioner.storage = single, or leave vectors out");
}

}  // namespace
}  // namespace hyperplane
