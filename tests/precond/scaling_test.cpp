// SPDX-License-Identifier: BSD-3-Clause
// [scaling]: the scaled matrix by its definition, and what does not change with it.
#include "precond/scaling/scaled.hpp"

#include <cmath>

#include "on_device.hpp"
#include "precond/general_cases.hpp"
#include "reference/matchings.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::BlockMatrix;

/// A matrix whose rows and columns differ by many orders of magnitude.
BlockMatrix badly_scaled(const GeneralCase& c) {
    BlockMatrix data = data_of(c);
    const auto size = [&](int row) { return std::pow(10.0, (row * 7) % 13 - 6); };
    for (int i = 0; i < c.rows; ++i)
        for (auto& [j, block] : data.rows[i])
            for (double& value : block.values) value *= size(i) * (c.symmetric ? size(j) : 1.0);
    return data;
}

/// The nearest power of two to 1 / value, in the ratio.
double power_towards_one(double value) {
    double best = 1.0;
    for (int e = -100; e <= 100; ++e)
        if (std::abs(std::log2(value) + e) < std::abs(std::log2(value * best))) best = std::ldexp(1.0, e);
    return best;
}

TEST(Scaling, ScalesFollowFromTheirDefinitions) {
    for (int dof : {1, 3}) {
        const GeneralCase c{"dense_row", 40, dof, 0};
        const reference::Dense dense = reference::to_dense(badly_scaled(c));
        const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), badly_scaled(c));
        const Scales row = find_row(scalings(), "scaling", "row").create(a);
        const Scales symmetric = find_row(scalings(), "scaling", "symmetric").create(a);
        EXPECT_TRUE(row.column.empty());
        EXPECT_EQ(symmetric.row, symmetric.column);
        for (int i = 0; i < 40 * dof; ++i) {
            double largest = 0.0;
            for (int j = 0; j < 40 * dof; ++j) largest = std::max(largest, std::abs(dense(i, j)));
            EXPECT_EQ(std::ldexp(1.0, row.row[i]), power_towards_one(largest)) << i;
            EXPECT_EQ(std::ldexp(1.0, symmetric.row[i]), power_towards_one(std::sqrt(std::abs(dense(i, i))))) << i;
        }
    }
}

/// What powers of two leave of the definition of Duff and Koster's scales, each within a factor of sqrt(2) of its own.
void expect_matched(const BlockMatrix& data, bool symmetric) {
    const reference::Dense dense = reference::to_dense(data);
    const int rows = dense.rows;
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data, symmetric);
    const Scales scales = find_row(scalings(), "scaling", "matching").create(a);
    ASSERT_EQ(int(scales.row.size()), rows);
    ASSERT_EQ(int(scales.column.size()), rows);
    std::vector<std::vector<double>> sizes(rows, std::vector<double>(rows));
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < rows; ++j) sizes[i][j] = std::abs(dense(i, j));
    const std::vector<int> best = reference::best_matching(sizes).row;
    const auto scaled = [&](int i, int j) { return std::ldexp(sizes[i][j], scales.row[i] + scales.column[j]); };
    for (int j = 0; j < rows; ++j) {
        for (int i = 0; i < rows; ++i) EXPECT_LE(scaled(i, j), 2.0 + 1e-9);
        EXPECT_GE(scaled(best[j], j), 0.5 - 1e-9);
    }
    if (symmetric) {
        EXPECT_EQ(scales.row, scales.column);
    }
}

TEST(Scaling, ByMatchingMakesTheBestDiagonalTheLargestEntries) {
    expect_matched(badly_scaled({"random", 7, 1, 0}), false);
    expect_matched(badly_scaled({"arrow", 3, 2, 0}), false);
    expect_matched(badly_scaled({"symmetric", 7, 1, 0, true}), true);
    expect_matched(badly_scaled({"symmetric", 3, 2, 0, true}), true);
    BlockMatrix saddle{1, {}};  // a symmetric matrix with zeros on its diagonal
    saddle.rows.resize(4);
    for (const auto& [i, j, value] : {std::tuple{0, 0, 1e6}, {1, 1, 3e-4}, {0, 2, 20.0}, {1, 3, 5e-3}, {1, 2, -7.0}}) {
        saddle.rows[i][j] = saddle.rows[j][i] = reference::Dense(1, 1);
        saddle.rows[i][j](0, 0) = saddle.rows[j][i](0, 0) = value;
    }
    expect_matched(saddle, true);
}

