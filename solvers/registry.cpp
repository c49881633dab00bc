// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/registry.hpp"

#include "solvers/bicgstab.hpp"
#include "solvers/cg.hpp"
#include "solvers/gmres.hpp"
#include "solvers/pipelined_cg.hpp"
#include "solvers/richardson.hpp"

namespace hyperplane {

const std::vector<RegistryRow<CreateSolver>>& solvers() {
    static const std::vector<RegistryRow<CreateSolver>> rows{
        cg_row(), pipelined_cg_row(), gmres_row(), fgmres_row(), bicgstab_row(), richardson_row(),
    };
    return rows;
}

ParameterTable common_solver_parameters() {
    return {
        {.section = "solver",
         .key = "name",
         .type = ParameterType::text,
         .default_value = "gmres",
         .description = "the Krylov method (hyperplane list solvers)"},
        {.section = "solver",
         .key = "rtol",
         .type = ParameterType::real,
         .default_value = "1e-8",
         .description = "converged when ||b - A x|| <= max(rtol ||b||, atol), the true residual in the 2-norm. For "
                        "pseudo-transient steps of one Newton step the default is 1e-2: the next step corrects what is "
                        "left",
         .minimum = Bound{0.0},
         .maximum = Bound{1.0}},
        {.section = "solver",
         .key = "atol",
         .type = ParameterType::real,
         .default_value = "0",
         .description = "converged when ||b - A x|| <= max(rtol ||b||, atol)",
         .unit = "units of b",
         .minimum = Bound{0.0}},
        {.section = "solver",
         .key = "max_iterations",
         .type = ParameterType::integer,
         .default_value = "2000",
         .description = "iterations allowed for each linear solve",
         .minimum = Bound{0.0}},
        {.section = "solver",
         .key = "divergence_tolerance",
         .type = ParameterType::real,
         .default_value = "1e5",
         .description = "diverged when ||r|| exceeds this times the larger of ||b|| and the first ||r||",
         .minimum = Bound{1.0, true}},
        {.section = "solver",
         .key = "true_residual_every",
         .type = ParameterType::integer,
         .default_value = "0",
         .description = "iterations between true residuals in the history, each costs a product with A; 0 shows "
                        "them only where the solve needs them anyway",
         .minimum = Bound{0.0}},
    };
}

StopCriteria stop_criteria(const Parameters& parameters) {
    return {.rtol = parameters.real("solver", "rtol"),
            .atol = parameters.real("solver", "atol"),
            .max_iterations = parameters.integer("solver", "max_iterations"),
            .divergence_tolerance = parameters.real("solver", "divergence_tolerance"),
            .true_residual_every = parameters.integer("solver", "true_residual_every")};
}

}  // namespace hyperplane
