// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/pipelined_cg.hpp"

#include <cmath>
#include <limits>

#include "core/vector/blas1.hpp"
#include "core/vector/pipelined_step.hpp"
#include "solvers/convergence.hpp"
#include "solvers/drift.hpp"
#include "solvers/iteration.hpp"

namespace hyperplane {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// One solve of A x = b.
struct PipelinedSolve {
    const LinearOperator &a, &m;
    Vector& x;
    Vector &r, &u, &w, &p, &s, &q, &z, &v, &n;
    Iteration iteration;
    Convergence convergence;
    Drift drift;
    Index last = 1;                                   ///< slot of the newest step; x lacks its alpha p
    bool fresh = true;                                ///< no step was made since r was b - A x
    enum Renewal { none, seen, due } renewal = none;  ///< one step more is made between seen and due

    PipelinedSolve(const Context& context, const StopCriteria& criteria, const LinearOperator& of_a,
                   const LinearOperator& of_m, const Vector& b, Vector& of_x, History& history, Workspace& work)
        : a(of_a),
          m(of_m),
          x(of_x),
          r(work[0]),
          u(work[1]),
          w(work[2]),
          p(work[3]),
          s(work[4]),
          q(work[5]),
          z(work[6]),
          v(work[7]),
          n(work[8]),
          iteration(context, 2, pipelined_scalars),
          convergence(criteria, a, b, x, history, [this] { complete_x(); }) {}

    double* of(Index slot, PipelinedScalar name) { return iteration.scalars(slot) + name; }

    void step(Index slot) {
        m.apply(w, v);  // v = M^-1 w
        a.apply(v, n);  // n = A v
        // x += alpha_old p
        // beta = r^T u / (r^T u)_old, p^T A p = w^T u + beta (u^T s + w^T p) + beta^2 p^T s, alpha = r^T u / p^T A p
        // z = n + beta z, q = v + beta q, s = w + beta s, p = u + beta p
        // r -= alpha s, u -= alpha q, w -= alpha z
        // r^T u, w^T u, r^T r, u^T s + w^T p and p^T s in one reduction
        pipelined_step(iteration.scalars(1 - slot), iteration.scalars(slot), {v, n, x, r, u, w, p, s, q, z});
    }

    bool more() {
        const bool allowed = convergence.may_run_ahead();
        return allowed && renewal == none;
    }

    bool look(Index slot, const double* known) {
        last = slot;
        fresh = false;
        drift.step(known);
        if (renewal == seen)
            renewal = due;
        else if (drift.too_large())
            renewal = seen;
        if (convergence.iterated_and_judged(std::sqrt(known[sum_rr]), r, n)) {
            begin_anew();
            return false;
        }
        return convergence.going() && usable(known);
    }

    /// Whether another step can be made of these scalars. Where drift may be the reason that it cannot, the method
    /// begins anew.
    bool usable(const double* known) {
        const double ru = known[sum_ru], pap = PipelinedCoefficients(known).pap;
        if (!fresh && (ru <= 0.0 || pap <= 0.0)) {
            convergence.judge(r);  // r = b - A x
            begin_anew();
            return false;
        }
        return convergence.require(ru > 0.0, ru, StopReason::indefinite_preconditioner) &&
               convergence.require(pap > 0.0, pap, StopReason::indefinite_operator);
    }

    /// Starts again from r = b - A x; x must be complete.
    void begin_anew() {
        last = 1;
        fresh = true;
        renewal = none;
        if (!convergence.going()) return;
        iteration.set(last, sum_us_wp, {0.0, 0.0, infinity, 0.0});  // p = s = 0, beta = 0, x is complete
        make_u_and_w();
        drift.begin(iteration.get(last).data());
    }

    /// What the updates stand for, from r and p.
    void renew() {
        renewal = none;
        make_u_and_w();
        a.apply_dot(p, s, of(last, sum_ps));  // s = A p, p^T s
        m.apply(s, q);                        // q = M^-1 s
        a.apply(q, z);                        // z = A q
        iteration.set(last, sum_us_wp, {dot(u, s) + dot(w, p)});
        drift.renewed(iteration.get(last).data());
    }

