// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/solve.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "apps/bench/kernels.hpp"
#include "apps/run/fingerprint.hpp"
#include "apps/run/kernels.hpp"
#include "apps/run/linear_system.hpp"
#include "apps/run/memory_reserve.hpp"
#include "apps/run/preparation.hpp"
#include "core/random.hpp"
#include "core/ranks/cuts.hpp"
#include "core/vector/blas1.hpp"
#include "precond/cusparse_ilu/cusparse_ilu.hpp"
#include "precond/scaling/scaled.hpp"
#include "solvers/registry.hpp"

namespace hyperplane {
namespace {

/// The product with A: cuSPARSE's if the preconditioner is cuSPARSE's, in the format that is faster here.
class Product {
public:
    Product(const Case& a_case, const LinearSystem& system, [[maybe_unused]] int repeats) : a_(*system.a) {
#if HYPERPLANE_CUSPARSE_BUILT
        if (a_case.name("preconditioner") != "cusparse_ilu") return;
        Vector x = a_case.make_vector("bench");
        const auto seconds_of = [&](const auto& call) {
            return time_in_iterations(a_case.context, repeats, call).median;
        };
        const Preconditioner& m = *a_case.preconditioner;
        if (a_case.shape().pattern) {
            of_application_ = std::max(
                0.0, seconds_of([&] { m.apply(system.b, x); }) - seconds_of([&] { m.apply_unconverted(system.b, x); }));
            return;
        }
        double best = std::numeric_limits<double>::infinity();
        const auto try_out = [&](RowFormat format, const char* name) {
            auto product = std::make_unique<CusparseProduct>(a_case.context, structured(*system.a), format);
            product->load(system.b);
            const double seconds = time_in_iterations(a_case.context, repeats, [&] { product->multiply(); }).median;
            if (seconds >= best) return;
            best = seconds, format_ = name;
            cusparse_ = std::move(product);
        };
        try_out(RowFormat::csr, "csr");
        if (a_case.shape().dof > 1) try_out(RowFormat::bsr, "bsr");
        of_product_ = seconds_of([&] { cusparse_->load(system.b), cusparse_->store(x); });
        of_application_ = seconds_of([&] { m.convert_vectors(system.b, x); });
#endif
    }
    const LinearOperator& a() const {
#if HYPERPLANE_CUSPARSE_BUILT
        if (cusparse_) return *cusparse_;
#endif
        return a_;
    }
    const std::string& format() const {
        return format_;
    }
    /// Seconds in which one product and one application bring their vectors into cuSPARSE's order and back.
    double of_product() const {
        return of_product_;
    }
    double of_application() const {
        return of_application_;
    }

private:
    const LinearOperator& a_;
    std::string format_;
    double of_product_ = 0.0, of_application_ = 0.0;
#if HYPERPLANE_CUSPARSE_BUILT
    std::unique_ptr<CusparseProduct> cusparse_;
#endif
};

/// Two numbers of iterations of a solve in the same cycle of the method. The difference of their times is that of
/// iterations alone.
struct Lengths {
    Index shorter, longer;

    Lengths(Index iterations, Index cycle) : shorter(iterations < 4 ? 0 : iterations / 2), longer(iterations) {
        if (cycle == 0 || iterations <= cycle) return;
        longer = iterations / cycle * cycle;  // whole cycles
        shorter = longer - cycle + cycle / 2;
    }
    Index count() const { return longer - shorter; }
};

class SolveTimer {
public:
    SolveTimer(const Case& a_case, const LinearSystem& system, const SolverOperators& operators, int repeats)
        : case_(a_case), system_(system), operators_(operators), repeats_(repeats), x_(a_case.make_vector("bench")) {}

