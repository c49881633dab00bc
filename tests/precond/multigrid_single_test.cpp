// SPDX-License-Identifier: BSD-3-Clause
// Cycles of multigrid whose vectors are in single precision: they are those in double precision but for its rounding,
// whatever the size of what enters.
#include <gtest/gtest.h>

#include "core/vector/blas1.hpp"
#include "precond/multigrid/check.hpp"
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
                    const PreconditionerPlan plan = find_preconditioner("multigrid").plan(keys, setting_of(a));
                    const Index before = a.context().ledger().held();
                    const auto m = make_multigrid(a, keys);
                    a.context().ledger().forget_peak();
                    m->setup(a);
                    const Index held = a.context().ledger().held() - before;
                    EXPECT_NEAR(double(plan.bytes), double(held), 0.01 * double(held));
                    EXPECT_LE(a.context().ledger().peak() - before,
                              Index(1.01 * double(plan.bytes + plan.setup_bytes)));
                    EXPECT_NEAR(double(plan.bytes_per_apply), double(m->bytes_per_apply()),
                                0.1 * double(plan.bytes_per_apply));
                    EXPECT_LE(double(dynamic_cast<const Multigrid&>(*m).hierarchy().bytes()), double(held));
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
