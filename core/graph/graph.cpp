// SPDX-License-Identifier: BSD-3-Clause
#include "core/graph/graph.hpp"

#include <numeric>

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

}  // namespace

BlockPattern transposed(const BlockPattern& a, const std::string& label) {
    const Context& host = a.context();
    Buffer<Index> row_begin(host, label, a.rows() + 1);
    Buffer<int> column(host, label, a.blocks());
    for (Index at = 0; at < a.blocks(); ++at) ++row_begin[a.column()[at] + 1];
    std::partial_sum(row_begin.begin(), row_begin.end(), row_begin.begin());
    Buffer<Index> next(host, label, a.rows());
    std::copy(row_begin.begin(), row_begin.end() - 1, next.begin());
    for (Index row = 0; row < a.rows(); ++row)
        for (Index at = a.row_begin()[row]; at < a.row_begin()[row + 1]; ++at)
            column[next[a.column()[at]]++] = int(row);
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
