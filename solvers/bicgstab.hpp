// SPDX-License-Identifier: BSD-3-Clause
// BiCGSTAB, preconditioned from the right, for nonsymmetric systems in little memory.
//
// Source: van der Vorst 1992; Saad, Iterative Methods for Sparse Linear Systems, 2nd edition, algorithm
// 7.7. A solve may end after either half of an iteration; a half counts as one. x follows half an iteration
// late, so that it is never ahead of what the host has seen.
//
// An iteration costs 2 SpMV, 2 M^-1, 7 dots in 4 reductions, and beside SpMV and M^-1 moves 21 numbers an
// unknown: p 4, r_0^T v with v^T v 2, s 3, t^T s with t^T t 2, r with r_0^T r 4, x twice 3.
// Holds 6 vectors: r_0, r (s at the half), p, v, t, z.
#pragma once

#include "solvers/registry.hpp"
#include "solvers/workspace.hpp"

namespace hyperplane {

class Bicgstab : public Solver {
public:
    Bicgstab(const Context& context, const StopCriteria& criteria);

    SolveReport solve(const LinearOperator& a, const LinearOperator& m, const Vector& b, Vector& x, History& history,
                      const Continuation& continuation) override;
    Index work_vectors() const override { return work_.count(); }
    IterationCost iteration_cost() const override { return {2.0, 2.0, 21.0}; }
    /// M must be fixed.
    void check(const std::string& preconditioner, const PreconditionerTraits& traits) const override;

private:
    Context context_;
    Workspace work_;
};

RegistryRow<CreateSolver> bicgstab_row();

}  // namespace hyperplane
