// SPDX-License-Identifier: BSD-3-Clause
// A linear system from files: a sparse matrix that is a structured one on the [grid] given.
//
// Rows are numbered point by point, x fastest, with the dof unknowns of a point side by side. The
// stencil is the smallest one that holds every entry's offset. Symmetric when the values are, exactly.
// The problem holds the matrix in the storage it is solved in, beside the solver's own.
#pragma once

#include <memory>

#include "core/interfaces/input_files.hpp"
#include "core/interfaces/problem.hpp"
#include "core/parameters/parameters.hpp"

namespace hyperplane {

ParameterTable matrix_market_parameters();
/// Throws UsageError for an entry further than two points away, naming the first such row and column,
/// and for sizes that do not fit the grid; FileError for files that cannot be read.
std::unique_ptr<Problem> create_matrix_market(const Parameters& parameters, const Context& context,
                                              const InputFiles& files);

}  // namespace hyperplane
