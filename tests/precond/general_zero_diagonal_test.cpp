// SPDX-License-Identifier: BSD-3-Clause
// General matrices with diagonal blocks that are zero or not stored, and that elimination does not fill: the policy
// boost replaces their pivots by a fraction of the largest coefficient of the row, in every family of ILU.
#include <gtest/gtest.h>

#include "on_device.hpp"
#include "precond/general_cases.hpp"
#include "precond/support.hpp"
#include "reference/block_ilu.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::BlockMatrix, reference::Dense;

struct ZeroDiagonalCase {
    std::string preconditioner;
    Settings settings;
    int dof;
    bool symmetric = false;
    double tolerance = 1e-12;  ///< of what sweeps find
};

constexpr int zero_rows = 60;

/// Rows 0 and 7 have a zero on the diagonal and rows 3 and 11 nothing. Of these, only row 11 has a coupling to a row
/// before it, and so a pivot by elimination.
BlockMatrix with_zero_diagonals(int dof, bool symmetric) {
    BlockMatrix a = data_of({"symmetric", zero_rows, dof, 0, symmetric});
    for (const int row : {0, 3, 7}) {
        for (int other = 0; other < row; ++other) a.rows[row].erase(other), a.rows[other].erase(row);
        for (auto& [column, block] : a.rows[row])
            if (column != row) block.values[0] = a.rows[column].at(row).values[0] = 0.25 + 0.03 * row;
        a.rows[row][row] = Dense(dof, dof);
        Dense quarter = reference::identity(dof);
        for (double& value : quarter.values) value *= 0.25;
        a.rows[row][row + 5] = a.rows[row + 5][row] = quarter;
    }
    a.rows[11][2] = a.rows[2][11] = reference::identity(dof);
    a.rows[3].erase(3);
    if (!symmetric) a.rows[11].erase(11);  // a negative pivot would change those after it
    return a;
}

void expect_boosted_by_row(const Context& context, const ZeroDiagonalCase& c) {
    SCOPED_TRACE(c.preconditioner + " " + std::to_string(c.dof) + (c.symmetric ? " symmetric" : ""));
    const BlockMatrix data = with_zero_diagonals(c.dof, c.symmetric);
    BlockMatrix stored = data;
    for (int row = 0; row < zero_rows; ++row) stored.rows[row].try_emplace(row, c.dof, c.dof);
    int level = 0, replaced = 0;
    for (const auto& [key, value] : c.settings)
        if (key == "fill_level") level = std::stoi(value);
    const reference::Pattern filled = reference::symbolic_ilu(reference::pattern_of(stored), level);
    const auto inverse = reference::inverse_boosted_by_row(data, 0.5, replaced);
    const reference::BlockIlu expected =
        c.symmetric ? reference::block_ic(data, filled, inverse) : reference::block_ilu(data, filled, inverse);
    ASSERT_EQ(replaced, 3 * c.dof);

    const BsrMatrix a = reference::to_bsr_matrix(context, data, c.symmetric);
    expect_error<SetupError>([&] { make_general(c.preconditioner, a, c.settings)->setup(a); },
                             "the pivot at row 1 is zero");
    Settings settings = c.settings;
    settings.insert(settings.end(), {{"pivot_policy", "boost"}, {"pivot_boost", "0.5"}});
    const auto m = make_general(c.preconditioner, a, settings);
    const std::vector<double> r = reference::Random(9).vector(zero_rows * c.dof);
    for (int repeat = 0; repeat < 2; ++repeat) {
        const SetupReport report = m->setup(a);
        EXPECT_EQ(report.pivots_modified, replaced);
        ASSERT_EQ(Index(report.modified.size()), replaced);
        for (int at = 0; at < replaced; ++at) {
            EXPECT_EQ(report.modified[at].cell.x, (std::vector<int>{0, 3, 7}[at / c.dof]));
            EXPECT_EQ(report.modified[at].component, at % c.dof);
            EXPECT_EQ(report.modified[at].value, 0.0);
        }
        EXPECT_LT(reference::relative_difference(apply_general(*m, a, r), reference::apply_inverse(expected, r)),
                  c.tolerance);
    }
}

