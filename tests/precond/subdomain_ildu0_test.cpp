// SPDX-License-Identifier: BSD-3-Clause
// subdomain_ildu0 on both backends: in every variant it is ILU(0) of the matrix without couplings between subdomains.
#include <gtest/gtest.h>

#include <span>

#include "core/error.hpp"
#include "precond/bad_pivots.hpp"
#include "precond/subdomain/ildu0.hpp"
#include "precond/subdomain_cases.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using reference::Offset;
using reference::relative_difference;
using reference::StencilMatrix;

void expect_reference(const Context& context, const SubdomainCase& c, std::span<const char* const> variants) {
    const SweptSystem system(context, c);
    const auto expected = reference::apply_inverse(reference::subdomain_ilu(system.data, c.size), system.r);
    for (const char* variant : variants) {
        const auto m = make("subdomain_ildu0", system.a, {{"subdomain", text_of(c.size)}, {"variant", variant}});
        const SetupReport report = m->setup(system.a);
        EXPECT_EQ(report.pivots_modified, 0);
        EXPECT_EQ(m->traits().symmetric, c.storage == MatrixStorage::lower);
        EXPECT_TRUE(m->traits().fixed);
        EXPECT_LT(relative_difference(system.applied(*m), expected), 1e-13) << variant;
    }
}

/// Variant unfused has a lower solve by itself, the others do not.
void expect_lower_solve(const Context& context, const SubdomainCase& c, std::span<const char* const> variants) {
    const SweptSystem system(context, c);
    const auto expected = reference::lower_solve(reference::subdomain_ilu(system.data, c.size), system.r);
    for (const char* variant : variants) {
        const auto m = make("subdomain_ildu0", system.a, {{"subdomain", text_of(c.size)}, {"variant", variant}});
        m->setup(system.a);
        Vector y = poisoned(context, system.a.layout(), c.dof);
        const bool solved = m->solve_lower(to_vector(context, system.a.layout(), c.dof, system.r), y);
        EXPECT_EQ(solved, std::string(variant) == "unfused") << variant;
        if (!solved) continue;
        EXPECT_LT(relative_difference(from_vector(y), expected), 1e-13);
    }
}

class SubdomainIldu0Test : public testing::TestWithParam<SubdomainCase> {};
TEST_P(SubdomainIldu0Test, IsIlu0OfTheDecoupledMatrix) {
    expect_reference(Context::cpu(1), GetParam(), subdomain_variants_on_cpu);
}
TEST_P(SubdomainIldu0Test, HasALowerSolveAlone) {
    expect_lower_solve(Context::cpu(1), GetParam(), subdomain_variants_on_cpu);
}
INSTANTIATE_TEST_SUITE_P(All, SubdomainIldu0Test, testing::ValuesIn(subdomain_cases()), name_of_case);

class SubdomainIldu0OnDevice : public DeviceTest, public testing::WithParamInterface<SubdomainCase> {};
TEST_P(SubdomainIldu0OnDevice, IsIlu0OfTheDecoupledMatrix) {
    expect_reference(Context::cuda(), GetParam(), all_subdomain_variants);
}
TEST_P(SubdomainIldu0OnDevice, HasALowerSolveAlone) {
    expect_lower_solve(Context::cuda(), GetParam(), all_subdomain_variants);
}
INSTANTIATE_TEST_SUITE_P(All, SubdomainIldu0OnDevice, testing::ValuesIn(subdomain_device_cases()), name_of_case);

StructMatrix random_matrix(const std::string& stencil, const Box& box, int dof, MatrixStorage storage, int seed) {
    const auto offsets = reference::stencil_named(stencil).offsets;
    const StencilMatrix data = storage == MatrixStorage::full ? reference::random_matrix(box, offsets, dof, seed)
                                                              : reference::random_spd_matrix(box, offsets, dof, seed);
    return reference::to_struct_matrix(Context::cpu(1), layout_for(LayoutKind::natural, data, stencil, 0), data,
                                       storage, stencil);
}

TEST(SubdomainIldu0, OneSubdomainIsStructIlu) {
    for (const auto& stencil : reference::all_stencils())
        for (MatrixStorage storage : storages) {
            const StructMatrix a = random_matrix(stencil.name, {7, 5, 3}, 3, storage, 5);
            const auto m = make("subdomain_ildu0", a), whole = make("struct_ilu", a);
            m->setup(a), whole->setup(a);
            const std::vector<double> r = reference::Random(1).vector(int(a.unknowns()));
            EXPECT_LT(relative_difference(apply(*m, a, r), apply(*whole, a, r)), 1e-13) << stencil.name;
        }
}

