// SPDX-License-Identifier: BSD-3-Clause
// What a run with time.tolerance says of steps that nothing has judged.
#include <algorithm>
#include <cmath>

#include "apps/base/log.hpp"
#include "apps/run/simulation.hpp"
#include "core/ranks/cuts.hpp"

namespace hyperplane {

void Simulation::warn_of_first_step() {
    if (first_step_known_) return;
    const auto error = stepper_->error_of_first(u_, newton_->work());
    first_step_known_ = error.has_value();
    if (!error || *error <= case_.time.tolerance || !is_first_rank(case_.context)) return;
    solves_.end_line();
    logging::warn(
        "step 1, {:g} long, has an estimated error of {:.3g}, above time.tolerance = {:g}, and is not repeated: its "
        "error was not known before step 2; begin with a shorter step, of about {:.2g}, by time.time_step or time.cfl",
        stepper_->time(), *error, case_.time.tolerance,
        0.9 * stepper_->time() * std::sqrt(case_.time.tolerance / *error));
}

void Simulation::warn_of_unjudged_steps() {
    if (!case_.time.controlled() || outcome_.code != ExitCode::ok || !is_first_rank(case_.context)) return;
    if (std::ranges::any_of(outcome_.steps, [](const StepRow& row) { return std::isfinite(row.error_estimate); }))
        return;
    logging::warn(
        "time.tolerance had no effect: errors are estimated from step {} on, and the run has taken {}; begin with a "
        "shorter step, by time.time_step or time.cfl",
        case_.time.order() * 2, stepper_->steps_done());
}

}  // namespace hyperplane
