// The keys of section [time].
#pragma once

#include "core/parameters.hpp"

namespace hyperplane {

/// Keys time.steps, time.time_step and time.cfl.
ParameterTable time_parameters();

/// Throws UsageError when a [time] key is given to a problem that is steady; `why` says what makes it so.
void refuse_time_keys(const Parameters& parameters, const std::string& why);

/// time.time_step, or the step of time.cfl = step * velocity / spacing, or of `default_cfl`. Throws
/// UsageError when both are given, or a Courant number without velocity.
double chosen_time_step(const Parameters& parameters, double default_cfl, double velocity, double spacing);

}  // namespace hyperplane
