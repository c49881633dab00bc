// SPDX-License-Identifier: BSD-3-Clause
// BiCGSTAB, preconditioned from the right, for nonsymmetric systems in little memory.
//
// Source: van der Vorst 1992; Saad, Iterative Methods for Sparse Linear Systems, 2nd edition, algorithm
// 7.7. A solve may end after either half of an iteration; an iteration that ends after its first half is
// counted, too. x is updated half an iteration late, so that it contains no correction whose scalars the
// host has not checked.
//
// An iteration costs 2 SpMV, 2 M^-1 and 7 dots in 4 reductions. Besides SpMV and M^-1 it moves 21 numbers an
// unknown: 4 for p, 2 for r_0^T v and v^T v, 3 for s, 2 for t^T s and t^T t, 4 for r and r_0^T r, twice 3 for x.
// The method holds 6 vectors: r_0, r (s after the first half), p, v, t, z.
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
    Index work_scalars() const override;
    IterationCost iteration_cost() const override { return {.products = 2.0, .applies = 2.0, .vectors = 21.0}; }

private:
    Context context_;
    Workspace work_;
};

RegistryRow<CreateSolver> bicgstab_row();

}  // namespace hyperplane
