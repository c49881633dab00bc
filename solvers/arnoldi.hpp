// SPDX-License-Identifier: BSD-3-Clause
// The part that gmres and fgmres share: cycles of Arnoldi's process, preconditioned from the right,
//
//     A Z = V H,   z_j = M_j^-1 v_j,   x = x_0 + Z y with y = argmin || ||r_0|| e_0 - H y ||
//
// fgmres stores Z; gmres forms Z y = M^-1 V y at the end of a cycle.
//
// Source: Saad, Iterative Methods for Sparse Linear Systems, 2nd edition, algorithms 9.5 and 9.6.
#pragma once

#include "solvers/least_squares.hpp"
#include "solvers/registry.hpp"
#include "solvers/workspace.hpp"

namespace hyperplane {

class Convergence;

class Arnoldi : public Solver {
public:
    SolveReport solve(const LinearOperator& a, const LinearOperator& m, const Vector& b, Vector& x, History& history,
                      const Continuation& continuation) override;
    Index work_vectors() const override { return work_.count(); }
    Index work_scalars() const override;
    IterationCost iteration_cost() const override { return {1.0, 1.0, vectors_of(0) + 1.5 * double(restart_ - 1)}; }
    Index cycle() const override { return restart_; }
    /// In step j of a cycle: 3 j + 8 for Gram-Schmidt twice, 2 for the scaling, and 1 for v_j in the combination at the
    /// end of the cycle.
    double vectors_of(Index iteration) const override { return 3.0 * double(iteration % restart_) + 11.0; }

protected:
    enum class Preconditioned { formed, kept };  ///< whether Z y is formed from V, or Z is stored

    /// `restart` is the number of steps in a cycle; a cycle has no more than max_iterations.
    Arnoldi(const char* name, const Context& context, const StopCriteria& criteria, Index restart, Preconditioned z);

private:
    Vector& basis(Index at) { return work_[at]; }
    Vector& preconditioned(Index at) { return work_[restart_ + 1 + (z_ == Preconditioned::kept ? at : 0)]; }
    std::vector<const Vector*> columns(Index count, Vector& (Arnoldi::*of)(Index));
    /// u = M^-1 V y
    void correction(const LinearOperator& m, const std::vector<double>& y, Vector& u);
    void save(StateStore& store, const Vector& x, const HessenbergLeastSquares& least_squares,
              const Convergence& convergence);
    /// Restores the cycle that was interrupted: its least-squares problem, x and the vectors.
    HessenbergLeastSquares resume(const StateStore& store, Vector& x);
    std::string item(const char* what, Index at) const { return name_ + "/" + what + std::to_string(at); }

    std::string name_;
    Context context_;
    Index restart_;
    Preconditioned z_;
    Workspace work_;
};

/// The keys of gmres and fgmres: solver.restart.
ParameterTable restart_parameters();

}  // namespace hyperplane
