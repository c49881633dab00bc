// SPDX-License-Identifier: BSD-3-Clause
// Timers of the parts of a preconditioner's applications, such as the grids of multigrid
// (Preconditioner::take_part_times).
#pragma once

#include <string>
#include <vector>

#include "core/interfaces/preconditioner.hpp"
#include "core/timer.hpp"

namespace hyperplane {

/// Moves the times of parts that the preconditioner has noted since the last call to timers in "solve/preconditioner".
void add_part_times(TimerTree& timers, Preconditioner& preconditioner);

/// The shares of the parts in the preconditioner's time, as in "grid 0, 33 x 31 x 29: 61.2 %; grid 1, ...: 30.1 % of
/// 0.52 s"; empty without such timers.
std::string part_times_text(const std::vector<TimerRow>& timers);

}  // namespace hyperplane
