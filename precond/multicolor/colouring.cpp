// SPDX-License-Identifier: BSD-3-Clause
#include "precond/multicolor/colouring.hpp"

#include <algorithm>
#include <cstdlib>

namespace hyperplane {
namespace {

bool valid(ColourMap map, const std::vector<Int3>& offsets) {
    return std::none_of(offsets.begin(), offsets.end(), [&](Int3 o) { return map.colour(o) == 0; });
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

}  // namespace hyperplane
