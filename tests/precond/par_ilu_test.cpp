// SPDX-License-Identifier: BSD-3-Clause
// par_ilu on both backends: sweeps compared with the reference's, their limit, refusals.
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "precond/bad_pivots.hpp"
#include "precond/par_ilu/sweeps.hpp"
#include "precond/par_ilu_cases.hpp"
#include "precond/triangular/jacobi/sweeps.hpp"
#include "reference/jacobi_sweeps.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::relative_difference;

using Case = SweptCase;
using System = ParIluSystem;

void expect_sweeps_of_reference(const Context& context, const Case& c) {
    const System system(context, c);
    for (int sweeps : {1, 2, 5}) {
        const auto m = system.set_up(sweeps);
        EXPECT_TRUE(m->traits().fixed);
        EXPECT_EQ(m->traits().symmetric, c.storage == MatrixStorage::lower);
        const auto expected = reference::apply_inverse(system.swept(sweeps), system.r);
        EXPECT_LT(relative_difference(system.applied(*m), expected), 1e-13) << sweeps;
    }
    const reference::BlockIlu shifted = system.swept(3, 0.25);
    const auto y = reference::jacobi_sweeps(shifted, true, 3, system.r);
    const auto m = system.set_up(
        3, {{"shift", "0.25"}, {"triangular_solve", "jacobi"}, {"lower_sweeps", "3"}, {"upper_sweeps", "2"}});
    EXPECT_LT(relative_difference(system.applied(*m), reference::jacobi_sweeps(shifted, false, 2, y)), 1e-13);
}

void expect_limit(const Context& context, const Case& c) {
    const System system(context, c);
    const auto expected = reference::apply_inverse(reference_ilu(system.data, c.stencil, c.fill_level), system.r);
    for (const char* mode : {"sync", "async"})
        EXPECT_LT(relative_difference(system.applied(*system.set_up(60, {{"mode", mode}})), expected), 1e-13) << mode;
}

class ParIluTest : public testing::TestWithParam<Case> {};
class ParIluOnDevice : public DeviceTest, public testing::WithParamInterface<Case> {};

