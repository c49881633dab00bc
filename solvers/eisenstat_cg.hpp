// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients in Eisenstat's form: A = A^T > 0, M = (D + L) D^-1 (D + L^T), where L is A's strict lower
// triangle.
//
// Source: Eisenstat, Efficient implementation of a class of preconditioned conjugate gradient methods, SIAM J. Sci.
// Stat. Comput. 2 (1981). The iterates are those of cg with this M. core/interfaces/eisenstat.hpp has the vectors; in
// their terms cg is
//
//   beta = s^T D^-1 s / (s^T D^-1 s)_old   p = s + beta p
//   u = D (D + L^T)^-1 p                   g = p + diag(A) D^-1 u - 2 u
//   alpha = s^T D^-1 s / u^T D^-1 (p + g)  the latter is t^T A t
//   w = u + D (D + L)^-1 g                 s -= alpha w, y += alpha p
//   r = s + L D^-1 s                       ||r|| is recorded and tested, as in cg
//
// So a step consists of the two solves and nothing else: alpha is known when the lower one begins, which changes s
// while it computes w, and beta when it ends. The two solves have s in turns in one of two vectors; the other one has
// u.
//
// The lower solve reads L, so it sums r^T r, too, of the s that the step began with. So a solve of n iterations takes
// n + 1 steps, and y is changed a step late. A step that runs ahead leaves y alone if ||r|| ends the solve
// (EisenstatCoefficients).
//
// An iteration of a GPU moves 17 numbers an unknown, where cg moves 27: with star7 the upper solve reads 3 scaled
// coefficients, s, p and y and writes p, y and u; the lower one reads 3 coefficients, D, s, p and u and writes s
// (precond/triangular/wavefront/eisenstat.hpp). Where a pivot was modified, the upper solve also reads D, and both read
// A's diagonal. On a CPU nothing is scaled: both solves read D^-1 and A's diagonal, w - u has a vector of its own, and
// it is 21. True residuals in the history need two vectors more.
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
    /// M must also have an Eisenstat form.
    void check(const std::string& preconditioner, const PreconditionerTraits& traits) const override;

private:
    Context context_;
    Workspace work_;
};

/// Whether the deck asks for Eisenstat's form.
bool asks_for_eisenstat(const Parameters& parameters);
/// The message about a case that has no such form: `why`, and what the form needs.
std::string no_eisenstat(const std::string& why);

}  // namespace hyperplane
