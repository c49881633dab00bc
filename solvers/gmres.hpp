// SPDX-License-Identifier: BSD-3-Clause
// GMRES(m), preconditioned from the right: min ||b - A (x_0 + M^-1 V y)|| over the Krylov space of A M^-1.
//
// Source: Saad and Schultz 1986; Saad, Iterative Methods for Sparse Linear Systems, 2nd edition,
// algorithm 9.5. Right preconditioning leaves the residual that of A x = b itself.
//
// Step j (from 0) costs 1 SpMV, 1 M^-1, 2 (j + 1) + 1 dots in 3 reductions, and beside SpMV and M^-1
// moves 3 j + 10 numbers an unknown where the caches hold a block of V (4 j + 11 elsewhere): Gram-Schmidt twice
// 3 j + 8, scaling 2. The end of a cycle costs 1 SpMV and 1 M^-1 more.
// Holds m + 2 vectors: v_0 .. v_m and z; one more where the history shows true residuals within a cycle.
#pragma once

#include "solvers/arnoldi.hpp"

namespace hyperplane {

class Gmres : public Arnoldi {
public:
    /// `restart` is m; a cycle never grows longer than max_iterations.
    Gmres(const Context& context, const StopCriteria& criteria, Index restart)
        : Arnoldi("gmres", context, criteria, restart, Preconditioned::formed) {}
    /// M must be fixed.
    void check(const std::string& preconditioner, const PreconditionerTraits& traits) const override;
};

RegistryRow<CreateSolver> gmres_row();

}  // namespace hyperplane
