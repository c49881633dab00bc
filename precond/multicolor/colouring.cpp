// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multicolor/colouring.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/device/threads.hpp"
#include "core/random.hpp"

namespace hyperplane {
namespace {

bool valid(ColourMap map, const std::vector<Int3>& offsets) {
    return std::none_of(offsets.begin(), offsets.end(), [&](Int3 o) { return map.colour(o) == 0; });
}

/// Size of the largest clique of `size` given points and any of `candidates`, or `best` if that is larger.
int largest_clique(int size, const std::vector<Int3>& candidates, const std::vector<Int3>& offsets, int best) {
    best = std::max(best, size);
    for (std::size_t at = 0; at < candidates.size() && size + int(candidates.size() - at) > best; ++at) {
        std::vector<Int3> rest;
        for (std::size_t later = at + 1; later < candidates.size(); ++later)
            if (std::find(offsets.begin(), offsets.end(), candidates[later] + -candidates[at]) != offsets.end())
                rest.push_back(candidates[later]);
        best = largest_clique(size + 1, rest, offsets, best);
    }
    return best;
}

constexpr int uncoloured = -1;

/// Gives points without a colour, in natural order, the smallest colour from `first` on that no neighbour has.
void colour_greedily(const Grid& grid, const std::vector<Int3>& offsets, int first, std::vector<int>& colours) {
    std::vector<char> taken(std::size_t(most_greedy_colours(offsets)));
    for (Index row = 0; row < grid.points(); ++row) {
        if (colours[row] != uncoloured) continue;
        const Int3 p = grid.point(row);
        std::fill(taken.begin(), taken.end(), 0);
        for (const Int3 o : offsets)
            if (grid.contains(p + o) && colours[grid.row(p + o)] >= first)
                taken[std::size_t(colours[grid.row(p + o)] - first)] = 1;
        colours[row] = first + int(std::find(taken.begin(), taken.end(), 0) - taken.begin());
    }
}

}  // namespace

std::vector<Int3> coupling_offsets(const Grid& grid, const Stencil& stencil) {
    std::vector<Int3> offsets;
    for (const Int3 o : stencil.offsets())
        if (!(o == Int3{}) && std::abs(o.x) < grid.nx && std::abs(o.y) < grid.ny && std::abs(o.z) < grid.nz)
            offsets.push_back(o);
    return offsets;
}

std::vector<ColourMap> linear_colourings(const std::vector<Int3>& offsets) {
    std::vector<ColourMap> found;
    for (int colours = 1; found.empty(); ++colours)
        for (int y = 0; y < colours; ++y)
            for (int z = 0; z < colours; ++z)
                if (const ColourMap map{colours, y, z}; valid(map, offsets)) found.push_back(map);
    return found;
}

int clique_size(const std::vector<Int3>& offsets) {
    // Cliques can be shifted, so only those are tried whose first point in natural order is the origin.
    std::vector<Int3> behind;
    std::copy_if(offsets.begin(), offsets.end(), std::back_inserter(behind),
                 [](Int3 o) { return natural_less({}, o); });
    return largest_clique(1, behind, offsets, 1);
}

std::vector<int> greedy_colours(const Grid& grid, const std::vector<Int3>& offsets) {
    std::vector<int> colours(std::size_t(grid.points()), uncoloured);
    colour_greedily(grid, offsets, 0, colours);
    return colours;
}

std::vector<int> hashed_colours(const Grid& grid, const std::vector<Int3>& offsets) {
    std::vector<int> colours(std::size_t(grid.points()), uncoloured), next;
    const int rounds = 2 * most_greedy_colours(offsets);
    for (int round = 0; round < rounds; ++round) {
        next = colours;
        bool done = true;
#pragma omp parallel for schedule(static) num_threads(threads_for(grid.points())) reduction(&& : done)
        for (Index row = 0; row < grid.points(); ++row) {
            if (colours[row] != uncoloured) continue;
            const Int3 p = grid.point(row);
            const std::uint64_t own = random_bits(std::uint64_t(round), std::uint64_t(row));
            bool above = true, below = true;
            for (const Int3 o : offsets) {
                if (!grid.contains(p + o)) continue;
                const Index other = grid.row(p + o);
                if (colours[other] != uncoloured) continue;
                const std::uint64_t its = random_bits(std::uint64_t(round), std::uint64_t(other));
                above = above && own > its;
                below = below && own < its;
            }
            if (above || below)
                next[row] = 2 * round + (above ? 0 : 1);
            else
                done = false;
        }
        colours.swap(next);
        if (done) return colours;
    }
    colour_greedily(grid, offsets, 2 * rounds, colours);
    return colours;
}

}  // namespace hyperplane
