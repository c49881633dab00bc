// SPDX-License-Identifier: BSD-3-Clause
// Why a linear solve, a nonlinear solve or a run ended, and the exit code of each reason.
#pragma once

#include "core/error.hpp"

namespace hyperplane {

enum class StopReason {
    converged_rtol,             ///< ||b - A x|| <= rtol ||b||, true residual
    converged_atol,             ///< ||b - A x|| <= atol, true residual
    max_iterations,             ///< the iterations allowed are used up
    diverged,                   ///< the residual grew beyond divergence_tolerance ||b||
    breakdown,                  ///< a division by zero inside the method
    indefinite_operator,        ///< p^T A p <= 0 in cg
    indefinite_preconditioner,  ///< r^T M^-1 r <= 0 in cg
    not_finite,                 ///< NaN or infinity in A, b, M or what is computed from them
    false_convergence,          ///< the recurrence converges, the true residual does not
    out_of_range,               ///< ||b - A x|| is so small or large that double precision cannot hold its square
    interrupted,                ///< a signal requested a stop; the results so far are kept
};

const char* to_string(StopReason reason);
/// A sentence for the user: what the reason means and what to try.
const char* explain(StopReason reason);
inline bool converged(StopReason reason) {
    return reason == StopReason::converged_rtol || reason == StopReason::converged_atol;
}
ExitCode exit_code(StopReason reason);

/// Why Newton's method ended.
enum class NewtonReason {
    converged_rtol,  ///< ||F|| <= rtol ||F_0||
    converged_atol,  ///< ||F|| <= atol
    /// ||F|| is at the level of rounding (solvers/newton.hpp), and no step along Newton's correction lowers it
    converged_rounding,
    step_taken,      ///< the single step of a linear or linearised problem was taken
    max_iterations,  ///< the Newton steps allowed are used up
    line_search,     ///< even the shortest step allowed along the correction does not lower ||F|| enough
    linear_solve,    ///< the linear solve failed; its StopReason says why
    not_finite,      ///< ||F|| is NaN or infinite, even for the shortest step allowed
    interrupted,     ///< a signal requested a stop; the results so far are kept
};

const char* to_string(NewtonReason reason);
const char* explain(NewtonReason reason);
inline bool solved(NewtonReason reason) {
    return reason == NewtonReason::converged_rtol || reason == NewtonReason::converged_atol ||
           reason == NewtonReason::converged_rounding || reason == NewtonReason::step_taken;
}
/// For NewtonReason::linear_solve use the exit code of the solve's StopReason instead.
ExitCode exit_code(NewtonReason reason);

/// Why a run in time ended.
enum class EndReason {
    solved,               ///< a steady problem is solved
    steps_taken,          ///< the requested number of steps was taken
    end_time_reached,     ///< time.end_time
    steady_state,         ///< ||F|| <= max(steady_rtol ||F_0||, steady_atol)
    steps_used_up,        ///< no steady state within the steps allowed
    step_not_solved,      ///< Newton's method failed in a step of fixed length
    forbidden_state,      ///< a step ended in a state that physics forbids
    too_many_rejections,  ///< a step was rejected again and again, each time shorter
    step_too_small,       ///< a step of the shortest length allowed was rejected
    time_not_finite,      ///< the next step would end at a time that double precision does not hold
    interrupted,          ///< a signal requested a stop; the results so far are kept
};

const char* to_string(EndReason reason);
const char* explain(EndReason reason);
/// For EndReason::step_not_solved use the exit code of the NewtonReason instead.
ExitCode exit_code(EndReason reason);

}  // namespace hyperplane
