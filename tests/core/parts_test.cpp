// SPDX-License-Identifier: BSD-3-Clause
// The vertices of graphs divided into parts of limited size.
#include "core/graph/parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "core/error.hpp"
#include "core/graph/orderings.hpp"
#include "reference/general_matrices.hpp"

namespace hyperplane {
namespace {

Graph graph_of_pattern(const reference::Pattern& pattern) {
    return graph_of(*reference::to_bsr_matrix(Context::cpu(1), reference::random_blocks(pattern, 1, 1)).pattern());
}

/// n x n points with the couplings of five points.
reference::Pattern square(int n) {
    reference::Pattern pattern(n * n);
    for (int at = 0; at < n * n; ++at) {
        pattern[at].insert(at);
        if (at % n + 1 < n) pattern[at].insert(at + 1), pattern[at + 1].insert(at);
        if (at + n < n * n) pattern[at].insert(at + n), pattern[at + n].insert(at);
    }
    return pattern;
}

/// Every vertex is listed once, in its part, and the parts are neither empty nor too large.
void expect_partition(const GraphParts& parts, Index n, Index most) {
    ASSERT_EQ(parts.part.size(), n);
    ASSERT_EQ(parts.vertices.size(), n);
    std::vector<int> listed(std::size_t(n), 0);
    for (Index part = 0; part < parts.count(); ++part) {
        EXPECT_LT(parts.begin[part], parts.begin[part + 1]);
        EXPECT_LE(parts.begin[part + 1] - parts.begin[part], most);
        for (Index at = parts.begin[part]; at < parts.begin[part + 1]; ++at) {
            ++listed[parts.vertices[at]];
            EXPECT_EQ(parts.part[parts.vertices[at]], part);
            if (at > parts.begin[part]) {
                EXPECT_LT(parts.vertices[at - 1], parts.vertices[at]);
            }
        }
    }
    EXPECT_EQ(std::count(listed.begin(), listed.end(), 1), n);
}

Index edges_cut(const Graph& graph, const GraphParts& parts) {
    Index cut = 0;
    for (Index v = 0; v < graph.vertices(); ++v)
        graph.for_neighbours(v, [&](int w) { cut += parts.part[v] != parts.part[w]; });
    return cut;
}

TEST(GraphParts, OfConsecutiveVerticesDifferByOneAtMost) {
    for (const Index n : {1, 2, 9, 10, 11, 100})
        for (const Index most : {1, 3, 10, 1000}) {
            const GraphParts parts = consecutive_parts(Context::cpu(1), n, most, "test");
            expect_partition(parts, n, most);
            EXPECT_EQ(parts.count(), (n + most - 1) / most);
            EXPECT_GE(n / parts.count() + 1, parts.largest());
            EXPECT_TRUE(std::is_sorted(parts.part.begin(), parts.part.end()));
        }
}

TEST(GraphParts, OfMetisFitAndRepeat) {
    if (!metis_built()) {
        EXPECT_THROW(metis_parts(graph_of_pattern(square(3)), 4, "test", "test"), UsageError);
        GTEST_SKIP() << "built without METIS";
    }
    for (const char* name : {"random", "symmetric", "arrow", "dense_row", "empty_rows", "dense"})
        for (const Index most : {1, 4, 30, 100}) {
            SCOPED_TRACE(name);
            const Graph graph = graph_of_pattern(reference::pattern_named(name, 70, 3, 41));
            const GraphParts parts = metis_parts(graph, most, "test", "test"),
                             again = metis_parts(graph, most, "test", "test");
            expect_partition(parts, 70, most);
            EXPECT_TRUE(std::equal(parts.part.begin(), parts.part.end(), again.part.begin()));
        }
    expect_partition(metis_parts(graph_of_pattern({{0}}), 5, "test", "test"), 1, 5);
}

TEST(GraphParts, OfMetisCutFewEdges) {
    if (!metis_built()) GTEST_SKIP() << "built without METIS";
    const Graph graph = graph_of_pattern(square(40));
    const GraphParts metis = metis_parts(graph, 64, "test", "test");
    // Of 8 x 8 points each, 25 parts would cut 2 x 8 x 2 x 20 edges of 6240; of rows that follow each other, four
    // times.
    EXPECT_LT(edges_cut(graph, metis), edges_cut(graph, consecutive_parts(Context::cpu(1), 1600, 64, "test")) / 2);
    EXPECT_LT(metis.count(), 32);
}

std::atomic<int> signals_handled{0};

/// METIS takes SIGTERM from the process while it works, and leaves off where one comes.
TEST(GraphParts, OfMetisAreTheSameWhereASignalComesThatTheProcessHandles) {
    if (!metis_built()) GTEST_SKIP() << "built without METIS";
    const Graph graph = graph_of_pattern(square(250));
    const GraphParts undisturbed = metis_parts(graph, 30, "test", "test");
    const auto handle = [](int) { ++signals_handled; };
    const auto before = std::signal(SIGTERM, handle);
    std::atomic<bool> over{false}, sent{false};
    std::thread sender([&, working = pthread_self()] {
        struct sigaction now = {};
        do {
            if (over) return;
            sigaction(SIGTERM, nullptr, &now);
        } while (now.sa_handler == static_cast<void (*)(int)>(handle));
        std::this_thread::sleep_for(std::chrono::milliseconds(20));  // METIS then has a place to return to
        sent = !over;
        // NOLINTNEXTLINE(bugprone-bad-signal-to-kill-thread): the process handles it
        if (sent) pthread_kill(working, SIGTERM);
    });
    const GraphParts disturbed = metis_parts(graph, 30, "test", "test");
    over = true;
    sender.join();
    std::signal(SIGTERM, before);
    ASSERT_TRUE(sent) << "METIS was done too soon for this test";
    EXPECT_EQ(signals_handled, 1);
    EXPECT_TRUE(std::equal(undisturbed.part.begin(), undisturbed.part.end(), disturbed.part.begin()));
}

}  // namespace
}  // namespace hyperplane
