#include "core/stop_reason.hpp"

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
        case StopReason::interrupted: return "interrupted";
    }
    return "unknown";
}

const char* explain(StopReason reason) {
    switch (reason) {
        case StopReason::converged_rtol: return "the true residual is at most rtol times the right-hand side";
        case StopReason::converged_atol: return "the true residual is at most atol";
        case StopReason::max_iterations:
            return "the iterations allowed were not enough; raise solver.max_iterations, or try a stronger "
                   "preconditioner (preconditioner.fill_level = 1) or a longer solver.restart";
        case StopReason::diverged:
            return "the residual grew far beyond the right-hand side; try gmres, or a preconditioner.shift above 0";
        case StopReason::breakdown:
            return "the method divided by zero; try another solver (gmres does not break down this way)";
        case StopReason::indefinite_operator:
            return "cg met a direction p with p^T A p <= 0: A is not positive definite; use gmres or bicgstab";
        case StopReason::indefinite_preconditioner:
            return "cg met r^T M^-1 r <= 0: the preconditioner is not positive definite; use "
                   "preconditioner.pivot_policy = shift, or gmres";
        case StopReason::not_finite: return "a NaN or an infinity appeared; check the coefficients and right-hand side";
        case StopReason::false_convergence:
            return "the recurrence says converged, the true residual does not: rtol is below what rounding allows";
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

}  // namespace hyperplane