TEST(Scaling, ByMatchingEndsWhereThereAreNoScales) {
    const auto message = [](const BlockMatrix& data) -> std::string {
        try {
            find_row(scalings(), "scaling", "matching").create(reference::to_bsr_matrix(Context::cpu(1), data));
        } catch (const SetupError& error) {
            return error.what();
        }
        return "none";
    };
    // Each row's second entry is a million times its diagonal, so scales of rows must grow as fast.
    const auto chain = [](int rows) {
        BlockMatrix data{1, std::vector<std::map<int, reference::Dense>>(rows)};
        for (int row = 0; row < rows; ++row)
            for (int column = row; column < std::min(row + 2, rows); ++column) {
                data.rows[row][column] = reference::Dense(1, 1);
                data.rows[row][column](0, 0) = column == row ? 1.0 : 1e6;
            }
        return data;
    };
    EXPECT_EQ(message(chain(50)), "none");
    EXPECT_NE(message(chain(55)).find("scaling.name = matching: row 1 would be multiplied by 2^-"), std::string::npos)
        << message(chain(55));
    BlockMatrix singular = chain(5);
    singular.rows[2].clear();
    singular.rows[2][4] = singular.rows[4][4];
    EXPECT_NE(message(singular).find("scaling.name = matching: no column is left for 1 of 5 rows, the first of which "),
              std::string::npos)
        << message(singular);
}

TEST(Scaling, RowsOfZerosAndMissingDiagonalsHaveScales) {
    BlockMatrix data = data_of({"no_diagonal", 8, 1, 0});
    for (auto& [column, block] : data.rows[5]) block.values[0] = 0.0;
    data.rows[2].begin()->second.values[0] = 1024.0;
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data);
    const Scales symmetric = find_row(scalings(), "scaling", "symmetric").create(a);
    EXPECT_EQ(symmetric.row[5], 0);
    EXPECT_EQ(symmetric.row[2], -5);
    EXPECT_EQ(find_row(scalings(), "scaling", "row").create(a).row[5], 0);
}

TEST(Scaling, FactorsOfSubnormalRowsAreNumbers) {
    BlockMatrix data = data_of({"banded", 8, 1, 0});
    for (auto& [column, block] : data.rows[3]) block.values[0] = 1e-312;
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data);
    EXPECT_EQ(find_row(scalings(), "scaling", "row").create(a).row[3], 1023);
}

/// An elimination without thresholds of R A C, scaled back, is that of A to the last bit.
TEST(Scaling, DoesNotChangeAnEliminationByABit) {
    for (const GeneralCase& c : {GeneralCase{"random", 50, 1, 1}, GeneralCase{"random", 30, 3, 0},
                                 GeneralCase{"symmetric", 50, 1, 1, true}, GeneralCase{"arrow", 50, 1, 0}}) {
        const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), badly_scaled(c), c.symmetric);
        const Settings settings{{"fill_level", std::to_string(c.fill_level)}};
        const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof);
        const auto plain = make_general("sync_free_ilu", a, settings);
        plain->setup(a);
        const std::vector<double> expected = apply_general(*plain, a, r);
        const auto symmetric = make_scaled("symmetric", "sync_free_ilu", a, settings);
        symmetric->setup(a);
        EXPECT_EQ(symmetric->traits().symmetric, c.symmetric);
        EXPECT_EQ(apply_general(*symmetric, a, r), expected) << c.pattern;
        const auto matching = make_scaled("matching", "sync_free_ilu", a, settings);
        matching->setup(a);
        EXPECT_EQ(matching->traits().symmetric, c.symmetric);
        EXPECT_EQ(apply_general(*matching, a, r), expected) << c.pattern;
        const auto by_row = make_scaled("row", "sync_free_ilu", a, settings);
        by_row->setup(a);
        EXPECT_FALSE(by_row->traits().symmetric);
        if (!c.symmetric)
            EXPECT_EQ(apply_general(*by_row, a, r), expected) << c.pattern;
        else
            EXPECT_LT(reference::relative_difference(apply_general(*by_row, a, r), expected), 1e-9) << c.pattern;
    }
}

