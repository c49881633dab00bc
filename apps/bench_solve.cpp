#include "apps/bench_solve.hpp"

#include <algorithm>

#include "apps/linear_system.hpp"
#include "core/blas1.hpp"
#include "core/timer.hpp"
#include "precond/cusparse_ilu.hpp"

namespace hyperplane {
namespace {

/// Times a method applies A, and M^-1, in an iteration.
double applies_an_iteration(const std::string& solver) {
    return solver == "bicgstab" ? 2.0 : 1.0;
}

/// A of one case, and how M is set up.
class Parts {
public:
    Parts(const Case& a_case, const LinearSystem& system) : case_(a_case), system_(system) {
        set_up(*case_.preconditioner, system_);
#if HYPERPLANE_CUSPARSE_BUILT
        cusparse_ = dynamic_cast<CusparseIlu*>(case_.preconditioner.get());
        if (cusparse_) product_ = std::make_unique<CusparseProduct>(case_.context, system_.a, RowFormat::csr);
#endif
    }

    const LinearOperator& a() const {
        return product_ ? *product_ : static_cast<const LinearOperator&>(system_.a);
    }

    /// Factors again and again; M is whole afterwards.
    void factorise(int repeats, SolveBench& bench) const {
        const StructMatrix& p = system_.preconditioned();
        Preconditioner& m = *case_.preconditioner;
#if HYPERPLANE_CUSPARSE_BUILT
        if (cusparse_) {
            bench.factorise = time_calls(
                case_.context, repeats, [&] { cusparse_->factorise(); }, [&] { cusparse_->restore(p); });
            bench.analysis = cusparse_->costs().analysis;
            bench.work_bytes = cusparse_->costs().work_bytes;
            m.setup(p);
            return;
        }
#endif
        bench.factorise = time_calls(case_.context, repeats, [&] { m.setup(p); });
    }

private:
    const Case& case_;
    const LinearSystem& system_;
    std::unique_ptr<LinearOperator> product_;
#if HYPERPLANE_CUSPARSE_BUILT
    CusparseIlu* cusparse_ = nullptr;
#endif
};

}  // namespace

SolveBench bench_solve(const Case& a_case, int repeats) {
    LinearSystem system = make_system(a_case);
    Vector u = a_case.make_vector("state: u"), du = a_case.make_vector("state: du");
    assemble_first(a_case, u, system);

    SolveBench bench;
    const Parts parts(a_case, system);
    parts.factorise(repeats, bench);
    const auto solve = [&](const LinearOperator& a, const LinearOperator& m) {
        set_zero(du);
        History history;
        bench.report = a_case.solver->solve(a, m, system.b, du, history);
    };
    const SolverOperators operators = operators_of(a_case, parts.a());
    bench.solve = time_calls(a_case.context, repeats, [&] { solve(operators.a(), operators.m()); });
    if (a_case.context.backend() == Backend::cuda) {
        const double applies = applies_an_iteration(a_case.name("solver")) * double(bench.report.iterations);
        const auto one = [&](const LinearOperator& op) {
            return time_calls(a_case.context, repeats, [&] { op.apply(system.b, u); }).median;
        };
        bench.spmv = applies * one(operators.a());
        bench.preconditioner = applies * one(operators.m());
    } else {
        TimerTree timers;
        const TimedOperator a(operators.a(), timers, "spmv"), m(operators.m(), timers, "preconditioner");
        for (int at = 0; at < repeats; ++at) solve(a, m);
        bench.spmv = timers.seconds("spmv") / repeats;
        bench.preconditioner = timers.seconds("preconditioner") / repeats;
    }
    bench.other = std::max(0.0, bench.solve.median - bench.spmv - bench.preconditioner);
    return bench;
}

}  // namespace hyperplane
