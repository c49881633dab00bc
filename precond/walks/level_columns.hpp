// SPDX-License-Identifier: BSD-3-Clause
// The columns of a layout's levels, for kernels that visit one level after the other.
#pragma once

#include "core/grid/layout.hpp"
#include "precond/walks/hyperplane.hpp"

namespace hyperplane {

/// The hyperplane of a level. It has no columns if the level has no points.
Hyperplane hyperplane_of(const Layout& layout, int level);
/// The columns of a hyperplane that are in planes first_k to end_k - 1.
Hyperplane within_planes(Hyperplane plane, int first_k, int end_k);

}  // namespace hyperplane
