// SPDX-License-Identifier: BSD-3-Clause
// Advice names only what the deck accepts and what can help, whatever solver and preconditioner met whatever end.
#include "apps/run/advice.hpp"
#include "apps/run/build_case.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "apps/deck/schema.hpp"
#include "precond/registry.hpp"
#include "solvers/registry.hpp"

namespace hyperplane {
namespace {

constexpr const char* advice_symmetric_deck = "[problem]\nname = poisson\n[grid]\ncells = 7 5 3\n";
constexpr const char* advice_transport_deck =
    "[problem]\nname = convection_diffusion\n[grid]\ncells = 7 5 3\n[time]\ncfl = 5\nsteps = 1\n";

std::optional<Case> advice_case(const std::string& deck, std::vector<std::string> overrides) {
    overrides.push_back("device.backend=cpu");
    try {
        return build_case(parse_deck(deck, "a.ini"), overrides);
    } catch (const Error&) {
        return std::nullopt;  // this pair does not fit, or not this machine
    }
}

/// A residual that falls by `rate` an iteration, to an end that is far from the tolerance.
std::vector<HistoryEntry> advice_falling(Index iterations, double rate) {
    std::vector<HistoryEntry> history;
    for (Index i = 0; i <= iterations; ++i) history.push_back({i, std::pow(rate, double(i))});
    return history;
}

bool advises(const std::vector<Advice>& advice, const std::string& text) {
    return std::any_of(advice.begin(), advice.end(), [&](const Advice& one) {
        return std::any_of(one.overrides.begin(), one.overrides.end(),
                           [&](const std::string& override) { return override.rfind(text, 0) == 0; });
    });
}

/// Whether the case with the advice is another one that the deck accepts.
void expect_advice_usable(const std::string& deck, std::vector<std::string> overrides, const Case& a_case,
                          const Advice& advice) {
    ASSERT_FALSE(advice.overrides.empty());
    for (const std::string& text : advice.overrides) {
        const std::string name = text.substr(0, text.find('='));
        std::erase_if(overrides, [&](const std::string& old) { return old.substr(0, old.find('=')) == name; });
        overrides.push_back(text);
    }
    const auto changed = advice_case(deck, overrides);
    ASSERT_TRUE(changed) << to_string({advice});
    bool differs = false;
    for (const auto& value : changed->parameters.all())
        differs |= !a_case.parameters.has(value.spec.section, value.spec.key) ||
                   a_case.parameters.text(value.spec.section, value.spec.key) != value.text;
    EXPECT_TRUE(differs) << to_string({advice});
}

TEST(Advice, IsAcceptedForEverySolverPreconditionerAndEnd) {
    int tried = 0;
    for (const std::string deck : {advice_symmetric_deck, advice_transport_deck})
        for (const auto& solver : solvers())
            for (const auto& preconditioner : preconditioners()) {
                const std::vector<std::string> pair{"solver.name=" + solver.name,
                                                    "preconditioner.name=" + preconditioner.name};
                const auto a_case = advice_case(deck, pair);
                if (!a_case) continue;
                for (int reason = 0; reason <= int(StopReason::interrupted); ++reason)
                    for (double rate : {0.9, 0.9999999}) {
                        SolveReport report{.reason = StopReason(reason), .iterations = 50, .b_norm = 1.0};
                        report.true_residual = 1e-7;
                        const auto advice = advise(*a_case, report, advice_falling(50, rate));
                        for (const Advice& one : advice) expect_advice_usable(deck, pair, *a_case, one);
                        EXPECT_FALSE(advises(advice, "solver.name=" + solver.name)) << solver.name;
                        ++tried;
                    }
                for (const Advice& one : advise_on_pivot(*a_case)) expect_advice_usable(deck, pair, *a_case, one);
            }
    EXPECT_GT(tried, 1000);
}

std::vector<Advice> advice_for(const std::vector<std::string>& overrides, StopReason reason, double rate = 0.9) {
    SolveReport report{.reason = reason, .iterations = 50, .b_norm = 1.0};
    report.true_residual = 1e-7;
    return advise(*advice_case(advice_symmetric_deck, overrides), report, advice_falling(50, rate));
}

TEST(Advice, IterationsOnlyWhereTheResidualFalls) {
    const auto patient = advice_for({"solver.name=gmres"}, StopReason::max_iterations, 0.9);
    // 0.9^n = 1e-8 at n = 175; a fifth more, rounded up
    EXPECT_EQ(patient.at(0).overrides, std::vector<std::string>{"solver.max_iterations=210"});
    const auto stagnant = advice_for({"solver.name=gmres"}, StopReason::max_iterations, 0.99999);
    EXPECT_FALSE(advises(stagnant, "solver.max_iterations"));
    EXPECT_TRUE(advises(stagnant, "solver.restart=60"));
    EXPECT_TRUE(advises(stagnant, "preconditioner.fill_level=1"));
}

TEST(Advice, AnotherMethodWhereItCanHelp) {
    EXPECT_TRUE(advises(advice_for({"solver.name=cg"}, StopReason::indefinite_operator), "solver.name=gmres"));
    EXPECT_TRUE(advises(advice_for({"solver.name=bicgstab"}, StopReason::breakdown), "solver.name=gmres"));
    EXPECT_FALSE(advises(advice_for({"solver.name=gmres"}, StopReason::breakdown), "solver.name"));
    EXPECT_FALSE(advises(advice_for({"solver.name=fgmres"}, StopReason::breakdown), "solver.name"));
}

TEST(Advice, AHigherBoundOfTheEigenvaluesForChebyshev) {
    for (const StopReason reason : {StopReason::indefinite_preconditioner, StopReason::diverged}) {
        const auto alone = advice_for({"solver.name=cg", "preconditioner.name=chebyshev"}, reason);
        EXPECT_EQ(alone.at(0).overrides,
                  (std::vector<std::string>{"preconditioner.estimate_steps=40", "preconditioner.safety=1.32"}));
        EXPECT_TRUE(advises(alone, "solver.name=gmres"));
        const auto smoother = advice_for({"solver.name=cg", "preconditioner.name=multigrid", "smoother.name=chebyshev",
                                          "smoother.estimate_steps=500"},
                                         reason);
        EXPECT_EQ(smoother.at(0).overrides,
                  (std::vector<std::string>{"smoother.estimate_steps=1000", "smoother.safety=1.32"}));
        EXPECT_FALSE(advises(advice_for({"solver.name=cg", "preconditioner.name=multigrid"}, reason), "smoother."));
    }
    EXPECT_FALSE(
        advises(advice_for({"preconditioner.name=chebyshev"}, StopReason::breakdown), "preconditioner.safety"));
}

TEST(Advice, AStrongerPreconditioner) {
    const auto of = [](const std::vector<std::string>& overrides) {
        return advice_for(overrides, StopReason::max_iterations, 0.99999);
    };
    EXPECT_TRUE(advises(of({"preconditioner.name=jacobi"}), "preconditioner.name=struct_ilu"));
    const auto multigrid = of({"preconditioner.name=multigrid"});
    EXPECT_FALSE(advises(multigrid, "preconditioner.name"));
    EXPECT_TRUE(advises(multigrid, "preconditioner.pre_smoothing=2"));
    EXPECT_TRUE(advises(multigrid, "preconditioner.post_smoothing=2"));
}

TEST(Advice, PoliciesOnlyForPreconditionersThatHaveThem) {
    const auto ilu = advise_on_pivot(*advice_case(advice_symmetric_deck, {"preconditioner.name=struct_ilu"}));
    EXPECT_EQ(
        to_string(ilu),
        "preconditioner.pivot_policy = shift, or preconditioner.pivot_policy = boost, or preconditioner.name = none");
    const auto jacobi = advise_on_pivot(*advice_case(advice_symmetric_deck, {"preconditioner.name=jacobi"}));
    EXPECT_EQ(to_string(jacobi), "preconditioner.name = none");
}

TEST(Advice, ATolerance) {
    EXPECT_TRUE(advises(advice_for({"solver.rtol=1e-15"}, StopReason::false_convergence), "solver.rtol=1e-06"));
    EXPECT_TRUE(advice_for({}, StopReason::out_of_range).empty());
    EXPECT_TRUE(advice_for({}, StopReason::not_finite).empty());
    EXPECT_TRUE(advice_for({}, StopReason::interrupted).empty());
}

TEST(Advice, OnceNoIterationWasAllowed) {
    const auto none = advice_case(advice_symmetric_deck, {"solver.max_iterations=0"});
    const SolveReport report{.reason = StopReason::max_iterations, .iterations = 0, .b_norm = 1.0};
    EXPECT_EQ(to_string(advise(*none, report, {{0, 1.0}})), "solver.max_iterations = 2000 (no iteration was allowed)");
}

TEST(Advice, AToleranceThatNoSolveReaches) {
    for (const char* solver : {"cg", "gmres", "bicgstab"}) {
        const std::string name = fmt::format("solver.name={}", solver);
        const auto stagnant = advice_for({name, "solver.rtol=1e-17"}, StopReason::max_iterations);
        EXPECT_EQ(to_string(stagnant),
                  "solver.rtol = 1e-08 (rounding leaves about 1e-16 of ||b||, so no solve in double precision reaches "
                  "1e-17)");
        EXPECT_FALSE(advises(advice_for({name, "solver.rtol=2e-16"}, StopReason::max_iterations), "solver.rtol"));
        // Here atol is what a solve must reach.
        EXPECT_FALSE(advises(advice_for({name, "solver.rtol=0", "solver.atol=1e-9"}, StopReason::max_iterations),
                             "solver.rtol"));
    }
}

}  // namespace
}  // namespace hyperplane
