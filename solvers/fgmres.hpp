// SPDX-License-Identifier: BSD-3-Clause
// FGMRES(m), flexible GMRES: M may be another operator in every step, because Z = M_j^-1 v_j is kept.
//
// Source: Saad 1993; Saad, Iterative Methods for Sparse Linear Systems, 2nd edition, algorithm 9.6.
//
// Step j (from 0) costs 1 SpMV, 1 M^-1, 2 (j + 1) + 1 dots in 3 reductions, and beside SpMV and M^-1
// moves as many numbers as gmres. The end of a cycle costs 1 SpMV more and no M^-1.
// Holds 2 m + 1 vectors: v_0 .. v_m and z_0 .. z_m-1; two more where the history shows true residuals
// within a cycle.
#pragma once

#include "solvers/arnoldi.hpp"

namespace hyperplane {

class Fgmres : public Arnoldi {
public:
    /// `restart` is m; a cycle never grows longer than max_iterations.
    Fgmres(const Context& context, const StopCriteria& criteria, Index restart)
        : Arnoldi("fgmres", context, criteria, restart, Preconditioned::kept) {}
    /// Any M will do.
    void check(const std::string& /*preconditioner*/, const PreconditionerTraits& /*traits*/) const override {}
};

RegistryRow<CreateSolver> fgmres_row();

}  // namespace hyperplane
