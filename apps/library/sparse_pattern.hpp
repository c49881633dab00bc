// SPDX-License-Identifier: BSD-3-Clause
// The pattern of a SparseMatrix, as a program hands it over.
#pragma once

#include <memory>

#include "core/matrix/block_pattern.hpp"
#include "hyperplane/sparse_matrix.hpp"

namespace hyperplane {

/// A copy of the pattern in the memory of a context of the CPU. Throws UsageError if the arrays are not as SparseMatrix
/// says; the message names the first row that is not.
std::shared_ptr<const BlockPattern> pattern_of(const Context& host, const SparseMatrix& a);
/// Whether the matrix has this pattern.
bool has_pattern(const SparseMatrix& a, const BlockPattern& pattern);

}  // namespace hyperplane
