// SPDX-License-Identifier: BSD-3-Clause
// Timers of the parts of a preconditioner's applications, such as the grids of multigrid
// (precond/has_part_times.hpp).
#pragma once

#include <string>
#include <vector>

#include "core/timer.hpp"

namespace hyperplane {

/// Moves the times that the preconditioner has taken since the last call to timers within "solve/preconditioner".
void add_part_times(TimerTree& timers, Preconditioner* preconditioner);

/// "grid 0, 33 x 31 x 29: 61.2 %; grid 1, ...: 30.1 % of 0.52 s": the shares of the preconditioner's time; empty
/// without such timers.
std::string part_times_text(const std::vector<TimerRow>& timers);

}  // namespace hyperplane
