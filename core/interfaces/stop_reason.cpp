// SPDX-License-Identifier: BSD-3-Clause
#include "core/interfaces/stop_reason.hpp"

namespace hyperplane {

const char* to_string(StopReason reason) {
    switch (reason) {
        case StopReason::converged_rtol: return "converged_rtol";
        case StopReason::converged_atol: return "converged_atol";
        case StopReason::max_iterations: return "max_iterations";
        case StopReason::diverged: return "diverged";
        case StopReason::breakdown: return "breakdown";
        case StopReason::indefinite_operator: return "indefinite_operator";
        case StopReason::indefinite_preconditioner: return "indefinite_preconditioner";
        case StopReason::not_finite: return "not_finite";
        case StopReason::false_convergence: return "false_convergence";
        case StopReason::out_of_range: return "out_of_range";
        case StopReason::interrupted: return "interrupted";
    }
    return "unknown";
}

const char* explain(StopReason reason) {
    switch (reason) {
        case StopReason::converged_rtol: return "the true residual is at most rtol times the right-hand side";
        case StopReason::converged_atol: return "the true residual is at most atol";
        case StopReason::max_iterations: return "the iterations allowed were not enough";
        case StopReason::diverged: return "the residual grew far beyond the right-hand side";
        case StopReason::breakdown:
            return "the method divided by zero, so the matrix or the preconditioner is singular, or the method does "
                   "not "
                   "suit them";
        case StopReason::indefinite_operator:
            return "conjugate gradients met a direction p with p^T A p <= 0: A is not positive definite";
        case StopReason::indefinite_preconditioner:
            return "conjugate gradients met r^T M^-1 r <= 0: the preconditioner is not positive definite";
        case StopReason::not_finite:
            return "a NaN or an infinity appeared: in the matrix, the right-hand side or the preconditioner, or "
                   "where what is computed from them grew beyond double precision";
        case StopReason::false_convergence:
            return "the recurrence says converged, the true residual does not: rtol is below what rounding allows";
        case StopReason::out_of_range:
            return "||b - A x|| is below 1e-145 or above 1e152, where double precision cannot hold its square, and the "
                   "criterion is not met";
        case StopReason::interrupted: return "a signal asked to stop; run again to go on";
    }
    return "";
}

ExitCode exit_code(StopReason reason) {
    switch (reason) {
        case StopReason::converged_rtol:
        case StopReason::converged_atol: return ExitCode::ok;
        case StopReason::max_iterations: return ExitCode::not_converged;
        case StopReason::interrupted: return ExitCode::checkpointed;
        default: return ExitCode::diverged;
    }
}

const char* to_string(NewtonReason reason) {
    switch (reason) {
        case NewtonReason::converged_rtol: return "converged_rtol";
        case NewtonReason::converged_atol: return "converged_atol";
        case NewtonReason::converged_rounding: return "converged_rounding";
        case NewtonReason::step_taken: return "step_taken";
        case NewtonReason::max_iterations: return "max_iterations";
        case NewtonReason::line_search: return "line_search";
        case NewtonReason::linear_solve: return "linear_solve";
        case NewtonReason::not_finite: return "not_finite";
        case NewtonReason::interrupted: return "interrupted";
    }
    return "unknown";
}

const char* explain(NewtonReason reason) {
    switch (reason) {
        case NewtonReason::converged_rtol: return "||F|| is at most newton.rtol times ||F|| of the first guess";
        case NewtonReason::converged_atol: return "||F|| is at most newton.atol";
        case NewtonReason::converged_rounding:
            return "||F|| is at the level of rounding, and Newton's correction lowers it no more";
        case NewtonReason::step_taken: return "the one Newton step asked for is taken";
        case NewtonReason::max_iterations:
            return "the Newton steps allowed were not enough; raise newton.max_iterations, lower solver.rtol, take "
                   "shorter time steps, or set newton.atol where ||F|| is small enough from the first guess on";
        case NewtonReason::line_search:
            return "no step along Newton's correction lowers ||F|| enough; lower solver.rtol, allow more "
                   "newton.line_search_halvings, take shorter time steps, or set newton.atol where ||F|| is small "
                   "enough from the first guess on";
        case NewtonReason::linear_solve: return "the linear solve of a Newton step failed";
        case NewtonReason::not_finite:
            return "F is NaN or infinite along Newton's correction; take shorter time steps, or a better first guess";
        case NewtonReason::interrupted: return "a signal asked to stop; run again to go on";
    }
    return "";
}

ExitCode exit_code(NewtonReason reason) {
    if (solved(reason)) return ExitCode::ok;
    if (reason == NewtonReason::max_iterations) return ExitCode::not_converged;
    return reason == NewtonReason::interrupted ? ExitCode::checkpointed : ExitCode::diverged;
}

const char* to_string(EndReason reason) {
    switch (reason) {
        case EndReason::solved: return "solved";
        case EndReason::steps_taken: return "steps_taken";
        case EndReason::end_time_reached: return "end_time_reached";
        case EndReason::steady_state: return "steady_state";
        case EndReason::steps_used_up: return "steps_used_up";
        case EndReason::step_not_solved: return "step_not_solved";
        case EndReason::forbidden_state: return "forbidden_state";
        case EndReason::too_many_rejections: return "too_many_rejections";
        case EndReason::step_too_small: return "step_too_small";
        case EndReason::time_not_finite: return "time_not_finite";
        case EndReason::interrupted: return "interrupted";
    }
    return "unknown";
}

const char* explain(EndReason reason) {
    switch (reason) {
        case EndReason::solved: return "the steady problem is solved";
        case EndReason::steps_taken: return "the time steps asked for are taken";
        case EndReason::end_time_reached: return "time.end_time is reached";
        case EndReason::steady_state:
            return "||F|| is at most time.steady_rtol times that of the initial state, or time.steady_atol";
        case EndReason::steps_used_up:
            return "no steady state within the steps allowed; raise time.steps, or loosen time.steady_rtol";
        case EndReason::step_not_solved: return "Newton's method does not solve the step";
        case EndReason::forbidden_state: return "the step ends in a state that physics forbids; take shorter steps";
        case EndReason::too_many_rejections:
            return "the step was rejected again and again, each time shorter; start with shorter steps, or loosen "
                   "time.tolerance";
        case EndReason::step_too_small:
            return "a step as short as time.smallest_step, or as rounding allows, was rejected; lower that, or loosen "
                   "time.tolerance";
        case EndReason::time_not_finite:
            return "the next step would end beyond 1.8e308, the largest time that double precision holds; take shorter "
                   "steps, or fewer";
        case EndReason::interrupted: return "a signal asked to stop; run again to go on";
    }
    return "";
}

ExitCode exit_code(EndReason reason) {
    switch (reason) {
        case EndReason::solved:
        case EndReason::steps_taken:
        case EndReason::end_time_reached:
        case EndReason::steady_state: return ExitCode::ok;
        case EndReason::steps_used_up: return ExitCode::not_converged;
        case EndReason::interrupted: return ExitCode::checkpointed;
        default: return ExitCode::diverged;
    }
}

}  // namespace hyperplane
