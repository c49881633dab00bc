// SPDX-License-Identifier: BSD-3-Clause
#include "core/interfaces/linear_system.hpp"

namespace hyperplane {

LinearSystem make_system(const SystemShape& shape, const Context& context, const IndexSpace& space) {
    const auto matrix = [&](const char* label) { return make_matrix(context, space, shape.matrix(), label); };
    LinearSystem system{matrix("matrix"), nullptr, Vector(context, space, shape.dof, "right-hand side")};
    if (shape.separate_preconditioner_matrix) system.p = matrix("preconditioner matrix");
    return system;
}

void assemble_operator(const Problem& problem, const Vector& u, const TimeLevel& level, LinearSystem& system) {
    problem.jacobian(u, level, *system.a);
}

void assemble_preconditioned(const Problem& problem, const Vector& u, const TimeLevel& level, LinearSystem& system) {
    if (system.p) problem.preconditioner_jacobian(u, level, *system.p);
    system.suggested_shift = problem.suggested_shift(level);
}

SetupReport set_up(Preconditioner& preconditioner, const LinearSystem& system) {
    preconditioner.suggest_shift(system.suggested_shift);
    return preconditioner.setup(system.preconditioned());
}

void assemble_right_hand_side(const Problem& problem, const Vector& u, const TimeLevel& level, LinearSystem& system) {
    problem.residual(u, level, system.b);
    scale(-1.0, system.b);
    if (problem.shape().constant_null_space) remove_mean(system.b);
}

}  // namespace hyperplane
