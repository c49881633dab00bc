// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/requirements.hpp"

#include "core/error.hpp"

namespace hyperplane {

void require_fixed(const char* solver, const std::string& preconditioner, const PreconditionerTraits& traits) {
    if (!traits.fixed)
        throw UsageError(std::string("solver.name = ") + solver +
                         " needs a preconditioner that is the same in every iteration, and " + preconditioner +
                         " with " + traits.varies +
                         ", which read whatever values others have at the time, differs each time; only fgmres and "
                         "richardson support that");
}

void require_symmetric(const char* solver, const std::string& preconditioner, const PreconditionerTraits& traits) {
    if (!traits.symmetric)
        throw UsageError(std::string("solver.name = ") + solver + " needs a symmetric preconditioner, and " +
                         preconditioner + " is not one here; use gmres, fgmres, bicgstab or richardson");
}

void require_symmetric_operator(const char* solver, const std::string& problem, bool symmetric) {
    if (!symmetric)
        throw UsageError(std::string("solver.name = ") + solver + " needs a symmetric matrix, and that of " + problem +
                         " is not; use gmres, fgmres, bicgstab or richardson");
}

}  // namespace hyperplane
