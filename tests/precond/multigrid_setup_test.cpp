// SPDX-License-Identifier: BSD-3-Clause
// Set-ups of multigrid: memory, damping, and what is refused.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "precond/multigrid/examined_row.hpp"
#include "precond/multigrid/smoother_plan.hpp"
#include "precond/multigrid_cases.hpp"
#include "precond/support.hpp"
#include "reference/multigrid.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using reference::StencilMatrix;

TEST(MultigridSetup, TellsRowsOfMMatricesAndJumpsFromTheirCoefficients) {
    const auto examined = [](const std::array<double, 5>& row) {
        multigrid::ExaminedRow<5> of;
        for (int e = 0; e < 5; ++e) of.add(e, row[std::size_t(e)]);
        return of;
    };
    EXPECT_FALSE(examined({-1, -2, 6, -2, -1}).is_other());
    EXPECT_FALSE(examined({-1, -2, 6, -2, -1}).jumps());
    EXPECT_FALSE(examined({-1, -2, 6.0 * (1.0 - 1e-13), -2, -1}).is_other()) << "rounding";
    EXPECT_TRUE(examined({-1, -2, 5.9, -2, -1}).is_other()) << "the sum is negative";
    EXPECT_TRUE(examined({-1, 0.1, 6, -2, -1}).is_other()) << "a coupling is positive";
    EXPECT_TRUE(examined({-1, -2, 6, -2, 0.1}).is_other()) << "a coupling is positive";
    EXPECT_TRUE(examined({std::nan(""), -2, 6, -2, -1}).is_other());
    EXPECT_TRUE(examined({-11, -2, 20, -2, -1}).jumps());
    EXPECT_TRUE(examined({-1, -2, 30, -21, -1}).jumps());
    EXPECT_FALSE(examined({-10, -2, 20, -2, -1}).jumps());
    EXPECT_FALSE(examined({-11, 0, 20, -2, 0}).jumps()) << "a neighbour is missing";
}

TEST(MultigridSetup, HoldsWhatIsPlannedWhereAllAxesAreCoarsened) {
    for (const char* smoother :
         {"struct_ilu", "jacobi", "chebyshev", "multicolor", "single", "coarse", "coarsest", "w", "f"})
        for (const int dof : {1, 3})
            for (const Box& box : {Box{17, 15, 13}, Box{16, 9, 1}}) {
                SCOPED_TRACE(std::string(smoother) + " dof " + std::to_string(dof) + " " + name_of(box));
                const StructMatrix a = random_system(Context::cpu(1), "star7", box, dof, true);
                const Parameters keys =
                    smoother == std::string("w") || smoother == std::string("f")
                        ? multigrid_keys({{"strength", "0"}, {"cycle", smoother}, {"coarsest_points", "12"}})
                    : smoother == std::string("single")
                        ? multigrid_keys({{"strength", "0"}, {"storage", "single"}, {"storage_from", "1"}})
                    : smoother == std::string("coarsest") ? multigrid_keys({{"strength", "0"}, {"coarsest", "jacobi"}})
                    : smoother == std::string("coarse")
                        ? multigrid_keys({{"strength", "0"}, {"coarse_smoother", "multicolor"}})
                        : multigrid_keys({{"strength", "0"}}, smoother);
                const auto [plan, m, report, held, peak] = set_up_watched(a, keys);
                EXPECT_LE(report.factor_bytes, held);
                EXPECT_GE(double(report.factor_bytes), 0.7 * double(held));
                EXPECT_NEAR(double(plan.bytes), double(held), 0.02 * double(held));
                EXPECT_LE(peak, Index(1.02 * double(plan.bytes + plan.setup_bytes)));
                EXPECT_NEAR(double(plan.bytes_per_apply), double(m->bytes_per_apply()),
                            0.1 * double(plan.bytes_per_apply));
                const Index after_first = a.context().ledger().held();
                m->setup(a);
                EXPECT_EQ(a.context().ledger().held(), after_first);
            }
}

