// SPDX-License-Identifier: BSD-3-Clause
// exchange_halo (core/ranks/cuts.hpp) in two calls, for vectors on a grid in a CPU's memory: what is computed between
// them may read x, but not its halo. Both must be called by all ranks that have parts of the grid.
#pragma once

#include "core/vector/vector.hpp"

namespace hyperplane {

void send_halo(const Vector& x);
void receive_halo(const Vector& x);

}  // namespace hyperplane
