// SPDX-License-Identifier: BSD-3-Clause
// subdomain_ildu0 with factors in reduced precision, on both backends and in every variant, compared with the
// reference's factors rounded once.
#include <gtest/gtest.h>

#include <cmath>
#include <span>

#include "core/error.hpp"
#include "precond/stored_factors.hpp"
#include "precond/subdomain/ildu0.hpp"
#include "precond/subdomain_cases.hpp"
#include "reference/rounded.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using reference::relative_difference;
using reference::UnitFactors;
using enum FactorStorage;

std::unique_ptr<Preconditioner> make(const StructMatrix& a, FactorStorage storage, const std::string& size = "auto",
                                     const std::string& variant = "level") {
    return testing_support::make("subdomain_ildu0", a,
                                 {{"storage", to_string(storage)}, {"subdomain", size}, {"variant", variant}});
}

/// The factors that a preconditioner stores, for the blocks of `pattern`.
UnitFactors kept_factors(const Preconditioner& m, const Context& context, const UnitFactors& pattern) {
    const StructMatrix f = stored_factors(dynamic_cast<const SubdomainIldu0&>(m).factors(), context);
    UnitFactors kept = pattern;
    const int diagonal = f.stencil().diagonal();
    for (int i = 0; i < int(f.grid().points()); ++i)
        for (int e = 0; e < f.stencil().size(); ++e) {
            const Int3 p = f.grid().point(i), q = p + f.stencil()[e];
            const int j = f.grid().contains(q) ? int(f.grid().row(q)) : -1;
            auto& row = (e < diagonal ? kept.lower : kept.upper).rows[i];
            const auto found = row.find(j);
            for (int r = 0; r < f.dof(); ++r)
                for (int c = 0; c < f.dof(); ++c) {
                    const double value = f.at(p, e, r, c);
                    if (e == diagonal)
                        kept.inverse[i](r, c) = value;
                    else if (found != row.end())
                        found->second(r, c) = value;
                    else
                        EXPECT_EQ(value, 0.0) << "a coupling that was cut";
                }
        }
    return kept;
}

/// Expects the reference's coefficients, each rounded once. A few whose sums have another order may be rounded to the
/// other side of a tie.
void expect_rounded(const UnitFactors& kept, const UnitFactors& exact, FactorStorage storage) {
    const UnitFactors wanted = rounded(exact, storage == half_scaled);
    int coefficients = 0, others = 0;
    const auto compare = [&](const reference::Dense& x, const reference::Dense& y) {
        const double largest = max_abs(y);
        for (std::size_t at = 0; at < x.values.size(); ++at) {
            ++coefficients;
            others += x.values[at] != y.values[at];
            ASSERT_NEAR(x.values[at], y.values[at],
                        2.0 * unit_roundoff(storage) * std::abs(y.values[at]) + 1e-12 * largest);
        }
    };
    for (std::size_t i = 0; i < kept.inverse.size(); ++i) {
        compare(kept.inverse[i], wanted.inverse[i]);
        for (const auto& [j, block] : kept.lower.rows[i]) compare(block, wanted.lower.rows[i].at(j));
        for (const auto& [j, block] : kept.upper.rows[i]) compare(block, wanted.upper.rows[i].at(j));
    }
    EXPECT_LE(others, 2 + coefficients / 10000) << "of " << coefficients;
}

void expect_reference(const Context& context, const SubdomainCase& c, FactorStorage storage,
                      std::span<const char* const> variants) {
    const SweptSystem system(context, c);
    const UnitFactors exact = unit_factors(reference::subdomain_ilu(system.data, c.size));
    const std::vector<double> unrounded = apply_inverse(exact, system.r);
    for (const std::string variant : variants) {
        SCOPED_TRACE(variant + " " + to_string(storage));
        const auto m = make(system.a, storage, text_of(c.size), variant);
        EXPECT_EQ(m->setup(system.a).values_flushed, 0);
        const UnitFactors kept = kept_factors(*m, context, exact);
        expect_rounded(kept, exact, storage);
        const std::vector<double> z = system.applied(*m);
        EXPECT_LT(relative_difference(z, apply_inverse(kept, system.r)), 1e-13);
        const double error = relative_difference(z, unrounded);
        EXPECT_LT(error, 8.0 * unit_roundoff(storage));
        EXPECT_GT(error, 0.01 * unit_roundoff(storage)) << "nothing was rounded";
    }
}

