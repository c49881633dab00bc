// SPDX-License-Identifier: BSD-3-Clause

#include "core/graph/orderings.hpp"

namespace hyperplane {

Buffer<int> greedy_colours(const Graph& graph) {
    Buffer<int> colour(graph.context(), "row order", graph.vertices());
    std::vector<int> taken;  // [colour]: the last vertex, counted from 1, with a neighbour of that colour
    for (Index v = 0; v < graph.vertices(); ++v) {
        graph.for_neighbours(v, [&](int other) {
            if (other < v) taken[colour[other]] = int(v) + 1;
        });
        int own = 0;
        while (own < int(taken.size()) && taken[own] == int(v) + 1) ++own;
        if (own == int(taken.size())) taken.push_back(0);
        colour[v] = own;
    }
    return colour;
}

}  // namespace hyperplane
