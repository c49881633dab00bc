// SPDX-License-Identifier: BSD-3-Clause
// GMRES(m), preconditioned from the right: min ||b - A (x_0 + M^-1 V y)|| over the Krylov space of A M^-1.
//
// Source: Saad and Schultz 1986; Saad, Iterative Methods for Sparse Linear Systems, 2nd edition,
// algorithm 9.5. With right preconditioning the residual is that of A x = b itself.
//
// Step j (from 0) costs 1 SpMV, 1 M^-1 and 2 (j + 1) + 1 dots in 3 reductions. Besides SpMV and M^-1 it moves
// 3 j + 10 numbers an unknown if the caches hold a block of V (otherwise 4 j + 11): 3 j + 8 for Gram-Schmidt
// twice, 2 for the scaling. The end of a cycle costs 1 more SpMV and 1 more M^-1.
// The method holds m + 2 vectors: v_0 .. v_m and z; one more if the history shows true residuals within a cycle.
#pragma once

#include "solvers/arnoldi.hpp"

namespace hyperplane {

class Gmres : public Arnoldi {
public:
    /// `restart` is m; a cycle has no more than max_iterations steps.
    Gmres(const Context& context, const StopCriteria& criteria, Index restart)
        : Arnoldi("gmres", context, criteria, restart, Preconditioned::formed) {}
    /// M must be fixed.
    void check(const std::string& preconditioner, const PreconditionerTraits& traits) const override;
};

RegistryRow<CreateSolver> gmres_row();

}  // namespace hyperplane
