#include "solvers/bicgstab.hpp"

#include <array>
#include <cmath>

#include "core/blas1.hpp"
#include "solvers/convergence.hpp"

namespace hyperplane {
namespace {

/// Whether `product` = u^T w stands out from the rounding of its own sum.
bool stands_out(double product, double u_norm, double w_norm) {
    return std::abs(product) > rounding_tolerance * u_norm * w_norm;
}

}  // namespace

Bicgstab::Bicgstab(const Context& context, const StopCriteria& criteria)
    : criteria_(criteria),
      work_(context, {{"krylov: r0", 1},
                      {"krylov: r", 1},
                      {"krylov: p", 1},
                      {"krylov: v", 1},
                      {"krylov: t", 1},
                      {"krylov: z", 1}}) {}

SolveReport Bicgstab::solve(const LinearOperator& a, const LinearOperator& m, const Vector& b, Vector& x,
                            History& history) {
    work_.shape_like(b);
    Vector &r0 = work_[0], &r = work_[1], &p = work_[2], &v = work_[3], &t = work_[4], &z = work_[5];
    Vector& s = r;
    std::array<double, 2> product;

    Convergence convergence(criteria_, a, b, x, history);
    convergence.begin(r);  // r = b - A x
    bool anew = true;
    double r0_norm = 0.0, rho_old = 0.0, alpha = 0.0, omega = 0.0;
    while (convergence.going()) {
        if (anew) {
            copy(r, r0);
            r0_norm = convergence.residual_norm();
        }
        const double rho = dot(r0, r);  // rho = r_0^T r
        if (!convergence.require(stands_out(rho, r0_norm, convergence.residual_norm()), rho, StopReason::breakdown))
            break;
        if (anew) {
            copy(r, p);
        } else {
            const double beta = rho / rho_old * (alpha / omega);
            axpbypcz(1.0, r, -beta * omega, v, beta, p);  // p = r + beta (p - omega v)
        }

        m.apply(p, z);                                            // z = M^-1 p
        a.apply(z, v);                                            // v = A z
        dots(std::array<const Vector*, 2>{&r0, &v}, v, product);  // r_0^T v, v^T v
        const auto [r0v, vv] = product;
        if (!convergence.require(stands_out(r0v, r0_norm, std::sqrt(vv)), r0v, StopReason::breakdown)) break;
        alpha = rho / r0v;
        const double s_norm = std::sqrt(axpy_pair(alpha, z, x, v, s));  // x += alpha z, s = r - alpha v
        if (convergence.looks_converged(s_norm)) {
            anew = convergence.iterated(s_norm, r, t);
            continue;
        }

        m.apply(s, z);                                           // z = M^-1 s
        a.apply(z, t);                                           // t = A z
        dots(std::array<const Vector*, 2>{&s, &t}, t, product);  // t^T s, t^T t
        const auto [ts, tt] = product;
        if (!convergence.require(stands_out(ts, s_norm, std::sqrt(tt)), ts, StopReason::breakdown)) {
            convergence.iterated(s_norm);  // the end is at the half
            break;
        }
        omega = ts / tt;
        const double r_norm = std::sqrt(axpy_pair(omega, z, x, t, r));  // x += omega z, r = s - omega t
        rho_old = rho;
        anew = convergence.iterated(r_norm, r, t);
    }
    return convergence.report(r);
}

void Bicgstab::check(const std::string& preconditioner, const PreconditionerTraits& traits) const {
    if (!traits.fixed)
        throw UsageError("solver.name = bicgstab needs a preconditioner that is the same in every iteration, and " +
                         preconditioner + " is not; only fgmres takes it");
}

RegistryRow<CreateSolver> bicgstab_row() {
    return {"bicgstab",
            {},
            "stabilised bi-conjugate gradients, for nonsymmetric systems in little memory",
            "BiCGSTAB, preconditioned from the right (van der Vorst 1992; Saad, Iterative Methods, algorithm 7.7). "
            "An iteration is two products with A; convergence is seen after either, and half an iteration counts as "
            "one. It can break down where gmres does not. The preconditioner must be the same in every iteration. "
            "6 vectors are held.",
            {},
            [](const Parameters& parameters, const Context& context) -> std::unique_ptr<Solver> {
                return std::make_unique<Bicgstab>(context, stop_criteria(parameters));
            }};
}

}  // namespace hyperplane
