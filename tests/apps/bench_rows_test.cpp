// SPDX-License-Identifier: BSD-3-Clause
// The checks of bench: they accept right results and detect one wrong value.
#include "apps/bench/rows.hpp"
#include "precond/checks/applications.hpp"

#include <gtest/gtest.h>

#include "apps/bench/cases.hpp"
#include "core/error.hpp"
#include "precond/struct_ilu/struct_ilu.hpp"

namespace hyperplane {
namespace {

struct System {
    Context context = Context::cpu(1);
    StructMatrix a;
    Vector x, y, z;
    IluPreconditioner ilu;

    System(LayoutKind kind, const Stencil& stencil, int dof, MatrixStorage storage)
        : a(context, Layout(kind, {7, 5, 4}, stencil.level_map()), stencil, dof, storage),
          x(context, a.layout(), dof, "x"),
          y(context, a.layout(), dof, "y"),
          z(context, a.layout(), dof, "z"),
          ilu(std::move(*make_struct_ilu(context))) {
        fill_random(a);
        fill_random(x, 1);
        ilu.setup(a);
    }
    FactorView factors() const { return ilu.factors().view(a.stencil().offsets().data()); }
    /// Changes one value in the middle.
    static void spoil(Vector& v) { v.data()[v.size() / 2] *= 1.0 + 1e-6; }
};

class BenchChecks : public ::testing::TestWithParam<std::tuple<LayoutKind, MatrixStorage, int>> {};

TEST_P(BenchChecks, PassWhatIsRightAndSeeOneWrongValue) {
    const auto [kind, storage, dof] = GetParam();
    for (const Stencil& stencil : {Stencil::star7(), Stencil::diamond13(), Stencil::box27()}) {
        SCOPED_TRACE(stencil.name());
        System s(kind, stencil, dof, storage);
        constexpr double right = 1e-13, wrong = 1e-10;
        s.a.apply(s.x, s.y);
        EXPECT_LE(spmv_error(s.a, s.x, s.y), right);
        System::spoil(s.y);
        EXPECT_GE(spmv_error(s.a, s.x, s.y), wrong);

        s.ilu.lower_solve(s.x, s.y);
        EXPECT_LE(lower_error(s.factors(), s.x, s.y), right);
        transfer(s.y, s.z);
        s.ilu.upper_solve(s.z);
        EXPECT_LE(upper_error(s.factors(), s.y, s.z), right);
        EXPECT_EQ(largest_difference(s.context, s.z, s.z), 0.0);
        System::spoil(s.z);
        EXPECT_GE(upper_error(s.factors(), s.y, s.z), wrong);
        System::spoil(s.y);
        EXPECT_GE(lower_error(s.factors(), s.x, s.y), wrong);

        EXPECT_LE(factor_error(s.a, s.factors()), 1e-12);
        StructMatrix spoilt(s.context, s.ilu.factors().pivots().layout(), s.ilu.factors().pivots().stencil(), dof,
                            s.ilu.factors().pivots().storage());
        spoilt.assign(s.ilu.factors().pivots());
        spoilt.values(s.ilu.factors().pivot_entry(), dof - 1, 0)[spoilt.layout().slots() / 2] += 1e-6;
        FactorView factors = s.factors();
        factors.inverse = block_view(spoilt, s.ilu.factors().pivot_entry());
        EXPECT_GE(factor_error(s.a, factors), wrong);
    }
}

/// The factors in the form M = (I + W) D (I + G), with contiguous blocks.
StructMatrix in_unit_form(const System& s) {
    const StructMatrix &t = s.ilu.factors().triangles(), &d = s.ilu.factors().pivots();
    const int m = t.dof(), diagonal = t.stencil().diagonal();
    StructMatrix unit(s.context, d.layout(), t.stencil(), m, t.storage());
    const Index slots = t.layout().slots();
    for (Index slot = 0; slot < slots; ++slot)
        for (int e = 0; e < t.stored_entries(); ++e) {
            const Int3 p = t.layout().point(slot), there = p + t.stencil()[e];
            if (!t.grid().contains(there)) continue;
            for (int r = 0; r < m; ++r)
                for (int c = 0; c < m; ++c) {
                    double value = 0.0;
                    for (int q = 0; q < m; ++q)
                        value += e < diagonal ? t.at(p, e, r, q) * d.at(there, s.ilu.factors().pivot_entry(), q, c)
                                              : d.at(p, s.ilu.factors().pivot_entry(), r, q) * t.at(p, e, q, c);
                    if (e == diagonal) value = d.at(p, s.ilu.factors().pivot_entry(), r, c);
                    unit.values(0)[((e * slots + slot) * m + r) * m + c] = value;
                }
        }
    return unit;
}

TEST_P(BenchChecks, KnowUnitTriangularFactorsInBlocks) {
    const auto [kind, storage, dof] = GetParam();
    {
        System s(kind, Stencil::box27(), dof, storage);
        StructMatrix unit = in_unit_form(s);
        const ConstBlockView blocks = blocks_together(std::as_const(unit).values(0), unit.layout().slots(), dof);
        const int lower = unit.stencil().lower_size();
        const FactorView factors{unit.layout(),    blocks, blocks.entry(lower), unit.stencil().offsets().data(), lower,
                                 unit.symmetric(), true};
        EXPECT_LE(factor_error(s.a, factors), 1e-12);
        s.ilu.lower_solve(s.x, s.y);
        transfer(s.y, s.z);
        s.ilu.upper_solve(s.z);
        Vector unit_y(s.context, s.y.layout(), dof, "y");  // r - E y = D y
        for (Index slot = 0; slot < s.y.layout().slots(); ++slot) {
            const Int3 p = s.y.layout().point(slot);
            for (int r = 0; r < dof; ++r) {
                double value = s.x(p, r);
                for (int e = 0; e < unit.stencil().diagonal(); ++e)
                    if (unit.grid().contains(p + unit.stencil()[e]))
                        for (int c = 0; c < dof; ++c)
                            value -= s.ilu.factors().triangles().at(p, e, r, c) * s.y(p + unit.stencil()[e], c);
                unit_y(p, r) = value;
            }
        }
        EXPECT_LE(lower_error(factors, s.x, unit_y), 1e-12);
        EXPECT_LE(upper_error(factors, unit_y, s.z), 1e-12);
        EXPECT_GE(lower_error(factors, s.x, s.y), 1e-3);
        System::spoil(s.z);
        EXPECT_GE(upper_error(factors, unit_y, s.z), 1e-10);
        unit.values(0)[dof * dof * s.y.layout().slots() * unit.stencil().diagonal()] +=
            1e-6;  // D^-1 of the first point
        EXPECT_GE(factor_error(s.a, factors), 1e-10);
    }
}

TEST(BenchChecks, ANotANumberIsNeverSmall) {
    System s(LayoutKind::natural, Stencil::star7(), 1, MatrixStorage::full);
    s.a.apply(s.x, s.y);
    s.y.data()[3] = NAN;
    EXPECT_FALSE(spmv_error(s.a, s.x, s.y) <= 1.0);
    EXPECT_FALSE(largest_difference(s.context, s.y, s.x) <= 1.0);
}

INSTANTIATE_TEST_SUITE_P(Shapes, BenchChecks,
                         ::testing::Combine(::testing::Values(LayoutKind::natural, LayoutKind::hyperplane),
                                            ::testing::Values(MatrixStorage::full, MatrixStorage::lower),
                                            ::testing::Values(1, 3)));

TEST(BenchCases, AreReadFromWordsListsAndFiles) {
    EXPECT_EQ(parse_bench_cases("table3").size(), 25u);
    EXPECT_EQ(parse_bench_cases("table3").front().name(), "star7:1:512");
    EXPECT_EQ(parse_bench_cases("star7:2:9:sym, box27:1:5")[0].name(), "star7:2:9:sym");
    EXPECT_THROW(parse_bench_cases("star7:2"), UsageError);
    EXPECT_THROW(parse_bench_cases("star7:33:9"), UsageError);
    EXPECT_THROW(parse_bench_cases(" , "), UsageError);
}

}  // namespace
}  // namespace hyperplane