TEST_P(ParIluTest, SweepsAreThoseOfTheReference) {
    expect_sweeps_of_reference(Context::cpu(1), GetParam());
}
TEST_P(ParIluOnDevice, SweepsAreThoseOfTheReference) {
    expect_sweeps_of_reference(Context::cuda(), GetParam());
}
TEST_P(ParIluTest, ManySweepsGiveExactFactors) {
    expect_limit(Context::cpu(1), GetParam());
}
TEST_P(ParIluOnDevice, ManySweepsGiveExactFactors) {
    expect_limit(Context::cuda(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, ParIluTest, testing::ValuesIn(swept_cases(2)), name_of);

INSTANTIATE_TEST_SUITE_P(All, ParIluOnDevice, testing::ValuesIn(par_ilu_device_cases()), name_of);

class SweptFactorsOnDevice : public DeviceTest {};

struct LargeSystem {
    std::string stencil;
    int dof;
    MatrixStorage storage;
    Grid grid;
};

std::vector<LargeSystem> large_systems() {
    using enum MatrixStorage;
    // Where blocks are loaded row by row, a multiprocessor processes 16 points at a time, so smaller grids are enough.
    const Grid large{47, 35, 19}, by_rows{23, 21, 17};
    Grid periodic = by_rows;
    periodic.periodic = {true, true, true};
    return {{"star7", 1, full, large},       {"box27", 1, full, large},   {"box27", 2, lower, large},
            {"box27", 4, full, large},       {"star7", 5, lower, large},  {"diamond13", 8, full, large},
            {"box27", 6, lower, by_rows},    {"box27", 8, full, by_rows}, {"box27", 6, full, periodic},
            {"diamond25", 6, full, by_rows}, {"star7", 6, full, large},   {"star13", 8, full, by_rows},
            {"diamond13", 6, full, by_rows}};
}

class LargeSweptFactorsOnDevice : public DeviceTest, public testing::WithParamInterface<LargeSystem> {};

/// Grids with more points than a GPU processes at a time; repeated set-ups give the same bits.
TEST_P(LargeSweptFactorsOnDevice, EqualTheHosts) {
    const auto& [stencil, dof, storage, grid] = GetParam();
    const Stencil offsets = Stencil::by_name(stencil);
    const StructMatrix here =
        random_struct_matrix(Layout(LayoutKind::hyperplane, grid, offsets.level_map()), offsets, dof, storage, 3);
    const StructMatrix there = in_context(Context::cuda(), here);
    const auto expected = make("par_ilu", here), m = make("par_ilu", there);
    expected->setup(here);
    const std::vector<double> r = reference::Random(6).vector(int(here.unknowns()));
    const Vector in = to_vector(there.context(), there.layout(), dof, r);
    std::vector<double> first;
    for (int repeat = 0; repeat < 5; ++repeat) {
        m->setup(there);
        Vector z = poisoned(there.context(), there.layout(), dof);
        m->apply(in, z);
        if (repeat == 0) first = from_vector(z);
        ASSERT_EQ(relative_difference(from_vector(z), first), 0.0);
    }
    EXPECT_LT(relative_difference(first, apply(*expected, here, r)), 1e-13);
}
INSTANTIATE_TEST_SUITE_P(All, LargeSweptFactorsOnDevice, testing::ValuesIn(large_systems()), [](const auto& info) {
    const LargeSystem& c = info.param;
    return c.stencil + "_dof" + std::to_string(c.dof) + (c.grid.any_periodic() ? "_periodic" : "");
});

/// A block that no elimination changes is read once and not written: for star7 all but D, for box27 (-1,-1,-1) and
/// (1,1,1).
TEST(ParIlu, CountsTheFewestBytesOfASweep) {
    for (const auto& [stencil, dof, storage, blocks] : {std::tuple{"star7", 1, MatrixStorage::full, 6 + 3},
                                                        {"star7", 2, MatrixStorage::lower, 3 + 3},
                                                        {"box27", 1, MatrixStorage::full, 27 + 2 * 25}}) {
        const System system(Context::cpu(1), {stencil, dof, 0, {5, 4, 3}, LayoutKind::natural, storage});
        EXPECT_EQ(system.set_up(1)->sweeps().bytes_of_setup_sweep, blocks * dof * dof * 60 * 8) << stencil;
    }
}

TEST(ParIlu, SetsUpWithAnotherNumberOfSweeps) {
    const System system(Context::cpu(1), {"star7", 2, 0, {5, 4, 3}, LayoutKind::natural, MatrixStorage::full});
    for (const char* triangular_solve : {"exact", "jacobi"}) {
        const Settings more{{"triangular_solve", triangular_solve}};
        const auto m = system.set_up(1, more);
        const auto once = system.applied(*m), expected = system.applied(*system.set_up(3, more));
        m->set_setup_sweeps(3);
        m->setup(system.a);
        EXPECT_EQ(m->sweeps().setup, 3);
        EXPECT_EQ(system.applied(*m), expected) << triangular_solve;
        EXPECT_NE(once, expected) << triangular_solve;
    }
}

TEST(ParIlu, HasTheSameBitsForAnyNumberOfThreads) {
    for (const char* stencil : {"star7", "box27"})
        for (LayoutKind kind : layout_kinds) {
            const System system(Context::cpu(1), {stencil, 2, 0, {17, 9, 5}, kind, MatrixStorage::full});
            expect_same_bits_for_any_threads(system.a.context(), [&] { return system.applied(*system.set_up(3)); });
        }
}

std::string refusal(const StructMatrix& a, const Settings& settings) {
    try {
        make("par_ilu", a, settings)->setup(a);
    } catch (const SetupError& error) {
        return error.what();
    }
    return "";
}

void expect_pivots_told(const Context& context) {
    const auto matrix = [&](const StencilMatrix& data, MatrixStorage storage) {
        return in_context(context,
                          reference::to_struct_matrix(context.host(), layout_for(LayoutKind::natural, data, "star7", 1),
                                                      data, storage));
    };
    for (int dof : {1, 3})
        for (const char* level : {"0", "1"})
            for (MatrixStorage storage : storages) {
                const auto zero = matrix(with_block("star7", diagonal_block(dof, 0.0)), storage);
                const std::string message = refusal(zero, {{"fill_level", level}});
                EXPECT_NE(message.find("par_ilu: the pivot at cell (3,2,1), component " + std::to_string(dof - 1)),
                          std::string::npos)
                    << message;
                EXPECT_NE(message.find("(1 such pivot in all)"), std::string::npos) << message;
                EXPECT_NE(message.find("struct_ilu factors exactly"), std::string::npos) << message;
                const auto nan = matrix(with_block("star7", diagonal_block(dof, NAN)), storage);
                EXPECT_NE(refusal(nan, {{"fill_level", level}, {"pivot_policy", "shift"}}).find("not a finite number"),
                          std::string::npos);
                // The pivot d - c^2 = 1e-6 after the first sweep can be used; 2^-50 only after the diagonal is shifted.
                const auto small = matrix(with_pair("star7", dof, 1.0, 1.0 + 1e-6), storage);
                const auto m = make("par_ilu", small, {{"fill_level", level}});
                const SetupReport report = m->setup(small);
                EXPECT_NEAR(report.smallest_pivot_ratio, 1e-6, 1e-9);
                EXPECT_EQ(report.smallest_pivot_cell, (Int3{3, 2, 1}));
                const auto tiny = matrix(with_pair("star7", dof, 1.0, 1.0 + 0x1p-50), storage);
                EXPECT_NE(refusal(tiny, {{"fill_level", level}}), "");
                EXPECT_GT(make("par_ilu", tiny, {{"fill_level", level}, {"pivot_policy", "shift"}})->setup(tiny).shift,
                          0.0);
            }
}

TEST(ParIlu, ReportsPivotsThatCannotBeUsed) {
    expect_pivots_told(Context::cpu(1));
}
TEST_F(SweptFactorsOnDevice, ReportPivotsThatCannotBeUsed) {
    expect_pivots_told(Context::cuda());
}

void expect_memory_predicted(const Context& context) {
    for (const char* stencil : {"star7", "box27"})
        for (MatrixStorage storage : storages)
            for (const auto& [solve, mode, dof] : {std::tuple{"exact", "sync", 2},
                                                   {"jacobi", "sync", 2},
                                                   {"exact", "async", 2},
                                                   {"exact", "async", 9}}) {
                const System system(context, {stencil, dof, 0, {17, 9, 5}, LayoutKind::natural, storage});
                const Settings settings{{"triangular_solve", solve}, {"mode", mode}};
                SCOPED_TRACE(std::string(stencil) + " " + solve + mode);
                expect_held_as_planned("par_ilu", system.a, settings);
            }
}

TEST(ParIlu, HoldsWhatIsPredicted) {
    expect_memory_predicted(Context::cpu(1));
}
TEST_F(SweptFactorsOnDevice, HoldWhatIsPredicted) {
    expect_memory_predicted(Context::cuda());
}

TEST(ParIlu, RefusesWhatMeansNothing) {
    const System system(Context::cpu(1), {"star7", 1, 0, {5, 4, 3}, LayoutKind::natural, MatrixStorage::full});
    expect_refused("par_ilu", system.a, {{"sweeps", "0"}}, "preconditioner.sweeps: 0 is out of range");
    expect_refused("par_ilu", system.a, {{"pivot_policy", "boost"}},
                   "preconditioner.pivot_policy: on a grid, par_ilu boosts no pivots");
    expect_refused("par_ilu", system.a, {{"mode", "block_async"}},
                   "preconditioner.mode: 'block_async' is none of sync | async");
}

TEST(ParIlu, TakesTheShiftThatAProblemSuggests) {
    const System system(Context::cpu(1), {"star7", 2, 0, {5, 4, 3}, LayoutKind::natural, MatrixStorage::full});
    for (const auto& [shift, used] : {std::pair{"auto", 0.25}, {"0.125", 0.125}}) {
        const auto m = make("par_ilu", system.a, {{"shift", shift}, {"triangular_solve", "jacobi"}});
        m->suggest_shift(0.25);
        EXPECT_EQ(m->setup(system.a).shift, used);
    }
}

/// Jacobi sweeps on factors as GPU kernels store them: M = (I + W) D (I + G), with contiguous blocks.
TEST(ParIlu, SweepsOnUnitTrianglesWithBlocksTogether) {
    const Context context = Context::cpu(1);
    for (const char* stencil : {"star7", "box27", "scattered11"})
        for (int dof : {1, 2, 3, 8, 9})
            for (LayoutKind kind : layout_kinds)
                for (MatrixStorage storage : storages) {
                    SCOPED_TRACE(std::string(stencil) + " " + std::to_string(dof) + " " + to_string(kind));
                    const System system(context, {stencil, dof, 0, {7, 4, 3}, kind, storage});
                    const StructMatrix& a = system.a;
                    const Stencil& s = a.stencil();
                    const Index block = dof * dof, slots = a.layout().slots();
                    Buffer<double> result(context, "test", s.size() * slots * block),
                        spare(context, "test", s.size() * slots * block);
                    const auto target = [&](Buffer<double>& x) {
                        const BlockView triangles{x.data(), slots * block, block, dof, 1};
                        BlockView inverse = triangles;
                        inverse.values += s.diagonal() * slots * block;
                        return FactorTarget{triangles, inverse};
                    };
                    FactorSweeps factorisation(context, {a.layout(), s, s, dof, a.symmetric(), false});
                    PivotInverter inverter({}, a.grid(), dof, a.symmetric());
                    factorisation.run(a, target(result), target(spare), 4, FactorSweepMode::sync, 0.0, {}, inverter);
                    EXPECT_EQ(inverter.failures(), 0);
                    factorisation.make_unit(target(result));

                    const Buffer<Int3> offsets = copied_to(context, "test", s.offsets());
                    const FactorView factors{a.layout(),
                                             target(result).triangles,
                                             target(result).inverse,
                                             offsets.data(),
                                             s.lower_size(),
                                             a.symmetric(),
                                             true};
                    const Vector r = to_vector(context, a.layout(), dof, system.r);
                    Vector z = poisoned(context, a.layout(), dof);
                    const reference::BlockIlu swept = system.swept(4);
                    for (const auto& [lower, upper] : {std::pair{1, 1}, {3, 2}, {2, 4}}) {
                        TriangleSweeps(context, {a.layout(), s.offsets(), dof, a.symmetric(), true}, {lower, upper})
                            .apply(factors, r, z);
                        const auto y = reference::jacobi_sweeps(swept, true, lower, system.r);
                        EXPECT_LT(relative_difference(from_vector(z), reference::jacobi_sweeps(swept, false, upper, y)),
                                  1e-13);
                    }
                    TriangleSweeps(context, {a.layout(), s.offsets(), dof, a.symmetric(), true},
                                   {40, 40, SweepMode::block_async})
                        .apply(factors, r, z);
                    EXPECT_LT(relative_difference(from_vector(z), reference::apply_inverse(swept, system.r)), 1e-13);
                }
}

/// For star7 with 6 and -1, a sweep replaces the pivot d by 6 - 3 / d, whose derivative at the fixed point 3 + sqrt(6)
/// is 0.1; after five sweeps the error is too small to affect iteration counts.
TEST(ParIlu, ErrorForPoissonFallsTenfoldWithEachSweep) {
    StructMatrix a(Context::cpu(1), Layout(LayoutKind::natural, {17, 19, 21}, {1, 1}), Stencil::star7(), 1);
    for (Index row = 0; row < a.grid().points(); ++row)
        for (int e = 0; e < a.stencil().size(); ++e)
            if (a.grid().contains(a.grid().point(row) + a.stencil()[e]))
                a.values(e)[row] = e == a.stencil().diagonal() ? 6.0 : -1.0;
    const std::vector<double> r = reference::Random(5).vector(int(a.unknowns()));
    const auto applied = [&](const std::string& name, const Settings& settings) {
        const auto m = make(name, a, settings);
        m->setup(a);
        return testing_support::apply(*m, a, r);
    };
    const std::vector<double> exact = applied("struct_ilu", {});
    double before = 1.0;
    for (int sweeps = 1; sweeps <= 6; ++sweeps) {
        const double error = relative_difference(applied("par_ilu", {{"sweeps", std::to_string(sweeps)}}), exact);
        EXPECT_LT(error, 0.15 * before) << sweeps;
        EXPECT_GT(error, 0.0) << sweeps;
        before = error;
    }
    EXPECT_LT(before, 1e-6);
}

}  // namespace
}  // namespace hyperplane
