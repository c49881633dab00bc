// SPDX-License-Identifier: BSD-3-Clause
// Block-asynchronous sweeps on general matrices, compared with the reference.
#include "on_device.hpp"
#include "precond/general_cases.hpp"
#include "reference/jacobi_sweeps.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::BlockMatrix;
using reference::relative_difference;

constexpr int block_rows = 128;
constexpr const char* block_orders[] = {"dependency", "forward", "backward", "natural"};

/// The number of levels of the longer triangle.
int levels_of(const reference::BlockIlu& ilu) {
    const int rows = int(ilu.factors.rows.size());
    std::vector<int> below(std::size_t(rows), 1), above(std::size_t(rows), 1);
    for (int i = 0; i < rows; ++i)
        for (const auto& [j, block] : ilu.factors.rows[i])
            if (j < i) below[i] = std::max(below[i], below[j] + 1);
    for (int i = rows - 1; i >= 0; --i)
        for (const auto& [j, block] : ilu.factors.rows[i])
            if (j > i) above[i] = std::max(above[i], above[j] + 1);
    return std::max(*std::max_element(below.begin(), below.end()), *std::max_element(above.begin(), above.end()));
}

/// A system with the reference's factors. Without fill these need no table of all pairs of rows.
struct AsyncSystem {
    GeneralCase c;
    BlockMatrix data;
    BsrMatrix a;
    reference::BlockIlu ilu;
    std::vector<double> r;

    AsyncSystem(const Context& context, const GeneralCase& of)
        : c(of),
          data(data_of(c)),
          a(reference::to_bsr_matrix(context, data, c.symmetric)),
          ilu(c.fill_level > 0 || c.symmetric ? reference_of(data, c)
                                              : reference::block_ilu(data, reference::pattern_of(data))),
          r(reference::Random(9).vector(c.rows * c.dof)) {}

    std::vector<double> swept(int lower, int upper, const std::string& order) const {
        const auto m = make_general("jacobi_sweeps", a,
                                    {{"mode", "block_async"},
                                     {"block_order", order},
                                     {"fill_level", std::to_string(c.fill_level)},
                                     {"lower_sweeps", std::to_string(lower)},
                                     {"upper_sweeps", std::to_string(upper)}});
        m->setup(a);
        EXPECT_FALSE(m->traits().fixed);
        EXPECT_FALSE(m->traits().symmetric);
        EXPECT_STREQ(m->traits().varies, "block_async sweeps");
        EXPECT_EQ(m->sweeps().apply, lower + upper);
        return apply_general(*m, a, r);
    }
    /// By the definition: blocks of so many rows in these orders.
    std::vector<double> expected(int lower, int upper, bool lower_forward, bool upper_forward) const {
        const auto v = reference::block_sweeps(ilu, true, lower, r, block_rows, lower_forward);
        return reference::block_sweeps(ilu, false, upper, v, block_rows, upper_forward);
    }
};

/// The values that a block reads are at least as new as those of the sweep before.
void expect_exact_after_all_levels(const Context& context, const GeneralCase& c) {
    const AsyncSystem system(context, c);
    const int levels = levels_of(system.ilu);
    const std::vector<double> expected = reference::apply_inverse(system.ilu, system.r);
    for (const char* order : block_orders)
        EXPECT_LT(relative_difference(system.swept(levels, levels, order), expected), 1e-12) << order;
}

class GeneralAsyncSweeps : public testing::TestWithParam<GeneralCase> {};
class GeneralAsyncSweepsOnDevice : public DeviceTest, public testing::WithParamInterface<GeneralCase> {};

TEST_P(GeneralAsyncSweeps, AreExactAfterAsManyAsLevels) {
    expect_exact_after_all_levels(Context::cpu(1), GetParam());
    expect_exact_after_all_levels(Context::cpu(3), GetParam());
}
TEST_P(GeneralAsyncSweepsOnDevice, AreExactAfterAsManyAsLevels) {
    expect_exact_after_all_levels(Context::cuda(), GetParam());
}
/// On one thread blocks follow each other strictly.
TEST_P(GeneralAsyncSweeps, OnOneThreadAreThoseOfTheReference) {
    const AsyncSystem system(Context::cpu(1), GetParam());
    for (const auto& sweeps : {std::pair(1, 1), std::pair(3, 2)}) {
        const int lower = sweeps.first, upper = sweeps.second;
        const auto expect = [&](const char* order, bool lower_forward, bool upper_forward) {
            EXPECT_LT(relative_difference(system.swept(lower, upper, order),
                                          system.expected(lower, upper, lower_forward, upper_forward)),
                      1e-12)
                << order;
        };
        expect("dependency", true, false);
        expect("forward", true, true);
        expect("backward", false, false);
        expect("natural", true, true);
    }
}

INSTANTIATE_TEST_SUITE_P(All, GeneralAsyncSweeps, testing::ValuesIn(general_swept_cases()));
INSTANTIATE_TEST_SUITE_P(All, GeneralAsyncSweepsOnDevice, testing::ValuesIn(general_swept_cases()));