/// The cases of double precision, and grids that are one cell thick.
std::vector<SubdomainCase> cases() {
    std::vector<SubdomainCase> list = subdomain_cases();
    for (const char* stencil : {"star7", "diamond13", "box27"})
        for (const Box& box : {Box{1, 9, 5}, Box{9, 1, 5}, Box{9, 5, 1}, Box{1, 33, 1}, Box{1, 1, 9}})
            list.push_back({{stencil, 1, 0, box, LayoutKind::hyperplane, MatrixStorage::lower}, {4, 4, 4}});
    return list;
}

class ReducedSubdomains : public testing::TestWithParam<SubdomainCase> {};
TEST_P(ReducedSubdomains, SolveWithTheReferencesFactorsRoundedOnce) {
    for (const FactorStorage storage : reduced_factor_storages)
        expect_reference(Context::cpu(1), GetParam(), storage, subdomain_variants_on_cpu);
}
INSTANTIATE_TEST_SUITE_P(All, ReducedSubdomains, testing::ValuesIn(cases()), name_of_case);

struct DeviceCase : SubdomainCase {
    FactorStorage kept;
    int number;  ///< in the list of cases
};

/// Cases with alternating storages, since kernels are compiled for each; both storages for the stencils measured most
/// often with one and three unknowns.
std::vector<DeviceCase> device_cases() {
    std::vector<SubdomainCase> some = subdomain_device_cases();
    for (const char* stencil : {"star7", "box27"}) {
        for (int dof : {5, 7})
            some.push_back({{stencil, dof, 0, {19, 9, 9}, LayoutKind::natural, MatrixStorage::full}, {8, 8, 8}});
        some.push_back({{stencil, 2, 0, {1, 33, 9}, LayoutKind::hyperplane, MatrixStorage::lower}, {16, 16, 8}});
    }
    std::vector<DeviceCase> list;
    for (const SubdomainCase& one : some) {
        const bool both = (one.stencil == "star7" || one.stencil == "box27") && (one.dof == 1 || one.dof == 3);
        const FactorStorage turn = reduced_factor_storages[list.size() / 2 % 2];
        for (const FactorStorage storage : reduced_factor_storages)
            if (both || storage == turn) list.push_back({one, storage, int(list.size())});
    }
    return list;
}

class ReducedSubdomainsOnDevice : public DeviceTest, public testing::WithParamInterface<DeviceCase> {};
TEST_P(ReducedSubdomainsOnDevice, SolveWithTheReferencesFactorsRoundedOnce) {
    const std::vector<const char*> all(std::begin(all_subdomain_variants), std::end(all_subdomain_variants));
    const std::vector<const char*> variants = first_and_others_in_turn(all, GetParam().number, 2);
    expect_reference(Context::cuda(), GetParam(), GetParam().kept, variants);
}
INSTANTIATE_TEST_SUITE_P(All, ReducedSubdomainsOnDevice, testing::ValuesIn(device_cases()), [](const auto& info) {
    return std::to_string(info.index) + "_" +
           name_of_case(testing::TestParamInfo<SubdomainCase>(info.param, info.index)) + "_" +
           to_string(info.param.kept);
});

StructMatrix random_matrix(const std::string& stencil, const Grid& grid, int dof, MatrixStorage storage, int seed) {
    const Stencil offsets = Stencil::by_name(stencil);
    return random_struct_matrix(Layout(LayoutKind::natural, grid, offsets.level_map()), offsets, dof, storage, seed);
}

TEST(ReducedSubdomainFactors, OfASymmetricMatrixStaySymmetric) {
    for (const FactorStorage storage : reduced_factor_storages)
        for (const char* stencil : {"star7", "diamond13", "box27"}) {
            const StructMatrix a = random_matrix(stencil, reference::to_grid({7, 5, 3}), 2, MatrixStorage::lower, 6);
            const auto m = make(a, storage, "4 2 3");
            m->setup(a);
            EXPECT_TRUE(m->traits().symmetric);
            expect_symmetric(*m, a, 1e-13);
        }
}

