// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/gmres.hpp"

#include "solvers/requirements.hpp"

namespace hyperplane {

void Gmres::check(const std::string& preconditioner, const PreconditionerTraits& traits) const {
    require_fixed("gmres", preconditioner, traits);
}

RegistryRow<CreateSolver> gmres_row() {
    return {"gmres",
            {},
            "generalised minimal residuals with restart, for any nonsingular system",
            "GMRES(m), preconditioned from the right (Saad and Schultz 1986; Saad, Iterative Methods, algorithm 9.5), "
            "orthogonalised by classical Gram-Schmidt twice. An iteration is one Arnoldi step; the recurrence's "
            "residual is the true one's 2-norm. The preconditioner must be the same in every iteration. "
            "restart + 2 vectors are held.",
            restart_parameters(),
            [](const Parameters& parameters, const Context& context) -> std::unique_ptr<Solver> {
                return std::make_unique<Gmres>(context, stop_criteria(parameters),
                                               parameters.integer("solver", "restart"));
            }};
}

}  // namespace hyperplane
