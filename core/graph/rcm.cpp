// SPDX-License-Identifier: BSD-3-Clause
// Reverse Cuthill-McKee. For each connected part, in the order of its smallest vertex:
//
//   1. begin at a vertex of the smallest degree of the part (of several the one with the smallest number)
//   2. search breadth first; of the last ring take a vertex of the smallest degree, and search from it; repeat as long
//      as the number of rings grows (George and Liu's pseudo-peripheral vertex)
//   3. number the part breadth first from there; the new neighbours of a vertex by ascending degree, then number
//   4. reverse the whole order
#include <algorithm>

#include "core/graph/orderings.hpp"

namespace hyperplane {
namespace {

constexpr const char* rcm_label = "row order";

class CuthillMcKee {
public:
    explicit CuthillMcKee(const Graph& graph)
        : graph_(graph),
          order_(graph.context(), rcm_label, graph.vertices()),
          met_(graph.context(), rcm_label, graph.vertices()) {}

    Buffer<int> reversed() {
        for (Index v = 0; v < graph_.vertices(); ++v)
            if (met_[v] != done) number_part(int(v));
        std::reverse(order_.begin(), order_.end());
        return std::move(order_);
    }

private:
    static constexpr int done = -1;

    bool smaller(int a, int b) const {
        const Index of_a = graph_.degree(a), of_b = graph_.degree(b);
        return of_a != of_b ? of_a < of_b : a < b;
    }
    int smallest(Index from, Index to) const {
        return *std::min_element(order_.begin() + from, order_.begin() + to,
                                 [&](int a, int b) { return smaller(a, b); });
    }

    /// Puts the part of `root`, breadth first, at the end of the order; returns its number of rings and where the last
    /// one begins. `sorted`: the new neighbours of each vertex are sorted.
    struct Rings {
        Index count, last, end;
    };
    Rings search(int root, bool sorted) {
        ++mark_;
        Index end = numbered_;
        const auto meet = [&](int v) {
            met_[v] = mark_;
            order_[end++] = v;
        };
        meet(root);
        Rings rings{0, numbered_, numbered_};
        for (Index ring = numbered_; ring < end;) {
            rings = {rings.count + 1, ring, end};
            for (const Index ring_end = end; ring < ring_end; ++ring) {
                const Index first = end;
                graph_.for_neighbours(order_[ring], [&](int v) {
                    if (met_[v] != mark_) meet(v);
                });
                if (sorted)
                    std::sort(order_.begin() + first, order_.begin() + end,
                              [&](int a, int b) { return smaller(a, b); });
            }
        }
        return rings;
    }

    void number_part(int vertex) {
        Rings rings = search(vertex, false);
        int root = smallest(numbered_, rings.end);
        rings = search(root, false);
        for (;;) {
            const int candidate = smallest(rings.last, rings.end);
            const Rings next = search(candidate, false);
            if (next.count <= rings.count) break;
            root = candidate;
            rings = next;
        }
        const Index end = search(root, true).end;
        for (Index at = numbered_; at < end; ++at) met_[order_[at]] = done;
        numbered_ = end;
    }

    const Graph& graph_;
    Buffer<int> order_;  ///< the numbered vertices, and after them those of the current search
    Buffer<int> met_;    ///< [vertex]: the latest search that has met it; done: it is numbered
    Index numbered_ = 0;
    int mark_ = 0;
};

}  // namespace

Buffer<int> rcm_order(const Graph& graph) {
    return CuthillMcKee(graph).reversed();
}

}  // namespace hyperplane
