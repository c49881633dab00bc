// SPDX-License-Identifier: BSD-3-Clause
#include "core/interfaces/solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace hyperplane {

std::string explain(const SolveReport& report) {
    const std::string what = explain(report.reason);
    if (report.reason != StopReason::out_of_range) return what;
    const int exponent = int(std::clamp(-std::round(std::log10(report.b_norm)), -300.0, 300.0));
    if (std::abs(exponent) < 100)
        return fmt::format("{}; ||b|| is {:.1e}, so take a larger rtol or another first guess", what, report.b_norm);
    return fmt::format(
        "{}; ||b|| is {:.1e}: multiply b by 1e{}, and x is multiplied by it, too, or multiply both A and "
        "b{}",
        what, report.b_norm, exponent,
        exponent > 0 ? "; or give an atol, where so small a residual need not be smaller" : "");
}

void Solver::check(const std::string& preconditioner, const PreconditionerTraits& traits) const {
    if (needs_.fixed && !traits.fixed)
        throw UsageError(fmt::format(
            "solver.name = {} needs a preconditioner that is the same in every iteration, and {} with {}, which read "
            "whatever values others have at the time, differs each time; only fgmres and richardson support that",
            needs_.solver, preconditioner, traits.varies));
    if (needs_.symmetric && !traits.symmetric)
        throw UsageError(
            fmt::format("solver.name = {} needs a symmetric positive definite preconditioner, and {} is not one here; "
                        "use gmres, fgmres, "
                        "bicgstab or richardson",
                        needs_.solver, preconditioner));
}

void Solver::check_operator(const std::string& problem, bool symmetric) const {
    if (needs_.symmetric && !symmetric)
        throw UsageError(fmt::format(
            "solver.name = {} needs a symmetric matrix, and that of {} is not; use gmres, fgmres, bicgstab or "
            "richardson",
            needs_.solver, problem));
}

}  // namespace hyperplane
