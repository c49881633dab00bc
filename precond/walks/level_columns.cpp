// SPDX-License-Identifier: BSD-3-Clause
#include "precond/walks/level_columns.hpp"

#include <algorithm>

namespace hyperplane {

Hyperplane hyperplane_of(const Layout& layout, int level) {
    constexpr int sector = Hyperplane::sector;
    const Grid& grid = layout.grid();
    const int beyond = layout.level_count() - 1 - level;
    const int longest = std::min({grid.nx - 1, level, beyond}) / layout.levels().y + 1;  // points of a plane k, at most
    const int width = std::min(grid.ny, (longest + 2 * (sector - 1)) / sector * sector);
    const int first_k = layout.level_first_plane(level);
    const int columns = width * std::max(0, layout.level_last_plane(level) - first_k + 1);
    const Index all = Index(1) << 32;
    const bool exact = width > 1 && Index(width) * columns <= all;
    return {level, width, first_k, columns, exact ? unsigned((all + width - 1) / width) : 0u};
}

Hyperplane within_planes(Hyperplane plane, int first_k, int end_k) {
    const int end = std::min(end_k, plane.first_k + plane.columns / plane.width);
    plane.first_k = std::max(first_k, plane.first_k);
    plane.columns = plane.width * std::max(0, end - plane.first_k);
    return plane;
}

}  // namespace hyperplane
