// SPDX-License-Identifier: BSD-3-Clause
// How the rows of a general matrix are cut into the parts of ranks.
//
// A rank has consecutive blocks of rows, the blocks that sums follow (on CPUs core/vector/plane_sums.hpp, on GPUs
// core/vector/sum_order.hpp), so that a sum does not depend on the cuts. Which rows of other ranks it reads, its halo,
// follows from the pattern.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/matrix/block_pattern.hpp"

namespace hyperplane {

/// The first row of each rank, and the number of all rows: ranks have about equal numbers of blocks of the matrix.
/// Throws UsageError if there are fewer blocks of rows than ranks.
std::vector<Index> row_cuts(const BlockPattern& whole, int dof, int ranks, Backend backend = Backend::cpu);

/// The rows of the context's rank, of a pattern that the host can read and that has all rows, in the host's memory.
/// They keep the whole pattern.
std::shared_ptr<const BlockPattern> rows_of_rank(const Context& context,
                                                 const std::shared_ptr<const BlockPattern>& whole, int dof,
                                                 const std::string& label);

/// The rows of the context's rank where the cuts are those of another pattern. They do not keep the whole pattern, and
/// a GPU cannot exchange their halo (cuda::rows_on_gpu).
std::shared_ptr<const BlockPattern> rows_between(const Context& context, const BlockPattern& whole,
                                                 const std::vector<Index>& cuts, const std::string& label);

}  // namespace hyperplane