    void make_u_and_w() {
        m.apply_dot(r, u, of(last, sum_ru));  // u = M^-1 r, r^T u
        a.apply_dot(u, w, of(last, sum_wu));  // w = A u, w^T u
    }

    void complete_x() {
        if (iteration.ahead()) return;
        axpy({1.0, of(last, used_alpha), nullptr}, p, x);
        iteration.set(last, used_alpha, {0.0});
    }

    void run() {
        const Method method{.step = [this](Index slot) { step(slot); },
                            .more = [this](Index) { return more(); },
                            .look = [this](Index slot, const double* known) { return look(slot, known); }};
        while (convergence.going()) {
            if (renewal == due) renew();
            if (usable(iteration.get(last).data())) iteration.run(1 - last, method);
        }
    }

    void save(StateStore& state) {
        complete_x();
        convergence.save(state);
        state.put("pipelined_cg/x", x);
        state.put("pipelined_cg/r", r);
        state.put("pipelined_cg/drift", drift.state());
        state.put("pipelined_cg/place", std::vector{double(fresh), double(renewal)});
        if (fresh) return;
        for (const auto& [name, vector] : updated()) state.put(name, *vector);
        state.put("pipelined_cg/scalars", iteration.get(last));
    }

    void resume(const StateStore& state) {
        convergence.resume(state);
        state.get("pipelined_cg/x", x);
        state.get("pipelined_cg/r", r);
        drift.set_state(state.get("pipelined_cg/drift"));
        const std::vector<double> place = state.get("pipelined_cg/place");
        if (place.at(0) != 0.0) return begin_anew();
        fresh = false;
        renewal = Renewal(int(place.at(1)));
        for (const auto& [name, vector] : updated()) state.get(name, *vector);
        iteration.set(last, 0, state.get("pipelined_cg/scalars"));
    }

    std::vector<std::pair<const char*, Vector*>> updated() {
        return {{"pipelined_cg/u", &u}, {"pipelined_cg/w", &w}, {"pipelined_cg/p", &p},
                {"pipelined_cg/s", &s}, {"pipelined_cg/q", &q}, {"pipelined_cg/z", &z}};
    }
};

}  // namespace

PipelinedCg::PipelinedCg(const Context& context, const StopCriteria& criteria)
    : Solver({.solver = "pipelined_cg", .fixed = true, .symmetric = true}, criteria),
      context_(context),
      work_(context, {{"krylov: r, u, w", 3}, {"krylov: p, s, q, z", 4}, {"krylov: v, n", 2}}) {}

Index PipelinedCg::work_scalars() const {
    return Iteration::held(pipelined_scalars);
}

SolveReport PipelinedCg::solve(const LinearOperator& a, const LinearOperator& m, const Vector& b, Vector& x,
                               History& history, const Continuation& continuation) {
    work_.shape_like(b);
    PipelinedSolve solve(context_, criteria_, a, m, b, x, history, work_);
    if (continuation.from) {
        solve.resume(*continuation.from);
    } else {
        solve.convergence.begin(solve.r);  // r = b - A x
        solve.begin_anew();
    }
    solve.run();
    if (continuation.save && solve.convergence.interrupted()) solve.save(*continuation.save);
    return solve.convergence.report(solve.n);
}

RegistryRow<CreateSolver> pipelined_cg_row() {
    return {"pipelined_cg",
            {},
            "conjugate gradients with one reduction an iteration, for many processors",
            "Pipelined preconditioned conjugate gradients (Ghysels and Vanroose, Parallel Computing 40, 2014, "
            "algorithm 4). The iterates are those of cg, but the inner products of an iteration are one sum, which "
            "product and preconditioner need not wait for; an iteration updates eight vectors where cg updates three. "
            "If rounding has made these differ too much from the products that they stand for, as estimated after "
            "Cools and others (SIAM J. Matrix Anal. Appl. 39, 2018), they are computed anew, which takes three "
            "products and two applications of the preconditioner; so the true residual becomes as small as with cg. "
            "The matrix and the preconditioner must be symmetric and positive definite. 9 vectors are held.",
            {},
            [](const Parameters& parameters, const Context& context) -> std::unique_ptr<Solver> {
                return std::make_unique<PipelinedCg>(context, stop_criteria(parameters));
            }};
}

}  // namespace hyperplane