TEST(ReducedSubdomainFactors, GiveTheSameBitsForAnyNumberOfThreadsInBothVariantsAndAfterASecondSetup) {
    for (const FactorStorage storage : reduced_factor_storages) {
        const Grid grid = reference::to_grid({9, 8, 7});
        const StructMatrix a = random_matrix("box27", grid, 3, MatrixStorage::full, 9),
                           before = random_matrix("box27", grid, 3, MatrixStorage::full, 10);
        const std::vector<double> r = reference::Random(2).vector(int(a.unknowns()));
        const auto with = [&](int threads, const char* variant, bool twice) {
            const SeveralThreads several(a.context(), threads);
            const auto m = make(a, storage, "4 3 2", variant);
            if (twice) m->setup(before);
            m->setup(a);
            return apply(*m, a, r);
        };
        const std::vector<double> one = with(1, "level", false);
        EXPECT_EQ(with(2, "level", false), one);
        EXPECT_EQ(with(3, "unfused", false), one);
        EXPECT_EQ(with(1, "level", true), one);
    }
}

/// Memory and bytes are as planned, also for a second set-up; the factors are smaller in reduced precision.
void expect_planned(const Context& context, const std::string& variant) {
    SCOPED_TRACE(variant);
    const StructMatrix a =
        in_context(context, random_matrix("star7", reference::to_grid({35, 17, 9}), 2, MatrixStorage::full, 12));
    const PreconditionerRow& row = find_preconditioner("subdomain_ildu0");
    for (const char* size : {"auto", "16 8 4"}) {
        Index factor_bytes = 0;
        for (const FactorStorage storage : all_factor_storages) {
            SCOPED_TRACE(std::string(size) + " " + to_string(storage));
            const Parameters parameters = parameters_of(
                "subdomain_ildu0", {{"storage", to_string(storage)}, {"subdomain", size}, {"variant", variant}});
            const PreconditionerPlan plan = row.plan(parameters, setting_of(a));
            const Index before = context.ledger().held();
            context.ledger().forget_peak();
            const auto m = row.create(parameters, setting_of(a));
            for (int repeat = 0; repeat < 2; ++repeat) {
                const SetupReport report = m->setup(a);
                EXPECT_EQ(context.ledger().held() - before, plan.bytes);
                EXPECT_LE(context.ledger().peak() - before, plan.bytes + plan.setup_bytes);
                EXPECT_GE(context.ledger().peak() - before, (plan.bytes + plan.setup_bytes) * 99 / 100);
                EXPECT_EQ(m->bytes_per_apply(), plan.bytes_per_apply);
                if (storage == double_precision) factor_bytes = report.factor_bytes;
                EXPECT_NEAR(double(report.factor_bytes) / double(factor_bytes), double(bytes_of(storage)) / 8.0, 0.12);
            }
        }
    }
}

TEST(ReducedSubdomainFactors, AreHeldAsPlannedAndWhatMadeThemIsReleased) {
    for (const char* variant : subdomain_variants_on_cpu) expect_planned(Context::cpu(1), variant);
}

TEST(ReducedSubdomainFactors, MoveFewerBytes) {
    const StructMatrix a = random_matrix("star7", reference::to_grid({16, 16, 8}), 1, MatrixStorage::full, 12);
    const auto bytes = [&](FactorStorage storage) {
        const auto m = make(a, storage);
        m->setup(a);
        return m->bytes_per_apply();
    };
    const Index points = 16 * 16 * 8;
    EXPECT_EQ(bytes(double_precision), points * (7 * 8 + 16));
    EXPECT_EQ(bytes(single_precision), points * (7 * 4 + 16));
    EXPECT_EQ(bytes(half_scaled), points * (7 * 2 + 3 + 16));
}

class ReducedSubdomainFactorsOnDevice : public DeviceTest {};

TEST_F(ReducedSubdomainFactorsOnDevice, AreHeldAsPlannedAndWhatMadeThemIsReleased) {
    for (const char* variant : all_subdomain_variants) expect_planned(Context::cuda(), variant);
}

/// A stencil's name and its unknowns a point.
using Points = std::tuple<std::string, int>;
class TunedSubdomainsOnDevice : public DeviceTest, public testing::WithParamInterface<Points> {};

