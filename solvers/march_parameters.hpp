// SPDX-License-Identifier: BSD-3-Clause
// The keys of sections [newton] and [time], but for those that say how long a problem's steps are.
#pragma once

#include "core/parameters/parameters.hpp"
#include "solvers/newton.hpp"
#include "solvers/time_stepping.hpp"

namespace hyperplane {

ParameterTable newton_parameters();
ParameterTable march_parameters();

/// Both throw UsageError for keys that contradict each other, or have no meaning for such a problem.
NewtonOptions newton_options(const Parameters& parameters, const SystemShape& shape);
TimeOptions time_options(const Parameters& parameters, const SystemShape& shape);

}  // namespace hyperplane
