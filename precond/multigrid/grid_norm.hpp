// SPDX-License-Identifier: BSD-3-Clause
// A norm whose last bits do not depend on how a vector is stored.
#pragma once

#include "core/vector/vector.hpp"

namespace hyperplane::multigrid {

/// ||x||_2. On a GPU the order of its sum follows from the grid alone, so that it has the same bits in every layout and
/// for any number of ranks; those of a CPU have the natural layout, in which norm2 does.
double grid_norm(const Vector& x);

}  // namespace hyperplane::multigrid
