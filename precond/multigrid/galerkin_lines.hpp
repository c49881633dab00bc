// SPDX-License-Identifier: BSD-3-Clause
// Galerkin products (precond/multigrid/galerkin.hpp) on a CPU, a line of coarse points at a time.
#pragma once

#include "core/function_ref.hpp"
#include "precond/multigrid/interpolation.hpp"

namespace hyperplane::multigrid {

/// Calls compute(run) for the coarse lines of a product, and copies those that follow from equal lines.
void galerkin_of_different_lines(const Source& source, const Interpolation& p, StructMatrix& coarse,
                                 FunctionRef<void(const Run&)> compute);
/// Does what galerkin_product does, for natural layouts without periodic axes.
void galerkin_by_lines(const Source& source, const Interpolation& p, StructMatrix& coarse);

}  // namespace hyperplane::multigrid
