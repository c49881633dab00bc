// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients in Eisenstat's form: A = A^T > 0, M = (D + L) D^-1 (D + L^T), where L is A's strict lower
// triangle.
//
// Source: Eisenstat, Efficient implementation of a class of preconditioned conjugate gradient methods, SIAM J. Sci.
// Stat. Comput. 2 (1981). The iterates are those of cg with this M. core/interfaces/eisenstat.hpp has the vectors; in
// their terms cg is
//
//   alpha = s^T D^-1 s / p^T D^-1 w        s -= alpha w, y += alpha p
//   beta = s^T D^-1 s / (s^T D^-1 s)_old   p = s + beta p
//   u = D (D + L^T)^-1 p                   g = p + diag(A) D^-1 u - 2 u
//   w = u + D (D + L)^-1 g
//   r = s + L D^-1 s                       ||r|| is recorded and tested, as in cg
//
// So that a step consists of the two solves and nothing else, beta is made of sums of the step before:
// s^T D^-1 s - 2 alpha s^T D^-1 w + alpha^2 w^T D^-1 w. It is used once, since the next step sums s^T D^-1 s itself
// (Chen and Carson, Predict-and-recompute conjugate gradient variants, SIAM J. Sci. Comput. 42, 2020).
//
// The lower solve reads L, so it sums r^T r, too, of the iterate that the step began with. So a solve of n iterations
// takes n + 1 steps. A step that runs ahead leaves y alone if ||r|| ends the solve (EisenstatCoefficients).
//
// An iteration of a GPU moves 19 numbers an unknown, where cg moves 27: with star7 the upper solve reads 3 scaled
// coefficients, s, w, p and y and writes s, p, y and u; the lower one reads 3 coefficients, D, s, p and u and writes w
// (precond/triangular/wavefront/eisenstat.hpp), and A's diagonal where a pivot was modified. On a CPU nothing is
// scaled: the upper solve reads D^-1, the lower one D^-1 and A's diagonal, u and w are two vectors, and it is 22. True
// residuals in the history need two vectors more.
#pragma once

#include "solvers/registry.hpp"
#include "solvers/workspace.hpp"

namespace hyperplane {

class EisenstatCg : public Solver {
public:
    EisenstatCg(const Context& context, const StopCriteria& criteria);

    /// Throws UsageError if M has no Eisenstat form (LinearOperator::eisenstat).
    SolveReport solve(const LinearOperator& a, const LinearOperator& m, const Vector& b, Vector& x, History& history,
                      const Continuation& continuation) override;
    Index work_vectors() const override { return work_.count(); }
    Index work_scalars() const override;
    IterationCost iteration_cost() const override;
    /// M must have an Eisenstat form.
    void check(const std::string& preconditioner, const PreconditionerTraits& traits) const override;
    /// A must be symmetric.
    void check_operator(const std::string& problem, bool symmetric) const override;

private:
    Context context_;
    Workspace work_;
};

/// Whether the deck asks for Eisenstat's form.
bool asks_for_eisenstat(const Parameters& parameters);
/// The message about a case that has no such form; `where` is the place of the key, and `why` a reason or a name.
std::string no_eisenstat(const std::string& why);

}  // namespace hyperplane
