// SPDX-License-Identifier: BSD-3-Clause
// Orderings of block rows: compared with the reference, and matrices and patterns that are put in another order.
#include "core/graph/orderings.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "core/error.hpp"
#include "core/matrix/bsr_matrix.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "core/random.hpp"
#include "ordered_matrices.hpp"
#include "reference/general_matrices.hpp"
#include "reference/orderings.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using reference::BlockMatrix;
using reference::Pattern;

std::shared_ptr<const BlockPattern> block_pattern_of(const Pattern& pattern) {
    return reference::to_bsr_matrix(Context::cpu(1), reference::random_blocks(pattern, 1, 1)).pattern();
}

std::vector<int> as_list(const Buffer<int>& values) {
    return {values.begin(), values.end()};
}

std::vector<int> order_named(const std::string& name, const BlockPattern& pattern, const std::string& value = "",
                             const std::string& key = "seed") {
    const auto order = make_order(pattern, ordering_parameters(name, value, key), {});
    return as_list(order->given);
}

/// A grid of n x n points with five-point couplings, whose points have random numbers.
Pattern shuffled_grid(int n) {
    std::vector<int> number(n * n);
    std::iota(number.begin(), number.end(), 0);
    for (int last = n * n - 1; last > 0; --last) std::swap(number[last], number[random_bits(3, last) % (last + 1)]);
    Pattern pattern(n * n);
    for (int y = 0; y < n; ++y)
        for (int x = 0; x < n; ++x) {
            const int own = number[y * n + x];
            pattern[own].insert(own);
            for (const auto& [i, j] : {std::pair(x + 1, y), std::pair(x, y + 1)})
                if (i < n && j < n) {
                    pattern[own].insert(number[j * n + i]);
                    pattern[number[j * n + i]].insert(own);
                }
        }
    return pattern;
}

std::vector<std::pair<std::string, Pattern>> ordering_patterns() {
    std::vector<std::pair<std::string, Pattern>> list;
    for (const char* name : {"random", "symmetric", "arrow", "dense_row", "lower", "empty_rows", "no_diagonal"})
        list.emplace_back(name, reference::pattern_named(name, 70, 3, 41));
    list.emplace_back("two parts and lone rows", reference::pattern_named("random", 90, 2, 7));
    list.emplace_back("one row", Pattern{{0}});
    list.emplace_back("grid", shuffled_grid(9));
    return list;
}

TEST(Orderings, ReverseCuthillMcKeeEqualsReference) {
    for (const auto& [name, pattern] : ordering_patterns()) {
        SCOPED_TRACE(name);
        EXPECT_EQ(order_named("rcm", *block_pattern_of(pattern)), reference::rcm(reference::undirected(pattern)));
    }
}

TEST(Orderings, ColoursEqualReferenceAndAreProper) {
    for (const auto& [name, pattern] : ordering_patterns())
        for (const bool hashed : {false, true}) {
            SCOPED_TRACE(name + (hashed ? ", hashed" : ", greedy"));
            const auto a = block_pattern_of(pattern);
            const Pattern graph = reference::undirected(pattern);
            const Graph of_a = graph_of(*a);
            const std::vector<int> colour = as_list(hashed ? hashed_colours(of_a) : greedy_colours(of_a));
            EXPECT_EQ(colour, hashed ? reference::hashed_colours(graph) : reference::greedy_colours(graph));
            for (int v = 0; v < int(graph.size()); ++v)
                for (int w : graph[v]) EXPECT_NE(colour[v], colour[w]) << v << " " << w;
            std::vector<int> expected(pattern.size());
            std::iota(expected.begin(), expected.end(), 0);
            std::stable_sort(expected.begin(), expected.end(), [&](int v, int w) { return colour[v] < colour[w]; });
            EXPECT_EQ(order_named("multicolor", *a, hashed ? "hashed" : "", "colours"), expected);
            const auto order = make_order(*a, ordering_parameters("multicolor", hashed ? "hashed" : "", "colours"), {});
            EXPECT_EQ(order->name, hashed ? "multicolor (colours = hashed)" : "multicolor");
            const ReorderedPattern ordered = in_order(*a, order, "test");
            EXPECT_LE(ordered.pattern->statistics().lower_levels, 1 + *std::max_element(colour.begin(), colour.end()));
        }
}

