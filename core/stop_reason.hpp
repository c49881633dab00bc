// Why a solve ended. Every solve ends in one of these.
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

}  // namespace hyperplane
