// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/gmres.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.hpp"
#include "core/vector/blas1.hpp"
#include "solvers/convergence.hpp"
#include "solvers/gram_schmidt.hpp"
#include "solvers/iteration.hpp"

namespace hyperplane {
namespace {

/// The number of scalars of a step: those of both Gram-Schmidt passes, and the square of a norm.
Index scalars_of_step(Index restart) {
    return 2 * restart + 1;
}

}  // namespace

Gmres::Gmres(const Context& context, const StopCriteria& criteria, Index restart, Preconditioned z)
    : Solver({.solver = z == Preconditioned::kept ? "fgmres" : "gmres", .fixed = z == Preconditioned::formed},
             criteria),
      context_(context),
      restart_(std::min(restart, std::max<Index>(1, criteria.max_iterations))),
      z_(z),
      work_(context, {{"krylov: basis", restart_ + 1},
                      {"krylov: preconditioned", z == Preconditioned::kept ? restart_ : 1},
                      {"krylov: trial x", criteria.true_residual_every == 0 ? 0
                                          : z == Preconditioned::kept       ? 2
                                                                            : 1}}) {}

std::vector<const Vector*> Gmres::columns(Index count, Vector& (Gmres::*of)(Index)) {
    std::vector<const Vector*> pointers;
    for (Index at = 0; at < count; ++at) pointers.push_back(&(this->*of)(at));
    return pointers;
}

void Gmres::correction(const LinearOperator& m, const std::vector<double>& y, Vector& u) {
    Scalars coefficients(context_, "krylov: y", Index(y.size()));
    coefficients.set(0, y);
    const bool kept = z_ == Preconditioned::kept;
    Vector& sum = kept ? u : preconditioned(0);
    set_zero(sum);
    add_combination(1.0, coefficients.data(), columns(Index(y.size()), kept ? &Gmres::preconditioned : &Gmres::basis),
                    sum);
    if (!kept) m.apply(sum, u);
}

Index Gmres::work_scalars() const {
    return Iteration::held(scalars_of_step(restart_)) + restart_;  // and y, at the end of a cycle
}

SolveReport Gmres::solve(const LinearOperator& a, const LinearOperator& m, const Vector& b, Vector& x, History& history,
                         const Continuation& continuation) {
    work_.shape_like(b);
    const std::vector<const Vector*> v = columns(restart_ + 1, &Gmres::basis);
    Iteration iteration(context_, restart_, scalars_of_step(restart_));
    const auto scalars = [&](Index j) {
        double* first = iteration.scalars(j);
        return GramSchmidtScalars{first, first + restart_, first + 2 * restart_};
    };

    Convergence convergence(criteria_, a, b, x, history);
    HessenbergLeastSquares least_squares;
    const auto show_truth = [&] {
        const bool kept = z_ == Preconditioned::kept;
        Vector& trial = work_[work_.count() - (kept ? 2 : 1)];
        Vector& residual = kept ? work_[work_.count() - 1] : preconditioned(0);
        correction(m, least_squares.solve(), trial);
        axpy(1.0, x, trial);  // x + M^-1 V y
        convergence.show_truth(trial, residual);
    };
    const Method method{
        .step =
            [&](Index j) {
                Vector &z = preconditioned(j), &w = basis(j + 1);
                m.apply(basis(j), z);                                         // z_j = M^-1 v_j
                a.apply(z, w);                                                // w = A z_j
                orthogonalise_twice(Columns(v).first(j + 1), w, scalars(j));  // w -= V h
                divide_by_root(scalars(j).square, w);                         // v_j+1 = w / ||w||
            },
        .more = [&](Index j) { return convergence.may_run_ahead() && j + 1 < restart_; },
        .look =
            [&](Index j, const double* known) {
                std::vector<double> h(j + 1);
                // w = V h + h_j+1 v_j+1
                const double below = orthogonalised(known, known + restart_, known[2 * restart_], h);
                if (!convergence.require_finite(below) ||
                    !convergence.require(least_squares.add_column(h, below), below, StopReason::breakdown))
                    return false;
                const bool cycle_ends = convergence.iterated(least_squares.residual_norm());  // ||r|| = |g_j+1|
                if ((!cycle_ends || convergence.interrupted()) && convergence.wants_truth()) show_truth();
                return !cycle_ends;
            }};

    StateStore* store = continuation.save;
    if (continuation.from) {
        convergence.resume(*continuation.from);
        least_squares = resume(*continuation.from, x);
    } else {
        convergence.begin(basis(0));  // r = b - A x
    }
    while (convergence.going()) {
        if (least_squares.columns() == 0) {
            const double beta = convergence.residual_norm();
            scale(1.0 / beta, basis(0));  // v_0 = r / ||r||
            least_squares = HessenbergLeastSquares(beta);
        }
        if (least_squares.columns() < restart_) iteration.run(least_squares.columns(), method);
        if (convergence.interrupted() && store) save(*std::exchange(store, nullptr), x, least_squares, convergence);
        if (least_squares.columns() > 0) {
            Vector& u = basis(least_squares.columns());
            correction(m, least_squares.solve(), u);
            if (std::isfinite(norm2(u))) axpy(1.0, u, x);  // x += M^-1 V y
        }
        least_squares = HessenbergLeastSquares();
        convergence.judge(basis(0));  // r = b - A x
    }
    if (convergence.interrupted() && store) save(*store, x, least_squares, convergence);
    return convergence.report(basis(0));
}

void Gmres::save(StateStore& store, const Vector& x, const HessenbergLeastSquares& least_squares,
                 const Convergence& convergence) {
    convergence.save(store);
    store.put(item("x"), x);
    store.put(item("restart"), std::vector{double(restart_)});
    store.put(item("least squares"), least_squares.state());
    for (Index at = 0; at <= least_squares.columns(); ++at) store.put(item("v", at), basis(at));
    for (Index at = 0; at < least_squares.columns() && z_ == Preconditioned::kept; ++at)
        store.put(item("z", at), preconditioned(at));
}

HessenbergLeastSquares Gmres::resume(const StateStore& store, Vector& x) {
    if (const Index restart = Index(store.get(item("restart")).at(0)); restart != restart_)
        throw FileError(fmt::format("the saved state is of {} with restart = {}, this solve has {}", needs_.solver,
                                    restart, restart_));
    const HessenbergLeastSquares least_squares = HessenbergLeastSquares::from_state(store.get(item("least squares")));
    store.get(item("x"), x);
    for (Index at = 0; at <= least_squares.columns(); ++at) store.get(item("v", at), basis(at));
    for (Index at = 0; at < least_squares.columns() && z_ == Preconditioned::kept; ++at)
        store.get(item("z", at), preconditioned(at));
    return least_squares;
}

namespace {

template <Preconditioned z>
std::unique_ptr<Solver> create_gmres(const Parameters& parameters, const Context& context) {
    return std::make_unique<Gmres>(context, stop_criteria(parameters), parameters.integer("solver", "restart"), z);
}

ParameterTable restart_parameters() {
    return {{.section = "solver",
             .key = "restart",
             .type = ParameterType::integer,
             .default_value = "30",
             .description = "iterations of a cycle, each of which needs memory for one vector (fgmres: two); with the "
                            "value of max_iterations there is no restart",
             .minimum = Bound{1}}};
}

}  // namespace

RegistryRow<CreateSolver> gmres_row() {
    return {"gmres",
            {},
            "generalised minimal residuals with restart, for any nonsingular system",
            "GMRES(m), preconditioned from the right (Saad and Schultz 1986; Saad, Iterative Methods, algorithm 9.5), "
            "orthogonalised by classical Gram-Schmidt twice. An iteration is one Arnoldi step; the recurrence's "
            "residual is the true one's 2-norm. The preconditioner must be the same in every iteration. "
            "restart + 2 vectors are held.",
            restart_parameters(),
            create_gmres<Preconditioned::formed>};
}

RegistryRow<CreateSolver> fgmres_row() {
    return {"fgmres",
            {},
            "GMRES that lets the preconditioner change from step to step",
            "Flexible GMRES(m) (Saad 1993; Saad, Iterative Methods, algorithm 9.6), orthogonalised by classical "
            "Gram-Schmidt twice. The only method here for preconditioners that are not the same operator in every "
            "iteration, such as asynchronous sweeps. 2 restart + 1 vectors are held.",
            restart_parameters(),
            create_gmres<Preconditioned::kept>};
}

}  // namespace hyperplane
