// SPDX-License-Identifier: BSD-3-Clause
// Galerkin products (precond/multigrid/galerkin.hpp) on a CPU, a line of coarse points at a time.
#pragma once

#include "precond/multigrid/interpolation.hpp"

namespace hyperplane::multigrid {

/// Does what galerkin_product does, for natural layouts without periodic axes.
void galerkin_by_lines(const Source& source, const Interpolation& p, StructMatrix& coarse);

}  // namespace hyperplane::multigrid
