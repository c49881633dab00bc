// SPDX-License-Identifier: BSD-3-Clause
// GMRES(m), preconditioned from the right, and flexible GMRES(m): min ||b - A (x_0 + Z y)|| in cycles of Arnoldi's
// process,
//
//     A Z = V H,   z_j = M_j^-1 v_j,   x = x_0 + Z y with y = argmin || ||r_0|| e_0 - H y ||
//
// gmres forms Z y = M^-1 V y at the end of a cycle. fgmres stores Z, so M may be a different operator in every step.
// With right preconditioning the residual is that of A x = b itself.
//
// Source: Saad and Schultz 1986; Saad 1993; Saad, Iterative Methods for Sparse Linear Systems, 2nd edition, algorithms
// 9.5 and 9.6.
//
// Step j (from 0) costs 1 SpMV, 1 M^-1 and 2 (j + 1) + 1 dots in 3 reductions. Besides SpMV and M^-1 it moves
// 3 j + 10 numbers an unknown if the caches hold a block of V (otherwise 4 j + 11): 3 j + 8 for Gram-Schmidt
// twice, 2 for the scaling. The end of a cycle costs 1 more SpMV and, with gmres, 1 more M^-1.
// gmres holds m + 2 vectors: v_0 .. v_m and z; one more if the history shows true residuals within a cycle. fgmres
// holds 2 m + 1: v_0 .. v_m and z_0 .. z_m-1; two more if the history shows true residuals within a cycle.
#pragma once

#include "solvers/least_squares.hpp"
#include "solvers/registry.hpp"
#include "solvers/workspace.hpp"

namespace hyperplane {

class Convergence;

enum class Preconditioned { formed, kept };  ///< whether Z y is formed from V (gmres), or Z is stored (fgmres)

class Gmres : public Solver {
public:
    /// `restart` is m; a cycle has no more than max_iterations steps.
    Gmres(const Context& context, const StopCriteria& criteria, Index restart, Preconditioned z);

    SolveReport solve(const LinearOperator& a, const LinearOperator& m, const Vector& b, Vector& x, History& history,
                      const Continuation& continuation) override;
    Index work_vectors() const override { return work_.count(); }
    Index work_scalars() const override;
    IterationCost iteration_cost() const override { return {.vectors = vectors_of(0) + 1.5 * double(restart_ - 1)}; }
    Index cycle() const override { return restart_; }
    /// In step j of a cycle: 3 j + 8 for Gram-Schmidt twice, 2 for the scaling, and 1 for v_j in the combination at the
    /// end of the cycle.
    double vectors_of(Index iteration) const override { return 3.0 * double(iteration % restart_) + 11.0; }

private:
    Vector& basis(Index at) { return work_[at]; }
    Vector& preconditioned(Index at) { return work_[restart_ + 1 + (z_ == Preconditioned::kept ? at : 0)]; }
    std::vector<const Vector*> columns(Index count, Vector& (Gmres::*of)(Index));
    /// u = Z y, which is M^-1 V y where Z is not kept
    void correction(const LinearOperator& m, const std::vector<double>& y, Vector& u);
    void save(StateStore& store, const Vector& x, const HessenbergLeastSquares& least_squares,
              const Convergence& convergence);
    /// Restores the cycle that was interrupted: its least-squares problem, x and the vectors.
    HessenbergLeastSquares resume(const StateStore& store, Vector& x);
    /// The name of a part of a saved state.
    std::string item(const char* what) const { return std::string(needs_.solver) + "/" + what; }
    std::string item(const char* what, Index at) const { return item(what) + std::to_string(at); }

    Context context_;
    Index restart_;
    Preconditioned z_;
    Workspace work_;
};

RegistryRow<CreateSolver> gmres_row();
RegistryRow<CreateSolver> fgmres_row();

}  // namespace hyperplane