    /// The solver is constructed here and released again, since the memory may not hold two.
    Timing time(const Parameters& parameters, SolveReport& report) {
        const auto solver = find_row(solvers(), "solver", case_.name("solver")).create(parameters, case_.context);
        return time_calls(case_.context, repeats_, [&] { report = run(*solver, operators_.a(), operators_.m()); });
    }
    /// Seconds of a solve with this number of iterations.
    double of_length(Index iterations) {
        Parameters parameters = case_.parameters;
        parameters.set("solver", "max_iterations", std::to_string(iterations));
        SolveReport report;
        return time(parameters, report).median;
    }
    /// Seconds of the products and of the applications of an iteration, with x^T y if that is a by-product.
    std::pair<double, double> alone(const IterationCost& cost) {
        const Vector& b = system_.b;
        Scalars product(case_.context, "bench", 1);
        const auto seconds = [&](const LinearOperator& op, bool dots) {
            const bool on_the_way = dots && op.vectors_of_dot() == 0;
            const auto call = [&] { on_the_way ? op.apply_dot(b, x_, product.data()) : op.apply(b, x_); };
            return time_in_iterations(case_.context, repeats_, call).median;
        };
        const LinearOperator& a = operators_.a();
        const auto residual = [&] { a.residual(b, b, x_); };
        const double of_product = cost.residuals ? time_in_iterations(case_.context, repeats_, residual).median
                                                 : seconds(a, cost.dots_of_products > 0.0);
        return {cost.products * of_product, cost.applies * seconds(operators_.m(), cost.dots_of_applies > 0.0)};
    }
    /// Times the parts of a solve with a clock in each application, and writes means of repeats and ranks to `bench`.
    void share_out(SolveBench& bench) {
        TimerTree timers;
        const TimedOperator a(operators_.a(), timers, "spmv"), m(operators_.m(), timers, "preconditioner");
        for (int at = 0; at < repeats_; ++at) run(*case_.solver, a, m);
        const std::vector<double> of_ranks =
            gathered(case_.context, {timers.seconds("spmv"), timers.seconds("preconditioner")});
        const double calls = double(repeats_) * double(of_ranks.size()) / 2;
        for (std::size_t at = 0; at < of_ranks.size(); at += 2) {
            bench.spmv += of_ranks[at] / calls;
            bench.preconditioner += of_ranks[at + 1] / calls;
        }
    }

private:
    SolveReport run(Solver& solver, const LinearOperator& a, const LinearOperator& m) {
        set_zero(x_);
        History history;
        return solver.solve(a, m, system_.b, x_, history);
    }

