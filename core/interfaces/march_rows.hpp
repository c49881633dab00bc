// SPDX-License-Identifier: BSD-3-Clause
// Rows of a record: one for each Newton step, and one for each attempt at a time step.
#pragma once

#include <limits>

#include "core/interfaces/stop_reason.hpp"
#include "core/types.hpp"

namespace hyperplane {

inline constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// A Newton step.
struct NewtonRow {
    Index step = 0, attempt = 1;  ///< the time step, and the attempt at it, that this Newton step belongs to
    Index newton = 0;             ///< number within the nonlinear solve, from 0
    bool refreshed = false;       ///< whether the preconditioner was set up for this step
    double forcing = 0.0;         ///< eta: the linear solve's rtol
    double before = not_known;    ///< ||F|| before the step; not known if convergence of ||F|| is not judged
    double after = not_known;     ///< ||F|| after it
    double length = 0.0;          ///< s in u + s du; 0: no step could be taken
    int halvings = 0;             ///< times that the line search halved s
};

/// An attempt at a time step, or the single step of a steady problem.
struct StepRow {
    Index step = 0, attempt = 1;  ///< both from 1
    double time = 0.0, dt = 0.0;  ///< time at the end of the step; its length
    bool accepted = false;
    double cfl = not_known;              ///< the Courant number, where a velocity is known
    double error_estimate = not_known;   ///< ||e|| / ||u|| of an error-controlled step
    double steady_residual = not_known;  ///< ||F|| without the time term after a pseudo-transient step
    Index newton_steps = 0;
    NewtonReason newton_reason = NewtonReason::step_taken;
    double first_residual = not_known;  ///< ||F|| at the first guess
    double residual = not_known;        ///< ||F|| at the end
};

}  // namespace hyperplane
