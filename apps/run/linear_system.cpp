// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/linear_system.hpp"

#include "apps/run/initial_state.hpp"

namespace hyperplane {

LinearSystem make_system(const Case& a_case) {
    return make_system(a_case.shape(), a_case.context, a_case.space);
}

TimeLevel first_level(const Case& a_case, const Vector& u) {
    if (a_case.shape().regime == Regime::steady) return {.step = 1};
    const double dt = a_case.problem->time_step(u);
    TimeLevel level = implicit_euler(1, dt, dt, u);
    level.pseudo = a_case.time.pseudo();
    return level;
}

void assemble_first(const Case& a_case, Vector& u, LinearSystem& system) {
    const Problem& problem = *a_case.problem;
    set_initial_state(a_case, u);
    const TimeLevel level = first_level(a_case, u);
    assemble_operator(problem, u, level, system);
    assemble_preconditioned(problem, u, level, system);
    assemble_right_hand_side(problem, u, level, system);
}

Index stored_of_all_ranks(const SystemMatrix& a, const MatrixShape& shape) {
    if (!a.context().ranks()) return a.stored();
    if (shape.pattern()) return shape.pattern()->statistics().blocks * shape.dof() * shape.dof();
    return bytes_of(shape, shape.natural_space(), a.backend()) / Index(sizeof(double));
}

SolverOperators operators_of(const Case& a_case, const LinearOperator& a) {
    return {a_case.shape(), a_case.context, a, *a_case.preconditioner};
}

}  // namespace hyperplane
