// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/cg.hpp"

#include <cmath>
#include <limits>

#include "core/vector/blas1.hpp"
#include "solvers/convergence.hpp"
#include "solvers/eisenstat_cg.hpp"
#include "solvers/iteration.hpp"

namespace hyperplane {
namespace {

enum Scalar { rho, pq, rr, scalars };  ///< the scalars of an iteration, and their number

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

Cg::Cg(const Context& context, const StopCriteria& criteria)
    : Solver({.solver = "cg", .fixed = true, .symmetric = true}, criteria),
      context_(context),
      work_(context, {{"krylov: r", 1}, {"krylov: p", 1}, {"krylov: z, q", 1}}) {}

Index Cg::work_scalars() const {
    return Iteration::held(scalars);
}

SolveReport Cg::solve(const LinearOperator& a, const LinearOperator& m, const Vector& b, Vector& x, History& history,
                      const Continuation& continuation) {
    work_.shape_like(b);
    Vector &r = work_[0], &p = work_[1], &z = work_[2], &q = work_[2];
    Iteration iteration(context_, 2, scalars);
    const auto of = [&](Index slot, Scalar name) { return iteration.scalars(slot) + name; };
    // alpha = r^T z / p^T A p
    const auto alpha = [&](double sign, Index slot) { return Ratio(sign, of(slot, rho), of(slot, pq)).if_positive(); };

    Index last = 1;  // the slot whose alpha p is not in x yet; the next pass over p adds it, or complete_x
    Convergence convergence(criteria_, a, b, x, history, [&] {
        if (iteration.ahead()) return;
        axpy(alpha(1.0, last), p, x);
        iteration.set(last, pq, {infinity});  // alpha = 0 from now on
    });
    const auto begin_with = [&](double old_rho) {  // with infinity, p = z
        iteration.set(last = 1, rho, {old_rho, infinity});
    };

    const Method method{
        .step =
            [&](Index slot) {
                const Index before = 1 - slot;
                m.apply_dot(r, z, of(slot, rho));  // z = M^-1 r, rho = r^T z
                // x += alpha_old p, p = z + (rho / rho_old) p
                axpy_xpby(alpha(1.0, before), x, z, {1.0, of(slot, rho), of(before, rho)}, p);
                a.apply_dot(p, q, of(slot, pq));                    // q = A p
                axpy_norm2(alpha(-1.0, slot), q, r, of(slot, rr));  // r -= alpha q, r^T r
            },
        .more = [&](Index) { return convergence.may_run_ahead(); },
        .look =
            [&](Index slot, const double* known) {
                last = slot;
                if (!convergence.require(known[rho] > 0.0, known[rho], StopReason::indefinite_preconditioner) ||
                    !convergence.require(known[pq] > 0.0, known[pq], StopReason::indefinite_operator))
                    return false;
                const bool anew = convergence.iterated_and_judged(std::sqrt(known[rr]), r, q);
                if (anew) begin_with(infinity);
                return !anew && convergence.going();
            }};

    if (const StateStore* state = continuation.from) {
        convergence.resume(*state);
        state->get("cg/x", x);
        state->get("cg/r", r);
        state->get("cg/p", p);
        begin_with(state->get("cg/rho").at(0));
    } else {
        convergence.begin(r);  // r = b - A x
        begin_with(infinity);
    }
    while (convergence.going()) iteration.run(0, method);
    if (StateStore* state = continuation.save; state && convergence.interrupted()) {
        convergence.complete_x();
        convergence.save(*state);
        state->put("cg/x", x);
        state->put("cg/r", r);
        state->put("cg/p", p);
        state->put("cg/rho", std::vector{iteration.get(last)[rho]});
    }
    return convergence.report(q);
}

RegistryRow<CreateSolver> cg_row() {
    return {"cg",
            {},
            "conjugate gradients, for symmetric positive definite systems",
            "Preconditioned conjugate gradients (Hestenes and Stiefel 1952; Saad, Iterative Methods, algorithm 9.1). "
            "The matrix and the preconditioner must be symmetric and positive definite: p^T A p <= 0 ends the solve "
            "with indefinite_operator, r^T M^-1 r <= 0 with indefinite_preconditioner. An iteration is one product "
            "with A; 3 vectors are held.\n\n"
            "With eisenstat = true the same iterates come without products with A, where M has the matrix's own lower "
            "triangle (Eisenstat, SIAM J. Sci. Stat. Comput. 2, 1981): a step consists of the two triangular solves, "
            "which move 17 numbers an unknown on star7 in place of 27, or 21 on a CPU. ||r|| of an iterate is known a "
            "step later, so a solve takes a step more than it counts iterations. 4 vectors are held, 5 on a CPU, and 2 "
            "more if true_residual_every is set. On a GPU struct_ilu also holds a scaled copy of the triangle and its "
            "pivots, 4 numbers an unknown on star7.",
            {{.section = "solver",
              .key = "eisenstat",
              .type = ParameterType::boolean,
              .default_value = "false",
              .description = "conjugate gradients without products with A (Eisenstat's trick), for struct_ilu of fill "
                             "level 0 in double precision on stencils like star7 (D-ILU) with one unknown a point, "
                             "without periodic axes, on one rank. Iterations are those of the plain form up to "
                             "rounding. Meant for GPUs, whose memory paces it: on a CPU it takes longer"}},
            [](const Parameters& parameters, const Context& context) -> std::unique_ptr<Solver> {
                if (asks_for_eisenstat(parameters))
                    return std::make_unique<EisenstatCg>(context, stop_criteria(parameters));
                return std::make_unique<Cg>(context, stop_criteria(parameters));
            }};
}

}  // namespace hyperplane
