// SPDX-License-Identifier: BSD-3-Clause
// Matchings of rows for the largest diagonal: compared with all permutations of small matrices.
#include "core/graph/row_matching.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.hpp"
#include "core/graph/orderings.hpp"
#include "core/random.hpp"
#include "ordered_matrices.hpp"
#include "reference/general_matrices.hpp"
#include "reference/matchings.hpp"
#include "reference/orderings.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using reference::BlockMatrix;
using reference::Dense;

/// How entries are drawn: over many orders of magnitude, from a few equal values, or whole numbers.
enum class MatchedValues { scattered, equal, whole };

BlockMatrix random_to_match(int rows, int dof, double filled, MatchedValues values, std::uint64_t seed) {
    reference::Random random(seed);
    BlockMatrix a{dof, std::vector<std::map<int, Dense>>(rows)};
    for (auto& row : a.rows)
        for (int column = 0; column < rows; ++column) {
            if (0.5 * (random() + 1.0) > filled) continue;
            Dense block(dof, dof);
            for (double& value : block.values) {
                const double draw = random();
                value = values == MatchedValues::scattered ? std::copysign(std::pow(10.0, 6.0 * random()), draw)
                        : values == MatchedValues::equal   ? std::copysign(1.0, draw)
                                                           : std::round(2.5 * draw);
                if (values != MatchedValues::whole && random() > 0.8) value = 0.0;  // stored, and of no use
            }
            row[column] = block;
        }
    return a;
}

std::vector<std::vector<double>> sizes_of(const BlockMatrix& a) {
    std::vector<std::vector<double>> sizes(a.rows.size(), std::vector<double>(a.rows.size(), 0.0));
    for (std::size_t row = 0; row < a.rows.size(); ++row)
        for (const auto& [column, block] : a.rows[row]) sizes[row][column] = reference::size_of(block);
    return sizes;
}

std::vector<int> rows_of(const RowMatching& found) {
    return {found.row.begin(), found.row.end()};
}

void expect_best(const BlockMatrix& a) {
    const auto sizes = sizes_of(a);
    const int rows = int(a.rows.size());
    const reference::BestMatching best = reference::best_matching(sizes);
    const RowMatching found = match_rows(reference::to_bsr_matrix(Context::cpu(1), a));
    ASSERT_EQ(found.row.size(), rows);
    EXPECT_EQ(found.unmatched, rows - best.most);
    std::vector<bool> used(rows, false);
    double product = 1.0;
    for (int column = 0; column < rows; ++column) {
        const int row = found.row[column];
        if (row < 0) continue;
        EXPECT_FALSE(used[row]);
        used[row] = true;
        EXPECT_NE(sizes[row][column], 0.0);
        product *= sizes[row][column];
    }
    if (found.unmatched == 0) {
        EXPECT_NEAR(product / best.product, 1.0, 1e-12);
        EXPECT_NO_THROW(require_all_matched(found, a.dof, "here"));
    } else {
        EXPECT_EQ(found.first, std::find(used.begin(), used.end(), false) - used.begin());
        EXPECT_THROW(require_all_matched(found, a.dof, "here"), FileError);
    }
}

TEST(RowMatching, HasTheLargestProductOfAllPermutations) {
    std::uint64_t seed = 1;
    int regular = 0, singular = 0;
    for (const auto values : {MatchedValues::scattered, MatchedValues::equal, MatchedValues::whole})
        for (int rows = 1; rows <= 6; ++rows)
            for (const double filled : {0.3, 0.6, 1.0})
                for (int repeat = 0; repeat < 20; ++repeat) {
                    const BlockMatrix a = random_to_match(rows, 1, filled, values, ++seed);
                    SCOPED_TRACE(seed);
                    expect_best(a);
                    (reference::best_matching(sizes_of(a)).most == rows ? regular : singular) += 1;
                }
    EXPECT_GT(regular, 300);
    EXPECT_GT(singular, 300);
}

TEST(RowMatching, TakesBlocksByTheirDeterminants) {
    std::uint64_t seed = 1000;
    for (int dof : {2, 3})
        for (int rows = 1; rows <= 5; ++rows)
            for (const double filled : {0.5, 1.0})
                for (int repeat = 0; repeat < 20; ++repeat) {
                    SCOPED_TRACE(++seed);
                    expect_best(random_to_match(rows, dof, filled, MatchedValues::whole, seed));
                }
}

