// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/newton.hpp"

#include "small_problems.hpp"

namespace hyperplane::test {
namespace {

constexpr NewtonOptions tight{.rtol = 1e-13, .linear_rtol = 1e-12};

std::vector<double> values_of(const Vector& x) {
    return {x.data(), x.data() + x.size()};
}

TEST(Newton, ConvergesQuadraticallyOnBratusProblem) {
    const Bratu bratu(5.0);
    NewtonRun run(bratu, tight);
    ASSERT_EQ(run.solve(), NewtonReason::converged_rtol);
    int quadratic = 0;
    for (std::size_t k = 1; k < run.steps.size(); ++k) {
        const double before = run.steps[k - 1].row.after / run.newton.first_norm();
        const double after = run.steps[k].row.after / run.newton.first_norm();
        if (before > 1e-6) {
            EXPECT_LE(after, 2.0 * before * before) << k;
            ++quadratic;
        }
    }
    EXPECT_GE(quadratic, 2);
    EXPECT_LE(run.newton.taken(), 6);
    EXPECT_EQ(run.newton.taken(), Index(run.steps.size()));
    for (const NewtonStep& step : run.steps) {
        EXPECT_EQ(step.row.length, 1.0);
        EXPECT_TRUE(step.row.refreshed);
    }
    Vector f(run.context, run.layout, 1, "F");
    bratu.residual(run.u, {}, f);
    EXPECT_LE(norm2(f), 1e-13 * run.newton.first_norm());
    EXPECT_NEAR(norm2(f), run.newton.norm(), 1e-16);
}

/// With a linear tolerance eta, each Newton step reduces the residual by a factor of about eta.
TEST(Newton, LooseLinearSolvesConvergeLinearly) {
    const Bratu bratu(5.0);
    NewtonRun run(bratu, {.rtol = 1e-8, .linear_rtol = 1e-2});
    ASSERT_EQ(run.solve(), NewtonReason::converged_rtol);
    EXPECT_GE(run.newton.taken(), 4);
    EXPECT_LE(run.newton.taken(), 6);
    for (const NewtonStep& step : run.steps) EXPECT_LE(step.row.after, 3e-2 * step.row.before);
}

TEST(Newton, ForcingTermsOfEisenstatAndWalker) {
    const Bratu bratu(5.0);
    NewtonRun fixed(bratu, {.rtol = 1e-10, .linear_rtol = 1e-10}),
        adapted(bratu, {.rtol = 1e-10, .forcing = Forcing::eisenstat_walker, .linear_rtol = 1e-10});
    ASSERT_EQ(fixed.solve(), NewtonReason::converged_rtol);
    ASSERT_EQ(adapted.solve(), NewtonReason::converged_rtol);
    EXPECT_EQ(adapted.steps[0].row.forcing, 0.3);
    for (std::size_t k = 1; k < adapted.steps.size(); ++k) {
        const NewtonRow &before = adapted.steps[k - 1].row, &row = adapted.steps[k].row;
        const double ratio = before.after / before.before,
                     needed = 0.5 * 1e-10 * adapted.newton.first_norm() / row.before;
        EXPECT_DOUBLE_EQ(row.forcing, std::max(0.9 * ratio * ratio, needed)) << k;
    }
    const auto total = [](const NewtonRun& run) {
        Index sum = 0;
        for (const NewtonStep& step : run.steps) sum += step.linear.iterations;
        return sum;
    };
    EXPECT_LT(total(adapted), total(fixed));
}

/// Newton's method for arctan diverges from |u| > 1.39 without a line search, and converges with one.
TEST(Newton, LineSearchConvergesWhereFullStepsDiverge) {
    const Pointwise arctan([](double u) { return std::atan(u); }, [](double u) { return 1 / (1 + u * u); }, 3.0);
    NewtonRun run(arctan, tight);
    ASSERT_EQ(run.solve(), NewtonReason::converged_rtol);
    EXPECT_GT(run.steps[0].row.halvings, 0);
    EXPECT_EQ(run.steps[0].row.length, std::pow(0.5, run.steps[0].row.halvings));
    EXPECT_NEAR(run.u.data()[0], 0.0, 1e-12);

    NewtonOptions none = tight;
    none.line_search_halvings = 0;
    none.max_iterations = 5;
    NewtonRun wild(arctan, none);
    EXPECT_NE(wild.solve(), NewtonReason::converged_rtol);
}

TEST(Newton, EveryReasonEndsASolve) {
    const auto reason = [](const SmallProblem& problem, NewtonOptions options) {
        return NewtonRun(problem, options).solve();
    };
    const auto one = [](double) { return 1.0; };
    EXPECT_EQ(reason(Bratu(5.0), tight), NewtonReason::converged_rtol);
    EXPECT_EQ(reason(Bratu(5.0), {.rtol = 0.0, .atol = 1e-3, .linear_rtol = 1e-4}), NewtonReason::converged_atol);
    EXPECT_EQ(reason(Bratu(5.0), {.rtol = 1e-8, .max_iterations = 2}), NewtonReason::max_iterations);
    EXPECT_EQ(reason(Bratu(5.0), {.judged = false}), NewtonReason::step_taken);
    // u^2 + 1 has no root, and its minimum is at 0.
    EXPECT_EQ(reason(Pointwise([](double u) { return u * u + 1; }, [](double u) { return 2 * u; }, 1e-3), tight),
              NewtonReason::line_search);
    EXPECT_EQ(reason(Pointwise([](double u) { return u > 1 ? nan : u - 2; }, one, 0.0),
                     {.linear_rtol = 1e-3, .line_search_halvings = 0}),
              NewtonReason::not_finite);
    EXPECT_EQ(reason(Pointwise([](double) { return nan; }, one, 0.0), tight), NewtonReason::not_finite);
    Pointwise stuck([](double u) { return u - 2; }, one, 0.0);
    stuck.admissible = 0.0;
    EXPECT_EQ(reason(stuck, tight), NewtonReason::not_finite);
    const Bratu bratu(5.0);
    NewtonRun weak(bratu, tight);
    weak.solver = make_solver("gmres", {{"max_iterations", "1"}});
    EXPECT_EQ(weak.solve(), NewtonReason::linear_solve);
    EXPECT_EQ(weak.steps.back().linear.reason, StopReason::max_iterations);
    NewtonRun stopped(bratu, tight);
    stopped.interrupt = [] { return true; };
    EXPECT_EQ(stopped.solve(), NewtonReason::interrupted);
}

/// From a state that is a root up to rounding, no step lowers ||F|| by the factor asked for. The state stays, and
/// ||F|| is no larger than what moving each value of the root by a few units in the last place makes of it.
TEST(Newton, WhatIsAtTheLevelOfRoundingHasConverged) {
    const Bratu bratu(5.0);
    for (const int halvings : {5, 0}) {
        NewtonRun run(bratu, {.rtol = 0.0, .atol = 1e-300, .linear_rtol = 1e-8, .line_search_halvings = halvings});
        EXPECT_EQ(run.solve(), NewtonReason::converged_rounding) << halvings;
        Vector f(run.context, run.layout, 1, "F"), near(run.context, run.layout, 1, "near");
        bratu.residual(run.u, {}, f);
        EXPECT_EQ(norm2(f), run.newton.norm());
        for (Index row = 0; row < run.u.size(); ++row)
            near.data()[row] = run.u.data()[row] * (1.0 + (row % 2 ? 4e-15 : -4e-15));
        Vector moved(run.context, run.layout, 1, "F of near");
        bratu.residual(near, {}, moved);
        EXPECT_LE(norm2(f), norm2(moved)) << halvings;
        EXPECT_EQ(run.solve(), NewtonReason::converged_rounding) << "again, " << halvings;
    }
}

/// Diffusion a million times as strong as decay, in a closed box: rounding in the sum over the neighbours is worth a
/// correction of all of u that is far longer than rounding.
class StiffDiffusion : public SmallProblem {
public:
    StiffDiffusion() : SmallProblem({.nx = 5, .ny = 6, .nz = 7}, Regime::steady) {}
    static double root(Int3 p) { return 2.0 + std::sin(1.0 + p.x + 2.0 * p.y - 3.0 * p.z); }

protected:
    double source(Int3 p, double u, const TimeLevel&) const override {
        double given = root(p);
        for (int e = 0; e < 7; ++e)
            if (const Int3 q = p + shape_.stencil[e]; shape_.grid.contains(q)) given += strength * (root(p) - root(q));
        return slope(p, u, {}) * u - given;
    }
    double slope(Int3 p, double, const TimeLevel&) const override {
        int neighbours = -1;
        for (int e = 0; e < 7; ++e) neighbours += shape_.grid.contains(p + shape_.stencil[e]) ? 1 : 0;
        return 1.0 + strength * neighbours;
    }
    double coupling() const override { return -strength; }

private:
    static constexpr double strength = 1e6;
};

TEST(Newton, WhatIsAtTheLevelOfRoundingHasConvergedWhereCorrectionsAreLong) {
    const StiffDiffusion stiff;
    for (const int halvings : {5, 0}) {
        NewtonRun run(stiff, {.rtol = 0.0, .atol = 1e-300, .linear_rtol = 1e-3, .line_search_halvings = halvings});
        EXPECT_EQ(run.solve(), NewtonReason::converged_rounding) << halvings;
        EXPECT_GT(norm2(run.newton.work()), 1e-12 * norm2(run.u)) << "the correction is short, " << halvings;
        double off = 0.0;
        for (Index row = 0; row < run.u.size(); ++row)
            off = std::max(off, std::abs(run.u.data()[row] - StiffDiffusion::root(stiff.shape().grid.point(row))));
        EXPECT_LE(off, 1e-6) << halvings;
    }
}

/// ||F|| that does not fall along a correction of a millionth of u is not at the level of rounding: |u - 1| + 1e-6 has
/// no root.
TEST(Newton, AResidualThatDoesNotFallHasNotConverged) {
    const Pointwise none([](double u) { return std::abs(u - 1) + 1e-6; }, [](double u) { return u < 1 ? -1.0 : 1.0; },
                         1.0);
    EXPECT_EQ(NewtonRun(none, {.rtol = 1e-10, .linear_rtol = 1e-8}).solve(), NewtonReason::line_search);
}

TEST(Newton, WhatFailsLeavesTheStateAsItWas) {
    const Pointwise none([](double u) { return u * u + 1; }, [](double u) { return 2 * u; }, 0.25);
    NewtonRun run(none, {.rtol = 1e-10, .linear_rtol = 1e-8});
    ASSERT_EQ(run.solve(), NewtonReason::line_search);
    const NewtonRow& last = run.steps.back().row;
    EXPECT_EQ(last.length, 0.0);
    Vector f(run.context, run.layout, 1, "F");
    none.residual(run.u, {}, f);
    EXPECT_EQ(norm2(f), last.before);
}

TEST(Newton, AdmissibleStepBoundsTheFirstLength) {
    Pointwise line([](double u) { return u - 2; }, [](double) { return 1.0; }, 0.0);
    line.admissible = 0.25;
    NewtonRun run(line, {.rtol = 1e-3, .max_iterations = 1, .linear_rtol = 1e-12});
    run.solve();
    EXPECT_EQ(run.steps[0].row.length, 0.25);
    EXPECT_NEAR(run.u.data()[5], 0.5, 1e-12);
}

TEST(Newton, SetsThePreconditionerUpAsOftenAsTheRuleSays) {
    const Bratu bratu(5.0);
    const auto setups = [&](RefreshRule refresh) {
        NewtonRun run(bratu, {.rtol = 1e-8, .linear_rtol = 1e-2, .refresh = refresh});
        EXPECT_EQ(run.solve(), NewtonReason::converged_rtol);
        int refreshed = 0;
        for (const NewtonStep& step : run.steps) refreshed += step.row.refreshed;
        EXPECT_EQ(refreshed, run.m.setups);
        return std::pair{run.m.setups, int(run.newton.taken())};
    };
    const auto [every, steps] = setups({});
    EXPECT_EQ(every, steps);
    EXPECT_EQ(setups({.every = 2}).first, (steps + 1) / 2);
    EXPECT_EQ(setups({.every = 100}).first, 1);
    EXPECT_EQ(setups({.every = 0, .grown = true}).first, 1);
}

/// If a linear solve fails with an old set-up, the set-up is renewed and the solve repeated.
TEST(Newton, AnOldSetupThatFailsIsReplaced) {
    double scale = 1.0;
    const Pointwise changing([](double u) { return u * u - 4; }, [&](double u) { return scale * 2 * u; }, 1.0);
    NewtonRun run(changing, {.rtol = 1e-10, .linear_rtol = 1e-10, .refresh = {.every = 100}});
    int calls = 0;
    run.newton.begin(run.u, {});
    while (run.newton.going())
        run.steps.push_back(run.newton.step(run.u, {}, [&](const Newton::LinearTask& task) {
            ++calls;
            if (!task.refreshed && calls == 2) return SolveReport{.reason = StopReason::breakdown};
            return run.solve_linear(task);
        }));
    EXPECT_EQ(run.newton.reason(), NewtonReason::converged_rtol);
    EXPECT_EQ(run.m.setups, 2);
    EXPECT_EQ(calls, int(run.steps.size()) + 1);
    EXPECT_TRUE(run.steps[1].row.refreshed);
}

/// A run that is interrupted at every iteration of every solve and continued by new objects gives the same bits, with
/// any refresh rule.
TEST(Newton, GoesOnBitForBit) {
    const Bratu bratu(5.0);
    for (const RefreshRule refresh : {RefreshRule{}, RefreshRule{.every = 2}, RefreshRule{.every = 0, .grown = true}})
        for (const Forcing forcing : {Forcing::fixed, Forcing::eisenstat_walker}) {
            const NewtonOptions options{.rtol = 1e-10, .forcing = forcing, .linear_rtol = 1e-4, .refresh = refresh};
            NewtonRun whole(bratu, options);
            ASSERT_EQ(whole.solve(), NewtonReason::converged_rtol);
            SolverState state;
            std::vector<double> u;
            std::vector<bool> refreshed;  // of the steps that no interrupt ended
            int stops = 0;
            for (bool first = true;; first = false) {
                NewtonRun run(bratu, options);
                int looks = 0;
                run.interrupt = [&] { return ++looks >= 3; };
                if (first) {
                    run.newton.begin(run.u, {});
                } else {
                    std::copy(u.begin(), u.end(), run.u.data());
                    run.newton.resume(state, run.u, {}, true);
                    for (const auto& [name, values] : state.items())
                        if (!name.starts_with("newton/")) run.krylov.put_saved(name, values);
                }
                const NewtonReason reason = run.go_on({});
                for (const NewtonStep& step : run.steps)
                    if (step.linear.reason != StopReason::interrupted) refreshed.push_back(step.row.refreshed);
                if (reason != NewtonReason::interrupted) {
                    ASSERT_EQ(refreshed.size(), whole.steps.size());
                    for (std::size_t k = 0; k < refreshed.size(); ++k)
                        EXPECT_EQ(refreshed[k], whole.steps[k].row.refreshed) << k;
                    EXPECT_EQ(values_of(run.u), values_of(whole.u));
                    EXPECT_EQ(run.newton.norm(), whole.newton.norm());
                    EXPECT_EQ(run.newton.taken(), whole.newton.taken());
                    break;
                }
                ++stops;
                state = run.krylov;
                run.newton.save(state);
                u = values_of(run.u);
            }
            EXPECT_GT(stops, 5);
        }
}

/// The matrix depends on the state two steps back, as that of stabilised elements does in steps of BDF2.
class ReachesBackTwice : public Bratu {
public:
    ReachesBackTwice() : Bratu(5.0, 5, Regime::transient) {}

protected:
    double slope(Int3 p, double u, const TimeLevel& level) const override {
        return Bratu::slope(p, u, level) + 0.1 * (level.older ? (*level.older)(p) : 0.0);
    }
};

/// A set-up that an earlier step has made is made again from the states of that step, all three of them.
TEST(Newton, GoesOnWithASetUpOfBdf2) {
    const ReachesBackTwice problem;
    const NewtonOptions options{.rtol = 1e-10, .refresh = {.every = 100}, .reaches_back_twice = true};
    NewtonRun whole(problem, options), rest(problem, options);
    Vector old(whole.context, whole.layout, 1, "old"), older(whole.context, whole.layout, 1, "older");
    fill(old, 0.5);
    fill(older, 3.0);
    whole.newton.begin(whole.u, bdf2(2, 0.2, 0.1, 0.1, old, older));
    ASSERT_EQ(whole.go_on(bdf2(2, 0.2, 0.1, 0.1, old, older)), NewtonReason::converged_rtol);
    SolverState state;
    whole.newton.save(state);
    copy(whole.u, rest.u);
    fill(older, 0.0);  // as later steps overwrite it
    const TimeLevel next = bdf2(3, 0.3, 0.1, 0.1, rest.u, old);
    rest.newton.resume(state, rest.u, next, false);
    Vector ones(whole.context, whole.layout, 1, "ones"), expected(whole.context, whole.layout, 1, "M^-1 1"),
        found(whole.context, whole.layout, 1, "M^-1 1");
    fill(ones, 1.0);
    whole.m.apply(ones, expected);
    rest.m.apply(ones, found);
    EXPECT_EQ(values_of(found), values_of(expected));
}

/// A solve that fails with the set-up made for it is not repeated, also if it was interrupted and went on.
TEST(Newton, GoesOnWithAFailingSolveOnce) {
    const Bratu bratu(5.0);
    const NewtonOptions options{.linear_rtol = 1e-12, .refresh = {.every = 3}};
    NewtonRun part(bratu, options);
    part.solver = make_solver("gmres", {{"max_iterations", "4"}});
    int looks = 0;
    part.interrupt = [&] { return ++looks >= 3; };
    ASSERT_EQ(part.solve(), NewtonReason::interrupted);
    SolverState state = part.krylov;
    part.newton.save(state);

    NewtonRun rest(bratu, options);
    rest.solver = make_solver("gmres", {{"max_iterations", "4"}});
    rest.newton.resume(state, rest.u, {}, true);
    for (const auto& [name, values] : state.items())
        if (!name.starts_with("newton/")) rest.krylov.put_saved(name, values);
    EXPECT_EQ(rest.go_on({}), NewtonReason::linear_solve);
    EXPECT_EQ(rest.m.setups, 1);  // the one that the interrupted solve had
}

TEST(Newton, PredictsTheVectorsItHolds) {
    for (const Regime regime : {Regime::steady, Regime::transient})
        for (const bool judged : {true, false})
            for (const auto& [every, twice] : {std::pair<Index, bool>{1, false}, {3, false}, {3, true}}) {
                const Bratu bratu(5.0, 5, regime);
                const NewtonOptions options{.judged = judged, .refresh = {.every = every}, .reaches_back_twice = twice};
                const Context context = Context::cpu(1);
                CountingDiagonal m;
                TimerTree timers;
                const Layout layout(LayoutKind::natural, bratu.shape().grid, {});
                const Newton newton(bratu, options, m, context, layout, timers);
                const Index vector = layout.slots() * Index(sizeof(double));
                const Index system = StructMatrix::bytes(7, layout.slots()) + vector;
                EXPECT_EQ(context.ledger().held(), system + Newton::vectors(bratu.shape(), options).count() * vector);
            }
}

}  // namespace
}  // namespace hyperplane::test
