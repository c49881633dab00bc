// SPDX-License-Identifier: BSD-3-Clause
// The linear system of one Newton step: A du = b = -F(u), and the matrix to precondition with.
#pragma once

#include <memory>
#include <optional>

#include "core/interfaces/null_space.hpp"
#include "core/interfaces/preconditioner.hpp"
#include "core/interfaces/problem.hpp"

namespace hyperplane {

struct LinearSystem {
    std::unique_ptr<SystemMatrix> a;
    std::unique_ptr<SystemMatrix> p;  ///< the matrix to precondition with; null if it is A
    Vector b;
    double suggested_shift = 0.0;  ///< Problem::suggested_shift

    const SystemMatrix& preconditioned() const { return p ? *p : *a; }
};

/// Allocates the matrices and the right-hand side, all zero.
LinearSystem make_system(const SystemShape& shape, const Context& context, const IndexSpace& space);

/// A = F'(u)
void assemble_operator(const Problem& problem, const Vector& u, const TimeLevel& level, LinearSystem& system);
/// Assembles the matrix to precondition with, if it is not A, and stores the shift that the problem suggests. If it is
/// A, A must have been assembled before.
void assemble_preconditioned(const Problem& problem, const Vector& u, const TimeLevel& level, LinearSystem& system);
/// b = -F(u); if constants are A's null space, the mean of b is removed.
void assemble_right_hand_side(const Problem& problem, const Vector& u, const TimeLevel& level, LinearSystem& system);

/// Sets up a preconditioner for the system.
SetupReport set_up(Preconditioner& preconditioner, const LinearSystem& system);

/// A and M as a solver sees them: if constants are A's null space, they are projected out of every result. Keeps
/// references to both.
class SolverOperators {
public:
    SolverOperators(const SystemShape& shape, const Context& context, const LinearOperator& a, const LinearOperator& m)
        : a_(a), m_(m) {
        if (!shape.constant_null_space) return;
        free_a_.emplace(context, shape.dof, a_);
        free_m_.emplace(context, shape.dof, m_);
    }
    const LinearOperator& a() const { return free_a_ ? *free_a_ : a_; }
    const LinearOperator& m() const { return free_m_ ? *free_m_ : m_; }

private:
    const LinearOperator &a_, &m_;
    std::optional<MeanFreeOperator> free_a_, free_m_;
};

}  // namespace hyperplane
