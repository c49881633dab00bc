// GMRES(m), preconditioned from the right: min ||b - A (x_0 + M^-1 V y)|| over the Krylov space of A M^-1.
//
// Source: Saad and Schultz 1986; Saad, Iterative Methods for Sparse Linear Systems, 2nd edition,
// algorithm 9.5. Right preconditioning leaves the residual that of A x = b itself.
//
// Step j (from 0) costs 1 SpMV, 1 M^-1, 2 (j + 1) + 1 dots in 3 reductions, and beside SpMV and M^-1
// moves 4 j + 12 numbers an unknown: Gram-Schmidt twice 4 j + 10, scaling 2. The end of a cycle costs
// 1 SpMV and 1 M^-1 more.
// Holds m + 2 vectors: v_0 .. v_m and z; one more where the history shows true residuals within a cycle.
#pragma once

#include "solvers/registry.hpp"
#include "solvers/workspace.hpp"

namespace hyperplane {

class Gmres : public Solver {
public:
    /// `restart` is m; a cycle never grows longer than max_iterations.
    Gmres(const Context& context, const StopCriteria& criteria, Index restart);

    SolveReport solve(const LinearOperator& a, const LinearOperator& m, const Vector& b, Vector& x,
                      History& history) override;
    Index work_vectors() const override { return work_.count(); }
    /// M must be fixed.
    void check(const std::string& preconditioner, const PreconditionerTraits& traits) const override;

private:
    StopCriteria criteria_;
    Index restart_;
    Workspace work_;
};

/// The keys of gmres and fgmres: solver.restart.
ParameterTable restart_parameters();

RegistryRow<CreateSolver> gmres_row();

}  // namespace hyperplane