TEST(MultigridSetup, RefusesWhatItCannotDo) {
    const StructMatrix a = random_system(Context::cpu(1), "star7", {33, 33, 33}, 1, true);
    expect_error<UsageError>(
        [&] {
            make_multigrid(a, multigrid_keys({{"pre_smoothing", "0"}, {"post_smoothing", "0"}}));
        },
        "a cycle without smoothing");
    const auto plan = [&](const Settings& settings) {
        find_preconditioner("multigrid").plan(multigrid_keys(settings), setting_of(a));
    };
    expect_error<UsageError>([&] { plan({{"grids", "2"}}); }, "the coarsest grid has 17 x 17 x 17 points");
    plan({{"grids", "2"}, {"coarsest", "jacobi"}});
    expect_error<UsageError>([&] { make_multigrid(a, multigrid_keys({{"grids", "2"}}))->setup(a); }, "at most 4096");
    Parameters nested = multigrid_keys({});
    nested.set("smoother", "name", "multigrid");
    expect_error<UsageError>([&] { make_multigrid(a, nested); }, "no smoother is called 'multigrid'");
}

TEST(MultigridSetup, NamesTheKeysOfSmoothersAsTheDeckDoes) {
    const PreconditionerRow& row = find_preconditioner("struct_ilu");
    Parameters given = multigrid_keys({});
    const std::string message = "Set preconditioner.fill_level, preconditioner.storage or another preconditioner.";
    EXPECT_EQ(multigrid::SmootherPlan(row, given).worded(message),
              "Set smoother.fill_level, preconditioner.storage or another preconditioner.");
    given.set("smoother", "storage", "single", {Provenance::Source::deck, "a.ini", 3});
    EXPECT_EQ(multigrid::SmootherPlan(row, given).worded(message),
              "Set smoother.fill_level, smoother.storage or another preconditioner.");
    EXPECT_EQ(multigrid::SmootherPlan(row, given)
                  .worded("preconditioner.ini:3: preconditioner.shift: of my.preconditioner.x"),
              "preconditioner.ini:3: smoother.shift: of my.preconditioner.x");
    const multigrid::SmootherPlan coarse(row);
    EXPECT_EQ(coarse.worded("Use preconditioner.name = x."), "Use preconditioner.coarse_smoother = x.");
    EXPECT_EQ(coarse.worded("preconditioner.coarse_smoother = x"), "preconditioner.coarse_smoother = x");
    EXPECT_EQ(coarse.worded(message),
              "Set smoother.fill_level, preconditioner.storage or another preconditioner. Coarse grids take the keys "
              "of [smoother] with smoother.name = struct_ilu and preconditioner.coarse_smoother = same.");
}

TEST(MultigridSetup, SaysWhereStorageFromHasNoEffect) {
    // 9, 5, 3 and 2 points a side where all axes are coarsened, and 9 grids from 729 points on to 12 one axis at a
    // time.
    const StructMatrix a = laplacian(Context::cpu(1), {9, 9, 9}, {1.0, 1.0, 1.0}, 0.0, true);
    const auto warning = [&](const char* from, const char* vectors, const char* coarsest) {
        return make_multigrid(
                   a,
                   multigrid_keys(
                       {{"storage", "single"}, {"storage_from", from}, {"vectors", vectors}, {"coarsest", coarsest}}))
            ->setup(a)
            .warning;
    };
    EXPECT_EQ(warning("2", "double", "dense"), "");
    EXPECT_EQ(
        warning("3", "double", "dense"),
        "preconditioner.storage_from = 3 has no effect: the values of this matrix lead to 4 grids, and the last one "
        "is solved in double precision; set it to 2 or less");
    EXPECT_NE(warning("3", "double", "jacobi"), "");
    EXPECT_EQ(warning("3", "single", "dense"), "");
    EXPECT_EQ(
        warning("4", "single", "dense"),
        "preconditioner.storage_from = 4 has no effect: the values of this matrix lead to 4 grids; set it to 3 or "
        "less");
    EXPECT_NE(warning("7", "double", "dense"), "");
    EXPECT_NE(warning("8", "single", "dense"), "");
    const auto plan = [&](const Settings& settings) {
        find_preconditioner("multigrid").plan(multigrid_keys(settings), setting_of(a));
    };
    const Settings single{{"storage", "single"}};
    const auto with = [&](Settings more) {
        more.insert(more.end(), single.begin(), single.end());
        return more;
    };
    expect_error<UsageError>(
        [&] {
            plan(with({{"storage_from", "8"}}));
        },
        "has no effect: 9 x 9 x 9 points lead to at most 9 grids, and the last one is solved in "
        "double precision; set it to 7 or less");
    expect_error<UsageError>(
        [&] {
            plan(with({{"storage_from", "9"}, {"vectors", "single"}}));
        },
        "set it to 8 or less");
    expect_error<UsageError>([&] { plan(with({{"storage_from", "2"}, {"grids", "3"}})); }, "set it to 1 or less");
    expect_error<UsageError>([&] { plan(with({{"storage_from", "1"}, {"coarsest_points", "729"}})); }, "leave it out");
    // One grid: the key storage has no effect, and storage_from was not given.
    const auto one = make_multigrid(a, multigrid_keys({{"storage", "single"}, {"coarsest_points", "729"}}));
    EXPECT_EQ(one->setup(a).warning.substr(0, 42), "preconditioner.storage has no effect: the ");
}

