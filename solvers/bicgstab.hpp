// BiCGSTAB, preconditioned from the right, for nonsymmetric systems in little memory.
//
// Source: van der Vorst 1992; Saad, Iterative Methods for Sparse Linear Systems, 2nd edition, algorithm
// 7.7. x follows both halves of an iteration, so that a solve may end at either; a half counts as one.
//
// An iteration costs 2 SpMV, 2 M^-1, 7 dots in 5 reductions, and beside SpMV and M^-1 moves 22 numbers
// an unknown: r_0^T r 2, p 4, r_0^T v with v^T v 2, t^T s with t^T t 2, two fused updates of x and r 6 each.
// Holds 6 vectors: r_0, r (s at the half), p, v, t, z.
#pragma once

#include "solvers/registry.hpp"
#include "solvers/workspace.hpp"

namespace hyperplane {

class Bicgstab : public Solver {
public:
    Bicgstab(const Context& context, const StopCriteria& criteria);

    SolveReport solve(const LinearOperator& a, const LinearOperator& m, const Vector& b, Vector& x,
                      History& history) override;
    Index work_vectors() const override { return work_.count(); }
    IterationCost iteration_cost() const override { return {2.0, 2.0, 22.0}; }
    /// M must be fixed.
    void check(const std::string& preconditioner, const PreconditionerTraits& traits) const override;

private:
    StopCriteria criteria_;
    Workspace work_;
};

RegistryRow<CreateSolver> bicgstab_row();

}  // namespace hyperplane
