// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/bicgstab.hpp"

#include <cmath>
#include <limits>

#include "core/vector/blas1.hpp"
#include "solvers/convergence.hpp"
#include "solvers/iteration.hpp"

namespace hyperplane {
namespace {

// Scalars of the two halves of an iteration, which are the slots 0 and 1; r0r0 is set by the host.
enum FirstHalf { r0v, vv, ss, r0r0, scalars_of_half };
enum SecondHalf { ts, tt, rr, rho };

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

Bicgstab::Bicgstab(const Context& context, const StopCriteria& criteria)
    : Solver({.solver = "bicgstab", .fixed = true}, criteria),
      context_(context),
      work_(context, {{"krylov: r0", 1},
                      {"krylov: r", 1},
                      {"krylov: p", 1},
                      {"krylov: v", 1},
                      {"krylov: t", 1},
                      {"krylov: z", 1}}) {}

Index Bicgstab::work_scalars() const {
    return Iteration::held(scalars_of_half);
}

SolveReport Bicgstab::solve(const LinearOperator& a, const LinearOperator& m, const Vector& b, Vector& x,
                            History& history, const Continuation& continuation) {
    work_.shape_like(b);
    Vector &r0 = work_[0], &r = work_[1], &p = work_[2], &v = work_[3], &t = work_[4], &z = work_[5];
    Vector& s = r;
    Iteration iteration(context_, 2, scalars_of_half);
    double *first = iteration.scalars(0), *second = iteration.scalars(1);
    // alpha = rho / r_0^T v, omega = t^T s / t^T t
    const auto alpha = [&](double sign) {
        return Ratio(sign, second + rho, first + r0v).if_stands_out(first + r0v, first + r0r0, first + vv);
    };
    const auto omega = [&](double sign) {
        return Ratio(sign, second + ts, second + tt).if_stands_out(second + ts, first + ss, second + tt);
    };

    Index last = 1;     // the half whose correction, alpha z or omega z, has not been added to x yet
    bool fresh = true;  // whether r_0 = r at the beginning of this iteration
    Convergence convergence(criteria_, a, b, x, history, [&] {
        if (iteration.ahead()) return;
        axpy(last == 0 ? alpha(1.0) : omega(1.0), z, x);
        iteration.set(0, last == 0 ? vv : ss, {infinity});  // alpha or omega is 0 from now on
    });
    const auto begin_anew = [&] {
        copy(r, r0);
        last = 1;
        fresh = true;
        const double norm = convergence.residual_norm();
        iteration.set(0, r0v, {infinity, 0.0, infinity, norm * norm});  // p = r
        dot(r0, r, second + rho);
    };

    const auto first_half = [&] {
        axpy(omega(1.0), z, x);  // x += omega z, the correction of the previous iteration
        // beta = rho / rho_old * alpha / omega, p = r + beta (p - omega v)
        direction(r, {1.0, second + rho, first + r0v}, {1.0, second + ts, second + tt}, v, p);
        m.apply(p, z);                              // z = M^-1 p
        a.apply(z, v);                              // v = A z
        dot_norm2(r0, v, first + r0v, first + vv);  // r_0^T v, v^T v
        axpy_norm2(alpha(-1.0), v, s, first + ss);  // s = r - alpha v
    };
    const auto second_half = [&] {
        axpy(alpha(1.0), z, x);                                            // x += alpha z
        m.apply(s, z);                                                     // z = M^-1 s
        a.apply(z, t);                                                     // t = A z
        dot_norm2(s, t, second + ts, second + tt);                         // t^T s, t^T t
        axpy_norm2_dot(omega(-1.0), t, r, r0, second + rr, second + rho);  // r = s - omega t, rho = r_0^T r
    };

    double s_square = 0.0, r0_square = 0.0;
    const auto iterated = [&](double norm) {
        const bool anew = convergence.iterated_and_judged(norm, r, t);
        if (anew) begin_anew();
        return !anew && convergence.going();
    };
    // `product` is the inner product of r_0 with a vector whose squared norm is `square`. If it is rounding error, the
    // method starts anew with the true residual as r_0, or breaks down if r_0 = r in this iteration already.
    const auto require_product = [&](double product, double square) {
        const bool usable = stands_out(product, r0_square, square);
        if (usable || fresh || !std::isfinite(product))
            return convergence.require(usable, product, StopReason::breakdown);
        convergence.judge(r);
        if (convergence.going()) begin_anew();
        return false;
    };
    const auto look_at_first = [&](const double* known) {
        s_square = known[ss];
        r0_square = known[r0r0];
        if (!require_product(known[r0v], known[vv])) return false;
        const double s_norm = std::sqrt(s_square);
        return convergence.looks_converged(s_norm) ? iterated(s_norm) : true;
    };
    const auto look_at_second = [&](const double* known) {
        if (!convergence.require(stands_out(known[ts], s_square, known[tt]), known[ts], StopReason::breakdown)) {
            convergence.iterated(std::sqrt(s_square));  // the solve ends after the first half
            return false;
        }
        fresh = false;
        return iterated(std::sqrt(known[rr])) && require_product(known[rho], known[rr]);
    };
    const Method method{.step = [&](Index half) { half == 0 ? first_half() : second_half(); },
                        .more = [&](Index half) { return half == 0 || convergence.may_run_ahead(); },
                        .look =
                            [&](Index half, const double* known) {
                                last = half;
                                return half == 0 ? look_at_first(known) : look_at_second(known);
                            }};

    const std::pair<const char*, Vector*> held[] = {
        {"bicgstab/x", &x}, {"bicgstab/r0", &r0}, {"bicgstab/r", &r}, {"bicgstab/p", &p}, {"bicgstab/v", &v}};
    if (const StateStore* state = continuation.from) {
        convergence.resume(*state);
        for (const auto& [name, vector] : held) state->get(name, *vector);
        const std::vector<double> first_known = state->get("bicgstab/first half"),
                                  second_known = state->get("bicgstab/second half");
        iteration.set(0, 0, first_known);
        iteration.set(1, 0, second_known);
        fresh = state->get("bicgstab/fresh").front() != 0.0;
        r0_square = first_known[r0r0];
        if (!fresh) require_product(second_known[rho], second_known[rr]);  // the interrupted solve had not checked this
    } else {
        convergence.begin(r);  // r = b - A x
        begin_anew();
    }
    while (convergence.going()) iteration.run(0, method);
    if (StateStore* state = continuation.save; state && convergence.interrupted()) {
        convergence.complete_x();
        convergence.save(*state);
        for (const auto& [name, vector] : held) state->put(name, *vector);
        state->put("bicgstab/first half", iteration.get(0));
        state->put("bicgstab/second half", iteration.get(1));
        state->put("bicgstab/fresh", std::vector<double>{double(fresh)});
    }
    return convergence.report(t);
}

RegistryRow<CreateSolver> bicgstab_row() {
    return {"bicgstab",
            {},
            "stabilised bi-conjugate gradients, for nonsymmetric systems in little memory",
            "BiCGSTAB, preconditioned from the right (van der Vorst 1992; Saad, Iterative Methods, algorithm 7.7). "
            "An iteration is two products with A; convergence is seen after either, and half an iteration counts as "
            "one. Where r_0, which all residuals are compared with, has become orthogonal to them, the true residual "
            "takes its place. It can break down where gmres does not. The preconditioner must be the same in every "
            "iteration. 6 vectors are held.",
            {},
            [](const Parameters& parameters, const Context& context) -> std::unique_ptr<Solver> {
                return std::make_unique<Bicgstab>(context, stop_criteria(parameters));
            }};
}

}  // namespace hyperplane
