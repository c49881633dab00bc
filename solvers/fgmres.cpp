// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/fgmres.hpp"

namespace hyperplane {

RegistryRow<CreateSolver> fgmres_row() {
    return {"fgmres",
            {},
            "gmres that lets the preconditioner change from step to step",
            "Flexible GMRES(m) (Saad 1993; Saad, Iterative Methods, algorithm 9.6), orthogonalised by classical "
            "Gram-Schmidt twice. The only method here for preconditioners that are not the same operator in every "
            "iteration, such as asynchronous sweeps. 2 restart + 1 vectors are held.",
            restart_parameters(),
            [](const Parameters& parameters, const Context& context) -> std::unique_ptr<Solver> {
                return std::make_unique<Fgmres>(context, stop_criteria(parameters),
                                                parameters.integer("solver", "restart"));
            }};
}

}  // namespace hyperplane
