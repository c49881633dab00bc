// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/eisenstat_cg.hpp"

#include <cmath>
#include <limits>

#include "core/interfaces/eisenstat.hpp"
#include "core/vector/blas1.hpp"
#include "solvers/convergence.hpp"
#include "solvers/iteration.hpp"

namespace hyperplane {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// The work vectors: a CPU has one more for w - u; two more show true residuals.
std::vector<Workspace::Group> work_groups(const Context& context, const StopCriteria& criteria) {
    std::vector<Workspace::Group> groups{{"krylov: s, u", 2}, {"krylov: p, y", 2}};
    if (context.backend() == Backend::cpu) groups.push_back({"krylov: w", 1});
    if (criteria.true_residual_every > 0) groups.push_back({"krylov: true residuals", 2});
    return groups;
}

/// One solve of A x = b.
struct EisenstatSolve {
    const StopCriteria& criteria;
    const LinearOperator& a;
    const EisenstatForm& form;
    const Vector& b;
    Vector& x;
    Vector &even, &odd;  ///< a step of the even slot has s in the first one and u in the second one
    Vector &p, &y, &w;
    Vector &shown_x, &shown_r;  ///< for true residuals in the history
    Iteration iteration;
    Convergence convergence;
    Index last = 1;        ///< slot of the newest step
    bool fresh = true;     ///< no step has been made since r = b - A x was computed
    bool pending = false;  ///< whether y has to be added to x

    EisenstatSolve(const Context& context, const StopCriteria& stop, const LinearOperator& of_a,
                   const EisenstatForm& of_m, const Vector& of_b, Vector& of_x, History& history, Workspace& work)
        : criteria(stop),
          a(of_a),
          form(of_m),
          b(of_b),
          x(of_x),
          even(work[0]),
          odd(work[1]),
          p(work[2]),
          y(work[3]),
          w(work[context.backend() == Backend::cuda ? 1 : 4]),
          shown_x(work[std::max<Index>(0, work.count() - 2)]),
          shown_r(work[work.count() - 1]),
          iteration(context, 2, eisenstat_sums),
          convergence(stop, a, b, x, history, [this] { complete_x(); }) {
        set_zero(y);
    }

    /// s of a step. Its u is in the place of the next step's s.
    Vector& s(Index slot) { return slot == 0 ? even : odd; }
    /// Where b - A x is computed for a solve that begins anew: first steps have slot 0.
    Vector& r() { return odd; }

    /// An iteration, which ends with ||r|| of the iterate that it began with.
    void step(Index slot) {
        const EisenstatVectors v{s(slot), p, y, s(1 - slot), w};
        form.upper_step(iteration.scalars(1 - slot), {convergence.target(), convergence.limit()}, v,
                        iteration.scalars(slot));
        form.lower_step(v, iteration.scalars(slot));
    }

    /// The first step is looked at by itself, and so are all if each may show a true residual.
    bool more() {
        if (fresh) return false;
        const bool allowed = convergence.may_run_ahead();
        return allowed && criteria.true_residual_every == 0;
    }

    bool look(Index slot, const double* known) {
        last = slot;
        if (fresh) {  // ||r|| is known already, and has been judged
            fresh = false;
            const double norm = convergence.residual_norm();
            if (usable(known)) iteration.set(slot, eisenstat_rr, {norm * norm});
            return false;
        }
        pending = true;
        const bool ends = convergence.iterated(std::sqrt(known[eisenstat_rr]));
        if (ends && !convergence.interrupted()) {
            convergence.judge(r());  // r = b - A x
            fresh = true;
        } else if (convergence.wants_truth()) {
            show_truth();
        }
        return !ends && usable(known);
    }

    bool usable(const double* known) {
        const double rho = known[eisenstat_rho], tat = known[eisenstat_tat];
        return convergence.require(rho > 0.0, rho, StopReason::indefinite_preconditioner) &&
               convergence.require(tat > 0.0, tat, StopReason::indefinite_operator);
    }

    void complete_x() {
        if (!pending) return;
        form.finish(y, x);
        set_zero(y);
        pending = false;
    }

    void show_truth() {
        copy(x, shown_x);
        copy(y, shown_r);
        form.finish(shown_r, shown_x);
        convergence.show_truth(shown_x, shown_r);
    }