void expect_diagonal_preconditioner(const Context& context) {
    const GeneralCase c{"random", 40, 2, 0};
    const BsrMatrix a = reference::to_bsr_matrix(context, badly_scaled(c));
    const BsrMatrix here = reference::to_bsr_matrix(Context::cpu(1), badly_scaled(c));
    const std::vector<double> r = reference::Random(9).vector(80);
    for (const char* name : {"row", "symmetric", "matching"}) {
        const Scales scales = find_row(scalings(), "scaling", name).create(here);
        const auto m = make_scaled(name, "none", a);
        m->setup(a);
        EXPECT_EQ(m->traits().symmetric, name == std::string("symmetric"));
        std::vector<double> expected = r;
        for (int i = 0; i < 80; ++i)
            expected[i] = std::ldexp(r[i], scales.row[i] + (scales.column.empty() ? 0 : scales.column[i]));
        EXPECT_EQ(apply_general(*m, a, r), expected) << name;
    }
}
TEST(Scaling, MakesADiagonalPreconditionerOfNone) {
    expect_diagonal_preconditioner(Context::cpu(1));
}
class ScalingOnDevice : public DeviceTest {};
TEST_F(ScalingOnDevice, MakesADiagonalPreconditionerOfNone) {
    expect_diagonal_preconditioner(Context::cuda());
}

TEST(Scaling, FollowsNewValuesAndHasTheSameBitsForAnyNumberOfThreads) {
    const GeneralCase c{"random", 50, 2, 0};
    BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), badly_scaled(c));
    const std::vector<double> r = reference::Random(9).vector(100);
    const auto m = make_scaled("row", "jacobi", a);
    m->setup(a);
    const std::vector<double> before = apply_general(*m, a, r);
    for (Index at = 0; at < a.nonzeros(); ++at) a.values()[at] *= 4.0;
    m->setup(a);
    std::vector<double> after = apply_general(*m, a, r);
    for (double& value : after) value *= 4.0;
    EXPECT_EQ(after, before);
    expect_same_bits_for_any_threads(a.context(), [&] {
        const auto again = make_scaled("symmetric", "sync_free_ilu", a);
        again->setup(a);
        return apply_general(*again, a, r);
    });
}

TEST(Scaling, HoldsWhatItPlansAndIsRefusedOnAGrid) {
    for (const char* scaling : {"none", "row", "symmetric", "matching"}) {
        const Context context = Context::cpu(1);
        const BsrMatrix a = reference::to_bsr_matrix(context, data_of({"random", 50, 3, 0}));
        auto plan = plan_scaled(find_preconditioner("sync_free_ilu"), scaled_parameters(scaling, "sync_free_ilu", {}),
                                setting_of(a));
        plan.kept.reset();  // a set-up that takes it over would allocate less
        const auto m = make_scaled(scaling, "sync_free_ilu", a);
        const Index held = context.ledger().held();
        m->setup(a);
        EXPECT_EQ(context.ledger().held() - held, plan.bytes) << scaling;
        EXPECT_EQ(m->bytes_per_apply(), plan.bytes_per_apply) << scaling;
    }
    const PreconditionerSetting grid{Context::cpu(1), {{7, 5, 3}, Stencil::star7(), 1, true}};
    expect_error<UsageError>(
        [&] { plan_scaled(find_preconditioner("jacobi"), scaled_parameters("row", "jacobi", {}), grid); },
        "only general matrices are scaled");
}

}  // namespace
}  // namespace hyperplane