    const Case& case_;
    const LinearSystem& system_;
    const SolverOperators& operators_;
    int repeats_;
    Vector x_;
};

/// Number of vectors that iterations [first, last) read and write besides A x and M^-1 r; each has `dots` more.
double vectors_of(const Solver& solver, Index first, Index last, double dots) {
    double vectors = 0.0;
    for (Index at = first; at < last; ++at) vectors += solver.vectors_of(at) + dots;
    return vectors;
}

void break_down(const Case& a_case, const SolverOperators& operators, const Product& product, SolveTimer& timer,
                SolveBench& bench) {
    const Solver& solver = *a_case.solver;
    const IterationCost cost = solver.iteration_cost();
    const Index iterations = bench.report.iterations;
    const bool cuda = a_case.context.backend() == Backend::cuda;
    double dots = 0.0;  // on a CPU they are timed with the application
    if (cuda)
        dots = cost.dots_of_products * operators.a().vectors_of_dot() +
               cost.dots_of_applies * operators.m().vectors_of_dot();
    const double vector = double(a_case.shape().matrix().unknowns()) * sizeof(double);  // of all ranks
    bench.fewest_bytes = vectors_of(solver, 0, iterations, 0.0) * vector;
    bench.other_bytes = vectors_of(solver, 0, iterations, dots) * vector;

    if (!cuda) {
        timer.share_out(bench);
        bench.other = std::max(0.0, bench.solve.median - bench.spmv - bench.preconditioner);
        return;
    }
    bench.ends = bench.solve.median;
    if (iterations == 0) return;
    const Lengths lengths(iterations, solver.cycle());
    // Neither time is that of the whole solve, in which one more iteration has begun when it converges.
    const double difference = timer.of_length(lengths.longer) - timer.of_length(lengths.shorter);
    const auto [products, applies] = timer.alone(cost);
    const double rest = difference - double(lengths.count()) * (products + applies);
    const double bytes = vectors_of(solver, lengths.shorter, lengths.longer, dots) * vector;
    const double moved_for_products = cost.residuals ? 0.0 : cost.products * product.of_product();
    const double moved_for_applies = cost.applies * product.of_application();
    bench.conversions = double(iterations) * (moved_for_products + moved_for_applies);
    bench.spmv = double(iterations) * (products - moved_for_products);
    bench.preconditioner = double(iterations) * (applies - moved_for_applies);
    bench.other = std::max(0.0, rest * bench.other_bytes / bytes);
    bench.ends = std::max(0.0, bench.solve_seconds() - bench.spmv - bench.preconditioner - bench.other);
}

}  // namespace

namespace {

/// Times whole set-ups, each by a preconditioner that is made anew and released afterwards.
void time_whole_setups(const Case& a_case, const LinearSystem& system, int repeats, SolveBench& bench) {
    const PreconditionerRow& row = find_preconditioner(a_case.name("preconditioner"));
    const PreconditionerSetting setting{a_case.context, a_case.shape().matrix()};
    std::unique_ptr<Preconditioner> made;
    const auto make = [&] {
        made.reset();
        made = create_scaled(row, a_case.parameters, setting);
        a_case.context.synchronize();
    };
    SetupReport report;
    const auto once = [&] {
        report = set_up(*made, system);
        a_case.context.synchronize();
    };
    make();
    const auto begin = std::chrono::steady_clock::now();
    once();
    bench.first_setup = largest_of_ranks(a_case.context, seconds_since(begin));
    bench.whole_setup = time_calls(a_case.context, repeats, once, make);
    TimerTree timers;
    for (const Preparation& part : a_case.problem->preparation()) timers.add(timer_of(part), part.seconds);
    timers.add("setup", bench.whole_setup.median);
    add_parts_of_setup(timers, report);
    bench.before = timers.rows();
}

std::uint64_t fingerprint_of(const Case& a_case, const LinearSystem& system) {
    return scramble(fingerprint(*system.a)) + fingerprint_of_equations(system.b, a_case.shape().order());
}

}  // namespace

SetupAndSolve SolveBench::costs() const {
    double preparation = 0.0;
    for (const TimerRow& row : before)
        if (row.name.starts_with(preparation_timers)) preparation += row.seconds;
    return {preparation + whole_setup.median, solve_seconds()};
}

SolveBench bench_solve(Case& a_case, int repeats, bool fingerprints) {
    {
        MemoryReserve memory(a_case);
        KernelPreparation kernels({&a_case});
        kernels.wait();
        memory.wait();
    }
    LinearSystem system = make_system(a_case);
    {
        Vector u = a_case.make_vector("state: u");
        assemble_first(a_case, u, system);
    }
    SolveBench bench;
    if (fingerprints) bench.system = fingerprint_of(a_case, system);
    a_case.plan.kept.reset();
    time_whole_setups(a_case, system, repeats, bench);
    set_up(*a_case.preconditioner, system);
    bench.factorise = time_setup(a_case.context, repeats, *a_case.preconditioner, system.preconditioned());
    const Product product(a_case, system, repeats);
    bench.product_format = product.format();
    const SolverOperators operators = operators_of(a_case, product.a());
    SolveTimer timer(a_case, system, operators, repeats);
    bench.solve = timer.time(a_case.parameters, bench.report);
    break_down(a_case, operators, product, timer, bench);
    return bench;
}

}  // namespace hyperplane
