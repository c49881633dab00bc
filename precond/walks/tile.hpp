// SPDX-License-Identifier: BSD-3-Clause
// A tile of lines of points along x (precond/walks/tile_lines.cuh), for host and kernels.
#pragma once

namespace hyperplane {

struct Tile {
    int j, k, first, last;  ///< skewed J and k of the first line; first and last level
};
static_assert(sizeof(Tile) == 16);

}  // namespace hyperplane