/// Graphs in which many vertices wait for each other: each row follows the one before it, within a line or throughout,
/// nearly all rows have one neighbour, or all are neighbours, so that there are more colours than a word has bits.
std::vector<std::pair<std::string, Pattern>> patterns_to_colour() {
    Pattern grid(31 * 17 * 9), chain(3000);
    for (int v = 0; v < int(grid.size()); ++v) {
        grid[v].insert(v);
        if (v % 31 > 0) grid[v].insert(v - 1);
        if (v / 31 % 17 > 0) grid[v].insert(v - 31);
        if (v >= 31 * 17) grid[v].insert(v - 31 * 17);
    }
    for (int v = 0; v < int(chain.size()); ++v)
        for (int w : {v - 1, v - 2, v - 40})
            if (w >= 0) chain[v].insert(w);
    return {{"grid", grid},
            {"chain", chain},
            {"shuffled grid", shuffled_grid(60)},
            {"random", reference::pattern_named("random", 4000, 6, 3)},
            {"arrow", reference::pattern_named("arrow", 4000, 3, 3)},
            {"dense row", reference::pattern_named("dense_row", 4000, 3, 3)},
            {"dense", reference::pattern_named("dense", 200, 3, 3)}};
}

BlockPattern pattern_of(const Context& host, const Pattern& pattern) {
    std::vector<Index> row_begin{0};
    std::vector<int> column;
    for (const auto& row : pattern) {
        column.insert(column.end(), row.begin(), row.end());
        row_begin.push_back(Index(column.size()));
    }
    return {host, row_begin, column, "test"};
}

TEST(Orderings, ColoursAreThoseOfOneThreadForAnyNumberOfThreads) {
    for (const auto& [name, pattern] : patterns_to_colour()) {
        SCOPED_TRACE(name);
        const Pattern graph = reference::undirected(pattern);
        const std::vector<int> greedy = reference::greedy_colours(graph), hashed = reference::hashed_colours(graph);
        for (const int threads : {1, 2, 3, 4, 8, 16}) {
            const Context host = Context::cpu(threads);
            host.set_least_parallel_work(0);
            const BlockPattern a = pattern_of(host, pattern);
            const Graph of_a = graph_of(a);
            for (int repeat = 0; repeat < 5; ++repeat) {
                ASSERT_EQ(as_list(greedy_colours(of_a)), greedy);
                ASSERT_EQ(as_list(hashed_colours(of_a)), hashed);
            }
        }
    }
}

/// The rows of a pattern of BlockPattern.
Pattern rows_of(const BlockPattern& a) {
    Pattern rows(std::size_t(a.rows()));
    for (Index row = 0; row < a.rows(); ++row)
        for (Index at = a.row_begin()[row]; at < a.row_begin()[row + 1]; ++at) rows[row].insert(a.column()[at]);
    return rows;
}

TEST(BlockPatterns, AreTransposedByAnyNumberOfThreads) {
    auto patterns = patterns_to_colour();
    for (const auto& more : ordering_patterns()) patterns.push_back(more);
    patterns.emplace_back("no rows", Pattern{});
    Pattern scattered(600000);  // most blocks are far from the diagonal, which one thread transposes in another way
    for (int v = 0; v < int(scattered.size()); ++v) scattered[v] = {v, int(random_bits(5, v) % scattered.size())};
    patterns.emplace_back("scattered", scattered);
    for (const auto& [name, pattern] : patterns) {
        SCOPED_TRACE(name);
        Pattern expected(pattern.size());
        for (int i = 0; i < int(pattern.size()); ++i)
            for (int j : pattern[i]) expected[j].insert(i);
        for (const int threads : {1, 2, 3, 8}) {
            const Context host = Context::cpu(threads);
            host.set_least_parallel_work(0);
            const BlockPattern t = transposed(pattern_of(host, pattern), "test");  // throws unless columns ascend
            EXPECT_TRUE(rows_of(t) == expected) << threads;
        }
    }
}

TEST(Orderings, RandomFollowsFromTheSeed) {
    const auto a = block_pattern_of(reference::pattern_named("random", 70, 3, 41));
    const std::vector<int> one = order_named("random", *a, "1");
    EXPECT_EQ(one, order_named("random", *a));
    EXPECT_NE(one, order_named("random", *a, "2"));
    std::vector<int> sorted = one;
    std::sort(sorted.begin(), sorted.end());
    for (int row = 0; row < 70; ++row) EXPECT_EQ(sorted[row], row);
}

TEST(Orderings, AreNamedWithTheKeysThatDifferFromTheirDefaults) {
    EXPECT_EQ(order_text(ordering_parameters("multicolor")), "multicolor");
    EXPECT_EQ(order_text(ordering_parameters("multicolor", "hashed", "colours")), "multicolor (colours = hashed)");
    EXPECT_EQ(order_text(ordering_parameters("random", "7")), "random (seed = 7)");
    const auto unknown = [](const std::string&) { return std::string(); };  // a record of before the key
    EXPECT_EQ(order_text("multicolor", unknown), "multicolor");
    EXPECT_EQ(order_text("of a later version", unknown), "of a later version");
}

