// SPDX-License-Identifier: BSD-3-Clause
// The pattern of a rank's factors with every coupling between ranks, without fill: in the order of the slots in memory,
// first the diagonal blocks of earlier ranks' rows that its own rows depend on, with what is above the diagonal in its
// columns, then its own rows. Later ranks' rows are there without blocks.
#pragma once

#include <string>

#include "precond/graph/fill.hpp"

namespace hyperplane {

/// `a`: a rank's rows, in the host's memory.
FilledPattern pattern_of_rank(const Context& host, const BlockPattern& a, const std::string& label);
/// Its blocks.
Index blocks_of_rank(const BlockPattern& a);

}  // namespace hyperplane
