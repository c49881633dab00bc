// SPDX-License-Identifier: BSD-3-Clause
// Galerkin products (precond/multigrid/galerkin.hpp) on a CPU along lines of grids with periodic axes.
#pragma once

#include "precond/multigrid/interpolation.hpp"

namespace hyperplane::multigrid {

/// Does what galerkin_product does, to the bits of its loop over points, where follows_periodic_lines() holds.
void galerkin_by_periodic_lines(const Source& source, const Interpolation& p, StructMatrix& coarse);

}  // namespace hyperplane::multigrid
