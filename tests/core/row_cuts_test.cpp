// SPDX-License-Identifier: BSD-3-Clause
// The rows of general matrices on several ranks: halos, and that sums, products and residuals have the bits of one
// rank.
#include "core/matrix/row_cuts.hpp"

#include <gtest/gtest.h>

#include <set>

#include "core/random_rows.hpp"
#include "core/vector/blas1.hpp"
#include "core/vector/plane_sums.hpp"
#include "on_ranks.hpp"
#include "reference/plane_sums.hpp"

namespace hyperplane {
namespace {

using testing_support::RandomRows;
using RowValues = std::vector<double>;

class RowsOfRanks : public testing_support::WithRandomRows<testing::Test> {
protected:
    /// The rank's part of a matrix, the matrix itself without ranks.
    BsrMatrix part_of_rank(const Context& context, const BsrMatrix& whole) const {
        if (!context.ranks()) return reference::to_bsr_matrix(context, data());
        const auto part = rows_of_rank(context, whole.pattern(), dof, "test");
        BsrMatrix a(context, part, dof, false);
        const Index first = whole.pattern()->row_begin()[part->slab()->first] * dof * dof;
        std::copy_n(whole.values() + first, a.nonzeros(), a.values());
        return a;
    }
};

INSTANTIATE_TEST_SUITE_P(OnHost, RowsOfRanks,
                         testing::Values(RandomRows{"random", 8197, 1}, RandomRows{"symmetric", 9001, 1},
                                         RandomRows{"no_diagonal", 5003, 2}, RandomRows{"random", 3001, 3},
                                         RandomRows{"dense_row", 8200, 1}, RandomRows{"arrow", 1201, 7},
                                         RandomRows{"empty_rows", 9000, 1}, RandomRows{"random", 301, 31}),
                         testing_support::rows_name);

TEST_P(RowsOfRanks, HaveTheirBlocksAndKnowTheRowsThatTheyRead) {
    const reference::BlockMatrix expected = data();
    for (int ranks = 2; ranks <= 4; ++ranks)
        on_each_rank(ranks, [&](const Context& context) {
            const BsrMatrix whole = reference::to_bsr_matrix(context.alone(), expected);
            const BsrMatrix a = part_of_rank(context, whole);
            const RowSlab& slab = *a.pattern()->slab();
            EXPECT_EQ(slab.all_rows, GetParam().rows);
            EXPECT_EQ(slab.first % PlaneSums::rows_of_block(slab.all_rows, dof), 0);
            std::set<int> read;
            for (Index row = 0; row < slab.rows; ++row) {
                const auto& blocks = expected.rows[slab.first + row];
                Index at = a.pattern()->row_begin()[row];
                ASSERT_EQ(a.pattern()->row_begin()[row + 1] - at, Index(blocks.size()));
                for (const auto& [column, block] : blocks) {
                    ASSERT_EQ(slab.row(a.pattern()->column()[at]), column);
                    ASSERT_EQ(slab.slot(column), a.pattern()->column()[at]);
                    for (int v = 0; v < dof * dof; ++v) ASSERT_EQ(a.values()[at * dof * dof + v], block.values[v]);
                    if (!slab.is_own(column)) read.insert(column);
                    ++at;
                }
            }
            EXPECT_EQ(slab.halo, std::vector<int>(read.begin(), read.end()));
            EXPECT_EQ(a.pattern()->statistics().blocks, whole.pattern()->blocks());
            const RowValues firsts = gathered(context, {double(slab.first), double(slab.first + slab.rows)});
            for (int rank = 0; rank < ranks; ++rank)
                EXPECT_EQ(rank + 1 < ranks ? firsts[2 * rank + 2] : slab.all_rows, firsts[2 * rank + 1]);
        });
}

TEST_P(RowsOfRanks, ExchangeTheValuesThatTheyRead) {
    on_each_rank(4, [&](const Context& context) {
        const BsrMatrix whole = reference::to_bsr_matrix(context.alone(), data());
        const auto part = rows_of_rank(context, whole.pattern(), dof, "test");
        const RowValues all = reference::Random(3).vector(GetParam().rows * dof);
        const Vector x = vector(context, part->space(), 3);
        exchange_halo(x);
        const RowSlab& slab = *part->slab();
        for (Index slot = -slab.before; slot < slab.rows_in_memory() - slab.before; ++slot)
            for (int c = 0; c < dof; ++c) ASSERT_EQ(x.data()[slot * dof + c], all[slab.row(slot) * dof + c]);
    });
}

TEST_P(RowsOfRanks, SumsProductsAndResidualsHaveTheBitsOfOneRank) {
    const auto compute = [&](const Context& context) {
        const BsrMatrix whole = reference::to_bsr_matrix(context.alone(), data());
        const BsrMatrix a = part_of_rank(context, whole);
        const Vector x = vector(context, a.space(), 3), b = vector(context, a.space(), 4);
        Vector y(context, a.space(), dof, "y"), r(context, a.space(), dof, "r");
        a.apply(x, y);
        a.residual(b, x, r);
        RowValues found{dot(x, y), norm2(r), sum(b, dof - 1)};
        add_constant(r, 0, 0.5);
        axpy(-0.25, b, y);
        for (const Vector* one : {&y, &r}) {
            const RowValues values = to_natural(*one);
            found.insert(found.end(), values.begin(), values.end());
        }
        return found;
    };
    const RowValues one = on_first_of(1, compute);
    EXPECT_EQ(one.size(), 3 + 2 * std::size_t(GetParam().rows * dof));
    for (int ranks = 2; ranks <= 4; ++ranks) EXPECT_EQ(on_first_of(ranks, compute), one) << ranks << " ranks";
}

TEST_P(RowsOfRanks, SumsHaveTheOrderOfTheReference) {
    const int rows = GetParam().rows, values = rows * dof;
    int together = 16;  // blocks have whole rows and a multiple of sixteen values
    while (together % dof != 0) together += 16;
    const int blocks = (values + 2047) / 2048, equal = (values + blocks - 1) / blocks;
    const int length = (equal + together - 1) / together * together;
    const Context context = Context::cpu(1);
    const Vector x = vector(context, IndexSpace::plain(rows), 3), y = vector(context, x.space(), 4);
    RowValues terms;
    for (int at = 0; at < values; ++at) terms.push_back(reference::rounded_product(x.data()[at], y.data()[at]));
    double expected = 0.0;
    for (int first = 0; first < values; first += length)
        expected += reference::sum_of_block(terms.data() + first, std::min(length, values - first));
    EXPECT_EQ(dot(x, y), expected);
}

TEST(CutsOfRows, HaveAboutEqualNumbersOfBlocks) {
    // The second half of the rows has nine tenths of the blocks.
    std::vector<Index> row_begin{0};
    std::vector<int> column;
    const int rows = 40960;
    for (int row = 0; row < rows; ++row) {
        for (int at = 0; at < (row < rows / 2 ? 1 : 9); ++at) column.push_back(row - row % 16 + at);
        row_begin.push_back(Index(column.size()));
    }
    const BlockPattern pattern(Context::cpu(1), row_begin, column, "test");
    EXPECT_EQ(row_cuts(pattern, 1, 1), (std::vector<Index>{0, rows}));
    const Index cut = row_cuts(pattern, 1, 2)[1];
    EXPECT_GT(cut, rows * 6 / 10);
    EXPECT_LT(cut, rows * 8 / 10);
}

TEST(CutsOfRows, AreRefusedIfThereAreMoreRanksThanBlocksOfRows) {
    const auto message = [](int rows, int ranks) {
        const BsrMatrix a = reference::to_bsr_matrix(
            Context::cpu(1), reference::random_blocks(reference::pattern_named("empty_rows", rows, 1, 1), 1, 1));
        try {
            const std::vector<Index> cuts = row_cuts(*a.pattern(), 1, ranks);
            EXPECT_EQ(cuts.size(), std::size_t(ranks) + 1);
            for (int rank = 0; rank < ranks; ++rank) EXPECT_LT(cuts[rank], cuts[rank + 1]);
        } catch (const UsageError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(message(8192, 4), "");
    EXPECT_NE(message(8192, 5).find("device.ranks = 5: the matrix has 8192 block rows"), std::string::npos);
    EXPECT_NE(message(8192, 5).find("give 4 ranks or fewer"), std::string::npos);
    EXPECT_NE(message(2000, 2).find("run it on one rank"), std::string::npos);
}

}  // namespace
}  // namespace hyperplane
