// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "precond/multigrid/interpolation.hpp"

namespace hyperplane::multigrid {

/// galerkin_product on a CPU, for natural layouts without periodic axes: a line of coarse points at once.
void galerkin_by_lines(const Source& source, const Interpolation& p, StructMatrix& coarse);

}  // namespace hyperplane::multigrid
