// SPDX-License-Identifier: BSD-3-Clause
// FGMRES(m), flexible GMRES: M may be a different operator in every step, because every z_j = M_j^-1 v_j is stored.
//
// Source: Saad 1993; Saad, Iterative Methods for Sparse Linear Systems, 2nd edition, algorithm 9.6.
//
// Step j (from 0) costs 1 SpMV, 1 M^-1 and 2 (j + 1) + 1 dots in 3 reductions. Besides SpMV and M^-1 it
// moves as many numbers as in gmres. The end of a cycle costs 1 more SpMV and no M^-1.
// The method holds 2 m + 1 vectors: v_0 .. v_m and z_0 .. z_m-1; two more if the history shows true residuals
// within a cycle.
#pragma once

#include "solvers/arnoldi.hpp"

namespace hyperplane {

class Fgmres : public Arnoldi {
public:
    /// `restart` is m; a cycle has no more than max_iterations steps.
    Fgmres(const Context& context, const StopCriteria& criteria, Index restart)
        : Arnoldi("fgmres", context, criteria, restart, Preconditioned::kept) {}
    /// Every M is allowed.
    void check(const std::string& /*preconditioner*/, const PreconditionerTraits& /*traits*/) const override {}
};

RegistryRow<CreateSolver> fgmres_row();

}  // namespace hyperplane
