#include "apps/linear_system.hpp"

#include <cmath>

namespace hyperplane {

LinearSystem make_system(const Case& a_case) {
    LinearSystem system{a_case.make_matrix("matrix"), std::nullopt, a_case.make_vector("right-hand side")};
    if (a_case.shape().separate_preconditioner_matrix) system.p.emplace(a_case.make_matrix("preconditioner matrix"));
    return system;
}

void assemble(const Case& a_case, const Vector& u, TimeLevel level, LinearSystem& system) {
    const Problem& problem = *a_case.problem;
    problem.jacobian(u, level, system.a);
    if (system.p) problem.preconditioner_jacobian(u, level, *system.p);
    problem.residual(u, u, level, system.b);
    scale(-1.0, system.b);
    if (a_case.shape().constant_null_space) remove_mean(system.b);
}

void assemble_first(const Case& a_case, Vector& u, LinearSystem& system) {
    const double dt = a_case.problem->time_step();
    a_case.problem->initial_state(u);
    assemble(a_case, u, {std::isfinite(dt) ? dt : 0.0, dt}, system);
}

}  // namespace hyperplane
