#include "apps/linear_system.hpp"

namespace hyperplane {

LinearSystem make_system(const Case& a_case) {
    LinearSystem system{a_case.make_matrix("matrix"), std::nullopt, a_case.make_vector("right-hand side")};
    if (a_case.shape().separate_preconditioner_matrix) system.p.emplace(a_case.make_matrix("preconditioner matrix"));
    return system;
}

void assemble(const Case& a_case, const Vector& u, const TimeLevel& level, LinearSystem& system) {
    const Problem& problem = *a_case.problem;
    problem.jacobian(u, level, system.a);
    if (system.p) problem.preconditioner_jacobian(u, level, *system.p);
    problem.residual(u, level, system.b);
    scale(-1.0, system.b);
    if (a_case.shape().constant_null_space) remove_mean(system.b);
}

TimeLevel level_from(const Case& a_case, Index step, double time, const Vector& u) {
    if (a_case.shape().regime == Regime::steady) return {.step = step};
    const double dt = a_case.problem->time_step(u);
    return implicit_euler(step, time + dt, dt, u);
}

void assemble_first(const Case& a_case, Vector& u, LinearSystem& system) {
    a_case.problem->initial_state(u);
    assemble(a_case, u, level_from(a_case, 1, 0.0, u), system);
}

}  // namespace hyperplane
