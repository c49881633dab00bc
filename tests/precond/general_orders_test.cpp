// SPDX-License-Identifier: BSD-3-Clause
// The orders in which sync_free_ilu works on rows: levels, slices of solves and tables, on the host.
#include <gtest/gtest.h>

#include "precond/general/orders/slices.hpp"
#include "precond/general/orders/tables.hpp"
#include "precond/general_cases.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;

TEST(GraphLevels, FollowDependencies) {
    const BsrMatrix a = reference::to_bsr_matrix(
        Context::cpu(1), reference::random_blocks(reference::pattern_named("random", 90, 3, 43), 1, 1));
    for (const Side side : {Side::lower, Side::upper}) {
        const RowLevels levels = levels_of(Context::cpu(1), *a.pattern(), side, "test");
        std::vector<Index> level(90, -1);
        for (Index l = 0; l < levels.levels(); ++l)
            for (Index at = levels.begin[l]; at < levels.begin[l + 1]; ++at) level[levels.rows[at]] = l;
        for (int row = 0; row < 90; ++row) {
            Index expected = 0;
            for (Index at = a.pattern()->row_begin()[row]; at < a.pattern()->row_begin()[row + 1]; ++at) {
                const int j = a.pattern()->column()[at];
                if (side == Side::lower ? j < row : j > row) expected = std::max(expected, level[j] + 1);
            }
            EXPECT_EQ(level[row], expected) << row;
        }
    }
}

/// Every row has one position, its slice has room for its blocks, and no slice has rows of two levels.
TEST(GeneralSlices, HoldEveryRowOnceAndNoRowThatItWaitsFor) {
    for (const char* name : {"random", "arrow", "dense_row", "lower", "empty_rows"})
        for (int dof : {1, 3, 32})
            for (const Side side : {Side::lower, Side::upper}) {
                SCOPED_TRACE(std::string(name) + " " + std::to_string(dof));
                const Context host = Context::cpu(1);
                const BsrMatrix a = reference::to_bsr_matrix(
                    host, reference::random_blocks(reference::pattern_named(name, 300, 4, 43), 1, 1));
                const FilledPattern filled = filled_pattern(host, a.pattern(), 0, "test");
                const SlicedOrder sliced =
                    sliced_order(host, filled, levels_of(host, *filled.pattern, side, "test"), side, dof, "test");
                std::vector<int> position(300, -1);
                for (int at = 0; at < 300; ++at) position[sliced.row[at]] = at;
                Index next = 0, places = 0;
                for (const SolveSlice& slice : sliced.slices) {
                    EXPECT_EQ(slice.first, next);
                    EXPECT_EQ(slice.begin, places);
                    EXPECT_LE(slice.rows * slice.lanes * dof, 32);
                    for (int at = slice.first; at < slice.first + slice.rows; ++at) {
                        const int row = sliced.row[at];
                        EXPECT_EQ(position[row], at);
                        const Index diagonal = filled.diagonal[row];
                        const Index begin = side == Side::lower ? filled.pattern->row_begin()[row] : diagonal + 1;
                        const Index end = side == Side::lower ? diagonal : filled.pattern->row_begin()[row + 1];
                        EXPECT_LE(end - begin, Index(slice.width) * slice.lanes);
                        for (Index block = begin; block < end; ++block)
                            EXPECT_LT(position[filled.pattern->column()[block]], slice.first);
                    }
                    next += slice.rows;
                    places += Index(slice.width) * slice.rows * slice.lanes;
                }
                EXPECT_EQ(next, 300);
                EXPECT_EQ(places, sliced.places);
                const Index blocks = side == Side::lower ? filled.lower : filled.pattern->blocks() - 300 - filled.lower;
                const SlicedSizes least = SlicedSizes::least(300, blocks, dof), most = SlicedSizes::most(300, blocks);
                EXPECT_LE(least.places, places);
                EXPECT_LE(least.slices, sliced.slices.size());
                EXPECT_LE(places, most.places);
                EXPECT_LE(sliced.slices.size(), most.slices);
            }
}

