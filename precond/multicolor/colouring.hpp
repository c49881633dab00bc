// SPDX-License-Identifier: BSD-3-Clause
// Colourings of a grid's points: no two points that an offset of the stencil couples have the same colour.
//
// A linear colouring is colour(p) = (i + y j + z k) mod C. It is valid if o.x + y o.y + z o.z is not a multiple of C
// for any offset o, which depends on the stencil alone. `linear_colourings` tries every y and z for C = 1, 2, ..., so
// its C is the smallest of all linear colourings. If `clique_size` equals C, it is the smallest of all colourings,
// since points that are all coupled to each other need different colours:
//
//     star7 2, star13 3, diamond13 4, diamond25 7, box27 8; each is also the size of a clique
//
// `greedy_colours` is the classical rule: points in natural order take the smallest colour that none of their
// neighbours has.
//
// `hashed_colours` is the method of cuSPARSE's csrcolor (Naumov, Castonguay, Cohen, Parallel graph coloring with
// applications to the incomplete-LU factorization on the GPU, NVIDIA Technical Report NVR-2015-001): in each round the
// uncoloured points whose random number is above those of all uncoloured neighbours get a new colour, and those whose
// number is below all of them get another one. It needs far more colours than necessary, about 12 for star7.
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

/// The offsets that couple two different points inside the grid, in the stencil's order. Couplings that wrap around are
/// left out. The mirror of offset number e is number size - 1 - e.
std::vector<Int3> coupling_offsets(const Grid& grid, const Stencil& stencil);

/// All valid linear colourings with the fewest colours, y and z in [0, colours).
std::vector<ColourMap> linear_colourings(const std::vector<Int3>& offsets);

/// Size of the largest set of points that the offsets all couple to each other. If a grid contains such a set, each of
/// its colourings has at least as many colours.
int clique_size(const std::vector<Int3>& offsets);

/// The colours of the points in natural order; from 0 on, and below most_greedy_colours.
std::vector<int> greedy_colours(const Grid& grid, const std::vector<Int3>& offsets);
inline int most_greedy_colours(const std::vector<Int3>& offsets) {
    return int(offsets.size()) + 1;
}

/// The same for hashed colours, which are below most_hashed_colours. Points that have no colour after 2 (offsets + 1)
/// rounds are coloured greedily.
std::vector<int> hashed_colours(const Grid& grid, const std::vector<Int3>& offsets);
inline int most_hashed_colours(const std::vector<Int3>& offsets) {
    return 5 * most_greedy_colours(offsets);
}

}  // namespace hyperplane
