// SPDX-License-Identifier: BSD-3-Clause
// Colours of a graph by ranks of vertices that are fixed before (Jones and Plassmann, A parallel graph coloring
// heuristic, SIAM J. Sci. Comput. 14, 1993): each vertex takes the smallest colour that no neighbour of higher rank
// has. Vertices whose neighbours of higher rank all have colours take theirs at the same time. The vertex with more
// neighbours ranks higher (largest degree first: Welsh and Powell 1967), and a hash of the number decides between
// equals (Hasenplaug, Kaler, Schardl, Leiserson, Ordering heuristics for parallel graph coloring, SPAA 2014), so that
// chains of vertices that wait for each other are short. Colours follow from the graph alone.
//
//   1. Each vertex counts its neighbours of higher rank. Those without any are ready.
//   2. In a round, each vertex that is ready takes its colour, and its neighbours without one wait for one vertex less.
//      Whoever waits for none is ready in the next round.
#include <omp.h>

#include <algorithm>
#include <bit>

#include "core/graph/orderings.hpp"
#include "core/random.hpp"

namespace hyperplane {
namespace {

constexpr const char* colours_label = "row order";
constexpr int uncoloured = -1;

/// Whether vertex v ranks higher than w. The hash is a bijection, so no two vertices have the same rank.
bool ranks_higher(const Graph& graph, Index v, Index w) {
    const Index more = graph.degree(v) - graph.degree(w);
    return more != 0 ? more > 0 : scramble(std::uint64_t(v)) > scramble(std::uint64_t(w));
}

/// The smallest colour that no neighbour of v has; `seen` is called once for each neighbour without a colour.
template <class Seen>
int least_colour(const Graph& graph, const Buffer<int>& colour, Index v, const Seen& seen) {
    std::uint64_t taken = 0;  // bit k: a neighbour has colour first + k
    bool more = false;        // whether a neighbour has a colour that these 64 bits do not hold
    graph.for_neighbours(v, [&](int other) {
        const int its = colour[other];
        if (its == uncoloured)
            seen(other);
        else if (its < 64)
            taken |= std::uint64_t(1) << its;
        else
            more = true;
    });
    int first = 0;
    while (more && ~taken == 0) {
        first += 64;
        taken = 0;
        more = false;
        graph.for_neighbours(v, [&](int other) {
            const int its = colour[other] - first;
            if (its >= 64)
                more = true;
            else if (its >= 0)
                taken |= std::uint64_t(1) << its;
        });
    }
    return first + std::countr_one(taken);
}

}  // namespace

Buffer<int> hashed_colours(const Graph& graph) {
    const Context& host = graph.context();
    const Index n = graph.vertices();
    const int threads = host.threads_for(n);
    Buffer<int> colour(host, colours_label, n), waits(host, colours_label, n), ready(host, colours_label, n);
    std::vector<std::vector<int>> met(static_cast<std::size_t>(threads));  // who is ready in the next round
    Index first = 0, last = 0;  // those of `ready` that take their colours in this round
#pragma omp parallel num_threads(threads)
    {
        std::vector<int>& own = met[std::size_t(omp_get_thread_num())];
        // Appends what this thread met to `ready`.
        const auto hand_over = [&] {
            Index at;
#pragma omp atomic capture
            {
                at = last;
                last += Index(own.size());
            }
            std::copy(own.begin(), own.end(), ready.begin() + at);
            own.clear();
        };
#pragma omp for schedule(static)
        for (Index v = 0; v < n; ++v) {
            int higher = 0;
            graph.for_neighbours(v, [&](int other) { higher += ranks_higher(graph, other, v); });
            waits[v] = higher;
            colour[v] = uncoloured;
            if (higher == 0) own.push_back(int(v));
        }
        hand_over();
#pragma omp barrier
        for (;;) {
            const Index begin = first, end = last;
            if (begin == end) break;
#pragma omp barrier  // all threads have read both numbers
#pragma omp for schedule(dynamic, 256)
            for (Index at = begin; at < end; ++at) {
                const int v = ready[at];
                colour[v] = least_colour(graph, colour, v, [&](int other) {
                    int left;
#pragma omp atomic capture
                    left = --waits[other];
                    if (left == 0) own.push_back(other);
                });
            }
            hand_over();
#pragma omp single
            first = end;
        }
    }
    return colour;
}

}  // namespace hyperplane
