// SPDX-License-Identifier: BSD-3-Clause
// On a GPU the methods have the same iterations, solutions and stop reasons as on a CPU, and the same bits in every
// run, although the host reads scalars one step late.
#include <array>
#include <tuple>

#include "solvers/systems.hpp"

namespace hyperplane::test {
namespace {

/// A system on a 17 x 9 x 5 grid, assembled on the host and copied to `context`. A is the Laplacian plus `wind` along
/// x, M is its diagonal with a small perturbation at each point, so that M matters.
struct System {
    Context context;
    Layout layout{LayoutKind::natural, Grid{.nx = 17, .ny = 9, .nz = 5}, Stencil::star7().level_map()};
    StructMatrix a, m;
    Vector b, x;

    explicit System(const Context& where, double wind = 0.0, double scale = 1.0)
        : context(where),
          a(where, layout, Stencil::star7(), 1),
          m(where, layout, point(), 1),
          b(where, layout, 1, "b"),
          x(where, layout, 1, "x") {
        const Context host = Context::cpu();
        StructMatrix a_host(host, layout, a.stencil(), 1), m_host(host, layout, m.stencil(), 1);
        const auto noise = random_values(int(layout.slots()), 1);
        for (Index row = 0; row < layout.slots(); ++row) {
            const Int3 at = layout.grid().point(row);
            for (int entry = 0; entry < a.stencil().size(); ++entry) {
                const Int3 offset = a.stencil()[entry];
                if (!layout.grid().contains(at + offset)) continue;
                const double coupling = offset.x < 0 ? -1.0 - wind : -1.0;
                a_host.values(entry)[row] = scale * (entry == a.stencil().diagonal() ? 6.0 + wind : coupling);
            }
            m_host.values(0)[row] = (1.0 + 0.2 * noise[row]) / 6.0;
        }
        a.assign(a_host);
        m.assign(m_host);
        from_natural(random_values(int(layout.slots()), 2), b);
    }

    static Stencil point() { return Stencil("point", {{0, 0, 0}}); }

    /// Solves from zero, or from the state of a continuation.
    Outcome solve(const std::string& name, const Keys& keys = {}, std::function<bool()> interrupted = {},
                  const Continuation& continuation = {}) {
        Keys all{{"damping", "0.9"}, {"restart", "7"}};
        all.insert(all.end(), keys.begin(), keys.end());
        set_zero(x);
        History history;
        if (interrupted) history.set_interrupt(std::move(interrupted));
        Outcome outcome;
        outcome.report = make_solver(name, all, context)->solve(a, m, b, x, history, continuation);
        outcome.x = to_natural(x);
        outcome.history = history.entries();
        return outcome;
    }
};

class Methods : public ::testing::TestWithParam<std::tuple<std::string, Backend>> {
protected:
    void SetUp() override {
        if (backend() == Backend::cuda && !device::available()) GTEST_SKIP() << device::unavailable();
    }
    std::string name() const { return std::get<0>(GetParam()); }
    Backend backend() const { return std::get<1>(GetParam()); }
    Context context() const { return backend() == Backend::cuda ? Context::cuda() : Context::cpu(); }
    double wind() const { return testing_support::needs_symmetry(name()) ? 0.0 : 0.4; }

