// SPDX-License-Identifier: BSD-3-Clause
// hyperplane selftest [DECK]
//
// The validity tests of HPCG (Dongarra, Heroux, Luszczek 2015, section 3.4: TestSymmetry, TestCG, TestNorms) for a
// deck's first system or a small Poisson problem.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/deck/named_deck.hpp"
#include "apps/run/build_case.hpp"
#include "apps/run/linear_system.hpp"
#include "apps/run/verdict.hpp"
#include "apps/verbs.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "core/random.hpp"

namespace hyperplane {
namespace {

constexpr const char* built_in_deck = "[problem]\nname = poisson\n[grid]\ncells = 24 20 16\n[solver]\nname = cg\n";

struct Check {
    std::string name;
    double value, bound;
    bool passed() const { return value <= bound; }  // false for NaN
};

/// Sets x to pseudo-random numbers in (-1, 1), the same on every machine.
void fill_scattered(Vector& x, std::uint64_t seed) {
    Vector made(x.context().host(), x.space(), x.dof(), "scattered");
    for (Index at = 0; at < x.size(); ++at) made.data()[at] = random_symmetric(seed, std::uint64_t(at));
    transfer(made, x);
}

/// |x^T O y - y^T O x| / (||x|| ||O y|| + ||y|| ||O x||)
double asymmetry(const LinearOperator& o, const Vector& x, const Vector& y, Vector& work) {
    o.apply(y, work);
    const double x_o_y = dot(x, work), norm_o_y = norm2(work);
    o.apply(x, work);
    const double y_o_x = dot(y, work), norm_o_x = norm2(work);
    return std::abs(x_o_y - y_o_x) / (norm2(x) * norm_o_y + norm2(y) * norm_o_x);
}

/// HPCG's TestCG: diagonal blocks times 1e6, those of the first nine points times 2e6 .. 10e6.
void exaggerate_diagonal(SystemMatrix& of_any_kind) {
    StructMatrix& matrix = structured(of_any_kind);
    StructMatrix a(matrix.context().host(), matrix.layout(), matrix.stencil(), matrix.dof(), matrix.storage(),
                   "exaggerated");
    a.assign(matrix);
    for (Index row = 0; row < a.grid().points(); ++row) {
        const Index slot = a.layout().slot(a.grid().point(row));
        const double factor = row < 9 ? double(row + 2) * 1e6 : 1e6;
        for (int i = 0; i < a.dof(); ++i)
            for (int j = 0; j < a.dof(); ++j) a.values(a.stencil().diagonal(), i, j)[slot] *= factor;
    }
    matrix.assign(a);
}

class SelfTest {
public:
    explicit SelfTest(const Case& a_case)
        : case_(a_case),
          system_(make_system(a_case)),
          x_(a_case.make_vector("x")),
          y_(a_case.make_vector("y")),
          work_(a_case.make_vector("work")) {
        assemble_first(case_, x_, system_);
    }

    std::vector<Check> run() {
        set_up(*case_.preconditioner, system_);
        symmetry();
        repeatability();
        easy_convergence();
        return checks_;
    }

private:
    void symmetry() {
        fill_scattered(x_, 1);
        fill_scattered(y_, 2);
        if (case_.shape().symmetric) checks_.push_back({"asymmetry of A", asymmetry(*system_.a, x_, y_, work_), 1e-13});
        if (case_.plan.traits.symmetric)
            checks_.push_back({"asymmetry of M^-1", asymmetry(*case_.preconditioner, x_, y_, work_), 1e-12});
    }

    SolveReport solve() {
        set_zero(x_);
        History history;
        const SolverOperators operators = operators_of(case_, *system_.a);
        return case_.solver->solve(operators.a(), operators.m(), system_.b, x_, history);
    }

    /// Sets up and solves three times, once with a single thread; all results must have the same bits.
    void repeatability() {
        std::vector<SolveReport> reports;
        const int threads = case_.context.threads();
        for (int using_threads : {threads, threads, 1}) {
            case_.context.set_threads(using_threads);
            set_up(*case_.preconditioner, system_);
            reports.push_back(solve());
        }
        case_.context.set_threads(threads);
        const auto spread = [&](auto member) {
            const auto [low, high] = std::minmax_element(reports.begin(), reports.end(),
                                                         [&](auto& a, auto& b) { return a.*member < b.*member; });
            return double((*high).*member - (*low).*member);
        };
        checks_.push_back(
            {"spread of the residual over repeats and threads", spread(&SolveReport::true_residual), 0.0});
        checks_.push_back({"spread of the iterations", spread(&SolveReport::iterations), 0.0});
    }

    /// With a dominant diagonal, A x = A 1 takes one iteration for each distinct factor without a preconditioner, and
    /// very few with one.
    void easy_convergence() {
        exaggerate_diagonal(*system_.a);
        if (system_.p) exaggerate_diagonal(*system_.p);
        set_up(*case_.preconditioner, system_);
        fill(y_, 1.0);
        system_.a->apply(y_, system_.b);
        set_zero(x_);
        History history;
        const SolveReport report = case_.solver->solve(*system_.a, *case_.preconditioner, system_.b, x_, history);
        const bool preconditioned = case_.name("preconditioner") != "none";
        checks_.push_back({"iterations with an exaggerated diagonal",
                           converged(report.reason) ? double(report.iterations) : double(case_.criteria.max_iterations),
                           preconditioned ? 5.0 : 15.0});
        axpy(-1.0, y_, x_);
        checks_.push_back({"relative error of that solution", norm2(x_) / norm2(y_), 10 * case_.criteria.rtol});
    }

    const Case& case_;
    LinearSystem system_;
    Vector x_, y_, work_;
    std::vector<Check> checks_;
};

}  // namespace

int selftest_verb(const Invocation& invocation) {
    const Case a_case = invocation.arguments.empty()
                            ? build_case(parse_deck(built_in_deck, "built-in deck"), deck_overrides(invocation))
                            : read_case_without_run(invocation, "selftest");
    const std::vector<Check> checks = SelfTest(a_case).run();
    const bool passed = std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.passed(); });
    nlohmann::json json = {{"deck", a_case.deck.file}, {"passed", passed}};
    std::string text = fmt::format("{}: {} with {}, {}\n", a_case.deck.file, a_case.name("solver"),
                                   a_case.name("preconditioner"), a_case.device);
    for (const Check& check : checks) {
        text += fmt::format("  {:<50} {:>10.3g}  (at most {:g})  {}\n", check.name, check.value, check.bound,
                            check.passed() ? "ok" : "FAILED");
        json["checks"].push_back(
            {{"name", check.name}, {"value", check.value}, {"bound", check.bound}, {"passed", check.passed()}});
    }
    fmt::print("{}", invocation.has("json") ? to_text(json) : text);
    return int(passed ? ExitCode::ok : ExitCode::expectation);
}

}  // namespace hyperplane
