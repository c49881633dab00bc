// SPDX-License-Identifier: BSD-3-Clause
// Orderings of small graphs by their definitions, with sets; slow and obvious.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "reference/block_matrix.hpp"

namespace hyperplane::reference {

/// The neighbours of each vertex: i and j != i with (i, j) or (j, i) in the pattern.
inline Pattern undirected(const Pattern& pattern) {
    Pattern graph(pattern.size());
    for (int i = 0; i < int(pattern.size()); ++i)
        for (int j : pattern[i])
            if (i != j) graph[i].insert(j), graph[j].insert(i);
    return graph;
}

/// The vertices by their distance from `root`; those of other parts are left out.
inline std::vector<std::set<int>> rings_of(const Pattern& graph, int root) {
    std::vector<std::set<int>> rings{{root}};
    std::set<int> met{root};
    for (;;) {
        std::set<int> next;
        for (int v : rings.back())
            for (int w : graph[v])
                if (met.insert(w).second) next.insert(w);
        if (next.empty()) return rings;
        rings.push_back(next);
    }
}

/// The vertex of smallest degree, and of those the smallest.
inline int least(const Pattern& graph, const std::set<int>& vertices) {
    int best = *vertices.begin();
    for (int v : vertices)
        if (graph[v].size() < graph[best].size()) best = v;
    return best;
}

/// Reverse Cuthill-McKee: parts by their smallest vertex, each from George and Liu's pseudo-peripheral vertex.
inline std::vector<int> rcm(const Pattern& graph) {
    std::vector<int> order;
    std::set<int> numbered;
    for (int v = 0; v < int(graph.size()); ++v) {
        if (numbered.count(v)) continue;
        std::set<int> part;
        for (const auto& ring : rings_of(graph, v)) part.insert(ring.begin(), ring.end());
        int root = least(graph, part);
        for (;;) {
            const auto rings = rings_of(graph, root);
            const int candidate = least(graph, rings.back());
            if (rings_of(graph, candidate).size() <= rings.size()) break;
            root = candidate;
        }
        std::vector<int> queue{root};
        numbered.insert(root);
        for (std::size_t at = 0; at < queue.size(); ++at) {
            std::vector<int> next;
            for (int w : graph[queue[at]])
                if (numbered.insert(w).second) next.push_back(w);
            std::stable_sort(next.begin(), next.end(), [&](int a, int b) { return graph[a].size() < graph[b].size(); });
            queue.insert(queue.end(), next.begin(), next.end());
        }
        order.insert(order.end(), queue.begin(), queue.end());
    }
    std::reverse(order.begin(), order.end());
    return order;
}

/// The smallest colour that no neighbour with a smaller number has.
inline std::vector<int> greedy_colours(const Pattern& graph) {
    std::vector<int> colour(graph.size());
    for (int v = 0; v < int(graph.size()); ++v) {
        std::set<int> taken;
        for (int w : graph[v])
            if (w < v) taken.insert(colour[w]);
        while (taken.count(colour[v])) ++colour[v];
    }
    return colour;
}

/// Whether vertex v ranks above w in Jones and Plassmann's colouring, largest degree first: more neighbours, and of
/// equal ones the larger value of splitmix64's last mixing step, by arithmetic modulo 2^64.
inline bool ranks_above(const Pattern& graph, int v, int w) {
    if (graph[v].size() != graph[w].size()) return graph[v].size() > graph[w].size();
    const auto mixed = [](unsigned long long x) {
        x = (x ^ (x / (1ULL << 30))) * 13787848793156543929ULL;
        x = (x ^ (x / (1ULL << 27))) * 10723151780598845931ULL;
        return x ^ (x / (1ULL << 31));
    };
    return mixed(v) > mixed(w);
}

/// Jones and Plassmann's rounds: of the vertices without a colour, those that rank above all neighbours without one
/// take the smallest colour that no neighbour has.
inline std::vector<int> hashed_colours(const Pattern& graph) {
    std::vector<int> colour(graph.size(), -1);
    for (bool left = true; left;) {
        std::map<int, int> found;
        for (int v = 0; v < int(graph.size()); ++v) {
            const auto below = [&](int w) { return colour[w] >= 0 || ranks_above(graph, v, w); };
            if (colour[v] >= 0 || !std::all_of(graph[v].begin(), graph[v].end(), below)) continue;
            std::set<int> taken;
            for (int w : graph[v]) taken.insert(colour[w]);
            while (taken.count(found[v])) ++found[v];
        }
        for (const auto& [v, own] : found) colour[v] = own;
        left = !found.empty();
    }
    return colour;
}

/// The matrix whose row and column p are row and column given[p] of `a`.
inline BlockMatrix permuted(const BlockMatrix& a, const std::vector<int>& given) {
    std::vector<int> place(given.size());
    for (int p = 0; p < int(given.size()); ++p) place[given[p]] = p;
    BlockMatrix b{a.dof, std::vector<std::map<int, Dense>>(a.rows.size())};
    for (int i = 0; i < int(a.rows.size()); ++i)
        for (const auto& [j, block] : a.rows[i]) b.rows[place[i]].emplace(place[j], block);
    return b;
}

}  // namespace hyperplane::reference