TEST(SubdomainIldu0, OnePointSubdomainsAreJacobi) {
    const StructMatrix a = random_matrix("box27", {7, 5, 3}, 4, MatrixStorage::full, 5);
    const auto m = make("subdomain_ildu0", a, {{"subdomain", "1 1 1"}}), diagonal = make("jacobi", a);
    m->setup(a), diagonal->setup(a);
    const std::vector<double> r = reference::Random(1).vector(int(a.unknowns()));
    EXPECT_LT(relative_difference(apply(*m, a, r), apply(*diagonal, a, r)), 1e-14);
}

TEST(SubdomainIldu0, IsSymmetricWhereTheMatrixIs) {
    for (const char* stencil : {"star7", "diamond13", "box27"}) {
        const StructMatrix a = random_matrix(stencil, {7, 5, 3}, 2, MatrixStorage::lower, 6);
        const auto m = make("subdomain_ildu0", a, {{"subdomain", "4 2 3"}});
        m->setup(a);
        expect_symmetric(*m, a, 1e-14);
    }
}

TEST(SubdomainIldu0, FactorsAShiftedMatrixAndLeavesAUnchanged) {
    const auto offsets = reference::stencil_named("diamond13").offsets;
    const StencilMatrix data = reference::random_matrix({7, 5, 3}, offsets, 3, 8);
    const StructMatrix a = reference::to_struct_matrix(
        Context::cpu(1), layout_for(LayoutKind::natural, data, "diamond13", 0), data, MatrixStorage::full, "diamond13");
    const CsrMatrix before = a.to_csr();
    const auto m = make("subdomain_ildu0", a, {{"subdomain", "3 3 3"}, {"shift", "0.25"}});
    EXPECT_EQ(m->setup(a).shift, 0.25);
    EXPECT_EQ(a.to_csr().value, before.value);
    const std::vector<double> r = reference::Random(4).vector(int(a.unknowns()));
    const auto expected =
        reference::apply_inverse(reference::subdomain_ilu(reference::shifted(data, 0.25), {3, 3, 3}), r);
    EXPECT_LT(relative_difference(apply(*m, a, r), expected), 1e-13);
}

TEST(SubdomainIldu0, SameBitsForAnyNumberOfThreadsAndInBothVariants) {
    for (const char* stencil : {"star7", "box27"}) {
        const StructMatrix a = random_matrix(stencil, {9, 8, 7}, 3, MatrixStorage::full, 9);
        const std::vector<double> r = reference::Random(2).vector(int(a.unknowns()));
        const auto with = [&](int threads, const char* variant) {
            const SeveralThreads several(a.context(), threads);
            const auto m = make("subdomain_ildu0", a, {{"subdomain", "4 3 2"}, {"variant", variant}});
            m->setup(a);
            return apply(*m, a, r);
        };
        const std::vector<double> one = with(1, "level");
        EXPECT_EQ(with(2, "level"), one);
        EXPECT_EQ(with(3, "unfused"), one);
    }
}

TEST(SubdomainIldu0, ASecondSetupEqualsAFreshOne) {
    StructMatrix a = random_matrix("box27", {7, 5, 3}, 2, MatrixStorage::full, 10);
    const auto reused = make("subdomain_ildu0", a, {{"subdomain", "3 2 2"}});
    reused->setup(a);
    a.assign(random_matrix("box27", {7, 5, 3}, 2, MatrixStorage::full, 11));
    reused->setup(a);
    const auto fresh = make("subdomain_ildu0", a, {{"subdomain", "3 2 2"}});
    fresh->setup(a);
    const std::vector<double> r = reference::Random(3).vector(int(a.unknowns()));
    EXPECT_EQ(apply(*reused, a, r), apply(*fresh, a, r));
}

TEST(SubdomainIldu0, HoldsWhatItPlans) {
    for (const char* stencil : {"star7", "diamond25"})
        for (const char* size : {"auto", "3 2 2", "7 5 1"}) {
            const StructMatrix a = random_matrix(stencil, {7, 5, 3}, 2, MatrixStorage::full, 12);
            const Parameters parameters = parameters_of("subdomain_ildu0", {{"subdomain", size}});
            const PreconditionerRow& row = find_preconditioner("subdomain_ildu0");
            const PreconditionerPlan plan = row.plan(parameters, setting_of(a));
            const Index before = a.context().ledger().held();
            const auto m = row.create(parameters, setting_of(a));
            const SetupReport report = m->setup(a);
            EXPECT_EQ(a.context().ledger().held() - before, plan.bytes) << size;
            EXPECT_LT(report.factor_bytes, plan.bytes);
            EXPECT_EQ(m->bytes_per_apply(), plan.bytes_per_apply);
        }
}

