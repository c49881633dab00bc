#include "solvers/gmres.hpp"

#include <algorithm>
#include <cmath>

#include "core/blas1.hpp"
#include "solvers/convergence.hpp"
#include "solvers/gram_schmidt.hpp"
#include "solvers/least_squares.hpp"

namespace hyperplane {

Gmres::Gmres(const Context& context, const StopCriteria& criteria, Index restart)
    : criteria_(criteria),
      restart_(std::min(restart, std::max<Index>(1, criteria.max_iterations))),
      work_(context, {{"krylov: basis", restart_ + 1},
                      {"krylov: z", 1},
                      {"krylov: trial x", criteria.true_residual_every > 0 ? 1 : 0}}) {}

SolveReport Gmres::solve(const LinearOperator& a, const LinearOperator& m, const Vector& b, Vector& x,
                         History& history) {
    work_.shape_like(b);
    Vector& z = work_[restart_ + 1];
    std::vector<const Vector*> basis(restart_ + 1);
    for (Index at = 0; at <= restart_; ++at) basis[at] = &work_[at];
    std::vector<double> h(restart_);

    Convergence convergence(criteria_, a, b, x, history);
    convergence.begin(work_[0]);  // r = b - A x
    while (convergence.going()) {
        const double beta = convergence.residual_norm();
        scale(1.0 / beta, work_[0]);  // v_0 = r / ||r||
        HessenbergLeastSquares least_squares(beta);

        // z = M^-1 V y, the correction of x; `u` is overwritten.
        const auto correction = [&](Vector& u) {
            const auto y = least_squares.solve();
            set_zero(u);
            add_combination(y, std::span(basis).first(y.size()), u);
            m.apply(u, z);
        };

        bool cycle_ends = false;
        for (Index j = 0; j < restart_ && !cycle_ends; ++j) {
            Vector &v = work_[j], &w = work_[j + 1];
            m.apply(v, z);  // z = M^-1 v_j
            a.apply(z, w);  // w = A z
            const std::span column = std::span(h).first(j + 1);
            // w = V h + h_j+1 v_j+1
            const double below = orthogonalise_twice(std::span(basis).first(j + 1), w, column);
            if (!convergence.require(true, below, StopReason::not_finite)) break;
            if (!convergence.require(least_squares.add_column(column, below), below, StopReason::breakdown)) break;
            if (below > 0.0) scale(1.0 / below, w);
            cycle_ends = convergence.iterated(least_squares.residual_norm());  // ||r|| = |g_j+1|
            if (!cycle_ends && convergence.wants_truth()) {
                Vector& trial = work_[restart_ + 2];
                correction(trial);
                copy(x, trial);
                axpy(1.0, z, trial);  // x + M^-1 V y
                convergence.show_truth(trial, z);
            }
        }
        if (least_squares.columns() > 0) {
            correction(work_[least_squares.columns()]);
            if (std::isfinite(norm2(z))) axpy(1.0, z, x);  // x += M^-1 V y
        }
        convergence.judge(work_[0]);  // r = b - A x
    }
    return convergence.report(work_[0]);
}

void Gmres::check(const std::string& preconditioner, const PreconditionerTraits& traits) const {
    if (!traits.fixed)
        throw UsageError("solver.name = gmres needs a preconditioner that is the same in every iteration, and " +
                         preconditioner + " is not; only fgmres takes it");
}

ParameterTable restart_parameters() {
    return {{.section = "solver",
             .key = "restart",
             .type = ParameterType::integer,
             .default_value = "30",
             .description = "steps of a cycle; memory grows by a vector (fgmres: two) with each, and "
                            "max_iterations here means no restart",
             .minimum = Bound{1}}};
}

RegistryRow<CreateSolver> gmres_row() {
    return {"gmres",
            {},
            "generalised minimal residuals with restart, for any nonsingular system",
            "GMRES(m), preconditioned from the right (Saad and Schultz 1986; Saad, Iterative Methods, algorithm 9.5), "
            "orthogonalised by classical Gram-Schmidt twice. An iteration is one Arnoldi step; the recurrence's "
            "residual is the true one's 2-norm. The preconditioner must be the same in every iteration. "
            "restart + 2 vectors are held.",
            restart_parameters(),
            [](const Parameters& parameters, const Context& context) -> std::unique_ptr<Solver> {
                return std::make_unique<Gmres>(context, stop_criteria(parameters),
                                               parameters.integer("solver", "restart"));
            }};
}

}  // namespace hyperplane