    /// Starts again from r = b - A x; x must be complete.
    void begin_anew() {
        last = 1;
        form.begin(r(), s(1 - last));
        iteration.set(last, eisenstat_rr, {nan});  // alpha = beta = 0
    }

    void run() {
        const Method method{.step = [this](Index slot) { step(slot); },
                            .more = [this](Index) { return more(); },
                            .look = [this](Index slot, const double* known) { return look(slot, known); }};
        while (convergence.going()) {
            if (fresh) begin_anew();
            iteration.run(1 - last, method);
        }
    }

    void save(StateStore& state) {
        convergence.save(state);
        state.put("eisenstat_cg/fresh", std::vector{double(fresh)});
        state.put("eisenstat_cg/x", x);
        if (fresh) return;
        for (const auto& [name, vector] : updated()) state.put(name, *vector);
        state.put("eisenstat_cg/sums", iteration.get(last));
        state.put("eisenstat_cg/by_roots", std::vector{double(form.by_roots())});
    }

    void resume(const StateStore& state) {
        convergence.resume(state);
        state.get("eisenstat_cg/x", x);
        fresh = state.get("eisenstat_cg/fresh").at(0) != 0.0;
        if (fresh) return a.residual(b, x, r());
        const bool by_roots = state.get("eisenstat_cg/by_roots").at(0) != 0.0;
        for (const auto& [name, vector] : updated()) {
            state.get(name, *vector);
            if (by_roots != form.by_roots()) form.times_roots(!by_roots, *vector);
        }
        const std::vector<double> sums = state.get("eisenstat_cg/sums");
        iteration.set(last, 0, sums);
        pending = true;
        usable(sums.data());
    }

    /// The vectors that the next step begins with.
    std::vector<std::pair<const char*, Vector*>> updated() {
        return {{"eisenstat_cg/next_s", &s(1 - last)}, {"eisenstat_cg/p", &p}, {"eisenstat_cg/y", &y}};
    }
};

}  // namespace

EisenstatCg::EisenstatCg(const Context& context, const StopCriteria& criteria)
    : Solver({.solver = "cg", .fixed = true, .symmetric = true}, criteria),
      context_(context),
      work_(context, work_groups(context, criteria)) {}

Index EisenstatCg::work_scalars() const {
    return Iteration::held(eisenstat_sums);
}

SolveReport EisenstatCg::solve(const LinearOperator& a, const LinearOperator& m, const Vector& b, Vector& x,
                               History& history, const Continuation& continuation) {
    const EisenstatForm* form = m.eisenstat();
    if (!form) throw UsageError(no_eisenstat("the preconditioner given has none"));
    work_.shape_like(b);
    EisenstatSolve solve(context_, criteria_, a, *form, b, x, history, work_);
    if (continuation.from)
        solve.resume(*continuation.from);
    else
        solve.convergence.begin(solve.r());  // r = b - A x
    solve.run();
    if (continuation.save && solve.convergence.interrupted()) solve.save(*continuation.save);
    return solve.convergence.report(solve.r());
}

IterationCost EisenstatCg::iteration_cost() const {
    const double vectors = context_.backend() == Backend::cuda ? 6.0 : 10.0;  // besides those of two solves
    return {.products = 0.0, .vectors = vectors};
}

void EisenstatCg::check(const std::string& preconditioner, const PreconditionerTraits& traits) const {
    Solver::check(preconditioner, traits);
    if (!traits.eisenstat) throw UsageError(no_eisenstat(preconditioner + " is not such a preconditioner here"));
}

bool asks_for_eisenstat(const Parameters& parameters) {
    return parameters.has("solver", "eisenstat") && parameters.boolean("solver", "eisenstat");
}

std::string no_eisenstat(const std::string& why) {
    return "solver.eisenstat = true: " + why +
           "; it needs struct_ilu with fill_level = 0 and storage = double, built from the system's own symmetric "
           "matrix, one unknown a point, a stencil like star7 whose factors are the matrix's own coefficients (D-ILU), "
           "no periodic axis, one rank, and a matrix without constants in its null space; leave the key out";
}

}  // namespace hyperplane
