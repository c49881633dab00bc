// SPDX-License-Identifier: BSD-3-Clause
#include "core/graph/orderings.hpp"

#if HYPERPLANE_METIS_BUILT
#include <metis.h>

#include <limits>
#include <numeric>
#endif

namespace hyperplane {

bool metis_built() {
    return HYPERPLANE_METIS_BUILT;
}

#if HYPERPLANE_METIS_BUILT

Buffer<int> nested_dissection_order(const Graph& graph) {
    constexpr const char* label = "row order";
    constexpr Index most = std::numeric_limits<idx_t>::max();
    const Index edges = graph.neighbour.size();
    if (edges > most)
        throw UsageError(
            fmt::format("ordering.name = nested_dissection: the graph has {} directed edges, and METIS's "
                        "{}-bit indices count {}; use rcm or multicolor",
                        edges, 8 * sizeof(idx_t), most));
    auto vertices = idx_t(graph.vertices());
    Buffer<int> order(graph.context(), label, vertices);
    std::iota(order.begin(), order.end(), 0);
    if (edges == 0) return order;
    Buffer<idx_t> begin(graph.context(), label, vertices + 1), neighbour(graph.context(), label, edges);
    Buffer<idx_t> permuted(graph.context(), label, vertices), inverse(graph.context(), label, vertices);
    std::copy(graph.begin.begin(), graph.begin.end(), begin.begin());
    std::copy(graph.neighbour.begin(), graph.neighbour.end(), neighbour.begin());
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    const int status =
        METIS_NodeND(&vertices, begin.data(), neighbour.data(), nullptr, options, permuted.data(), inverse.data());
    if (status == METIS_ERROR_MEMORY)
        throw OutOfMemory("ordering.name = nested_dissection: METIS ran out of memory; use rcm or multicolor");
    if (status != METIS_OK)
        throw Error(ExitCode::internal,
                    fmt::format("ordering.name = nested_dissection: METIS_NodeND returned {}", status));
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
