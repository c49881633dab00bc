// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/richardson.hpp"

#include <array>
#include <cmath>

#include "core/vector/blas1.hpp"
#include "solvers/convergence.hpp"
#include "solvers/iteration.hpp"

namespace hyperplane {
namespace {

constexpr Index richardson_scalars = 1;  ///< of a step: r^T r

}  // namespace

Richardson::Richardson(const Context& context, const StopCriteria& criteria, double damping)
    : Solver({.solver = "richardson"}, criteria),
      context_(context),
      damping_(damping),
      work_(context, {{"krylov: r", 1}, {"krylov: z", 1}, {"krylov: other x", 1}}) {}

Index Richardson::work_scalars() const {
    return Iteration::held(richardson_scalars);
}

SolveReport Richardson::solve(const LinearOperator& a, const LinearOperator& m, const Vector& b, Vector& x,
                              History& history, const Continuation& continuation) {
    work_.shape_like(b);
    Vector &r = work_[0], &z = work_[1];
    const std::array<Vector*, 2> iterates{&work_[2], &x};  // by slot
    Iteration iteration(context_, 2, richardson_scalars);

    Index newest = 1;  // the slot of the newest iterate whose residual is finite
    Convergence convergence(criteria_, a, b, x, history, [&] {
        if (newest == 0) copy(*iterates[0], x);
        newest = 1;
    });
    const Method method{.step =
                            [&](Index slot) {
                                const double* rr_old = iteration.scalars(1 - slot);
                                m.apply(r, z);  // z = M^-1 r
                                // x_new = x + omega z; nothing is written if r is not finite, when the host
                                // returns the iterate that is in x_new
                                const Ratio omega = Ratio(damping_).if_stands_out(rr_old, rr_old, rr_old);
                                add(*iterates[1 - slot], omega, z, *iterates[slot]);
                                a.residual(b, *iterates[slot], r);  // r = b - A x
                                dot(r, r, iteration.scalars(slot));
                            },
                        .more = [&](Index) { return convergence.may_run_ahead(); },
                        .look =
                            [&](Index slot, const double* rr) {
                                if (!convergence.require_finite(*rr)) return false;
                                newest = slot;
                                convergence.iterated_truly(std::sqrt(*rr));
                                return convergence.going();
                            }};

    if (const StateStore* state = continuation.from) {
        convergence.resume(*state);
        state->get("richardson/x", x);
        state->get("richardson/r", r);
    } else {
        convergence.begin(r);  // r = b - A x
    }
    iteration.set(1, 0, {1.0});
    while (convergence.going()) iteration.run(0, method);
    convergence.complete_x();
    if (StateStore* state = continuation.save; state && convergence.interrupted()) {
        convergence.save(*state);
        state->put("richardson/x", x);
        state->put("richardson/r", r);
    }
    return convergence.report(r);
}

RegistryRow<CreateSolver> richardson_row() {
    return {"richardson",
            {},
            "x += damping M^-1 (b - A x), the correction iteration of the FGBILU paper",
            "Richardson's iteration; with damping 1 it is the correction iteration of the FGBILU paper (equation 3). "
            "It converges only where the preconditioner is good enough that I - damping M^-1 A contracts. Every "
            "residual it records is the true one. 3 vectors are held.",
            {{.section = "solver",
              .key = "damping",
              .type = ParameterType::real,
              .default_value = "1",
              .description = "factor of each correction M^-1 (b - A x)",
              .minimum = Bound{0.0, true}}},
            [](const Parameters& parameters, const Context& context) -> std::unique_ptr<Solver> {
                return std::make_unique<Richardson>(context, stop_criteria(parameters),
                                                    parameters.real("solver", "damping"));
            }};
}

}  // namespace hyperplane
