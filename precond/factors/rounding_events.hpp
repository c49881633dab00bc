// SPDX-License-Identifier: BSD-3-Clause
// The events in a log of roundings (precond/factors/storage.hpp), of matrices on a grid and of general ones.
#pragma once

#include <string>

#include "core/grid/index_space.hpp"
#include "precond/factors/pivot_log.hpp"
#include "precond/factors/storage.hpp"

namespace hyperplane {

/// The events of a log that the host has read; `parts` is that of rounding_by.
Rounding events_of(const RoundingLog& met, const Grid& grid, int dof, int parts);

/// Does what rounding_by does, for the block rows of a general matrix and all ranks that share them. `round` numbers
/// rows as the whole matrix has them, and the x of an event's cell is the block row.
Rounding rounding_by(const Context& context, const IndexSpace& rows, int dof, int parts,
                     const std::function<void(RoundingLog*)>& round);
/// Returns the events of all ranks that share the block rows, each of which has met `mine`: the sums of the counts, and
/// the overflow in the first row. All ranks must call it.
Rounding met_by_all_ranks(const Context& context, const IndexSpace& rows, const Rounding& mine);
/// Does what judge does, with a message that names `place`, such as "in row 5".
void judge_at(const std::string& place, const Rounding& rounding, FactorStorage storage, const std::string& name,
              SetupReport& report, bool takes_half = true);

}  // namespace hyperplane
