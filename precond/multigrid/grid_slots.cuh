// SPDX-License-Identifier: BSD-3-Clause
// The slot of a point in a kernel.
#pragma once

#include "core/grid/slots.hpp"
#include "precond/multigrid/arguments.hpp"

namespace hyperplane::multigrid {

__device__ __forceinline__ int slot_of(const GridSlots& g, int i, int j, int k) {
    if (g.natural) return natural_slot(i, j, k - g.first, g.nx, g.ny);
    return hyperplane_slot(i + g.level_y * j + g.level_z * k, j, k, g.nx, g.ny, g.nz);
}

}  // namespace hyperplane::multigrid