TEST(SubdomainIldu0, RefusesWhatItCannotDo) {
    const StructMatrix a = random_matrix("star7", {40, 40, 40}, 1, MatrixStorage::full, 13);
    for (const char* variant : {"spin", "dag_vertex", "dag_edge"}) try {
            make("subdomain_ildu0", a, {{"variant", variant}});
            ADD_FAILURE() << variant;
        } catch (const UsageError& error) {
            const std::string message = error.what();
            EXPECT_NE(message.find(variant), std::string::npos) << message;
            EXPECT_NE(message.find("preconditioner.variant = level"), std::string::npos) << message;
        }
    expect_refused("subdomain_ildu0", a, {{"subdomain", "40 40 40"}}, "64000 values");
    const StructMatrix wide = random_matrix("star7", {90, 90, 2}, 1, MatrixStorage::full, 13);
    // Two planes of the same size surround the subdomain.
    expect_refused("subdomain_ildu0", wide, {{"subdomain", "90 90 2"}}, "smaller along x and y");
    expect_refused("subdomain_ildu0", {{"subdomain", "16 16"}},
                   "preconditioner.subdomain: expected 3 integers >= 1 or auto, got 2 values");
    expect_refused("subdomain_ildu0", {{"subdomain", "16 0 8"}}, "preconditioner.subdomain: 0 is out of range");
    expect_refused("subdomain_ildu0", {{"variant", "fast"}},
                   "preconditioner.variant: 'fast' is none of level | unfused | spin | dag_vertex | dag_edge");
    EXPECT_NO_THROW(parameters_of("subdomain_ildu0", {{"subdomain", "16,16,8"}}));
}

constexpr Offset pivot_cut{4, 3, 2};  // the bad cell (3,2,1) and the one before it share a subdomain

Outcome outcome(const Context& context, const StencilMatrix& data, MatrixStorage storage, const std::string& policy) {
    const Layout layout = layout_for(LayoutKind::natural, data, "star7", 0);
    const StructMatrix a =
        in_context(context, reference::to_struct_matrix(context.host(), layout, data, storage, "star7"));
    const auto m = make("subdomain_ildu0", a, {{"subdomain", text_of(pivot_cut)}, {"pivot_policy", policy}});
    return outcome_of(*m, a);
}

void expect_equivalent(const Outcome& met, const StencilMatrix& equivalent) {
    const int unknowns = equivalent.box.points() * equivalent.dof;
    const auto expected = reference::apply_inverse(reference::subdomain_ilu(equivalent, pivot_cut),
                                                   reference::Random(1).vector(unknowns));
    EXPECT_EQ(met.message, "");
    EXPECT_LT(relative_difference(met.z, expected), 1e-11);
}

/// Policies, counts and cells are those of struct_ilu.
void expect_pivot_rules(const Context& context, int dof, MatrixStorage storage) {
    const double tiny = 0x1p-50;  // a pivot below 1e-14: elimination of 1 from 1 + 2^-50 leaves exactly 2^-50
    const StencilMatrix bad = with_pair("star7", dof, 1.0, 1.0 + tiny);
    const Outcome failed = outcome(context, bad, storage, "fail");
    EXPECT_NE(failed.message.find("subdomain_ildu0: the pivot at cell (3,2,1), component " + std::to_string(dof - 1)),
              std::string::npos)
        << failed.message;
    const Outcome boosted = outcome(context, bad, storage, "boost");
    ASSERT_EQ(boosted.report.modified.size(), 1u);
    EXPECT_EQ(boosted.report.pivots_modified, 1);
    EXPECT_EQ(boosted.report.modified[0].cell, (Int3{3, 2, 1}));
    EXPECT_EQ(boosted.report.modified[0].component, dof - 1);
    expect_equivalent(boosted, with_pair("star7", dof, 1.0, 1.0 + 1e-3));
    const Outcome shifted = outcome(context, bad, storage, "shift");
    EXPECT_GT(shifted.report.shift, 0.0);
    EXPECT_LT(shifted.report.shift, 0.1);
    expect_equivalent(shifted, reference::shifted(bad, shifted.report.shift));
    const Outcome small = outcome(context, with_pair("star7", dof, 1.0, 1.0 + 1e-6), storage, "fail");
    EXPECT_NEAR(small.report.smallest_pivot_ratio, 1e-6, 1e-9);
    EXPECT_EQ(small.report.smallest_pivot_cell, (Int3{3, 2, 1}));
    const bool symmetric = storage == MatrixStorage::lower;
    EXPECT_EQ(outcome(context, with_pair("star7", dof, 2.0, 1.0), storage, "fail").message.empty(), !symmetric);
    for (const char* policy : {"fail", "shift", "boost"}) {
        const Outcome none = outcome(context, with_block("star7", diagonal_block(dof, NAN)), storage, policy);
        EXPECT_NE(none.message.find("(3,2,1)"), std::string::npos) << none.message;
    }
}

