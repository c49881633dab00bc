// SPDX-License-Identifier: BSD-3-Clause
// jacobi_sweeps and par_ilu on general matrices, compared with the reference.
#include "on_device.hpp"
#include "precond/general_cases.hpp"
#include "reference/jacobi_sweeps.hpp"
#include "reference/par_ilu.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::BlockMatrix;

reference::Pattern filled_of(const BlockMatrix& a, const GeneralCase& c) {
    return reference::symbolic_ilu(reference::pattern_of(a), c.fill_level);
}

std::vector<double> swept_by_reference(const reference::BlockIlu& ilu, int lower, int upper,
                                       const std::vector<double>& r) {
    return reference::jacobi_sweeps(ilu, false, upper, reference::jacobi_sweeps(ilu, true, lower, r));
}

void expect_jacobi_sweeps(const Context& context, const GeneralCase& c) {
    const BlockMatrix data = data_of(c);
    const BsrMatrix a = reference::to_bsr_matrix(context, data, c.symmetric);
    const auto ilu =
        c.symmetric ? reference::block_ic(data, filled_of(data, c)) : reference::block_ilu(data, filled_of(data, c));
    const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof);
    for (const auto& [lower, upper] : {std::pair(1, 1), std::pair(3, 3), std::pair(5, 2)}) {
        const auto m = make_general("jacobi_sweeps", a,
                                    {{"fill_level", std::to_string(c.fill_level)},
                                     {"lower_sweeps", std::to_string(lower)},
                                     {"upper_sweeps", std::to_string(upper)}});
        m->setup(a);
        EXPECT_EQ(m->traits().symmetric, c.symmetric && lower == upper);
        EXPECT_EQ(m->sweeps().apply, lower + upper);
        EXPECT_LT(reference::relative_difference(apply_general(*m, a, r), swept_by_reference(ilu, lower, upper, r)),
                  1e-12);
    }
}

void expect_fixed_point(const Context& context, const GeneralCase& c) {
    const BlockMatrix data = data_of(c);
    const BsrMatrix a = reference::to_bsr_matrix(context, data, c.symmetric);
    const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof);
    for (int sweeps : {1, 2, 4}) {
        const auto m = make_general("par_ilu", a,
                                    {{"fill_level", std::to_string(c.fill_level)}, {"sweeps", std::to_string(sweeps)}});
        m->setup(a);
        EXPECT_EQ(m->sweeps().setup, sweeps);
        EXPECT_EQ(m->traits().symmetric, c.symmetric);
        const auto expected = reference::par_ilu(data, filled_of(data, c), sweeps);
        EXPECT_LT(reference::relative_difference(apply_general(*m, a, r), reference::apply_inverse(expected, r)), 1e-11)
            << sweeps << " sweeps";
    }
}

class GeneralSweeps : public testing::TestWithParam<GeneralCase> {};
class GeneralSweepsOnDevice : public DeviceTest, public testing::WithParamInterface<GeneralCase> {};

TEST_P(GeneralSweeps, OfTrianglesEqualReference) {
    expect_jacobi_sweeps(Context::cpu(1), GetParam());
}
TEST_P(GeneralSweepsOnDevice, OfTrianglesEqualReference) {
    expect_jacobi_sweeps(Context::cuda(), GetParam());
}
TEST_P(GeneralSweeps, OfFactorsEqualReference) {
    expect_fixed_point(Context::cpu(1), GetParam());
}
TEST_P(GeneralSweepsOnDevice, OfFactorsEqualReference) {
    expect_fixed_point(Context::cuda(), GetParam());
}
TEST_P(GeneralSweeps, HaveTheSameBitsForAnyNumberOfThreads) {
    const GeneralCase& c = GetParam();
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data_of(c), c.symmetric);
    const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof);
    expect_same_bits_for_any_threads(a.context(), [&] {
        const auto m =
            make_general("par_ilu", a, {{"fill_level", std::to_string(c.fill_level)}, {"triangular_solve", "jacobi"}});
        m->setup(a);
        return apply_general(*m, a, r);
    });
}

INSTANTIATE_TEST_SUITE_P(All, GeneralSweeps, testing::ValuesIn(general_swept_cases()));
INSTANTIATE_TEST_SUITE_P(All, GeneralSweepsOnDevice, testing::ValuesIn(general_swept_cases()));

class FixedPointOnDevice : public DeviceTest {};

/// Set-ups repeat their bits, and hold what they plan, with exact solves and with sweeps in their place. Rows of more
/// than 512 blocks have memory of their own in products.
TEST_F(FixedPointOnDevice, RepeatsItsBitsAndHoldsWhatItPlans) {
    const Context context = Context::cuda();
    for (const GeneralCase& c : {GeneralCase{"random", 3000, 1, 1},
                                 {"symmetric", 900, 3, 0, true},
                                 {"arrow", 500, 1, 0},
                                 {"arrow", 1500, 1, 0, true},
                                 {"dense_row", 1400, 2, 0}})
        for (const char* solve : {"exact", "jacobi"}) {
            SCOPED_TRACE(c.pattern + " " + solve);
            const BsrMatrix a = reference::to_bsr_matrix(context, data_of(c), c.symmetric);
            const Settings settings{{"fill_level", std::to_string(c.fill_level)}, {"triangular_solve", solve}};
            auto plan = find_preconditioner("par_ilu").plan(parameters_of("par_ilu", settings), setting_of(a));
            plan.kept.reset();
            const auto m = make_general("par_ilu", a, settings);
            const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof);
            const Index held = context.ledger().held();
            m->setup(a);
            const std::vector<double> first = apply_general(*m, a, r);
            EXPECT_EQ(context.ledger().held() - held, plan.bytes);
            for (int repeat = 0; repeat < 5; ++repeat) {
                m->setup(a);
                EXPECT_EQ(apply_general(*m, a, r), first);
            }
        }
}

