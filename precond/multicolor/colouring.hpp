// SPDX-License-Identifier: BSD-3-Clause
// Colourings of a grid's points: no two that an offset of the stencil couples have the same colour.
//
// A linear colouring is colour(p) = (i + y j + z k) mod C. It is valid where o.x + y o.y + z o.z is no multiple of C
// for any offset o, so it follows from the stencil alone. `linear_colourings` tries every y, z for C = 1, 2, ...; C is
// the least of any linear colouring, and the least of all colourings where `clique_size` reaches it, since points that
// are coupled to each other all need a colour of their own:
//
//     star7 2, star13 3, diamond13 4, diamond25 7, box27 8; each is also the size of a clique
//
// `greedy_colours` is the classical rule, points in natural order, each with the least colour that no neighbour has.
//
// `hashed_colours` is what cuSPARSE's csrcolor makes its colours of (Naumov, Castonguay, Cohen, Parallel graph coloring
// with applications to the incomplete-LU factorization on the GPU, NVIDIA Technical Report NVR-2015-001): in each round
// the uncoloured points whose random number is above those of all uncoloured neighbours get one new colour, those whose
// is below all another one. It needs far more colours than there must be, about 12 for star7.
#pragma once

#include <vector>

#include "core/grid/grid.hpp"
#include "core/grid/stencil.hpp"

namespace hyperplane {

/// colour(p) = (i + y j + z k) mod colours.
struct ColourMap {
    int colours = 1, y = 0, z = 0;

    int colour(Int3 p) const {
        const int remainder = (p.x + y * p.y + z * p.z) % colours;
        return remainder < 0 ? remainder + colours : remainder;
    }
    friend bool operator==(ColourMap a, ColourMap b) { return a.colours == b.colours && a.y == b.y && a.z == b.z; }
};

/// The offsets that couple two different points inside the grid; wrapped couplings are not counted. With each its
/// mirror, in the stencil's order: the mirror of entry e is entry size - 1 - e.
std::vector<Int3> coupling_offsets(const Grid& grid, const Stencil& stencil);

/// All valid linear colourings with the fewest colours, y and z in [0, colours).
std::vector<ColourMap> linear_colourings(const std::vector<Int3>& offsets);

/// Points of the largest set that the offsets couple to each other: no colouring of a grid that holds it has fewer.
int clique_size(const std::vector<Int3>& offsets);

/// Colours in natural order, from 0 on; fewer than most_greedy_colours.
std::vector<int> greedy_colours(const Grid& grid, const std::vector<Int3>& offsets);
inline int most_greedy_colours(const std::vector<Int3>& offsets) {
    return int(offsets.size()) + 1;
}

/// The same; fewer than most_hashed_colours: what 2 (offsets + 1) rounds leave is coloured greedily.
std::vector<int> hashed_colours(const Grid& grid, const std::vector<Int3>& offsets);
inline int most_hashed_colours(const std::vector<Int3>& offsets) {
    return 5 * most_greedy_colours(offsets);
}

}  // namespace hyperplane
