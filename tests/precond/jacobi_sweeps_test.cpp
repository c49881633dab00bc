// SPDX-License-Identifier: BSD-3-Clause
// jacobi_sweeps on both backends: sweeps compared with the reference's, exactness, divergence, refusals.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.hpp"
#include "precond/stored_factors.hpp"
#include "precond/struct_ilu/struct_ilu.hpp"
#include "precond/swept.hpp"
#include "precond/triangular/jacobi/solve.hpp"
#include "reference/jacobi_sweeps.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using reference::relative_difference;

using Case = SweptCase;

/// A system with the reference's factors.
struct System : SweptSystem {
    reference::BlockIlu factors;

    System(const Context& context, const Case& of)
        : SweptSystem(context, of), factors(reference_ilu(data, c.stencil, c.fill_level)) {}

    std::unique_ptr<Preconditioner> sweeps(int lower, int upper, int fill_level, Settings more = {}) const {
        more.insert(more.end(), {{"lower_sweeps", std::to_string(lower)},
                                 {"upper_sweeps", std::to_string(upper)},
                                 {"fill_level", std::to_string(fill_level)}});
        auto m = make("jacobi_sweeps", a, more);
        m->setup(a);
        return m;
    }
    /// An upper bound for the number of levels of either triangle.
    int levels(const Case& c) const {
        const LevelMap map = reference::to_stencil({c.stencil, filled(c.stencil, c.fill_level)}).level_map();
        return 1 + map.level({c.box.nx - 1, c.box.ny - 1, c.box.nz - 1});
    }
};

void expect_sweeps_of_reference(const Context& context, const Case& c) {
    const System system(context, c);
    for (const auto& [lower, upper] : {std::pair{1, 1}, {1, 2}, {2, 1}, {2, 3}, {3, 2}, {4, 4}}) {
        const auto m = system.sweeps(lower, upper, c.fill_level);
        EXPECT_TRUE(m->traits().fixed);
        EXPECT_EQ(m->traits().symmetric, c.storage == MatrixStorage::lower && lower == upper);
        const auto y = reference::jacobi_sweeps(system.factors, true, lower, system.r);
        const auto expected = reference::jacobi_sweeps(system.factors, false, upper, y);
        EXPECT_LT(relative_difference(system.applied(*m), expected), 1e-13) << lower << " " << upper;
    }
}

void expect_exact_after_all_levels(const Context& context, const Case& c) {
    const System system(context, c);
    const auto expected = reference::apply_inverse(system.factors, system.r);
    const int levels = system.levels(c);
    EXPECT_LT(relative_difference(system.applied(*system.sweeps(levels, levels, c.fill_level)), expected), 1e-13);
    // The values that a block of an asynchronous sweep reads are at least as new as those of the sweep before.
    for (const char* order : {"dependency", "forward", "backward", "natural"}) {
        const auto m = system.sweeps(levels, levels, c.fill_level, {{"mode", "block_async"}, {"block_order", order}});
        EXPECT_FALSE(m->traits().fixed);
        EXPECT_FALSE(m->traits().symmetric);
        EXPECT_LT(relative_difference(system.applied(*m), expected), 1e-13) << order;
    }
}

class JacobiSweepsTest : public testing::TestWithParam<Case> {};
class JacobiSweepsOnDevice : public DeviceTest, public testing::WithParamInterface<Case> {};