/// Pivots are judged after the last sweep as on a CPU: named, or mended by a shift.
TEST_F(FixedPointOnDevice, JudgesPivotsAsACpuDoes) {
    BlockMatrix empty_row = data_of({"random", 200, 2, 0});
    for (auto& [column, block] : empty_row.rows[4]) std::fill(block.values.begin(), block.values.end(), 0.0);
    const BlockMatrix missing = data_of({"no_diagonal", 200, 1, 0});
    // Symmetric and indefinite: after the sweeps some pivots have the wrong sign.
    BlockMatrix indefinite = data_of({"symmetric", 200, 3, 0, true});
    for (int row = 0; row < 200; ++row)
        for (int r = 0; r < 3; ++r) indefinite.rows[row].at(row)(r, r) *= 0.05;
    for (const Context& context : {Context::cpu(1), Context::cuda()}) {
        SCOPED_TRACE(to_string(context.backend()));
        const BsrMatrix a = reference::to_bsr_matrix(context, empty_row);
        expect_error<SetupError>([&] { make_general("par_ilu", a)->setup(a); }, "the pivot at row 9 is zero");
        const BsrMatrix b = reference::to_bsr_matrix(context, missing);
        expect_error<SetupError>([&] { make_general("par_ilu", b)->setup(b); }, "the pivot at row 3 is ");
    }
    const BsrMatrix near = reference::to_bsr_matrix(Context::cpu(1), indefinite, true),
                    far = reference::to_bsr_matrix(Context::cuda(), indefinite, true);
    const Settings shift{{"pivot_policy", "shift"}};
    const SetupReport here = make_general("par_ilu", near, shift)->setup(near);
    const SetupReport there = make_general("par_ilu", far, shift)->setup(far);
    EXPECT_GT(here.shift, 0.0);
    EXPECT_EQ(there.shift, here.shift);
    EXPECT_GT(here.pivots_modified, 0);
    EXPECT_EQ(there.pivots_modified, here.pivots_modified);
    EXPECT_EQ(there.smallest_pivot_cell.x, here.smallest_pivot_cell.x);
    EXPECT_NEAR(there.smallest_pivot_ratio, here.smallest_pivot_ratio, 1e-9 * here.smallest_pivot_ratio);
}

TEST(GeneralSweepsSetup, HoldsWhatItPlans) {
    for (const GeneralCase& c : {GeneralCase{"random", 50, 3, 1}, GeneralCase{"symmetric", 50, 1, 0, true}}) {
        expect_holds_what_it_plans("jacobi_sweeps", c, {{"upper_sweeps", "3"}});
        expect_holds_what_it_plans("par_ilu", c, {});
        expect_holds_what_it_plans("par_ilu", c, {{"triangular_solve", "jacobi"}});
    }
}

TEST(GeneralSweepsSetup, ManySweepsGiveTheExactFactors) {
    const GeneralCase c{"random", 60, 2, 1};
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data_of(c));
    const std::vector<double> r = reference::Random(9).vector(120);
    const auto exact = make_general("sync_free_ilu", a, {{"fill_level", "1"}});
    exact->setup(a);
    for (const auto& [name, settings] :
         {std::pair<std::string, Settings>("par_ilu", {{"sweeps", "60"}}),
          std::pair<std::string, Settings>("jacobi_sweeps", {{"lower_sweeps", "60"}, {"upper_sweeps", "60"}})}) {
        Settings all = settings;
        all.emplace_back("fill_level", "1");
        const auto m = make_general(name, a, all);
        m->setup(a);
        EXPECT_LT(reference::relative_difference(apply_general(*m, a, r), apply_general(*exact, a, r)), 1e-12) << name;
    }
}

TEST(GeneralSweepsSetup, DivergingSweepsAndUnservedModesAreRefused) {
    // L of a matrix whose rows double: the sweeps' error grows by 2^n before it ends.
    BlockMatrix data{1, std::vector<std::map<int, reference::Dense>>(60)};
    for (int row = 0; row < 60; ++row) {
        data.rows[row][row] = reference::Dense(1, 1);
        data.rows[row][row].values[0] = 1.0;
        if (row == 0) continue;
        data.rows[row][row - 1] = reference::Dense(1, 1);
        data.rows[row][row - 1].values[0] = -3.0;
    }
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data);
    expect_error<SetupError>([&] { make_general("jacobi_sweeps", a)->setup(a); },
                             "Jacobi sweeps diverge on the lower triangle");
    expect_error<SetupError>(
        [&] {
            make_general("jacobi_sweeps", a, {{"mode", "block_async"}})->setup(a);
        },
        "Jacobi sweeps diverge on the lower triangle");
    expect_error<UsageError>([&] { make_general("jacobi_sweeps", a, {{"storage", "single"}}); }, "double alone");
    expect_error<UsageError>([&] { make_general("par_ilu", a, {{"mode", "async"}}); }, "synchronously");
}

TEST(GeneralSweepsSetup, PivotsAreNamedAfterTheLastSweepOrShifted) {
    BlockMatrix data = data_of({"empty_rows", 12, 1, 0});
    data.rows[4][4].values[0] = 0.0;
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data);
    expect_error<SetupError>([&] { make_general("par_ilu", a)->setup(a); }, "the pivot at row 5 is zero");
}

}  // namespace
}  // namespace hyperplane