TEST(MultigridSetup, PlansTheMemoryInWhichTheCoarsestMatrixIsInverted) {
    struct System {
        Box box;
        int dof;
        bool symmetric;
    };
    for (const auto& [box, dof, symmetric] :
         {System{{9, 8, 7}, 1, true}, System{{12, 11, 1}, 1, true}, System{{5, 4, 6}, 3, true},
          System{{9, 8, 7}, 1, false}, System{{9, 8, 7, {false, false, true}}, 1, true}}) {
        SCOPED_TRACE(name_of(box) + " dof " + std::to_string(dof) + (symmetric ? " symmetric" : ""));
        const StructMatrix a = random_system(Context::cpu(1), "star7", box, dof, symmetric);
        const Parameters keys = multigrid_keys({{"coarsest_points", "4096"}});
        const PreconditionerPlan plan = find_preconditioner("multigrid").plan(keys, setting_of(a));
        MemoryLedger& ledger = a.context().ledger();
        const Index before = ledger.held(), n = a.unknowns();
        const auto m = make_multigrid(a, keys);
        for (const char* which : {"first", "second"}) {
            SCOPED_TRACE(which);
            ledger.forget_peak();
            m->setup(a);
            EXPECT_EQ(ledger.held() - before, plan.bytes);
            EXPECT_NEAR(double(ledger.peak() - before), double(plan.bytes + plan.setup_bytes),
                        0.02 * double(plan.bytes));
        }
        // Beside the inverse: half of the matrix's band, or the panels of an elimination of all of it.
        const Index band =
            box.periodic[2] ? Index(box.nx) * box.ny * (box.nz - 1) : Index(box.nx) * (box.nz > 1 ? box.ny : 1) * dof;
        EXPECT_GE(plan.setup_bytes, symmetric ? n * band * Index(sizeof(double)) : 3 * 16 * n * Index(sizeof(double)));
        EXPECT_EQ(plan.host_bytes, 0);
    }
}

TEST(MultigridSetup, NamesTheKeyWhereTheCoarsestMatrixHasNoRoom) {
    const StructMatrix a = random_system(Context::cpu(1), "star7", {9, 8, 7}, 1, true);
    const auto m = make_multigrid(a, multigrid_keys({{"coarsest_points", "4096"}}));
    a.context().set_allocation_gate([](const std::string&, Index bytes) { return bytes < 504 * 504 * 8; });
    expect_error<OutOfMemory>(
        [&] { m->setup(a); },
        "multigrid: the coarsest grid, 9 x 8 x 7 points with 1 unknown each, is too large for the "
        "memory that is left: the inverse of its matrix takes 1.9 MiB. Lower "
        "preconditioner.coarsest_points");
    a.context().set_allocation_gate({});
}

TEST(MultigridSetup, EndsWithTheReasonWhereTheCoarsestMatrixIsSingular) {
    // Two halves that nothing couples, each without a value: two constants in the null space.
    StencilMatrix data{{4, 3, 2}, reference::stencil_named("star7").offsets, 1, {}};
    data.blocks.resize(data.box.points());
    for (int row = 0; row < data.box.points(); ++row) {
        data.blocks[row][{}] = reference::Dense(1, 1);
        for (const reference::Offset o : data.offsets) {
            const reference::Offset p = data.box.point(row), q = p + o;
            if (o == reference::Offset{} || !data.box.contains(q) || p.x / 2 != q.x / 2) continue;
            data.blocks[row][o] = reference::Dense(1, 1);
            data.blocks[row][o](0, 0) = -1.0;
            data.blocks[row][{}](0, 0) += 1.0;
        }
    }
    const StructMatrix a = reference::to_struct_matrix(
        Context::cpu(1), layout_for(LayoutKind::natural, data, "star7", 0), data, MatrixStorage::lower, "star7");
    const auto m = make_multigrid(a, multigrid_keys({{"coarsest_points", "100"}}));
    expect_error<SetupError>([&] { m->setup(a); },
                             "the matrix of the coarsest grid, 4 x 3 x 2 points, cannot be inverted");
    expect_error<SetupError>([&] { m->setup(a); }, "use preconditioner.coarsest = jacobi, or struct_ilu with gmres");
    EXPECT_NO_THROW(make_multigrid(a, multigrid_keys({{"coarsest_points", "100"}, {"coarsest", "jacobi"}}))->setup(a));
}

