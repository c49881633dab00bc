// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients, preconditioned: A = A^T > 0, M = M^T > 0.
//
// Source: Hestenes and Stiefel 1952; Saad, Iterative Methods for Sparse Linear Systems, 2nd edition,
// algorithm 9.1. The 2-norm of r = b - A x is recorded and tested.
//
// An iteration costs 1 SpMV, 1 M^-1 and 3 dots. Besides SpMV and M^-1 it moves 8 numbers an unknown: 5 for x
// and p in one pass, 3 for r and r^T r. These are 12 if r^T z and p^T q need passes of their own (apply_dot).
// x is updated one iteration late, so that it shares p's pass and contains no correction whose scalars the
// host has not checked.
// The method holds 3 vectors: r, p, and one for z until p is computed and for q = A p afterwards.
#pragma once

#include "solvers/registry.hpp"
#include "solvers/workspace.hpp"

namespace hyperplane {

class Cg : public Solver {
public:
    Cg(const Context& context, const StopCriteria& criteria);

    SolveReport solve(const LinearOperator& a, const LinearOperator& m, const Vector& b, Vector& x, History& history,
                      const Continuation& continuation) override;
    Index work_vectors() const override { return work_.count(); }
    Index work_scalars() const override;
    IterationCost iteration_cost() const override {
        return {.vectors = 8.0, .dots_of_products = 1.0, .dots_of_applies = 1.0};
    }

private:
    Context context_;
    Workspace work_;
};

RegistryRow<CreateSolver> cg_row();

}  // namespace hyperplane