/// Each row has one position and a lane for each of its entries; no slice has rows of two levels.
TEST(FactorTables, HoldEveryRowOnceAndNoRowThatItWaitsFor) {
    const Context host = Context::cpu(1);
    for (const char* name : {"random", "arrow", "dense_row", "lower", "empty_rows"})
        for (const bool symmetric : {false, true})
            for (const int k : {0, 1}) {
                SCOPED_TRACE(std::string(name) + " " + std::to_string(k));
                constexpr int rows = 900;
                const BsrMatrix a = reference::to_bsr_matrix(
                    host, reference::random_blocks(reference::pattern_named(name, rows, 4, 43), 1, 1));
                const FilledPattern filled = filled_pattern(host, a.pattern(), k, "test");
                const TableOrder order =
                    table_order(host, filled, levels_of(host, *filled.pattern, Side::lower, "test"),
                                table_shape(row_counts(filled, symmetric), symmetric), "test");
                std::vector<int> position(rows, -1);
                for (int at = 0; at < rows; ++at) position[order.row[at]] = at;
                EXPECT_EQ(std::count(position.begin(), position.end(), -1), 0);
                Index next = 0, pivots = 0, offsets = 0, in_long_rows = 0;
                for (const TableSlice& slice : order.slices) {
                    EXPECT_EQ(slice.first, next);
                    EXPECT_EQ(slice.pivots, pivots);
                    EXPECT_EQ(slice.offsets, slice.lanes > 0 ? offsets : in_long_rows);
                    EXPECT_LE(slice.rows * slice.lanes, 32);
                    for (int at = slice.first; at < slice.first + slice.rows; ++at) {
                        const int row = order.row[at];
                        const Index* const begin = filled.pattern->row_begin() + row;
                        EXPECT_LE(filled.diagonal[row] - begin[0], Index(slice.width));
                        if (slice.lanes > 0)
                            EXPECT_LE(begin[1] - (symmetric ? filled.diagonal[row] : begin[0]), Index(slice.lanes));
                        else
                            in_long_rows += begin[1] - begin[0];
                        for (Index entry = begin[0]; entry < filled.diagonal[row]; ++entry)
                            EXPECT_LT(position[filled.pattern->column()[entry]], slice.first);
                    }
                    next += slice.rows;
                    pivots += Index(slice.width) * slice.rows;
                    offsets += Index(slice.width) * slice.rows * slice.lanes;
                }
                EXPECT_EQ(next, rows);
                EXPECT_EQ(pivots, order.sizes.pivots);
                EXPECT_EQ(offsets, order.sizes.offsets);
                EXPECT_EQ(in_long_rows, order.sizes.in_long_rows);
            }
}

/// Threads share the levels; levels, slices and tables are those of one thread, value for value.
TEST(GeneralOrders, AreTheSameForAnyNumberOfThreads) {
    const auto values = [](const auto& buffer) { return std::vector(buffer.begin(), buffer.end()); };
    for (const char* name : {"random", "arrow", "dense_row", "lower", "empty_rows"}) {
        SCOPED_TRACE(name);
        const BsrMatrix a = reference::to_bsr_matrix(
            Context::cpu(1), reference::random_blocks(reference::pattern_named(name, 700, 4, 43), 1, 1));
        const FilledPattern filled = filled_pattern(Context::cpu(1), a.pattern(), 1, "test");
        const auto all = [&](int threads) {
            const Context host = Context::cpu(threads);
            host.set_least_parallel_work(0);
            std::vector<std::vector<Index>> found;
            const auto add = [&](const auto& list) { found.emplace_back(list.begin(), list.end()); };
            const BothLevels levels = levels_of_both(host, *filled.pattern, "test");
            for (const Side side : {Side::lower, Side::upper}) {
                add(values(levels.of(side).rows));
                add(values(levels.of(side).begin));
                EXPECT_EQ(values(levels.of(side).rows), values(levels_of(host, *filled.pattern, side, "test").rows));
                for (int dof : {1, 3}) {
                    const SlicedOrder order = sliced_order(host, filled, levels.of(side), side, dof, "test");
                    add(values(order.row));
                    for (const SolveSlice& one : order.slices)
                        add(std::vector<Index>{one.begin, one.first, one.width, one.rows, one.lanes});
                    add(std::vector<Index>{order.places, order.levels});
                    add(order.level_begin);
                }
            }
            for (const bool symmetric : {false, true}) {
                const TableOrder order = table_order(host, filled, levels.lower,
                                                     table_shape(row_counts(filled, symmetric), symmetric), "test");
                add(values(order.row));
                for (const TableSlice& one : order.slices)
                    add(std::vector<Index>{one.pivots, one.offsets, one.first, one.width, one.rows, one.lanes});
                const TableSizes& sizes = order.sizes;
                add(std::vector<Index>{sizes.slices, sizes.pivots, sizes.offsets, sizes.in_long_rows, order.levels});
            }
            return found;
        };
        const auto one = all(1);
        for (int threads : {2, 3, 16}) EXPECT_EQ(all(threads), one) << threads << " threads";
    }
}

/// A GPU takes lanes, widths and steps of slices from the classes of their first rows.
TEST(RowClasses, TellLanesWidthsAndSteps) {
    for (int below = 0; below < 150; ++below)
        for (int from = 1; from < 150; ++from) {
            const RowEntries row{below, from};
            for (const int dof : {1, 2, 3, 5, 32})
                for (const bool upper : {false, true}) {
                    const SolveRule rule{dof, upper};
                    const int of_class = rule.class_of(row), lanes = 1 << rule.lanes_exponent(row);
                    ASSERT_EQ(SolveRule::lanes_of_class(of_class), lanes);
                    ASSERT_EQ(SolveRule::least_width(of_class),
                              std::min(rule.width_of(row, lanes), SolveRule::widths - 1));
                }
            for (const bool symmetric : {false, true}) {
                const TableRule rule{symmetric};
                const int of_class = rule.class_of(row), lanes = rule.lanes_of(row);
                ASSERT_EQ(TableRule::lanes_of_class(of_class), lanes);
                ASSERT_EQ(TableRule::steps_of_class(of_class), lanes > 0 ? below : 0);
            }
        }
}

}  // namespace
}  // namespace hyperplane