class AsyncSweepsOnDevice : public DeviceTest {};

/// One block sweeps synchronously, whatever the order.
TEST_F(AsyncSweepsOnDevice, OfOneBlockAreSynchronous) {
    for (const GeneralCase& c : {GeneralCase{"random", 127, 1, 0},
                                 {"random", 128, 3, 1},
                                 {"dense_row", 101, 4, 0},
                                 {"lower", 33, 8, 0},
                                 {"dense", 1, 1, 0}}) {
        const AsyncSystem system(Context::cuda(), c);
        for (const char* order : block_orders)
            EXPECT_LT(relative_difference(system.swept(3, 2, order), system.expected(3, 2, true, true)), 1e-13)
                << c.pattern << " " << order;
    }
}

/// More blocks than a GPU works on at a time, and rows that all threads of a block share, applied again and again.
TEST_F(AsyncSweepsOnDevice, OfLargeMatricesStayExact) {
    for (const GeneralCase& c : {GeneralCase{"random", 400000, 1, 0},
                                 {"random", 60001, 2, 0},
                                 {"random", 50003, 3, 0},
                                 {"random", 30001, 4, 0},
                                 {"random", 9001, 8, 0},
                                 {"dense_row", 30001, 1, 0},
                                 {"arrow", 20001, 3, 0}}) {
        SCOPED_TRACE(c.pattern + " " + std::to_string(c.dof));
        const AsyncSystem system(Context::cuda(), c);
        const std::string levels = std::to_string(levels_of(system.ilu));
        const std::vector<double> expected = reference::apply_inverse(system.ilu, system.r);
        const auto m = make_general("jacobi_sweeps", system.a,
                                    {{"mode", "block_async"}, {"lower_sweeps", levels}, {"upper_sweeps", levels}});
        m->setup(system.a);
        for (int repeat = 0; repeat < 10; ++repeat)
            ASSERT_LT(relative_difference(apply_general(*m, system.a, system.r), expected), 1e-12) << repeat;
    }
}

const std::vector<GeneralCase> planned_cases{
    {"random", 300, 3, 1}, {"symmetric", 50, 1, 0, true}, {"arrow", 1500, 1, 0}, {"dense_row", 1400, 2, 0}};

TEST(GeneralAsyncSweepsSetup, HoldsWhatItPlans) {
    for (const GeneralCase& c : planned_cases) {
        expect_holds_what_it_plans("jacobi_sweeps", c, {{"mode", "block_async"}});
        expect_holds_what_it_plans("par_ilu", c, {{"triangular_solve", "jacobi"}, {"solve_mode", "block_async"}});
    }
}
TEST_F(AsyncSweepsOnDevice, HoldWhatTheyPlan) {
    for (const GeneralCase& c : planned_cases)
        expect_holds_what_it_plans("jacobi_sweeps", c, {{"mode", "block_async"}}, Context::cuda());
}

/// The other factorisations whose solves may be sweeps.
void expect_swept_factors(const Context& context) {
    const GeneralCase c{"random", 300, 2, 0};
    const AsyncSystem system(context, c);
    for (const char* name : {"par_ilu", "subdomain_ildu0"}) {
        const auto exact = make_general(name, system.a, {});
        const auto swept = make_general(name, system.a,
                                        {{"triangular_solve", "jacobi"},
                                         {"solve_mode", "block_async"},
                                         {"lower_sweeps", "60"},
                                         {"upper_sweeps", "60"}});
        exact->setup(system.a);
        swept->setup(system.a);
        EXPECT_LT(
            relative_difference(apply_general(*swept, system.a, system.r), apply_general(*exact, system.a, system.r)),
            1e-12)
            << name;
    }
}
TEST(GeneralAsyncSweepsSetup, OtherFactorisationsHaveThem) {
    expect_swept_factors(Context::cpu(2));
}
TEST_F(AsyncSweepsOnDevice, OtherFactorisationsHaveThem) {
    expect_swept_factors(Context::cuda());
}

/// Points of a line: with one block sweeps are synchronous, in the order of dependencies they come closer to the exact
/// solve, and against it no closer than synchronous ones.
TEST(GeneralAsyncSweepsSetup, InTheOrderOfDependenciesConvergeFaster) {
    const AsyncSystem system(Context::cpu(1), {"random", 1500, 1, 0});
    const std::vector<double> exact = reference::apply_inverse(system.ilu, system.r);
    const auto error = [&](const std::vector<double>& z) { return relative_difference(z, exact); };
    const double sync =
        error(reference::jacobi_sweeps(system.ilu, false, 2, reference::jacobi_sweeps(system.ilu, true, 2, system.r)));
    EXPECT_LT(error(system.swept(2, 2, "dependency")), 0.5 * sync);
    EXPECT_GT(error(system.swept(2, 2, "backward")), error(system.swept(2, 2, "dependency")));
}

}  // namespace
}  // namespace hyperplane
