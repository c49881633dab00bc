// SPDX-License-Identifier: BSD-3-Clause
// Colourings of a grid's points: no two points that an offset of the stencil couples have the same colour.
//
// A linear colouring is colour(p) = (i + y j + z k) mod C. It is valid if o.x + y o.y + z o.z is not a multiple of C
// for any offset o, which depends on the stencil alone. `linear_colourings` tries every y and z for C = 1, 2, ..., so
// its C is the smallest of all linear colourings. If C points are all coupled to each other, it is the smallest of all
// colourings, since such points need different colours:
//
//     star7 2, star13 3, diamond13 4, diamond25 7, box27 8; each is also the size of a set of such points
//
// Colourings that serve only for comparison are in precond/reproductions/looked_up_colours.hpp.
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

}  // namespace hyperplane
