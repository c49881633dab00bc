// SPDX-License-Identifier: BSD-3-Clause
// This reports how long reading, ordering and setting up a general matrix took, in seconds and in iterations.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/interfaces/preconditioner.hpp"
#include "core/timer.hpp"

namespace hyperplane {

/// The timers of the parts of a set-up.
inline constexpr const char *symbolic_timer = "setup/symbolic", *numeric_timer = "setup/numeric";
/// The timer of the symbolic part where it precedes the set-ups that are timed, as in a comparison.
inline constexpr const char* symbolic_before_turns = "preparation/symbolic";

/// Adds the parts of a set-up that a preconditioner has told: the timers setup/symbolic and setup/numeric.
void add_parts_of_setup(TimerTree& timers, const SetupReport& setup);

/// The times of Problem::preparation, from a run's timers: "reading 0.1 s, ordering 0.02 s".
std::string preparation_text(const std::vector<TimerRow>& timers);

/// The times of the parts of a set-up: "symbolic 0.1 s, numeric 0.02 s".
std::string setup_parts_text(const std::vector<TimerRow>& timers);

/// How many iterations of `seconds_per_iteration` take as long as Problem::preparation and one set-up. None if no
/// general matrix was prepared or analysed, or if that time is not known.
std::optional<double> preparation_in_iterations(const std::vector<TimerRow>& timers, double seconds_per_iteration);

/// "reading, ordering and set-up (symbolic 0.1 s, numeric 0.02 s) took as long as 35 iterations", where these are more
/// than ten; otherwise empty.
std::string long_preparation_text(const std::vector<TimerRow>& timers, double seconds_per_iteration);

/// How triangular solves went, from Preconditioner::solve_way: "solved by levels".
std::string triangles_text(const std::string& way);

}  // namespace hyperplane
