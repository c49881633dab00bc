// SPDX-License-Identifier: BSD-3-Clause
#include "core/graph/parts.hpp"

#include <algorithm>
#include <numeric>

#if HYPERPLANE_METIS_BUILT
#include "core/graph/metis_graph.hpp"
#else
#include "core/error.hpp"
#endif

namespace hyperplane {

GraphParts listed_parts(Buffer<int> part, Index count, const std::string& label) {
    const Context context = part.context();
    const Index n = part.size();
    GraphParts parts{std::move(part), Buffer<int>(context, label, n), Buffer<Index>(context, label, count + 1)};
    for (Index v = 0; v < n; ++v) ++parts.begin[parts.part[v] + 1];
    std::partial_sum(parts.begin.begin(), parts.begin.end(), parts.begin.begin());
    std::vector<Index> next(parts.begin.begin(), parts.begin.end() - 1);
    for (Index v = 0; v < n; ++v) parts.vertices[next[parts.part[v]]++] = int(v);
    return parts;
}

Index GraphParts::largest() const {
    Index most = 0;
    for (Index at = 0; at < count(); ++at) most = std::max(most, begin[at + 1] - begin[at]);
    return most;
}

GraphParts consecutive_parts(const Context& context, Index n, Index most, const std::string& label) {
    const Index count = (n + most - 1) / most;
    Buffer<int> part(context, label, n);
    for (Index at = 0; at < count; ++at)
        std::fill(part.begin() + n * at / count, part.begin() + n * (at + 1) / count, int(at));
    return listed_parts(std::move(part), count, label);
}

#if HYPERPLANE_METIS_BUILT

GraphParts metis_parts(const Graph& graph, Index most, const std::string& key, const std::string& label) {
    MetisGraph metis(graph, key, "consecutive");
    const Context& context = graph.context();
    const Index n = graph.vertices();
    Buffer<int> part(context, label, n);
    constexpr double full = 0.95;  // METIS's parts are larger than the average by 3 % at most, if it finds such parts
    auto count = idx_t(double(n) / (full * double(most)) + 1.0);
    if (count > 1 && graph.neighbour.size() > 0) {
        Buffer<idx_t> found(context, label, n);
        idx_t constraints = 1, cut = 0;
        metis.run("METIS_PartGraphKway", [&] {
            return METIS_PartGraphKway(metis.vertices(), &constraints, metis.begin(), metis.neighbour(), nullptr,
                                       nullptr, nullptr, &count, nullptr, nullptr, metis.options(), &cut, found.data());
        });
        std::copy(found.begin(), found.end(), part.begin());
    } else {
        part = consecutive_parts(context, n, most, label).part;
    }
    // Empty parts are left out, and those that are too large divided by the numbers of their vertices.
    const GraphParts rough = listed_parts(std::move(part), count, label);
    Buffer<int> fitting(context, label, n);
    int made = 0;
    for (Index at = 0; at < rough.count(); ++at) {
        const Index begin = rough.begin[at], size = rough.begin[at + 1] - begin, pieces = (size + most - 1) / most;
        for (Index piece = 0; piece < pieces; ++piece, ++made)
            for (Index v = size * piece / pieces; v < size * (piece + 1) / pieces; ++v)
                fitting[rough.vertices[begin + v]] = made;
    }
    return listed_parts(std::move(fitting), made, label);
}

#else

GraphParts metis_parts(const Graph&, Index, const std::string& key, const std::string&) {
    throw UsageError(key +
                     " needs METIS, which this program was built without: install libmetis-dev and build it "
                     "again, or use consecutive");
}

#endif

}  // namespace hyperplane
