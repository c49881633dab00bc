#include "solvers/richardson.hpp"

#include "core/blas1.hpp"
#include "solvers/convergence.hpp"

namespace hyperplane {

Richardson::Richardson(const Context& context, const StopCriteria& criteria, double damping)
    : criteria_(criteria), damping_(damping), work_(context, {{"krylov: r", 1}, {"krylov: z", 1}}) {}

SolveReport Richardson::solve(const LinearOperator& a, const LinearOperator& m, const Vector& b, Vector& x,
                              History& history) {
    work_.shape_like(b);
    Vector &r = work_[0], &z = work_[1];

    Convergence convergence(criteria_, a, b, x, history);
    convergence.begin(r);  // r = b - A x
    while (convergence.going()) {
        m.apply(r, z);  // z = M^-1 r
        if (!convergence.require(true, norm2(z), StopReason::not_finite)) break;
        axpy(damping_, z, x);  // x += omega z
        a.residual(b, x, r);   // r = b - A x
        convergence.iterated_truly(norm2(r));
    }
    return convergence.report(r);
}

void Richardson::check(const std::string& preconditioner, const PreconditionerTraits& traits) const {
    if (!traits.fixed)
        throw UsageError("solver.name = richardson needs a preconditioner that is the same in every iteration, and " +
                         preconditioner + " is not; only fgmres takes it");
}

RegistryRow<CreateSolver> richardson_row() {
    return {"richardson",
            {},
            "x += damping M^-1 (b - A x), the correction iteration of the FGBILU paper",
            "Richardson's iteration; with damping 1 it is the correction iteration of the FGBILU paper (equation 3). "
            "It converges only where the preconditioner is good enough that I - damping M^-1 A contracts. Every "
            "residual it records is the true one. 2 vectors are held.",
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
