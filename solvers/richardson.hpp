// SPDX-License-Identifier: BSD-3-Clause
// Richardson's iteration, x += omega M^-1 (b - A x): the correction iteration of FGBILU.
//
// Source: the FGBILU paper, equation 3, M xi_l = b - A x_l, x_l+1 = x_l + xi_l, where omega = 1.
// It converges if the spectral radius of I - omega M^-1 A is below 1. Each step begins anew from the residual, so M may
// be another operator in every step: with one sweep of an asynchronous iteration as M^-1 it is that iteration.
//
// An iteration costs 1 SpMV, 1 M^-1 and 1 dot. Besides SpMV and M^-1 it moves 5 numbers an unknown: 3 for x,
// 1 for b, 1 for ||r||. The residual is always the true one. x alternates between two vectors, so that the
// previous iterate is still there if M or A make the new one NaN.
// The method holds 3 vectors: r, z and the second x.
#pragma once

#include "solvers/registry.hpp"
#include "solvers/workspace.hpp"

namespace hyperplane {

class Richardson : public Solver {
public:
    /// `damping` is omega.
    Richardson(const Context& context, const StopCriteria& criteria, double damping);

    SolveReport solve(const LinearOperator& a, const LinearOperator& m, const Vector& b, Vector& x, History& history,
                      const Continuation& continuation) override;
    Index work_vectors() const override { return work_.count(); }
    Index work_scalars() const override;
    IterationCost iteration_cost() const override { return {.vectors = 5.0, .residuals = true}; }

private:
    Context context_;
    double damping_;
    Workspace work_;
};

RegistryRow<CreateSolver> richardson_row();

}  // namespace hyperplane
