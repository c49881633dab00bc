// SPDX-License-Identifier: BSD-3-Clause
// Types and constants that every room uses.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"

namespace hyperplane {

/// Whether the CUDA backend is part of this program.
inline constexpr bool cuda_built = HYPERPLANE_CUDA_BUILT;

using Index = std::int64_t;  ///< counts of points, slots, entries, bytes

/// Largest number of unknowns a point.
inline constexpr int max_dof = 32;

/// A grid point, or an offset between two.
struct Int3 {
    int x = 0, y = 0, z = 0;

    HYPERPLANE_HD friend constexpr Int3 operator+(Int3 a, Int3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
    HYPERPLANE_HD friend constexpr Int3 operator-(Int3 a) { return {-a.x, -a.y, -a.z}; }
    HYPERPLANE_HD friend constexpr bool operator==(Int3 a, Int3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
};

/// Natural order of offsets: by z, then y, then x. Offsets that come before (0, 0, 0) form the lower triangle.
HYPERPLANE_HD constexpr bool natural_less(Int3 a, Int3 b) {
    if (a.z != b.z) return a.z < b.z;
    if (a.y != b.y) return a.y < b.y;
    return a.x < b.x;
}

}  // namespace hyperplane