TEST(Orderings, NestedDissectionShortensDependencies) {
    if (!metis_built()) {
        EXPECT_THROW(order_named("nested_dissection", *block_pattern_of(shuffled_grid(3))), UsageError);
        GTEST_SKIP() << "built without METIS";
    }
    for (const auto& [name, pattern] : ordering_patterns()) {
        SCOPED_TRACE(name);
        std::vector<int> order = order_named("nested_dissection", *block_pattern_of(pattern));
        std::sort(order.begin(), order.end());
        for (int row = 0; row < int(pattern.size()); ++row) ASSERT_EQ(order[row], row);
    }
    const auto a = block_pattern_of(shuffled_grid(40));
    const auto rows_in = [&](const char* name) {
        return in_order(*a, make_order(*a, ordering_parameters(name), {}), "test")
            .pattern->statistics()
            .rows_a_lower_level();
    };
    EXPECT_GT(rows_in("nested_dissection"), 2 * rows_in("rcm"));
    EXPECT_EQ(order_named("nested_dissection", *a), order_named("nested_dissection", *a));
}

TEST(Orderings, NarrowTheBandOfAShuffledGrid) {
    const auto a = block_pattern_of(shuffled_grid(20));
    const auto order = make_order(*a, ordering_parameters("rcm"), {});
    EXPECT_GT(order->before.lower_bandwidth, 200);
    EXPECT_LE(in_order(*a, order, "test").pattern->statistics().lower_bandwidth, 21);
    EXPECT_GE(order->seconds, 0.0);
}

TEST(Orderings, NaturalIsNoOrderAndUnknownNamesAreRefused) {
    const auto a = block_pattern_of(shuffled_grid(3));
    EXPECT_EQ(make_order(*a, ordering_parameters("natural"), {}), nullptr);
    Parameters parameters = ordering_parameters("natural");
    parameters.set("ordering", "name", "amd");
    EXPECT_THROW(make_order(*a, parameters, {}), UsageError);
}

TEST(Orderings, MatricesInAnotherOrderEqualThePermutedReference) {
    for (const auto& [name, pattern] : ordering_patterns())
        for (int dof : {1, 3}) {
            SCOPED_TRACE(name);
            const BlockMatrix data = reference::random_blocks(pattern, dof, 5);
            const Context context = Context::cpu(1);
            const BsrMatrix a = reference::to_bsr_matrix(context, data);
            const auto order = make_order(*a.pattern(), ordering_parameters("random"), {});
            expect_same_bits_for_any_threads(context, [&] {
                const auto ordered = in_order(a, order, "test");
                return std::vector<double>(ordered->values(), ordered->values() + ordered->nonzeros());
            });
            const auto ordered = in_order(a, order, "test");
            const BsrMatrix expected =
                reference::to_bsr_matrix(context, reference::permuted(data, as_list(order->given)));
            ASSERT_NO_FATAL_FAILURE(expect_ordered(*ordered, expected, a));
            const std::vector<double> x = reference::Random(3).vector(int(pattern.size()) * dof);
            EXPECT_EQ(order->to_given(order->to_places(x, dof), dof), x);
        }
}

TEST(Orderings, OrdersThatAreNoPermutationAreInternalErrors) {
    Buffer<int> twice(Context::cpu(1), "test", 3);
    EXPECT_THROW(make_row_order(Context::cpu(1), "broken", std::move(twice)), Error);
}

TEST(BlockPatterns, MustHaveAscendingColumnsWithinTheMatrix) {
    const Context context = Context::cpu(1);
    EXPECT_NO_THROW(BlockPattern(context, {0, 2, 3}, {0, 1, 1}, "pattern"));
    EXPECT_THROW(BlockPattern(context, {0, 2, 3}, {1, 0, 1}, "pattern"), Error);
    EXPECT_THROW(BlockPattern(context, {0, 2, 3}, {0, 0, 1}, "pattern"), Error);
    EXPECT_THROW(BlockPattern(context, {0, 2, 3}, {0, 2, 1}, "pattern"), Error);
    EXPECT_THROW(BlockPattern(context, {0, 2, 4}, {0, 1, 1}, "pattern"), Error);
    EXPECT_THROW(BlockPattern(context, {0, 3, 3}, {0, 1, -1}, "pattern"), Error);
}

TEST(BlockPatterns, CountLevels) {
    // 0 <- 1 <- 2, 3 alone; above the diagonal 0 -> 3.
    const BlockPattern p(Context::cpu(1), {0, 2, 4, 6, 7}, {0, 3, 0, 1, 1, 2, 3}, "pattern");
    EXPECT_EQ(p.statistics().lower_levels, 3);
    EXPECT_EQ(p.statistics().upper_levels, 2);
}

}  // namespace
}  // namespace hyperplane
