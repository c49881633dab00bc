// SPDX-License-Identifier: BSD-3-Clause
// A norm whose last bits do not depend on how a vector is stored.
#pragma once

#include "core/vector/vector.hpp"

namespace hyperplane::multigrid {

/// *norm = ||x||_2, where `norm` lies in the memory of x's backend. On a GPU the order of its sum follows from the grid
/// alone, so that it has the same bits in every layout and for any number of ranks. On a CPU it is norm2, which has the
/// same bits for any number of ranks in the natural layout, the only one that ranks have there.
/// `room`: norm_room() numbers in the memory of x's backend, the first of them zero between norms, for norms that run
/// beside other work of x's stream; null: the stream's own.
void grid_norm(const Vector& x, double* norm, double* room = nullptr);
Index norm_room(const Layout& layout);

}  // namespace hyperplane::multigrid
