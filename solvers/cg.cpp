#include "solvers/cg.hpp"

#include <cmath>
#include <utility>

#include "core/blas1.hpp"
#include "solvers/convergence.hpp"

namespace hyperplane {

Cg::Cg(const Context& context, const StopCriteria& criteria)
    : criteria_(criteria), work_(context, {{"krylov: r", 1}, {"krylov: p", 1}, {"krylov: z, q", 1}}) {}

SolveReport Cg::solve(const LinearOperator& a, const LinearOperator& m, const Vector& b, Vector& x, History& history) {
    work_.shape_like(b);
    Vector &r = work_[0], &p = work_[1], &z = work_[2], &q = work_[2];

    double alpha = 0.0;  // x still lacks alpha p; it gets it when p is next passed over, or looked at
    Convergence convergence(criteria_, a, b, x, history, [&] {
        if (alpha != 0.0) axpy(std::exchange(alpha, 0.0), p, x);
    });
    convergence.begin(r);  // r = b - A x
    bool anew = true;
    double rho_old = 0.0;
    while (convergence.going()) {
        const double rho = m.apply_dot(r, z);  // z = M^-1 r, rho = r^T z
        if (!convergence.require(rho > 0.0, rho, StopReason::indefinite_preconditioner)) break;
        if (anew) {
            copy(z, p);  // p = z
        } else {
            // x += alpha p, p = z + (rho / rho_old) p
            axpy_xpby(std::exchange(alpha, 0.0), x, z, rho / rho_old, p);
        }
        const double pq = a.apply_dot(p, q);  // q = A p
        if (!convergence.require(pq > 0.0, pq, StopReason::indefinite_operator)) break;
        alpha = rho / pq;                            // alpha = r^T z / p^T A p
        const double rr = axpy_norm2(-alpha, q, r);  // r -= alpha q, r^T r
        rho_old = rho;
        anew = convergence.iterated(std::sqrt(rr), r, q);
    }
    return convergence.report(r);
}

void Cg::check(const std::string& preconditioner, const PreconditionerTraits& traits) const {
    if (!traits.fixed)
        throw UsageError("solver.name = cg needs a preconditioner that is the same in every iteration, and " +
                         preconditioner + " is not; only fgmres takes it");
    if (!traits.symmetric)
        throw UsageError("solver.name = cg needs a symmetric preconditioner, and " + preconditioner +
                         " is not one here; use gmres, fgmres, bicgstab or richardson");
}

void Cg::check_operator(const std::string& problem, bool symmetric) const {
    if (!symmetric)
        throw UsageError("solver.name = cg needs a symmetric matrix, and that of " + problem +
                         " is not; use gmres, fgmres, bicgstab or richardson");
}

RegistryRow<CreateSolver> cg_row() {
    return {"cg",
            {},
            "conjugate gradients, for symmetric positive definite systems",
            "Preconditioned conjugate gradients (Hestenes and Stiefel 1952; Saad, Iterative Methods, algorithm 9.1). "
            "The matrix and the preconditioner must be symmetric and positive definite: p^T A p <= 0 ends the solve "
            "with indefinite_operator, r^T M^-1 r <= 0 with indefinite_preconditioner. An iteration is one product "
            "with A; 3 vectors are held.",
            {},
            [](const Parameters& parameters, const Context& context) -> std::unique_ptr<Solver> {
                return std::make_unique<Cg>(context, stop_criteria(parameters));
            }};
}

}  // namespace hyperplane