TEST(MultigridSetup, SaysOnWhichGridAPivotCannotBeUsed) {
    // With this mass all pivots of IC(0) are positive on the finest grid, but the diagonal of the next one is negative.
    const StructMatrix a = laplacian(Context::cpu(1), {9, 7, 5}, {1.0, 1.0, 1.0}, -1.5, true);
    EXPECT_EQ(make("struct_ilu", a, {{"pivot_policy", "fail"}})->setup(a).pivots_modified, 0);
    const auto set_up = [&](const Settings& settings) {
        return make_multigrid(a, multigrid_keys({{"grids", "3"}, {"damping", "1"}}, "struct_ilu", settings))->setup(a);
    };
    expect_error<SetupError>(
        [&] {
            set_up({{"pivot_policy", "fail"}});
        },
        "multigrid: the smoother of grid 1, 5 x 4 x 3 points: struct_ilu: the pivot at cell (");
    // Counts and shifts of all grids are in one report, with the points of grid 0 that coarse points coincide with.
    const SetupReport boosted = set_up({});
    EXPECT_GT(boosted.pivots_modified, 0);
    ASSERT_FALSE(boosted.modified.empty());
    for (const PivotEvent& event : boosted.modified) {
        EXPECT_TRUE(a.grid().contains(event.cell));
        EXPECT_TRUE(event.cell.x % 2 == 0 && event.cell.y % 2 == 0 && event.cell.z % 2 == 0);
    }
    EXPECT_TRUE(std::any_of(boosted.modified.begin(), boosted.modified.end(), [](const PivotEvent& event) {
        return event.cell.x > 4;
    })) << "no coarse point was given as a fine one";
}

TEST(MultigridSetup, ShiftsOrDampsWhatIsTooLarge) {
    const StructMatrix a = laplacian(Context::cpu(1), {17, 9, 11}, {1.0, 1.0, 1.0}, 0.0, true);
    const auto m = make_multigrid(a, multigrid_keys({}, "none"));
    m->setup(a);
    const auto& h = dynamic_cast<const Multigrid&>(*m).hierarchy();
    EXPECT_GT(h[0].smoother.lambda(), 8.0);
    EXPECT_NEAR(h[0].smoother.omega(), 1.7 / h[0].smoother.lambda(), 1e-12);
    const auto damped = make_multigrid(a, multigrid_keys({{"damping", "0.25"}}, "none"));
    damped->setup(a);
    EXPECT_EQ(dynamic_cast<const Multigrid&>(*damped).hierarchy()[0].smoother.omega(), 0.25);
}

TEST(MultigridSetup, DampsFactorisationsOfMMatricesWhereCoefficientsJump) {
    const auto omega = [](const Box& box, std::array<double, 3> coupling, double contrast, LayoutKind kind) {
        const StructMatrix natural = laplacian(Context::cpu(), box, coupling, 0.1, true, contrast);
        StructMatrix a(natural.context(), Layout(kind, natural.grid(), natural.layout().levels()), natural.stencil(), 1,
                       natural.storage(), "test");
        a.assign(natural.to_csr());
        const SeveralThreads several(a.context(), 2);
        const auto m = make_multigrid(a, multigrid_keys({}));
        m->setup(a);
        const multigrid::Smoother& smoother = dynamic_cast<const Multigrid&>(*m).hierarchy()[0].smoother;
        EXPECT_EQ(smoother.lambda(), 0.0) << "no power method";
        return smoother.omega();
    };
    for (const LayoutKind kind : layout_kinds)
        for (const Box& box : {Box{17, 9, 11}, Box{13, 12, 1}, Box{12, 7, 6, {true, false, true}}}) {
            SCOPED_TRACE(name_of(box));
            for (const double contrast : {1.0, 9.9, 1 / 9.9})
                EXPECT_EQ(omega(box, {1.0, 1.0, 30.0}, contrast, kind), 1.0) << contrast;
            for (const double contrast : {10.1, 1 / 10.1, 1e6})
                EXPECT_EQ(omega(box, {1.0, 1.0, 30.0}, contrast, kind), 0.95) << contrast;
        }
}

}  // namespace
}  // namespace hyperplane
