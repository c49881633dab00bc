// SPDX-License-Identifier: BSD-3-Clause
#include "core/graph/graph.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

namespace hyperplane {
namespace {

constexpr const char* label = "graph";

/// Calls body(j) for each j != row that row `row` of a or of its transpose t has, in ascending order.
template <class Body>
void merged_row(const BlockPattern& a, const BlockPattern& t, Index row, const Body& body) {
    Index here = a.row_begin()[row], there = t.row_begin()[row];
    const Index end = a.row_begin()[row + 1], last = t.row_begin()[row + 1];
    while (here < end || there < last) {
        const int i = here < end ? a.column()[here] : int(a.rows()), j = there < last ? t.column()[there] : i + 1;
        const int next = std::min(i, j);
        here += here < end && i == next;
        there += there < last && j == next;
        if (next != row) body(next);
    }
}

/// Whether most blocks lie so far from the diagonal that the rows of the transpose are not met in the caches.
bool is_scattered(const BlockPattern& a) {
    constexpr Index far = Index(1) << 17;
    Index scattered = 0;
#pragma omp parallel for schedule(static) num_threads(a.context().threads_for(a.blocks())) reduction(+ : scattered)
    for (Index row = 0; row < a.rows(); ++row)
        for (Index at = a.row_begin()[row]; at < a.row_begin()[row + 1]; ++at)
            scattered += std::abs(a.column()[at] - row) > far;
    return 2 * scattered > a.blocks();
}

/// Transposes on one thread, row by row: the least work where the places that it writes are in the caches.
void transpose_in_order(const BlockPattern& a, const std::string& label, Buffer<Index>& row_begin,
                        Buffer<int>& column) {
    for (Index at = 0; at < a.blocks(); ++at) ++row_begin[a.column()[at] + 1];
    std::partial_sum(row_begin.begin(), row_begin.end(), row_begin.begin());
    Buffer<Index> next(a.context(), label, a.rows());
    std::copy(row_begin.begin(), row_begin.end() - 1, next.begin());
    for (Index row = 0; row < a.rows(); ++row)
        for (Index at = a.row_begin()[row]; at < a.row_begin()[row + 1]; ++at)
            column[next[a.column()[at]]++] = int(row);
}

/// Transposes on several threads: blocks go to buckets of 2^shift columns, in the order of rows, and each bucket, which
/// the caches hold, is a stretch of the transpose. Memory: 8 bytes a block.
void transpose_by_buckets(const BlockPattern& a, const std::string& label, Buffer<Index>& row_begin,
                          Buffer<int>& column) {
    constexpr Index most_buckets = 512;
    struct Place {
        int row, column;
    };
    const Index n = a.rows();
    const int threads = a.context().threads_for(a.blocks());
    int shift = 0;
    while (n >> shift >= most_buckets) ++shift;
    const Index buckets = (n >> shift) + 1;
    Buffer<Place> sorted(a.context(), label, a.blocks());
    std::vector<Index> next(std::size_t(buckets * threads) + 1);  // [bucket][thread]: where its first block goes
    /// Calls body(row, column, bucket) for the blocks of a thread's rows.
    const auto for_blocks = [&](int thread, const auto& body) {
        const Index end = a.first_row(thread + 1, threads);
        for (Index row = a.first_row(thread, threads); row < end; ++row)
            for (Index at = a.row_begin()[row]; at < a.row_begin()[row + 1]; ++at)
                body(int(row), a.column()[at], Index(a.column()[at] >> shift));
    };
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static, 1)
        for (int thread = 0; thread < threads; ++thread) {
            std::vector<Index> count(static_cast<std::size_t>(buckets));
            for_blocks(thread, [&](int, int, Index bucket) { ++count[bucket]; });
            for (Index bucket = 0; bucket < buckets; ++bucket) next[bucket * threads + thread + 1] = count[bucket];
        }
#pragma omp single
        std::partial_sum(next.begin(), next.end(), next.begin());
#pragma omp for schedule(static, 1)
        for (int thread = 0; thread < threads; ++thread) {
            std::vector<Index> to(static_cast<std::size_t>(buckets));
            for (Index bucket = 0; bucket < buckets; ++bucket) to[bucket] = next[bucket * threads + thread];
            for_blocks(thread, [&](int row, int column, Index bucket) { sorted[to[bucket]++] = {row, column}; });
        }
        std::vector<Index> to(std::size_t(1) << shift);
#pragma omp for schedule(dynamic)
        for (Index bucket = 0; bucket < buckets; ++bucket) {
            const Index first = bucket << shift, width = std::min(n - first, Index(1) << shift);
            const Index begin = next[bucket * threads], end = next[(bucket + 1) * threads];
            std::fill(to.begin(), to.end(), 0);
            for (Index at = begin; at < end; ++at) ++to[sorted[at].column - first];
            Index before = begin;
            for (Index j = 0; j < width; ++j) {
                const Index count = std::exchange(to[j], before);
                row_begin[first + j + 1] = before += count;
            }
            for (Index at = begin; at < end; ++at) column[to[sorted[at].column - first]++] = sorted[at].row;
        }
    }
}

}  // namespace

BlockPattern transposed(const BlockPattern& a, const std::string& label) {
    const Context& host = a.context();
    Buffer<Index> row_begin(host, label, a.rows() + 1);
    Buffer<int> column(host, label, a.blocks());
    if (host.threads_for(a.blocks()) > 2 || is_scattered(a))
        transpose_by_buckets(a, label, row_begin, column);
    else
        transpose_in_order(a, label, row_begin, column);
    return {std::move(row_begin), std::move(column)};
}

Graph graph_of(const BlockPattern& a) {
    const Context& host = a.context();
    const BlockPattern t = transposed(a, label);
    Graph graph{Buffer<Index>(host, label, a.rows() + 1), {}};
    const int threads = host.threads_for(a.blocks());
#pragma omp parallel for schedule(static) num_threads(threads)
    for (Index row = 0; row < a.rows(); ++row) merged_row(a, t, row, [&](int) { ++graph.begin[row + 1]; });
    std::partial_sum(graph.begin.begin(), graph.begin.end(), graph.begin.begin());
    graph.neighbour = Buffer<int>(host, label, graph.begin[a.rows()]);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (Index row = 0; row < a.rows(); ++row) {
        Index to = graph.begin[row];
        merged_row(a, t, row, [&](int j) { graph.neighbour[to++] = j; });
    }
    return graph;
}

}  // namespace hyperplane
