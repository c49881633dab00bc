// SPDX-License-Identifier: BSD-3-Clause
// Why a linear solve, a nonlinear solve and a run ended. Each ends in one of these.
#pragma once

#include <string>

#include "core/error.hpp"

namespace hyperplane {

enum class StopReason {
    converged_rtol,             ///< ||b - A x|| <= rtol ||b||, true residual
    converged_atol,             ///< ||b - A x|| <= atol, true residual
    max_iterations,             ///< the iterations allowed are used up
    diverged,                   ///< the residual grew beyond divergence_tolerance ||b||
    breakdown,                  ///< a division by zero inside the method
    indefinite_operator,        ///< cg met p^T A p <= 0
    indefinite_preconditioner,  ///< cg met r^T M^-1 r <= 0
    not_finite,                 ///< NaN or infinity in A, b, M or what came of them
    false_convergence,          ///< the recurrence converges, the true residual does not
    interrupted,                ///< a signal asked to stop; what is known is kept
};

const char* to_string(StopReason reason);
/// A sentence for the user: what it means and what to try.
const char* explain(StopReason reason);
inline bool converged(StopReason reason) {
    return reason == StopReason::converged_rtol || reason == StopReason::converged_atol;
}
ExitCode exit_code(StopReason reason);

/// Why Newton's method ended.
enum class NewtonReason {
    converged_rtol,  ///< ||F|| <= rtol ||F_0||
    converged_atol,  ///< ||F|| <= atol
    step_taken,      ///< the one step that a linear or linearised problem takes
    max_iterations,  ///< the Newton steps allowed are used up
    line_search,     ///< no step along the correction, as short as is allowed, lowers ||F|| enough
    linear_solve,    ///< the linear solve failed, for a StopReason of its own
    not_finite,      ///< ||F|| is NaN or infinite, also for the shortest step allowed
    interrupted,     ///< a signal asked to stop; what is known is kept
};

const char* to_string(NewtonReason reason);
const char* explain(NewtonReason reason);
inline bool solved(NewtonReason reason) {
    return reason == NewtonReason::converged_rtol || reason == NewtonReason::converged_atol ||
           reason == NewtonReason::step_taken;
}
/// linear_solve has that of its StopReason.
ExitCode exit_code(NewtonReason reason);

/// Why a run in time ended.
enum class EndReason {
    solved,               ///< a steady problem is solved
    steps_taken,          ///< as many steps as asked for
    end_time_reached,     ///< time.end_time
    steady_state,         ///< ||F|| <= max(steady_rtol ||F_0||, steady_atol)
    steps_used_up,        ///< no steady state within the steps allowed
    step_not_solved,      ///< a step of given length has no solution that Newton's method finds
    forbidden_state,      ///< a step ended in a state that physics forbids
    too_many_rejections,  ///< a step was rejected again and again, each time shorter
    step_too_small,       ///< a step as short as allowed was rejected
    interrupted,          ///< a signal asked to stop; what is known is kept
};

const char* to_string(EndReason reason);
const char* explain(EndReason reason);
/// step_not_solved has that of its NewtonReason.
ExitCode exit_code(EndReason reason);

}  // namespace hyperplane
