// The linear system of one Newton step: A du = b = -F(u), and the matrix to precondition with.
#pragma once

#include <optional>

#include "apps/case.hpp"
#include "core/null_space.hpp"

namespace hyperplane {

struct LinearSystem {
    StructMatrix a;
    std::optional<StructMatrix> p;  ///< where the problem gives another one than A
    Vector b;

    const StructMatrix& preconditioned() const { return p ? *p : a; }
};

/// All zero, in the case's layout.
LinearSystem make_system(const Case& a_case);

/// A = F'(u), b = -F(u), orthogonal to constants where A is singular. u is also the state at the
/// beginning of the time step.
void assemble(const Case& a_case, const Vector& u, const TimeLevel& level, LinearSystem& system);

/// The implicit Euler step number `step` from u at `time`, as long as the problem wants it; none when steady.
TimeLevel level_from(const Case& a_case, Index step, double time, const Vector& u);

/// The deck's first system, that of the first time step or of a steady problem; u becomes the initial state.
void assemble_first(const Case& a_case, Vector& u, LinearSystem& system);

/// A and M as the solver sees them: constants projected out where A is singular. Refers to both.
class SolverOperators {
public:
    SolverOperators(const Case& a_case, const LinearOperator& a) : a_(a), m_(*a_case.preconditioner) {
        if (!a_case.shape().constant_null_space) return;
        free_a_.emplace(a_case.context, a_case.shape().dof, a_);
        free_m_.emplace(a_case.context, a_case.shape().dof, m_);
    }
    const LinearOperator& a() const { return free_a_ ? *free_a_ : a_; }
    const LinearOperator& m() const { return free_m_ ? *free_m_ : m_; }

private:
    const LinearOperator &a_, &m_;
    std::optional<MeanFreeOperator> free_a_, free_m_;
};

}  // namespace hyperplane
