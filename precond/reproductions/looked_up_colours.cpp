// SPDX-License-Identifier: BSD-3-Clause
#include "precond/reproductions/looked_up_colours.hpp"

#include <algorithm>

#include "core/random.hpp"

namespace hyperplane {
namespace {

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

std::vector<int> greedy_colours(const Grid& grid, const std::vector<Int3>& offsets) {
    std::vector<int> colours(std::size_t(grid.points()), uncoloured);
    colour_greedily(grid, offsets, 0, colours);
    return colours;
}

std::vector<int> hashed_colours(const Context& context, const Grid& grid, const std::vector<Int3>& offsets) {
    std::vector<int> colours(std::size_t(grid.points()), uncoloured), next;
    const int rounds = 2 * most_greedy_colours(offsets);
    for (int round = 0; round < rounds; ++round) {
        next = colours;
        bool done = true;
#pragma omp parallel for schedule(static) num_threads(context.threads_for(grid.points())) reduction(&& : done)
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
