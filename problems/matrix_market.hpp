// SPDX-License-Identifier: BSD-3-Clause
// A linear system from files: a sparse matrix with the structure of the given [grid].
//
// Rows are numbered point by point, x fastest, with the dof unknowns of a point side by side. The stencil is the
// smallest one that contains the offset of every entry. The problem is symmetric if the values are, to the last bit.
// The problem keeps a copy of the matrix in addition to the one that is solved with, in the same storage.
#pragma once

#include <memory>

#include "core/interfaces/input_files.hpp"
#include "core/interfaces/problem.hpp"
#include "core/parameters/parameters.hpp"

namespace hyperplane {

ParameterTable matrix_market_parameters();
/// Throws UsageError if an entry couples points more than two apart along an axis (the message names the first such row
/// and column) or if sizes do not fit the grid, and FileError if a file cannot be read.
std::unique_ptr<Problem> create_matrix_market(const Parameters& parameters, const Context& context,
                                              const InputFiles& files);

}  // namespace hyperplane
