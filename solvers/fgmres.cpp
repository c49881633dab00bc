#include "solvers/fgmres.hpp"

#include <algorithm>

#include "core/blas1.hpp"
#include "solvers/convergence.hpp"
#include "solvers/gmres.hpp"
#include "solvers/gram_schmidt.hpp"
#include "solvers/least_squares.hpp"

namespace hyperplane {

Fgmres::Fgmres(const Context& context, const StopCriteria& criteria, Index restart)
    : criteria_(criteria),
      restart_(std::min(restart, std::max<Index>(1, criteria.max_iterations))),
      work_(context, {{"krylov: basis", restart_ + 1},
                      {"krylov: preconditioned basis", restart_},
                      {"krylov: trial x", criteria.true_residual_every > 0 ? 2 : 0}}) {}

SolveReport Fgmres::solve(const LinearOperator& a, const LinearOperator& m, const Vector& b, Vector& x,
                          History& history) {
    work_.shape_like(b);
    std::vector<const Vector*> basis(restart_ + 1), preconditioned(restart_);
    for (Index at = 0; at <= restart_; ++at) basis[at] = &work_[at];
    for (Index at = 0; at < restart_; ++at) preconditioned[at] = &work_[restart_ + 1 + at];
    std::vector<double> h(restart_);

    Convergence convergence(criteria_, a, b, x, history);
    convergence.begin(work_[0]);  // r = b - A x
    while (convergence.going()) {
        const double beta = convergence.residual_norm();
        scale(1.0 / beta, work_[0]);  // v_0 = r / ||r||
        HessenbergLeastSquares least_squares(beta);

        // u += Z y
        const auto correct = [&](Vector& u) {
            const auto y = least_squares.solve();
            add_combination(y, std::span(preconditioned).first(y.size()), u);
        };

        bool cycle_ends = false;
        for (Index j = 0; j < restart_ && !cycle_ends; ++j) {
            Vector &v = work_[j], &w = work_[j + 1], &z = work_[restart_ + 1 + j];
            m.apply(v, z);  // z_j = M_j^-1 v_j
            a.apply(z, w);  // w = A z_j
            const std::span column = std::span(h).first(j + 1);
            // w = V h + h_j+1 v_j+1
            const double below = orthogonalise_twice(std::span(basis).first(j + 1), w, column);
            if (!convergence.require(true, below, StopReason::not_finite)) break;
            if (!convergence.require(least_squares.add_column(column, below), below, StopReason::breakdown)) break;
            if (below > 0.0) scale(1.0 / below, w);
            cycle_ends = convergence.iterated(least_squares.residual_norm());  // ||r|| = |g_j+1|
            if (!cycle_ends && convergence.wants_truth()) {
                Vector &trial = work_[2 * restart_ + 1], &residual = work_[2 * restart_ + 2];
                copy(x, trial);
                correct(trial);  // x + Z y
                convergence.show_truth(trial, residual);
            }
        }
        correct(x);                   // x += Z y
        convergence.judge(work_[0]);  // r = b - A x
    }
    return convergence.report(work_[0]);
}

RegistryRow<CreateSolver> fgmres_row() {
    return {"fgmres",
            {},
            "gmres that lets the preconditioner change from step to step",
            "Flexible GMRES(m) (Saad 1993; Saad, Iterative Methods, algorithm 9.6), orthogonalised by classical "
            "Gram-Schmidt twice. The only method here for preconditioners that are not the same operator in every "
            "iteration, such as asynchronous sweeps. 2 restart + 1 vectors are held.",
            restart_parameters(),
            [](const Parameters& parameters, const Context& context) -> std::unique_ptr<Solver> {
                return std::make_unique<Fgmres>(context, stop_criteria(parameters),
                                                parameters.integer("solver", "restart"));
            }};
}

}  // namespace hyperplane
