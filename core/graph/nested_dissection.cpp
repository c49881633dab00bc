// SPDX-License-Identifier: BSD-3-Clause
#include "core/graph/orderings.hpp"

#if HYPERPLANE_METIS_BUILT
#include <numeric>

#include "core/graph/metis_graph.hpp"
#endif

namespace hyperplane {

bool metis_built() {
    return HYPERPLANE_METIS_BUILT;
}

#if HYPERPLANE_METIS_BUILT

Buffer<int> nested_dissection_order(const Graph& graph) {
    MetisGraph metis(graph, "ordering.name = nested_dissection", "rcm or multicolor");
    Buffer<int> order(graph.context(), MetisGraph::label, graph.vertices());
    std::iota(order.begin(), order.end(), 0);
    if (graph.neighbour.size() == 0) return order;
    Buffer<idx_t> permuted(graph.context(), MetisGraph::label, graph.vertices());
    Buffer<idx_t> inverse(graph.context(), MetisGraph::label, graph.vertices());
    metis.run("METIS_NodeND", [&] {
        return METIS_NodeND(metis.vertices(), metis.begin(), metis.neighbour(), nullptr, metis.options(),
                            permuted.data(), inverse.data());
    });
    std::copy(permuted.begin(), permuted.end(), order.begin());
    return order;
}

#else

Buffer<int> nested_dissection_order(const Graph&) {
    throw UsageError(
        "ordering.name = nested_dissection needs METIS, which this program was built without: install libmetis-dev "
        "and build it again, or use rcm or multicolor");
}

#endif

}  // namespace hyperplane