TEST(SubdomainIldu0, FollowsPivotRules) {
    for (MatrixStorage storage : storages)
        for (int dof : {1, 3, 6}) expect_pivot_rules(Context::cpu(1), dof, storage);
}

/// A boundary between subdomains removes the coupling that made the pivot small.
TEST(SubdomainIldu0, ACutBeforeACellMendsItsPivot) {
    const StencilMatrix bad = with_pair("star7", 1, 1.0, 1.0 + 0x1p-50);
    const StructMatrix a = reference::to_struct_matrix(
        Context::cpu(1), layout_for(LayoutKind::natural, bad, "star7", 0), bad, MatrixStorage::full, "star7");
    EXPECT_NO_THROW(make("subdomain_ildu0", a, {{"subdomain", "3 5 3"}})->setup(a));
    expect_error<SetupError>(
        [&] {
            make("subdomain_ildu0", a, {{"subdomain", "4 5 3"}})->setup(a);
        },
        "the pivot at cell (3,2,1), component 0, is 8.88178e-16, too small");
}

class SubdomainsOnDevice : public DeviceTest {};

/// A stencil's name, its unknowns a point, and the points of a line.
using LargeGrid = std::tuple<std::string, int, int>;
class LargeSubdomainsOnDevice : public DeviceTest, public testing::WithParamInterface<LargeGrid> {};

/// Grids with more subdomains than a GPU processes at a time; deterministic variants give the same bits in every run.
TEST_P(LargeSubdomainsOnDevice, EqualTheHosts) {
    const auto& [stencil, dof, nx] = GetParam();
    const Stencil offsets = Stencil::by_name(stencil);
    const StructMatrix here =
        random_struct_matrix(Layout(LayoutKind::natural, reference::to_grid({nx, 130, 70}), offsets.level_map()),
                             offsets, dof, MatrixStorage::full, 3);
    const StructMatrix there = in_context(Context::cuda(), here);
    const auto expected = make("subdomain_ildu0", here);
    expected->setup(here);
    const std::vector<double> r = reference::Random(6).vector(int(here.unknowns())), host = apply(*expected, here, r);
    for (const char* variant : all_subdomain_variants) {
        const auto m = make("subdomain_ildu0", there, {{"variant", variant}});
        m->setup(there);
        const Vector in = to_vector(there.context(), there.layout(), dof, r);
        Vector z = poisoned(there.context(), there.layout(), dof);
        m->apply(in, z);
        const std::vector<double> first = from_vector(z);
        EXPECT_LT(relative_difference(first, host), 1e-13) << variant;
        for (int repeat = 0; repeat < 10 && variant != std::string("dag_edge"); ++repeat) {
            m->apply(in, z);
            ASSERT_EQ(from_vector(z), first) << variant;
        }
    }
}
INSTANTIATE_TEST_SUITE_P(All, LargeSubdomainsOnDevice,
                         testing::Values(LargeGrid{"star7", 1, 131}, LargeGrid{"box27", 1, 131},
                                         LargeGrid{"star7", 3, 131}, LargeGrid{"diamond25", 4, 67}),
                         [](const auto& info) {
                             return std::get<0>(info.param) + "_dof" + std::to_string(std::get<1>(info.param));
                         });

TEST_F(SubdomainsOnDevice, FollowPivotRules) {
    for (MatrixStorage storage : storages)
        for (int dof : {1, 3, 6}) expect_pivot_rules(Context::cuda(), dof, storage);
}

TEST_F(SubdomainsOnDevice, HoldWhatIsPlanned) {
    for (const char* variant : all_subdomain_variants) {
        const StructMatrix a =
            in_context(Context::cuda(), random_matrix("star7", {35, 17, 9}, 2, MatrixStorage::full, 12));
        const Parameters parameters = parameters_of("subdomain_ildu0", {{"variant", variant}});
        const PreconditionerRow& row = find_preconditioner("subdomain_ildu0");
        const Index planned = row.plan(parameters, setting_of(a)).bytes, before = a.context().ledger().held();
        const auto m = row.create(parameters, setting_of(a));
        m->setup(a);
        EXPECT_EQ(a.context().ledger().held() - before, planned) << variant;
    }
}

}  // namespace
}  // namespace hyperplane
