// SPDX-License-Identifier: BSD-3-Clause
// The pattern of a rank's factors with every coupling between ranks: in the order of the slots in memory, first the
// diagonal blocks of earlier ranks' rows that its own rows depend on, with what is above the diagonal in its columns,
// then its own rows. Later ranks' rows are there without blocks.
//
// With fill, or without the couplings between parts, the factors have another pattern than A. Every rank finds that of
// the whole matrix, as one rank would, and keeps what its own rows need. So the rows of other ranks that its factors
// depend on are others than those that its rows of A have coefficients for: the factors have a slab of their own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "precond/general/pattern/decoupled.hpp"

namespace hyperplane {

/// `a`: a rank's rows without fill, in the host's memory.
FilledPattern pattern_of_rank(const Context& host, const BlockPattern& a, const std::string& label);
/// Its blocks.
Index blocks_of_rank(const BlockPattern& a);

/// The first row of each rank, and the number of all rows, where `a` has a rank's rows of A. `host` has the ranks.
std::vector<Index> cuts_of(const Context& host, const BlockPattern& a, int dof);

/// What a rank needs of `whole`, the pattern of all ranks' factors with all diagonal blocks, where `a` has its rows of
/// A. All patterns are in the memory of `host`.
FactorPattern cut_to_rank(const Context& host, const BlockPattern& a, const BlockPattern& whole, int dof,
                          const std::string& label);
/// The same of the pattern with fill up to `fill_level`, or of that within parts.
FactorPattern pattern_across_ranks(const Context& host, const BlockPattern& a, int dof, int fill_level,
                                   const std::optional<PartOptions>& parts, const std::string& label);

}  // namespace hyperplane
