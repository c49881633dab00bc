// SPDX-License-Identifier: BSD-3-Clause
// hyperplane selftest [DECK]
//
// The validity tests of HPCG (Dongarra, Heroux, Luszczek 2015, section 3.4: TestSymmetry, TestCG, TestNorms) for a
// deck's first system or a small Poisson problem.

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/base/json_text.hpp"
#include "apps/command/verbs.hpp"
#include "apps/deck/named_deck.hpp"
#include "apps/run/build_case.hpp"
#include "apps/run/launch.hpp"
#include "apps/run/linear_system.hpp"
#include "core/matrix/bsr_matrix.hpp"
#include "core/matrix/struct_matrix.hpp"
#include "core/random.hpp"
#include "core/ranks/cuts.hpp"

namespace hyperplane {
namespace {

constexpr const char* built_in_deck = "[problem]\nname = poisson\n[grid]\ncells = 24 20 16\n[solver]\nname = cg\n";

struct Check {
    std::string name;
    double value, bound;
    bool passed() const { return value <= bound; }  // false for NaN
};

/// Sets x to pseudo-random numbers in (-1, 1), the same on every machine and any number of ranks.
void fill_scattered(Vector& x, std::uint64_t seed) {
    std::vector<double> values(std::size_t(x.space().all_block_rows()) * x.dof());
    for (std::size_t at = 0; at < values.size(); ++at) values[at] = random_symmetric(seed, at);
    from_natural(values, x);
}

/// |x^T O y - y^T O x| / (||x|| ||O y|| + ||y|| ||O x||)
double asymmetry(const LinearOperator& o, const Vector& x, const Vector& y, Vector& work) {
    o.apply(y, work);
    const double x_o_y = dot(x, work), norm_o_y = norm2(work);
    o.apply(x, work);
    const double y_o_x = dot(y, work), norm_o_x = norm2(work);
    return std::abs(x_o_y - y_o_x) / (norm2(x) * norm_o_y + norm2(y) * norm_o_x);
}

/// HPCG's TestCG: diagonal blocks times 1e6, those of the first nine block rows times 2e6 .. 10e6.
double exaggeration(Index block_row) {
    return block_row < 9 ? double(block_row + 2) * 1e6 : 1e6;
}

void exaggerate_diagonal(StructMatrix& matrix) {
    StructMatrix a(matrix.context().host(), matrix.layout(), matrix.stencil(), matrix.dof(), matrix.storage(),
                   "exaggerated");
    a.assign(matrix);
    for (Index row = 0; row < a.space().block_rows(); ++row) {
        const Index slot = a.space().slot(row);
        const double factor = exaggeration(a.space().first_block_row() + row);
        for (int i = 0; i < a.dof(); ++i)
            for (int j = 0; j < a.dof(); ++j) a.values(a.stencil().diagonal(), i, j)[slot] *= factor;
    }
    matrix.assign(a);
    matrix.share_halos();
}

void exaggerate_diagonal(BsrMatrix& matrix) {
    BsrMatrix a(matrix.context().host(), matrix.pattern(), matrix.dof(), matrix.symmetric(), "exaggerated");
    a.assign(matrix);
    const int size = a.dof() * a.dof();
    for (Index row = 0; row < a.space().block_rows(); ++row) {
        const Index block = a.pattern()->find(row, int(row));
        if (block < 0) continue;
        const double factor = exaggeration(a.space().first_block_row() + row);
        for (int k = 0; k < size; ++k) a.values()[block * size + k] *= factor;
    }
    matrix.assign(a);
}

void exaggerate_diagonal(SystemMatrix& matrix) {
    if (auto* of_rows = dynamic_cast<BsrMatrix*>(&matrix))
        exaggerate_diagonal(*of_rows);
    else
        exaggerate_diagonal(structured(matrix));
}

/// Sets the preconditioner up and solves from zero.
SolveReport set_up_and_solve(const Case& a_case, const LinearSystem& system, Vector& x) {
    set_up(*a_case.preconditioner, system);
    set_zero(x);
    History history;
    const SolverOperators operators = operators_of(a_case, *system.a);
    return a_case.solver->solve(operators.a(), operators.m(), system.b, x, history);
}

/// Solves the same system on one rank. On GPUs several ranks have the natural layout, whose sums have another order
/// than those of the hyperplane layout.
SolveReport solve_on_one_rank(AskedDeck asked, bool natural) {
    asked.overrides.emplace_back("device.ranks=1");
    if (natural) asked.overrides.emplace_back("device.layout=natural");
    Parameters parameters = resolved(asked);
    const Case a_case = build_case(std::move(asked), std::move(parameters), nullptr);
    LinearSystem system = make_system(a_case);
    Vector x = a_case.make_vector("x");
    assemble_first(a_case, x, system);
    return set_up_and_solve(a_case, system, x);
}

class SelfTest {
public:
    /// `asked`: what the case was built from.
    SelfTest(const AskedDeck& asked, const Case& a_case)
        : asked_(asked),
          case_(a_case),
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

