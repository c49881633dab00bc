// SPDX-License-Identifier: BSD-3-Clause
// Products with a structured matrix on a CPU, line by line along x.
#pragma once

#include "core/function_ref.hpp"
#include "core/matrix/struct_matrix.hpp"

namespace hyperplane {

/// y = A x in natural layout. Of lines of coefficients that are equal one is read, if `lines` is given. Calls
/// done(block, first slot, number of points) after each block of PlaneSums(space, 1).
///
/// At each point the couplings inside the grid come first, their products fused with the sum. Those around periodic
/// axes follow, each product rounded before it is added, as in StructMatrix::apply for any layout. Both are in the
/// order of the stencil's entries.
void line_product(const StructMatrix& a, const EqualLines* lines, const Vector& x, Vector& y,
                  FunctionRef<void(Index, Index, int)> done);

}  // namespace hyperplane
