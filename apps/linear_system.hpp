// The linear system of one Newton step: A du = b = -F(u), and the matrix to precondition with.
#pragma once

#include <optional>
#include <vector>

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
void assemble(const Case& a_case, const Vector& u, TimeLevel level, LinearSystem& system);

/// The deck's first system, that of the first time step or of a steady problem; u becomes the initial state.
void assemble_first(const Case& a_case, Vector& u, LinearSystem& system);

/// A and M as the solver sees them: constants projected out where A is singular. Refers to both.
class SolverOperators {
public:
    SolverOperators(const Case& a_case, const LinearOperator& a)
        : singular_(a_case.shape().constant_null_space), a_(a), m_(*a_case.preconditioner), free_a_(a_), free_m_(m_) {}
    const LinearOperator& a() const { return singular_ ? free_a_ : a_; }
    const LinearOperator& m() const { return singular_ ? free_m_ : m_; }

private:
    bool singular_;
    const LinearOperator &a_, &m_;
    MeanFreeOperator free_a_, free_m_;
};

/// Values by point in natural order, dof fastest.
std::vector<double> to_natural(const Vector& x);
/// The inverse; throws FileError where the sizes differ.
void from_natural(const std::vector<double>& values, Vector& x);

}  // namespace hyperplane