/// The bits do not depend on the number of rows a thread, in any storage.
TEST_P(TunedSubdomainsOnDevice, GiveTheSameBits) {
    const auto& [stencil, dof] = GetParam();
    const StructMatrix a = in_context(
        Context::cuda(), random_matrix(stencil, reference::to_grid({37, 33, 17}), dof, MatrixStorage::full, 3));
    const std::vector<double> r = reference::Random(6).vector(int(a.unknowns()));
    const Vector in = to_vector(a.context(), a.layout(), dof, r);
    for (const FactorStorage storage : all_factor_storages)
        for (const char* variant : {"level", "unfused"}) {
            SCOPED_TRACE(to_string(storage) + " " + variant);
            const auto with = [&](const SubdomainTuning& tuning) {
                const auto m = make(a, storage, "auto", variant);
                dynamic_cast<SubdomainIldu0&>(*m).tune(tuning);
                m->setup(a);
                Vector z = poisoned(a.context(), a.layout(), a.dof());
                m->apply(in, z);
                return from_vector(z);
            };
            const std::vector<double> wanted = with({});
            for (int workers : {32, 64, 96, 1024}) EXPECT_EQ(with({.workers = workers}), wanted) << workers;
            EXPECT_EQ(with({.workers = 64, .ring = 4 * 1024}), wanted);
        }
}
INSTANTIATE_TEST_SUITE_P(All, TunedSubdomainsOnDevice,
                         testing::Values(Points{"star7", 1}, Points{"box27", 1}, Points{"diamond25", 1},
                                         Points{"star7", 3}),
                         [](const auto& info) {
                             return std::get<0>(info.param) + "_dof" + std::to_string(std::get<1>(info.param));
                         });

/// A stencil's name, its unknowns a point, the points of a line, and how factors are kept.
using LargeSystem = std::tuple<std::string, int, int, FactorStorage>;
class LargeReducedSubdomainsOnDevice : public DeviceTest, public testing::WithParamInterface<LargeSystem> {};

/// Grids with more subdomains than a GPU processes at a time; deterministic variants give the same bits in every run.
TEST_P(LargeReducedSubdomainsOnDevice, EqualTheHosts) {
    const auto& [stencil, dof, nx, storage] = GetParam();
    const StructMatrix here = random_matrix(stencil, reference::to_grid({nx, 130, 70}), dof, MatrixStorage::full, 3);
    const StructMatrix there = in_context(Context::cuda(), here);
    const auto expected = make(here, storage);
    expected->setup(here);
    const std::vector<double> r = reference::Random(6).vector(int(here.unknowns())), host = apply(*expected, here, r);
    const double largest = *std::max_element(host.begin(), host.end());
    for (const std::string variant : all_subdomain_variants) {
        SCOPED_TRACE(variant);
        const auto m = make(there, storage, "auto", variant);
        m->setup(there);
        const Vector in = to_vector(there.context(), there.layout(), dof, r);
        Vector z = poisoned(there.context(), there.layout(), dof);
        m->apply(in, z);
        const std::vector<double> first = from_vector(z);
        // A few coefficients may be rounded to the other side of a tie on a GPU.
        EXPECT_LT(relative_difference(first, host), unit_roundoff(storage));
        std::ptrdiff_t apart = 0;
        for (std::size_t at = 0; at < first.size(); ++at) apart += std::abs(first[at] - host[at]) > 1e-13 * largest;
        EXPECT_LT(apart, std::ptrdiff_t(first.size() / 1000));
        for (int repeat = 0; repeat < 5 && variant != "dag_edge"; ++repeat) {
            m->apply(in, z);
            ASSERT_EQ(from_vector(z), first);
        }
    }
}

std::string name_of_large(const testing::TestParamInfo<LargeSystem>& info) {
    const auto& [stencil, dof, nx, storage] = info.param;
    return stencil + "_dof" + std::to_string(dof) + "_" + to_string(storage);
}
INSTANTIATE_TEST_SUITE_P(All, LargeReducedSubdomainsOnDevice,
                         testing::Values(LargeSystem{"star7", 1, 131, single_precision},
                                         LargeSystem{"star7", 1, 131, half_scaled},
                                         LargeSystem{"box27", 1, 131, half_scaled},
                                         LargeSystem{"star7", 3, 131, single_precision},
                                         LargeSystem{"diamond25", 4, 67, half_scaled}),
                         name_of_large);

}  // namespace
}  // namespace hyperplane