    /// Sets up and solves three times, once with a single thread; all results must have the same bits. Of several ranks
    /// the first one then solves alone, and the others wait.
    void repeatability() {
        std::vector<SolveReport> reports;
        const int threads = case_.context.threads();
        for (int using_threads : {threads, threads, 1}) {
            case_.context.set_threads(using_threads);
            reports.push_back(set_up_and_solve(case_, system_, x_));
        }
        case_.context.set_threads(threads);
        const bool with_one_rank = case_.context.ranks() && !case_.plan.traits.drops_couplings;
        if (with_one_rank) {
            SolveReport alone;
            if (is_first_rank(case_.context)) alone = solve_on_one_rank(asked_, case_.space.has_grid());
            alone.true_residual = of_first_rank(case_.context, alone.true_residual);
            alone.iterations = Index(of_first_rank(case_.context, double(alone.iterations)));
            reports.push_back(alone);
        }
        const auto spread = [&](auto member) {
            const auto [low, high] = std::minmax_element(reports.begin(), reports.end(),
                                                         [&](auto& a, auto& b) { return a.*member < b.*member; });
            return double((*high).*member - (*low).*member);
        };
        checks_.push_back({with_one_rank ? "spread of the residual over repeats, threads, ranks"
                                         : "spread of the residual over repeats and threads",
                           spread(&SolveReport::true_residual), 0.0});
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

    const AskedDeck& asked_;
    const Case& case_;
    LinearSystem system_;
    Vector x_, y_, work_;
    std::vector<Check> checks_;
};

/// Prints what was checked.
void print(const Invocation& invocation, const Case& a_case, const std::vector<Check>& checks, bool passed) {
    nlohmann::json json = {{"deck", a_case.deck.file}, {"device", a_case.device}, {"passed", passed}};
    std::string text = fmt::format("{}: {} with {}, {}\n", a_case.deck.file, a_case.name("solver"),
                                   a_case.name("preconditioner"), a_case.device);
    for (const Check& check : checks) {
        text += fmt::format("  {:<50} {:>10.3g}  (at most {:g})  {}\n", check.name, check.value, check.bound,
                            check.passed() ? "ok" : "FAILED");
        json["checks"].push_back(
            {{"name", check.name}, {"value", check.value}, {"bound", check.bound}, {"passed", check.passed()}});
    }
    fmt::print("{}", invocation.has("json") ? to_text(json) : text);
}

int selftest(const Invocation& invocation, const RankOrNone& launched) {
    AskedDeck asked{parse_deck(built_in_deck, "built-in deck"), deck_overrides(invocation)};
    if (!invocation.arguments.empty()) asked = read_asked(invocation);
    leave_out_keys_of_runs(asked.deck, asked.overrides, "selftest", true);
    const Parameters parameters = resolved(asked);
    std::mutex building;  // problems may read files through HDF5
    return on_ranks(launched, parameters, [&](const RankOrNone& rank) {
        std::optional<Case> a_case;
        {
            const std::lock_guard lock(building);
            a_case.emplace(build_case(asked, parameters, rank));
        }
        const std::vector<Check> checks = SelfTest(asked, *a_case).run();
        const bool passed = std::ranges::all_of(checks, &Check::passed);
        if (is_first_rank(a_case->context)) print(invocation, *a_case, checks, passed);
        return int(passed ? ExitCode::ok : ExitCode::expectation);
    });
}

}  // namespace

int selftest_verb(const Invocation& invocation) {
    return on_launched(invocation, [&](const RankOrNone& launched) { return selftest(invocation, launched); });
}

}  // namespace hyperplane
