// SPDX-License-Identifier: BSD-3-Clause
// The pattern of a SparseMatrix, as a program hands it over.
#pragma once

#include <memory>

#include "core/matrix/block_pattern.hpp"
#include "hyperplane/sparse_matrix.hpp"

namespace hyperplane {

/// A copy of the pattern in the host's memory, for a solver in `context`. Throws UsageError if the arrays are not as
/// SparseMatrix says; the message names the first row that is not.
std::shared_ptr<const BlockPattern> pattern_of(const Context& context, const SparseMatrix& a);
/// Whether the matrix has this pattern.
bool has_pattern(const Context& context, const SparseMatrix& given, const BlockPattern& pattern);

/// Whether an array lies in the memory of the context's GPU. Throws UsageError if it lies in that of another one;
/// `name` is what the message calls it.
bool lies_there(const Context& context, const void* array, const char* name);
/// Whether the arrays of a matrix lie there; they must lie in one place.
bool lies_there(const Context& context, const SparseMatrix& a);

}  // namespace hyperplane