    static void expect_same_bits(const Outcome& actual, const Outcome& expected) {
        EXPECT_EQ(actual.reason(), expected.reason());
        EXPECT_EQ(actual.x, expected.x);
        EXPECT_EQ(actual.report.true_residual, expected.report.true_residual);
        ASSERT_EQ(actual.history.size(), expected.history.size());
        for (std::size_t at = 0; at < actual.history.size(); ++at)
            EXPECT_EQ(actual.history[at].recurrence, expected.history[at].recurrence) << at;
    }
};

const auto all_methods = ::testing::ValuesIn(testing_support::solver_names());
const auto method_name = [](const auto& info) { return std::get<0>(info.param); };

INSTANTIATE_TEST_SUITE_P(OnHost, Methods, ::testing::Combine(all_methods, ::testing::Values(Backend::cpu)),
                         method_name);
INSTANTIATE_TEST_SUITE_P(OnDevice, Methods, ::testing::Combine(all_methods, ::testing::Values(Backend::cuda)),
                         method_name);

TEST_P(Methods, AgreeWithTheHost) {
    const Keys keys{{"rtol", "1e-11"}};
    const Outcome host = System(Context::cpu(), wind()).solve(name(), keys);
    const Outcome here = System(context(), wind()).solve(name(), keys);
    EXPECT_EQ(here.reason(), StopReason::converged_rtol);
    EXPECT_NEAR(double(here.report.iterations), double(host.report.iterations), 1.0);
    ASSERT_EQ(Index(here.history.size()), here.report.iterations + 1);
    double largest = 0.0;
    for (double value : host.x) largest = std::max(largest, std::abs(value));
    EXPECT_LT(max_difference(here.x, host.x), 1e-10 * largest);
    for (std::size_t at = 0; at < 6; ++at)
        EXPECT_NEAR(here.history[at].recurrence / host.history[at].recurrence, 1.0, 1e-10) << at;
    System again(context(), wind());
    from_natural(here.x, again.x);
    Vector r(again.context, again.layout, 1, "r");
    again.a.residual(again.b, again.x, r);
    EXPECT_DOUBLE_EQ(norm2(r), here.report.true_residual);
}

TEST_P(Methods, HaveTheSameBitsTwentyTimes) {
    System system(context(), wind());
    const Outcome first = system.solve(name());
    for (int run = 1; run < 20; ++run) expect_same_bits(system.solve(name()), first);
}

/// Reading scalars late has no visible effect: x is the iterate of the iteration at which the method stopped.
TEST_P(Methods, StopAtTheIterationTheyName) {
    System system(context(), wind());
    const Outcome whole = system.solve(name(), {{"true_residual_every", "1"}});
    for (Index limit = 0; limit < 12; ++limit) {
        const Outcome outcome = system.solve(name(), {{"max_iterations", std::to_string(limit)}});
        EXPECT_EQ(outcome.reason(), StopReason::max_iterations);
        EXPECT_EQ(outcome.report.iterations, limit);
        const double truth = outcome.report.true_residual / outcome.report.b_norm;
        EXPECT_NEAR(truth / whole.history[limit].truth, 1.0, 1e-9) << limit;
    }
}

TEST_P(Methods, TrueResidualsInTheHistoryDoNotChangeTheSolve) {
    System system(context(), wind());
    const Outcome plain = system.solve(name()), shown = system.solve(name(), {{"true_residual_every", "3"}});
    expect_same_bits(shown, plain);
}

TEST_P(Methods, GoOnBitForBit) {
    System system(context(), wind());
    const Outcome whole = system.solve(name());
    for (Index stop : {0, 1, 2, 6, 7, 8, 11}) {
        SolverState state;
        Index asked = 0;
        const Outcome first =
            system.solve(name(), {}, [&] { return asked++ >= stop; }, {.save = &state, .from = nullptr});
        EXPECT_EQ(first.reason(), StopReason::interrupted);
        EXPECT_EQ(first.report.iterations, stop);
        expect_same_bits(system.solve(name(), {}, {}, {.save = nullptr, .from = &state}), whole);
    }
}

TEST_P(Methods, LeaveXAloneWhereMIsNotFinite) {
    System system(context(), wind());
    StructMatrix spoiled(Context::cpu(), system.layout, System::point(), 1);
    spoiled.assign(system.m);
    spoiled.values(0)[100] = nan;
    system.m.assign(spoiled);
    const Outcome outcome = system.solve(name());
    EXPECT_EQ(outcome.reason(), StopReason::not_finite);
    EXPECT_EQ(outcome.report.iterations, 0);
    EXPECT_EQ(outcome.x, std::vector<double>(outcome.x.size()));
    EXPECT_DOUBLE_EQ(outcome.report.true_residual, outcome.report.b_norm);
}

/// When a diverging iteration overflows, x is the iterate before.
TEST(MethodsOnDevice, RichardsonKeepsTheLastFiniteIterate) {
    if (!device::available()) GTEST_SKIP() << device::unavailable();
    const Keys keys{{"damping", "1e60"}, {"divergence_tolerance", "1e300"}};
    const Outcome host = System(Context::cpu()).solve("richardson", keys);
    const Outcome here = System(Context::cuda()).solve("richardson", keys);
    EXPECT_EQ(host.reason(), StopReason::not_finite);
    EXPECT_EQ(here.reason(), StopReason::not_finite);
    EXPECT_EQ(here.report.iterations, host.report.iterations);
    EXPECT_TRUE(here.finite());
    EXPECT_LT(max_difference(here.x, host.x), 1e-10 * std::abs(host.x[0]));
}

TEST_P(Methods, EndWhereTheOperatorIsZero) {
    System system(context(), wind(), 0.0);
    const Outcome outcome = system.solve(name(), {{"max_iterations", "5"}});
    EXPECT_EQ(outcome.reason(), testing_support::needs_symmetry(name()) ? StopReason::indefinite_operator
                                : name() == "richardson"                ? StopReason::max_iterations
                                                                        : StopReason::breakdown);
    EXPECT_TRUE(outcome.finite());
    if (name() != "richardson") {
        EXPECT_EQ(outcome.x, std::vector<double>(outcome.x.size()));
    }
}

/// Every residual of Richardson's iteration is a true one, so it continues until max_iterations.
TEST_P(Methods, ToleranceBelowRoundingIsFalseConvergence) {
    System system(context(), wind());
    const Outcome outcome = system.solve(name(), {{"rtol", "1e-17"}, {"restart", "100"}, {"max_iterations", "1000"}});
    if (name() == "richardson") {
        EXPECT_EQ(outcome.reason(), StopReason::max_iterations);
        EXPECT_EQ(outcome.report.restarts_from_true, 0);
        EXPECT_LT(outcome.report.true_residual, 1e-13 * outcome.report.b_norm);
        return;
    }
    EXPECT_EQ(outcome.reason(), StopReason::false_convergence);
    EXPECT_GE(outcome.report.restarts_from_true, 2);
    EXPECT_LT(outcome.report.true_residual, 1e-13 * outcome.report.b_norm);
}

}  // namespace
}  // namespace hyperplane::test
