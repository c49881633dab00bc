// SPDX-License-Identifier: BSD-3-Clause
// Source terms f that do not depend on an exact solution.
#pragma once

#include "core/grid/grid.hpp"
#include "core/random.hpp"

namespace hyperplane {

enum class SourceKind { zero, ones, random, row_sum, exact };

/// f of kinds zero, ones and random; random is uniform in (-1, 1).
HYPERPLANE_HD inline double plain_source(SourceKind kind, std::uint64_t seed, const Grid& grid, Int3 p) {
    switch (kind) {
        case SourceKind::ones: return 1.0;
        case SourceKind::random: return random_symmetric(seed, std::uint64_t(grid.row(p)));
        default: return 0.0;
    }
}

}  // namespace hyperplane
