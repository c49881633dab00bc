// SPDX-License-Identifier: BSD-3-Clause
// Richardson's iteration, x += omega M^-1 (b - A x): the correction iteration of FGBILU.
//
// Source: the FGBILU paper, equation 3, M xi_l = b - A x_l, x_l+1 = x_l + xi_l, where omega = 1.
// It converges where the spectral radius of I - omega M^-1 A is below 1.
//
// An iteration costs 1 SpMV, 1 M^-1, 1 dot, and beside SpMV and M^-1 moves 5 numbers an unknown:
// x 3, b 1, ||r|| 1. The residual is the true one, always. x alternates between two places, so that the
// iterate before is still there where M or A spoil the new one.
// Holds 3 vectors: r, z, the other x.
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
    IterationCost iteration_cost() const override { return {1.0, 1.0, 5.0, 0.0, 0.0, true}; }
    /// M must be fixed.
    void check(const std::string& preconditioner, const PreconditionerTraits& traits) const override;

private:
    Context context_;
    double damping_;
    Workspace work_;
};

RegistryRow<CreateSolver> richardson_row();

}  // namespace hyperplane
