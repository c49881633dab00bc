// SPDX-License-Identifier: BSD-3-Clause
// The slot of a point in a kernel.
#pragma once

#include "precond/multigrid/arguments.hpp"

namespace hyperplane::multigrid {

__device__ __forceinline__ int slot_of(const GridSlots& g, int i, int j, int k) {
    if (g.natural) return i + g.nx * (j + g.ny * (k - g.first));
    return ((i + g.level_y * j + g.level_z * k) % g.nx * g.nz + k) * g.ny + j;
}

}  // namespace hyperplane::multigrid
