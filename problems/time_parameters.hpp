// SPDX-License-Identifier: BSD-3-Clause
// The keys of time that problems read: their regime, and the length of a step.
#pragma once

#include "core/interfaces/problem.hpp"
#include "core/parameters/parameters.hpp"

namespace hyperplane {

/// Keys time.steps, time.time_step and time.cfl.
ParameterTable time_parameters();

/// Throws UsageError if a key of [time] is given although the problem is steady; `why` says what makes it steady.
void refuse_time_keys(const Parameters& parameters, const std::string& why);

/// The key problem.regime of a problem that has the `offered` regimes; the first is the default.
ParameterSpec regime_parameter(const std::vector<Regime>& offered, const std::string& description);
Regime read_regime(const Parameters& parameters);

/// The length of a step: fixed, or by a Courant number.
struct StepRule {
    double time_step = 0.0;  ///< 0: by cfl
    double cfl = 0.0;

    /// `crossing` is the shortest time that a signal takes from a point to its neighbour.
    double length(double crossing) const { return time_step > 0.0 ? time_step : cfl * crossing; }
};
/// The rule of time.time_step or time.cfl, or of `default_cfl` if neither is given; throws UsageError if both are.
StepRule step_rule(const Parameters& parameters, double default_cfl);

/// The Courant numbers of pseudo-transient steps: time.cfl and time.cfl_max, or the defaults. Throws UsageError if a
/// given cfl_max is below the first Courant number.
CflRange cfl_range(const Parameters& parameters, double default_cfl, double default_cfl_max);

/// time.time_step, or the step that has the Courant number time.cfl = step * velocity / spacing, or `default_cfl` if
/// neither is given. Throws UsageError if both are given, or a Courant number although the velocity is 0.
double chosen_time_step(const Parameters& parameters, double default_cfl, double velocity, double spacing);

}  // namespace hyperplane
