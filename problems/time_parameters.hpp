// SPDX-License-Identifier: BSD-3-Clause
// What problems read of time: their regime, and how long a step is.
#pragma once

#include "core/interfaces/problem.hpp"
#include "core/parameters/parameters.hpp"

namespace hyperplane {

/// Keys time.steps, time.time_step and time.cfl.
ParameterTable time_parameters();

/// Throws UsageError when a [time] key is given to a problem that is steady; `why` says what makes it so.
void refuse_time_keys(const Parameters& parameters, const std::string& why);

/// Key problem.regime of problems that offer some of steady, transient and pseudo_transient; the first is the default.
ParameterSpec regime_parameter(const std::vector<Regime>& offered, const std::string& description);
Regime read_regime(const Parameters& parameters);

/// How long a step is: fixed, or as long as a Courant number says.
struct StepRule {
    double time_step = 0.0;  ///< 0: by cfl
    double cfl = 0.0;

    /// `crossing` is the least time that a signal takes from a point to the next.
    double length(double crossing) const { return time_step > 0.0 ? time_step : cfl * crossing; }
};
/// time.time_step or time.cfl, or `default_cfl` where neither is given; throws UsageError when both are.
StepRule step_rule(const Parameters& parameters, double default_cfl);

/// The same of pseudo-transient steps: time.cfl and time.cfl_max, or the defaults. Throws UsageError for a given
/// range that falls.
CflRange cfl_range(const Parameters& parameters, double default_cfl, double default_cfl_max);

/// time.time_step, or the step of time.cfl = step * velocity / spacing, or of `default_cfl`. Throws
/// UsageError when both are given, or a Courant number without velocity.
double chosen_time_step(const Parameters& parameters, double default_cfl, double velocity, double spacing);

}  // namespace hyperplane
