// SPDX-License-Identifier: BSD-3-Clause
// The vertices of a graph divided into parts of limited size, for preconditioners that leave out the couplings between
// parts.
#pragma once

#include <string>

#include "core/graph/graph.hpp"

namespace hyperplane {

/// The vertices by part; those of one part ascend.
struct GraphParts {
    Buffer<int> part;      ///< [vertex]: the number of its part
    Buffer<int> vertices;  ///< part by part
    Buffer<Index> begin;   ///< [part]: where its vertices begin; one value more than there are parts

    Index count() const { return begin.size() - 1; }
    Index largest() const;
    Index bytes() const {
        return (part.size() + vertices.size()) * Index(sizeof(int)) + begin.size() * Index(sizeof(Index));
    }
};

/// Lists the vertices of `count` parts, of which `part` has the number for each vertex.
GraphParts listed_parts(Buffer<int> part, Index count, const std::string& label);

/// Parts of at most `most` vertices each, with few edges between them: METIS's k-way partition. A part that METIS made
/// larger than that is divided again. `key`: what asked for it, in messages. Throws UsageError if the graph is larger
/// than METIS's indices count, or if this program was built without METIS.
GraphParts metis_parts(const Graph& graph, Index most, const std::string& key, const std::string& label);

/// The vertices 0 to n - 1 in parts of consecutive numbers, whose sizes differ by one at most.
GraphParts consecutive_parts(const Context& context, Index n, Index most, const std::string& label);

}  // namespace hyperplane
