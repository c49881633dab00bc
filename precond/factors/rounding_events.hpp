// SPDX-License-Identifier: BSD-3-Clause
// What a log of roundings says (precond/factors/storage.hpp), also of matrices without a grid.
#pragma once

#include <string>

#include "core/grid/index_space.hpp"
#include "precond/factors/pivot_log.hpp"
#include "precond/factors/storage.hpp"

namespace hyperplane {

/// The events of a log that the host has read; `parts` is that of rounding_by.
Rounding events_of(const RoundingLog& met, const Grid& grid, int dof, int parts);

/// As rounding_by for the block rows of a matrix without a grid, of all ranks that share them. `round` numbers rows as
/// the whole matrix has them, and a cell's x is the block row.
Rounding rounding_by(const Context& context, const IndexSpace& rows, int dof, int parts,
                     const std::function<void(RoundingLog*)>& round);
/// As judge where the message names `place`, as in "in row 5".
void judge_at(const std::string& place, const Rounding& rounding, FactorStorage storage, const std::string& name,
              SetupReport& report, bool takes_half = true);

}  // namespace hyperplane
