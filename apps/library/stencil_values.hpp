// SPDX-License-Identifier: BSD-3-Clause
// Turns a StencilMatrix, as a program hands it over, into the matrix that solvers and preconditioners take.
#pragma once

#include "core/matrix/struct_matrix.hpp"
#include "hyperplane/stencil_matrix.hpp"

namespace hyperplane {

MatrixShape shape_of(const StencilShape& shape);
/// Throws UsageError where a coefficient leads outside the grid, or if the matrix is not as symmetric as its shape
/// says.
void check_values(const StencilMatrix& a, const MatrixShape& shape);
/// Writes the values into a matrix that the host can write.
void fill(const StencilMatrix& a, StructMatrix& filled);

}  // namespace hyperplane
