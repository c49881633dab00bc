// SPDX-License-Identifier: BSD-3-Clause
// The undirected graph of a general matrix: its vertices are the block rows, and an edge joins i and j if block (i, j)
// or (j, i) is stored, i != j.
#pragma once

#include <string>

#include "core/matrix/block_pattern.hpp"

namespace hyperplane {

/// The neighbours of vertex v are neighbour[begin[v]], ..., neighbour[begin[v + 1] - 1]; they ascend.
struct Graph {
    Buffer<Index> begin;
    Buffer<int> neighbour;

    Index vertices() const { return begin.size() - 1; }
    Index degree(Index v) const { return begin[v + 1] - begin[v]; }
    const Context& context() const { return begin.context(); }
    /// Calls body(neighbour) in ascending order.
    template <class Body>
    void for_neighbours(Index v, const Body& body) const {
        for (Index at = begin[v]; at < begin[v + 1]; ++at) body(neighbour[at]);
    }
};

/// The graph of a pattern that the host can read, in the pattern's memory.
Graph graph_of(const BlockPattern& a);

/// The transpose of a pattern that the host can read.
BlockPattern transposed(const BlockPattern& a, const std::string& label);

}  // namespace hyperplane