TEST(RowMatching, LeavesRowsInTheirPlacesWhereNoneIsBetter) {
    BlockMatrix a{1, std::vector<std::map<int, Dense>>(5)};
    for (int row = 0; row < 5; ++row)
        for (int column = 0; column < 5; ++column) a.rows[row][column] = Dense(1, 1), a.rows[row][column](0, 0) = -2.0;
    EXPECT_EQ(rows_of(match_rows(reference::to_bsr_matrix(Context::cpu(1), a))), (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(RowMatching, NamesARowWithAValueThatIsNotFinite) {
    for (const double strange : {std::nan(""), HUGE_VAL}) {
        BlockMatrix a{2, std::vector<std::map<int, Dense>>(3)};
        for (int row = 0; row < 3; ++row)
            a.rows[row][row] = Dense(2, 2), a.rows[row][row](0, 0) = a.rows[row][row](1, 1) = 1.0;
        a.rows[1][1](1, 0) = strange;
        const BsrMatrix matrix = reference::to_bsr_matrix(Context::cpu(1), a);
        const auto expect_named = [](const auto& match) {
            try {
                match();
                ADD_FAILURE() << "a value that is not finite was matched";
            } catch (const SetupError& error) {
                EXPECT_NE(std::string(error.what()).find("rows cannot be matched: block row 2 of the matrix holds "),
                          std::string::npos)
                    << error.what();
            }
        };
        expect_named([&] { match_rows(matrix); });
        expect_named([&] { matching_scales(matrix); });
    }
}

TEST(RowMatching, NamesRowsThatHaveTooFewColumns) {
    // Rows 1, 3 and 4 have entries in columns 0 and 2 alone.
    const BlockPattern pattern(Context::cpu(1), {0, 3, 5, 7, 9, 10}, {0, 1, 3, 0, 2, 3, 4, 0, 2, 2}, "pattern");
    const std::vector<double> logarithm(10, 0.0);
    const RowMatching found = match_rows(pattern, logarithm);
    EXPECT_EQ(found.unmatched, 1);
    EXPECT_EQ(found.first, 4);
    EXPECT_EQ(found.rows_around, 3);
    try {
        require_all_matched(found, 1, "a.ini:3: problem.file");
        FAIL() << "a singular matrix was matched";
    } catch (const FileError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("a.ini:3: problem.file: no column is left for 1 of 5 rows, the first of which is row 5: it "
                            "and 2 other rows have entries that are not zero in only 2 columns"),
                  std::string::npos)
            << text;
    }
}

TEST(RowMatching, AdvisesNoBoostForARowOfZeros) {
    RowMatching matching;
    matching.row = Buffer<int>(Context::cpu(1), "row", 4);
    matching.unmatched = matching.first = matching.rows_around = 1;
    EXPECT_EQ(unmatched_text(matching, 1, "leave x out").find("leave x out"), std::string::npos);
    matching.rows_around = 3;
    EXPECT_NE(unmatched_text(matching, 1, "leave x out")
                  .find("given twice, or leave x out and, with a factorisation, set preconditioner.pivot_policy"),
              std::string::npos);
}

/// The definition of Duff and Koster's scales: no entry of R |A| C is larger than 1, and those of a diagonal whose
/// product is the largest are 1. Returns whether there is such a diagonal.
bool expect_scales(const BlockMatrix& a) {
    const Dense dense = reference::to_dense(a);
    const int rows = dense.rows;
    std::vector<std::vector<double>> sizes(rows, std::vector<double>(rows, 0.0));
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < rows; ++j) sizes[i][j] = std::abs(dense(i, j));
    const reference::BestMatching best = reference::best_matching(sizes);
    const MatchingScales found = matching_scales(reference::to_bsr_matrix(Context::cpu(1), a));
    EXPECT_EQ(found.matching.unmatched, rows - best.most);
    EXPECT_EQ(found.row.size(), best.most == rows ? rows : 0);
    EXPECT_EQ(found.column.size(), best.most == rows ? rows : 0);
    if (best.most < rows || int(found.row.size()) != rows) return false;
    const auto scaled = [&](int i, int j) { return sizes[i][j] * std::exp(found.row[i]) * std::exp(found.column[j]); };
    for (int j = 0; j < rows; ++j) {
        for (int i = 0; i < rows; ++i) EXPECT_LE(scaled(i, j), 1.0 + 1e-12);
        EXPECT_NEAR(scaled(best.row[j], j), 1.0, 1e-12);
    }
    return true;
}

TEST(RowMatching, HasScalesByWhichNoEntryIsLargerThanThoseOfTheBestDiagonal) {
    std::uint64_t seed = 2000;
    int regular = 0, singular = 0;
    for (const auto values : {MatchedValues::scattered, MatchedValues::equal, MatchedValues::whole})
        for (const auto& [rows, dof] :
             {std::pair{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}, {2, 2}, {3, 2}, {2, 3}})
            for (const double filled : {0.4, 0.7, 1.0})
                for (int repeat = 0; repeat < 10; ++repeat) {
                    SCOPED_TRACE(++seed);
                    (expect_scales(random_to_match(rows, dof, filled, values, seed)) ? regular : singular) += 1;
                }
    EXPECT_GT(regular, 300);
    EXPECT_GT(singular, 100);
}

/// A larger matrix: dominant entries in permuted places, random couplings.
BlockMatrix hidden_diagonal(int rows, int dof) {
    BlockMatrix a = reference::random_blocks(reference::pattern_named("random", rows, 5, 7), dof, 3);
    std::vector<std::map<int, Dense>> moved;
    for (int row = 0; row < rows; ++row) moved.push_back(a.rows[(row * 7 + 3) % rows]);
    a.rows = moved;
    return a;
}

TEST(RowMatching, IsTheSameForAnyThreadsAndFindsAHiddenDiagonal) {
    for (int dof : {1, 3}) {
        const int rows = 200;
        const Context context = Context::cpu(1);
        const BsrMatrix a = reference::to_bsr_matrix(context, hidden_diagonal(rows, dof));
        expect_same_bits_for_any_threads(context, [&] { return rows_of(match_rows(a)); });
        const RowMatching found = match_rows(a);
        for (int row = 0; row < rows; ++row) EXPECT_EQ(found.row[(row * 7 + 3) % rows], row);
    }
}

TEST(RowMatching, MovesEquationsAndKeepsUnknowns) {
    for (const char* name : {"natural", "random", "rcm"})
        for (int dof : {1, 3}) {
            SCOPED_TRACE(name);
            const BlockMatrix data = hidden_diagonal(60, dof);
            const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data);
            const RowMatching matching = match_rows(a);
            const auto order = make_order(*a.pattern(), ordering_parameters(name, "matching", "rows"), {}, &matching);
            BlockMatrix matched = data;
            for (std::size_t row = 0; row < data.rows.size(); ++row) matched.rows[row] = data.rows[matching.row[row]];
            const BsrMatrix expected = reference::to_bsr_matrix(
                Context::cpu(1), reference::permuted(matched, {order->given.begin(), order->given.end()}));
            const auto ordered = in_order(a, order, "test");
            ASSERT_NO_FATAL_FAILURE(expect_ordered(*ordered, expected, a));
            const std::vector<double> b = reference::Random(3).vector(60 * dof);
            EXPECT_EQ(order->equations_to_given(order->equations_to_places(b, dof), dof), b);
            EXPECT_EQ(order->to_given(order->to_places(b, dof), dof), b);
            EXPECT_EQ(order->moved(), 60);
        }
}

TEST(RowMatching, FindsASymmetricMatrixAmongMovedRows) {
    const BlockMatrix symmetric =
        reference::symmetric_part(reference::random_blocks(reference::pattern_named("symmetric", 40, 4, 9), 1, 3));
    BlockMatrix moved = symmetric;
    for (int row = 0; row < 40; ++row) moved.rows[row] = symmetric.rows[(row + 11) % 40];
    for (const auto& [data, before] : {std::pair(moved, false), std::pair(symmetric, true)}) {
        const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data, before);
        const RowMatching matching = match_rows(a);
        const Parameters parameters = ordering_parameters("natural", "matching", "rows");
        EXPECT_TRUE(in_order(a, make_order(*a.pattern(), parameters, {}, &matching), "test")->symmetric());
    }
}

}  // namespace
}  // namespace hyperplane
