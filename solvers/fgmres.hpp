// FGMRES(m), flexible GMRES: M may be another operator in every step, because Z = M_j^-1 v_j is kept.
//
// Source: Saad 1993; Saad, Iterative Methods for Sparse Linear Systems, 2nd edition, algorithm 9.6.
//
// Step j (from 0) costs 1 SpMV, 1 M^-1, 2 (j + 1) + 1 dots in 3 reductions, and beside SpMV and M^-1
// moves 4 j + 12 numbers an unknown, as gmres. The end of a cycle costs 1 SpMV more and no M^-1.
// Holds 2 m + 1 vectors: v_0 .. v_m and z_0 .. z_m-1; two more where the history shows true residuals
// within a cycle.
#pragma once

#include "solvers/registry.hpp"
#include "solvers/workspace.hpp"

namespace hyperplane {

class Fgmres : public Solver {
public:
    /// `restart` is m; a cycle never grows longer than max_iterations.
    Fgmres(const Context& context, const StopCriteria& criteria, Index restart);

    SolveReport solve(const LinearOperator& a, const LinearOperator& m, const Vector& b, Vector& x,
                      History& history) override;
    Index work_vectors() const override { return work_.count(); }
    /// Any M will do.
    void check(const std::string& /*preconditioner*/, const PreconditionerTraits& /*traits*/) const override {}

private:
    StopCriteria criteria_;
    Index restart_;
    Workspace work_;
};

RegistryRow<CreateSolver> fgmres_row();

}  // namespace hyperplane
