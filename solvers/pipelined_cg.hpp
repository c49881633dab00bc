// SPDX-License-Identifier: BSD-3-Clause
// Pipelined conjugate gradients, preconditioned: A = A^T > 0, M = M^T > 0.
//
// Source: Ghysels and Vanroose, Hiding global synchronization latency in the preconditioned conjugate gradient
// algorithm, Parallel Computing 40 (2014), algorithm 4. The iterates are those of cg in exact arithmetic. Conjugate
// gradients need r^T u before p, and p^T A p before r: two sums, each of which all of a machine waits for. Here
// u = M^-1 r, w = A u, s = A p, q = M^-1 s and z = A q are updated along with r and p, so that
//
//   r^T u, w^T u, r^T r, u^T s + w^T p and p^T s are one reduction, and nothing needs it until v = M^-1 w and n = A v
//   are made (v is the paper's m).
//
// p^T A p = (u + beta p_old)^T (w + beta s_old) is made of these sums. The paper takes w^T u - beta^2 (p^T A p)_old,
// which is the same where p is A-conjugate to p_old. Rounding errors of that form feed on themselves: on a diagonal
// matrix of 80 unknowns and condition 1e6, where cg takes 769 iterations to 1e-11 and this 1008, it did not converge in
// 4000. Like cg's, x follows a step late.
//
// An iteration costs 1 SpMV, 1 M^-1 and one pass over ten vectors (core/vector/pipelined_step.hpp) that moves 18
// numbers an unknown, where cg moves 8. It holds 9 vectors: r, u, w, p, s, q, z, v, n.
//
// The updates lose touch with what they stand for (solvers/drift.hpp estimates how far). Where drift is too large, one
// more step is made, then u, w, s, q and z are made anew from r and p, for 3 products and 2 M^-1: about once in 50
// iterations where the matrix is well conditioned. p stays, so the method goes on as if nothing had happened. r stays,
// too: its updates are those of cg once s is right, and b - A x in its place would bring the rounding of x into the
// method, which delays convergence. So b - A x ends where cg's does. What r claims is checked against b - A x at the
// end, as in all methods. Where it is not confirmed, the method begins anew from b - A x; so it does where r^T u or
// p^T A p is not positive, unless they come from products: only these prove that M or A is indefinite.
#pragma once

#include "solvers/registry.hpp"
#include "solvers/workspace.hpp"

namespace hyperplane {

class PipelinedCg : public Solver {
public:
    PipelinedCg(const Context& context, const StopCriteria& criteria);

    SolveReport solve(const LinearOperator& a, const LinearOperator& m, const Vector& b, Vector& x, History& history,
                      const Continuation& continuation) override;
    Index work_vectors() const override { return work_.count(); }
    Index work_scalars() const override;
    IterationCost iteration_cost() const override { return {.vectors = 18.0}; }

private:
    Context context_;
    Workspace work_;
};

RegistryRow<CreateSolver> pipelined_cg_row();

}  // namespace hyperplane
