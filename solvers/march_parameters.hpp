// SPDX-License-Identifier: BSD-3-Clause
// The keys of sections [newton] and [time], except those that set the length of a problem's time steps.
#pragma once

#include "core/parameters/parameters.hpp"
#include "solvers/newton.hpp"
#include "solvers/time_stepping.hpp"

namespace hyperplane {

ParameterTable newton_parameters();
ParameterTable march_parameters();

/// Keys whose default depends on how a problem is solved: pseudo-transient steps solve their linear systems to 1e-2, or
/// as far as Newton's method profits from it, because the next step corrects what is left. The problem's shape is not
/// known where a deck is resolved.
void set_regime_defaults(Parameters& parameters, const SystemShape& shape);
/// Whether set_regime_defaults may change the default of a key, "section.key".
bool has_regime_default(const std::string& name);

/// Both throw UsageError if keys contradict each other, or have no meaning for a problem of this shape.
NewtonOptions newton_options(const Parameters& parameters, const SystemShape& shape);
TimeOptions time_options(const Parameters& parameters, const SystemShape& shape);

}  // namespace hyperplane
