#include "apps/bench_solve.hpp"

#include "apps/linear_system.hpp"
#include "core/blas1.hpp"
#include "core/timer.hpp"

namespace hyperplane {

SolveBench bench_solve(const Case& a_case, int repeats) {
    LinearSystem system = make_system(a_case);
    Vector u = a_case.make_vector("state: u"), du = a_case.make_vector("state: du");
    assemble_first(a_case, u, system);

    SolveBench bench;
    bench.setup = time_calls(repeats, [&] { a_case.preconditioner->setup(system.preconditioned()); });
    // A pass without timers inside gives the time, another with them shares it out.
    const auto solve = [&](const LinearOperator& a, const LinearOperator& m) {
        set_zero(du);
        History history;
        bench.report = a_case.solver->solve(a, m, system.b, du, history);
    };
    const SolverOperators operators(a_case, system.a);
    bench.solve = time_calls(repeats, [&] { solve(operators.a(), operators.m()); });
    TimerTree timers;
    const TimedOperator a(operators.a(), timers, "spmv"), m(operators.m(), timers, "preconditioner");
    for (int at = 0; at < repeats; ++at) solve(a, m);
    bench.spmv = timers.seconds("spmv") / repeats;
    bench.preconditioner = timers.seconds("preconditioner") / repeats;
    bench.other = std::max(0.0, bench.solve.median - bench.spmv - bench.preconditioner);
    return bench;
}

}  // namespace hyperplane