TEST_P(JacobiSweepsTest, AreThoseOfTheReference) {
    expect_sweeps_of_reference(Context::cpu(1), GetParam());
}
TEST_P(JacobiSweepsOnDevice, AreThoseOfTheReference) {
    expect_sweeps_of_reference(Context::cuda(), GetParam());
}
TEST_P(JacobiSweepsTest, AreExactAfterAsManyAsLevels) {
    expect_exact_after_all_levels(Context::cpu(1), GetParam());
}
TEST_P(JacobiSweepsOnDevice, AreExactAfterAsManyAsLevels) {
    expect_exact_after_all_levels(Context::cuda(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, JacobiSweepsTest, testing::ValuesIn(swept_cases(3)), name_of);
INSTANTIATE_TEST_SUITE_P(All, JacobiSweepsOnDevice, testing::ValuesIn(swept_device_cases(3)), name_of);

std::unique_ptr<Preconditioner> make_double(const StructMatrix& a, const SweepOptions& sweeps) {
    auto m = make_exact_ilu(a.context(), {}, std::make_unique<JacobiSolve>(sweeps));
    m->setup(a);
    return m;
}

/// Compares with sweeps by their definition, from the stored W, D^-1 and G.
void expect_sweeps_on_kept_factors(const Context& context, const SweptCase& c, FactorStorage storage) {
    const SweptSystem system(context, c);
    IluOptions options;
    options.storage = storage;
    const auto factorisation = make_struct_ilu(context, options);
    factorisation->setup(system.a);
    const StructMatrix f = stored_factors(factorisation->factors());
    const Stencil& stencil = f.stencil();
    const Buffer<Int3> offsets = copied_to(f.context(), "test", stencil.offsets());
    FactorView view{f.layout(), block_view(f), block_view(f, stencil.diagonal()), offsets.data(), stencil.lower_size()};
    view.symmetric = system.a.symmetric();
    view.unit = true;
    const Vector r = to_vector(f.context(), f.layout(), f.dof(), system.r);
    for (const auto& [lower, upper] : {std::pair{1, 1}, {2, 3}, {5, 4}}) {
        const SweepOptions sweeps{lower, upper};
        Vector z = poisoned(f.context(), f.layout(), f.dof());
        TriangleSweeps(f.context(), {f.layout(), stencil.offsets(), f.dof(), view.symmetric, true}, sweeps)
            .apply(view, r, z);
        const auto m = make_exact_ilu(context, options, std::make_unique<JacobiSolve>(sweeps));
        m->setup(system.a);
        EXPECT_LT(relative_difference(system.applied(*m), from_vector(z)), 1e-13) << lower << " " << upper;
        EXPECT_GT(relative_difference(system.applied(*m), system.applied(*make_double(system.a, sweeps))), 1e-9);
    }
}

/// A stencil's name and its unknowns a point.
using Points = std::tuple<std::string, int>;
class KeptFactors : public testing::TestWithParam<Points> {};
class KeptFactorsOnDevice : public DeviceTest, public testing::WithParamInterface<Points> {};

void expect_sweeps_on_kept_factors(const Context& context, const Points& points) {
    const auto& [stencil, dof] = points;
    for (LayoutKind kind : layout_kinds)
        for (MatrixStorage matrix : storages)
            for (FactorStorage storage : reduced_factor_storages) {
                SCOPED_TRACE(to_string(kind) + " " + to_string(storage));
                expect_sweeps_on_kept_factors(context, {stencil, dof, 0, {7, 5, 3}, kind, matrix}, storage);
            }
}

TEST_P(KeptFactors, AreWhatJacobiSweepsRead) {
    expect_sweeps_on_kept_factors(Context::cpu(1), GetParam());
}
TEST_P(KeptFactorsOnDevice, AreWhatJacobiSweepsRead) {
    expect_sweeps_on_kept_factors(Context::cuda(), GetParam());
}

const auto points = testing::Combine(testing::Values("star7", "box27"), testing::Values(1, 2, 4, 5, 8));
const auto name_of_points = [](const testing::TestParamInfo<Points>& info) {
    return std::get<0>(info.param) + "_dof" + std::to_string(std::get<1>(info.param));
};
INSTANTIATE_TEST_SUITE_P(All, KeptFactors, points, name_of_points);
INSTANTIATE_TEST_SUITE_P(All, KeptFactorsOnDevice, points, name_of_points);

class SweepsOnDevice : public DeviceTest {};

class LargeSweepsOnDevice : public DeviceTest,
                            public testing::WithParamInterface<std::tuple<std::string, int, MatrixStorage>> {};

/// Grids with more points than a GPU processes at a time; twenty applications give the same bits.
TEST_P(LargeSweepsOnDevice, EqualTheHosts) {
    const auto& [stencil, dof, storage] = GetParam();
    const Stencil offsets = Stencil::by_name(stencil);
    const StructMatrix here =
        random_struct_matrix(Layout(LayoutKind::natural, {67, 35, 19}, offsets.level_map()), offsets, dof, storage, 3);
    const StructMatrix there = in_context(Context::cuda(), here);
    const auto expected = make("jacobi_sweeps", here), m = make("jacobi_sweeps", there);
    expected->setup(here), m->setup(there);
    const std::vector<double> r = reference::Random(6).vector(int(here.unknowns()));
    const Vector in = to_vector(there.context(), there.layout(), dof, r);
    Vector z = poisoned(there.context(), there.layout(), dof);
    m->apply(in, z);
    const std::vector<double> first = from_vector(z);
    EXPECT_LT(relative_difference(first, apply(*expected, here, r)), 1e-13);
    for (int repeat = 0; repeat < 20; ++repeat) {
        m->apply(in, z);
        ASSERT_EQ(from_vector(z), first);
    }
}
INSTANTIATE_TEST_SUITE_P(
    All, LargeSweepsOnDevice,
    testing::Values(std::tuple{"star7", 1, MatrixStorage::full}, std::tuple{"box27", 1, MatrixStorage::lower},
                    std::tuple{"star7", 4, MatrixStorage::lower}, std::tuple{"box27", 3, MatrixStorage::full},
                    std::tuple{"diamond25", 8, MatrixStorage::full}),
    [](const auto& info) { return std::get<0>(info.param) + "_dof" + std::to_string(std::get<1>(info.param)); });

TEST(JacobiSweeps, HaveTheSameBitsForAnyNumberOfThreads) {
    for (const char* stencil : {"star7", "box27"})
        for (LayoutKind kind : layout_kinds) {
            const System system(Context::cpu(1), {stencil, 2, 0, {17, 9, 5}, kind, MatrixStorage::full});
            expect_same_bits_for_any_threads(system.a.context(),
                                             [&] { return system.applied(*system.sweeps(3, 4, 0)); });
        }
}

/// If one block holds the whole grid, block-asynchronous sweeps are synchronous. With more blocks, processed in the
/// order of dependencies, they come closer to the exact solve; in the opposite order they are no better than
/// synchronous ones.
TEST(JacobiSweeps, InTheOrderOfDependenciesConvergeFaster) {
    const auto error = [](const Box& box, const Settings& settings) {
        const System system(Context::cpu(1), {"star7", 1, 0, box, LayoutKind::natural, MatrixStorage::lower});
        return relative_difference(system.applied(*system.sweeps(2, 2, 0, settings)),
                                   reference::apply_inverse(system.factors, system.r));
    };
    const Settings async{{"mode", "block_async"}};
    EXPECT_EQ(error({7, 5, 3}, async), error({7, 5, 3}, {}));
    const Box large{17, 9, 13};
    const double sync = error(large, {}), forward = error(large, async);
    const double against = error(large, {{"mode", "block_async"}, {"block_order", "backward"}});
    EXPECT_LT(forward, 0.8 * sync);
    EXPECT_GT(against, forward);
}

/// A line of points each of which depends on the one before: the iteration matrix N shifts and multiplies by -c, so
/// that its powers grow like c^n.
StructMatrix line(const Context& context, int points, double diagonal, double lower) {
    StructMatrix a(context.host(), Layout(LayoutKind::natural, {points, 1, 1}, {1, 1}), Stencil::star7(), 1);
    for (int i = 0; i < points; ++i) {
        a.values(a.stencil().diagonal())[i] = diagonal;
        if (i > 0) a.values(a.stencil().find({-1, 0, 0}))[i] = lower;
    }
    return in_context(context, a);
}

void expect_divergence_reported(const Context& context) {
    const auto set_up = [&](const StructMatrix& a, int sweeps, const char* mode) -> std::string {
        try {
            make("jacobi_sweeps", a, {{"lower_sweeps", std::to_string(sweeps)}, {"mode", mode}})->setup(a);
        } catch (const SetupError& error) {
            EXPECT_EQ(error.code(), ExitCode::preconditioner);
            return error.what();
        }
        return "";
    };
    for (const char* mode : {"sync", "block_async"}) {
        const StructMatrix mild = line(context, 40, 1.0, -3.0);
        EXPECT_EQ(set_up(mild, 2, mode), "");  // growth by 3^2 is not reported yet
        const std::string message = set_up(mild, 4, mode);
        EXPECT_NE(message.find("after 4 of 4 lower_sweeps the error is "), std::string::npos) << message;
        EXPECT_NE(message.find("struct_ilu"), std::string::npos) << message;
        EXPECT_NE(set_up(mild, 40, mode).find("after 18 of 40"), std::string::npos) << set_up(mild, 40, mode);
        EXPECT_EQ(set_up(line(context, 12, 1.0, -3.0), 12, mode), "");  // exact, with as many sweeps as levels
        EXPECT_NE(set_up(line(context, 40, 1e-160, 1e140), 5, mode).find("after 1 of 5"), std::string::npos);
    }
}

TEST(JacobiSweeps, ThatDivergeAreReported) {
    expect_divergence_reported(Context::cpu(1));
}
TEST_F(SweepsOnDevice, ThatDivergeAreReported) {
    expect_divergence_reported(Context::cuda());
}

void expect_memory_predicted(const Context& context, const std::string& storage = "double") {
    for (const char* stencil : {"star7", "box27"})
        for (MatrixStorage matrix : storages)
            for (const char* mode : {"sync", "block_async"}) {
                const System system(context, {stencil, 2, 0, {17, 9, 5}, LayoutKind::natural, matrix});
                const Settings settings{{"mode", mode}, {"storage", storage}};
                SCOPED_TRACE(std::string(stencil) + " " + mode);
                const PreconditionerPlan plan = expect_held_as_planned("jacobi_sweeps", system.a, settings);
                EXPECT_EQ(plan.space.layout().kind(), LayoutKind::natural);
            }
}

TEST(JacobiSweeps, HoldWhatIsPredicted) {
    for (const char* storage : {"double", "single", "half_scaled"}) {
        SCOPED_TRACE(storage);
        expect_memory_predicted(Context::cpu(1), storage);
    }
}
TEST_F(SweepsOnDevice, HoldWhatIsPredicted) {
    for (const char* storage : {"double", "single", "half_scaled"}) {
        SCOPED_TRACE(storage);
        expect_memory_predicted(Context::cuda(), storage);
    }
}

TEST(JacobiSweeps, RefuseWhatMeansNothing) {
    const System system(Context::cpu(1), {"star7", 1, 0, {5, 4, 3}, LayoutKind::natural, MatrixStorage::full});
    expect_refused("jacobi_sweeps", system.a, {{"lower_sweeps", "0"}},
                   "preconditioner.lower_sweeps: 0 is out of range");
    expect_refused("jacobi_sweeps", system.a, {{"mode", "async"}},
                   "preconditioner.mode: 'async' is none of sync | block_async");
}
TEST(JacobiSweeps, HaveAnOrderOfBlocksThatMeansNothingToSynchronousOnes) {
    EXPECT_EQ(unmet("jacobi_sweeps", {}, "block_order"), "mode = block_async");
    EXPECT_EQ(unmet("jacobi_sweeps", {{"mode", "block_async"}}, "block_order"), "");
}

TEST(JacobiSweeps, ReportPivotsUnderTheirOwnName) {
    StructMatrix a = line(Context::cpu(1), 5, 1.0, -1.0);
    a.values(a.stencil().diagonal())[3] = 0.0;
    try {
        make("jacobi_sweeps", a)->setup(a);
        ADD_FAILURE() << "accepted";
    } catch (const SetupError& error) {
        EXPECT_EQ(std::string(error.what()).find("jacobi_sweeps: the pivot at cell (3,0,0)"), 0u) << error.what();
    }
}

TEST(JacobiSweeps, TakeTheShiftThatAProblemSuggests) {
    const System system(Context::cpu(1), {"star7", 2, 0, {5, 4, 3}, LayoutKind::natural, MatrixStorage::full});
    for (const auto& [shift, used] : {std::pair{"auto", 0.25}, {"0.125", 0.125}}) {
        const auto m = make("jacobi_sweeps", system.a, {{"shift", shift}});
        m->suggest_shift(0.25);
        EXPECT_EQ(m->setup(system.a).shift, used);
    }
}

}  // namespace
}  // namespace hyperplane
