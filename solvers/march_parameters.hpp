// SPDX-License-Identifier: BSD-3-Clause
// The keys of sections [newton] and [time], except those that set the length of a problem's time steps.
#pragma once

#include "core/parameters/parameters.hpp"
#include "solvers/newton.hpp"
#include "solvers/time_stepping.hpp"

namespace hyperplane {

ParameterTable newton_parameters();
ParameterTable march_parameters();

/// Both throw UsageError if keys contradict each other, or have no meaning for a problem of this shape.
NewtonOptions newton_options(const Parameters& parameters, const SystemShape& shape);
TimeOptions time_options(const Parameters& parameters, const SystemShape& shape);

}  // namespace hyperplane