std::vector<ZeroDiagonalCase> zero_diagonal_cases() {
    const Settings one_part{{"parts", "consecutive"}, {"part_rows", std::to_string(zero_rows)}};
    const Settings swept{{"lower_sweeps", std::to_string(zero_rows)}, {"upper_sweeps", std::to_string(zero_rows)}};
    std::vector<ZeroDiagonalCase> list;
    for (const int dof : {1, 2, 5})
        for (const bool symmetric : {false, true}) {
            list.push_back({"sync_free_ilu", {}, dof, symmetric});
            list.push_back({"sync_free_ilu", {{"fill_level", "1"}}, dof, symmetric});
            list.push_back({"sync_free_ilu", {{"variant", "search"}}, dof, symmetric});
            list.push_back({"subdomain_ildu0", one_part, dof, symmetric});
            list.push_back({"jacobi_sweeps", swept, dof, symmetric});
            list.push_back({"par_ilut", {{"rounds", "0"}}, dof, symmetric});
            list.push_back({"par_ilut", {{"rounds", "0"}, {"sweeps", "70"}}, dof, symmetric, 1e-9});
            list.push_back({"par_ilu", {{"sweeps", "70"}}, dof, symmetric, 1e-9});
        }
    return list;
}

TEST(ZeroDiagonals, AreBoostedByTheRowOfTheMatrix) {
    for (const ZeroDiagonalCase& c : zero_diagonal_cases()) expect_boosted_by_row(Context::cpu(1), c);
}

class ZeroDiagonalsOnDevice : public DeviceTest {};
TEST_F(ZeroDiagonalsOnDevice, AreBoostedByTheRowOfTheMatrix) {
    for (ZeroDiagonalCase c : zero_diagonal_cases()) {
        expect_boosted_by_row(Context::cuda(), c);
        if (c.preconditioner != "sync_free_ilu" || c.dof > 1) continue;
        for (const char* variant : {"table", "shared", "vect", "adapt", "levs"}) {
            c.settings.push_back({"variant", variant});
            expect_boosted_by_row(Context::cuda(), c);
            c.settings.pop_back();
        }
    }
}

/// Whatever the order and the pattern that is kept, par_ilut mends what it finds.
TEST(ZeroDiagonals, AreBoostedInThresholdFactors) {
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), with_zero_diagonals(1, false));
    expect_error<SetupError>([&] { make_general("par_ilut", a)->setup(a); }, "the pivot at row 1 is zero");
    const auto m = make_general("par_ilut", a, {{"pivot_policy", "boost"}});
    EXPECT_GT(m->setup(a).pivots_modified, 0);
    for (const double value : apply_general(*m, a, reference::Random(9).vector(zero_rows)))
        EXPECT_TRUE(std::isfinite(value));
}

TEST(ZeroDiagonals, ARowOfZerosIsRefused) {
    BlockMatrix data = with_zero_diagonals(1, false);
    for (auto& [column, block] : data.rows[7]) block.values[0] = 0.0;
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data);
    for (const char* name : {"sync_free_ilu", "par_ilut", "par_ilu", "subdomain_ildu0"})
        expect_error<SetupError>(
            [&] {
                make_general(name, a, {{"pivot_policy", "boost"}})->setup(a);
            },
            "the pivot at row 8 is zero (1 such pivot in all). Its whole row is zero");
}

/// A zero that elimination fills is no reason to change the other pivots.
TEST(ZeroDiagonals, ThatAreFilledAreNotBoosted) {
    BlockMatrix data = data_of({"symmetric", zero_rows, 1, 0});
    data.rows[20][20].values[0] = 0.0;
    data.rows[20][3] = data.rows[3][20] = reference::identity(1);
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data);
    std::vector<std::vector<double>> found;
    for (const char* policy : {"fail", "boost"}) {
        const auto m = make_general("sync_free_ilu", a, {{"pivot_policy", policy}});
        EXPECT_EQ(m->setup(a).pivots_modified, 0);
        found.push_back(apply_general(*m, a, reference::Random(9).vector(zero_rows)));
    }
    EXPECT_EQ(found[0], found[1]);
}

}  // namespace
}  // namespace hyperplane
