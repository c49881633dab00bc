// SPDX-License-Identifier: BSD-3-Clause
// The solvers that a deck can name, their keys, and the combinations that are refused.
#include <set>

#include "core/error.hpp"
#include "solvers/systems.hpp"

namespace hyperplane::test {
namespace {

constexpr PreconditionerTraits symmetric{.fixed = true, .symmetric = true};
constexpr PreconditionerTraits fixed{.fixed = true, .symmetric = false};
constexpr PreconditionerTraits changing{.fixed = false, .symmetric = false, .varies = "block_async sweeps"};

/// The message of a refusal, "" if there is none.
template <class Check>
std::string refusal(const Check& check) {
    try {
        check();
    } catch (const UsageError& error) {
        return error.what();
    }
    return "";
}

std::string refusal(const std::string& solver, const PreconditionerTraits& traits) {
    return refusal([&] { make_solver(solver)->check("sweeps", traits); });
}

TEST(Registry, NamesAndExplainsEachMethodOnce) {
    std::set<std::string> names;
    for (const auto& row : solvers()) {
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_FALSE(row.summary.empty());
        EXPECT_FALSE(row.explanation.empty());
    }
    for (const char* name : {"cg", "gmres", "fgmres", "bicgstab", "richardson"}) EXPECT_TRUE(names.count(name)) << name;
}

TEST(Registry, DefaultsAreThoseOfStopCriteria) {
    const StopCriteria read = stop_criteria(Parameters(common_solver_parameters())), built_in;
    EXPECT_EQ(read.rtol, built_in.rtol);
    EXPECT_EQ(read.atol, built_in.atol);
    EXPECT_EQ(read.max_iterations, built_in.max_iterations);
    EXPECT_EQ(read.divergence_tolerance, built_in.divergence_tolerance);
    EXPECT_EQ(read.true_residual_every, built_in.true_residual_every);
}

TEST(Registry, KeysReachTheStopCriteria) {
    Parameters parameters(common_solver_parameters());
    parameters.set("solver", "rtol", "1e-3");
    parameters.set("solver", "atol", "2e-4");
    parameters.set("solver", "max_iterations", "17");
    parameters.set("solver", "divergence_tolerance", "1e9");
    parameters.set("solver", "true_residual_every", "4");
    const StopCriteria criteria = stop_criteria(parameters);
    EXPECT_EQ(criteria.rtol, 1e-3);
    EXPECT_EQ(criteria.atol, 2e-4);
    EXPECT_EQ(criteria.max_iterations, 17);
    EXPECT_EQ(criteria.divergence_tolerance, 1e9);
    EXPECT_EQ(criteria.true_residual_every, 4);
}

TEST(Registry, OutOfRangeValuesAreRefused) {
    const Keys wrong{{"rtol", "-1"},
                     {"rtol", "2"},
                     {"atol", "-1e-9"},
                     {"max_iterations", "-1"},
                     {"divergence_tolerance", "1"},
                     {"true_residual_every", "-2"},
                     {"restart", "0"},
                     {"max_iterations", "1.5"}};
    for (const auto& key : wrong) EXPECT_THROW(make_solver("gmres", {key}), UsageError) << key.first << key.second;
    EXPECT_THROW(make_solver("richardson", {{"damping", "0"}}), UsageError);
}

TEST(Registry, OnlyFgmresAndRichardsonTakeAChangingPreconditioner) {
    for (const char* name : {"fgmres", "richardson"}) EXPECT_EQ(refusal(name, changing), "") << name;
    for (const std::string& name : testing_support::solver_names()) {
        if (name == "fgmres" || name == "richardson") continue;
        EXPECT_EQ(
            refusal(name, changing),
            "solver.name = " + name +
                " needs a preconditioner that is the same in every iteration, and sweeps with block_async sweeps, "
                "which read whatever values others have at the time, differs each time; only fgmres and richardson "
                "support that");
    }
}

TEST(Registry, SymmetryIsNeededOfMatrixAndPreconditionerOrOfNeither) {
    EXPECT_EQ(refusal("cg", symmetric), "");
    EXPECT_EQ(refusal("cg", fixed),
              "solver.name = cg needs a symmetric positive definite preconditioner, and sweeps is not one here; use "
              "gmres, fgmres, "
              "bicgstab or richardson");
    EXPECT_EQ(refusal([] { make_solver("cg")->check_operator("poisson", true); }), "");
    EXPECT_EQ(refusal([] { make_solver("cg")->check_operator("convection_diffusion", false); }),
              "solver.name = cg needs a symmetric matrix, and that of convection_diffusion is not; use gmres, fgmres, "
              "bicgstab or richardson");
    for (const std::string& name : testing_support::solver_names()) {
        EXPECT_EQ(refusal(name, symmetric), "");
        EXPECT_EQ(refusal([&] { make_solver(name)->check_operator("poisson", true); }), "");
        EXPECT_EQ(refusal(name, fixed).empty(), !testing_support::needs_symmetry(name)) << name;
    }
    for (const char* name : {"gmres", "fgmres", "bicgstab", "richardson"})
        EXPECT_FALSE(testing_support::needs_symmetry(name)) << name;
}

}  // namespace
}  // namespace hyperplane::test
