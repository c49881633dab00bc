// SPDX-License-Identifier: BSD-3-Clause
// Pivots that cannot be used, at a known cell, under each pivot policy.
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "precond/bad_pivots.hpp"
#include "precond/factors/judged_inverse.hpp"
#include "precond/factors/pivot_rule.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Offset;
using reference::StencilMatrix;

/// [[2, 1], [6, 4]]: its pivots are 2 and 1, and A's diagonal is 8 and 4.
TEST(JudgedInverse, HasZerosWhereAPivotCannotBeUsed) {
    const double a[]{8.0, -9.0, 0.0, 4.0};
    const PivotRule rule{0.25, 0.0, 0};
    for (const bool gives_up : {false, true}) {
        double block[]{2.0, 1.0, 6.0, 4.0};
        int judged = 0;
        const double ratio = invert_judged(
            2, block, [&](int r, int c) { return a[2 * r + c]; }, rule,
            [&](int r, double pivot, double own, double scale) {
                EXPECT_EQ(r, judged++);
                EXPECT_EQ(std::tuple(pivot, own, scale), std::tuple(r == 0 ? 2.0 : 1.0, r == 0 ? 8.0 : 4.0, 9.0));
                return gives_up && !rule.accepts(pivot, own, rule.tolerance * scale) ? 0.0 : pivot;
            });
        EXPECT_EQ(ratio, 0.25);
        EXPECT_EQ(judged, gives_up ? 1 : 2);  // the first pivot is below 0.25 * 9, too
        const std::vector<double> expected =
            gives_up ? std::vector<double>(4, 0.0) : std::vector<double>{2.0, -0.5, -3.0, 1.0};
        EXPECT_EQ(std::vector<double>(block, block + 4), expected);
    }
}

struct Case {
    std::string stencil;
    int dof, fill_level;
    LayoutKind kind;
    MatrixStorage storage;
};

std::vector<Case> cases() {
    std::vector<Case> list;
    for (const char* stencil : {"star7", "box27"})
        for (int dof : {1, 3})
            for (int k : {0, 1})
                for (LayoutKind kind : layout_kinds)
                    for (MatrixStorage storage : storages) list.push_back({stencil, dof, k, kind, storage});
    return list;
}

class Pivots : public testing::TestWithParam<Case> {
protected:
    StructMatrix matrix(const StencilMatrix& data) const {
        const Layout layout = layout_for(GetParam().kind, data, stencil, GetParam().fill_level);
        return reference::to_struct_matrix(context, layout, data, GetParam().storage, stencil);
    }
    std::unique_ptr<Preconditioner> preconditioner(const StructMatrix& a, const std::string& policy) const {
        return make("struct_ilu", a, {{"fill_level", std::to_string(GetParam().fill_level)}, {"pivot_policy", policy}});
    }
    void expect_refusal(const StencilMatrix& data, const std::string& policy) const {
        const StructMatrix a = matrix(data);
        const auto m = preconditioner(a, policy);
        try {
            m->setup(a);
            ADD_FAILURE() << policy << " accepted it";
        } catch (const SetupError& error) {
            const std::string message = error.what();
            EXPECT_EQ(error.code(), ExitCode::preconditioner);
            EXPECT_NE(message.find("(3,2,1)"), std::string::npos) << message;
            EXPECT_GT(message.size(), 60u) << "says what to do: " << message;
        }
    }
    /// Sets up, expects `modified` modified pivots and finite results, and returns the report.
    SetupReport expect_mended(const StencilMatrix& data, const std::string& policy, Index modified) const {
        const StructMatrix a = matrix(data);
        const auto m = preconditioner(a, policy);
        const SetupReport report = m->setup(a);
        EXPECT_EQ(report.pivots_modified, modified);
        const std::vector<double> r = reference::Random(1).vector(int(a.unknowns()));
        for (double value : apply(*m, a, r)) EXPECT_TRUE(std::isfinite(value));
        return report;
    }
    /// Expects that M^-1 of `data` under `policy` equals the reference's for the matrix `equivalent`.
    void expect_equivalent(const StencilMatrix& data, const std::string& policy,
                           const StencilMatrix& equivalent) const {
        const StructMatrix a = matrix(data);
        const auto m = preconditioner(a, policy);
        m->setup(a);
        const std::vector<double> r = reference::Random(1).vector(int(a.unknowns()));
        const auto expected =
            reference::apply_inverse(reference_ilu(equivalent, GetParam().stencil, GetParam().fill_level), r);
        EXPECT_LT(reference::relative_difference(apply(*m, a, r), expected), 1e-11) << policy;
    }

    Context context = Context::cpu(1);
    int dof = GetParam().dof;
    std::string stencil = GetParam().stencil;
    /// A pivot below 1e-14: elimination of 1 from 1 + 2^-50 leaves exactly 2^-50.
    double tiny = 0x1p-50;
};

TEST_P(Pivots, AZeroNamesItsCell) {
    expect_refusal(with_block(stencil, diagonal_block(dof, 0.0)), "fail");
}

TEST_P(Pivots, ATinyOneNamesItsCell) {
    expect_refusal(with_pair(stencil, dof, 1.0, 1.0 + tiny), "fail");
}

TEST_P(Pivots, ASmallOneThatCanBeUsedIsUsed) {
    const StencilMatrix data = with_pair(stencil, dof, 1.0, 1.0 + 1e-6);
    for (const char* policy : {"fail", "shift", "boost"}) {
        const SetupReport report = expect_mended(data, policy, 0);
        EXPECT_EQ(report.shift, 0.0);
        EXPECT_NEAR(report.smallest_pivot_ratio, 1e-6, 1e-9);
        EXPECT_EQ(report.smallest_pivot_cell, (Int3{3, 2, 1}));
    }
}

TEST_P(Pivots, NoPolicyAcceptsNanOrInfinity) {
    for (double bad : {double(NAN), double(INFINITY), -double(INFINITY)})
        for (const char* policy : {"fail", "shift", "boost"})
            expect_refusal(with_block(stencil, diagonal_block(dof, bad)), policy);
}

TEST(PivotRule, SeesTheSignOfPivotsWhoseProductWouldUnderflow) {
    const PivotRule rule{.tolerance = 0.0, .boost = 0.0, .definite = 1};
    EXPECT_FALSE(rule.accepts(-5e-170, 3e-170, 0.0));
    EXPECT_FALSE(rule.accepts(5e-170, -3e-170, 0.0));
    EXPECT_EQ(rule.ratio(-5e-170, 3e-170), 0.0);
    EXPECT_TRUE(rule.accepts(-5e-170, -3e-170, 0.0));
    EXPECT_TRUE(rule.accepts(5e-170, 3e-170, 0.0));
}

TEST_P(Pivots, OneWhoseInverseOverflowsNamesItsCell) {
    for (const char* policy : {"fail", "shift"})
        expect_refusal(with_block(stencil, diagonal_block(dof, 5e-324)), policy);
    for (double bad : {0x1p-1024, -0x1p-1024}) expect_refusal(with_block(stencil, diagonal_block(dof, bad)), "fail");
    if (dof > 1) return;  // in a block with entries of 1 those that follow are too small
    expect_mended(with_block(stencil, diagonal_block(dof, 0x1p-1024)), "shift", 1);
    expect_mended(with_block(stencil, diagonal_block(dof, 0x1.1p-1024)), "fail", 0);
}

TEST_P(Pivots, BoostReplacesAZero) {
    const StencilMatrix data = with_block(stencil, diagonal_block(dof, 0.0));
    if (dof == 1)
        expect_refusal(data, "boost");  // boost has no scale in a block of zeros
    else
        expect_mended(data, "boost", 1);
}

TEST_P(Pivots, ShiftDoesNotHelpAZeroDiagonal) {
    expect_refusal(with_block(stencil, diagonal_block(dof, 0.0)), "shift");
}

TEST_P(Pivots, BoostReplacesATinyOneByAFractionOfItsBlock) {
    // The pivot becomes 1e-3 instead of 2^-50, as if A's diagonal were 1 + 1e-3.
    const StencilMatrix data = with_pair(stencil, dof, 1.0, 1.0 + tiny);
    EXPECT_EQ(expect_mended(data, "boost", 1).shift, 0.0);
    expect_equivalent(data, "boost", with_pair(stencil, dof, 1.0, 1.0 + 1e-3));
}

TEST_P(Pivots, ShiftGrowsUntilAllCanBeUsed) {
    const StencilMatrix data = with_pair(stencil, dof, 1.0, 1.0 + tiny);
    const StructMatrix a = matrix(data);
    const CsrMatrix before = a.to_csr();
    const auto m = preconditioner(a, "shift");
    const SetupReport report = m->setup(a);
    EXPECT_GT(report.shift, 0.0);
    EXPECT_LT(report.shift, 0.1);
    EXPECT_EQ(report.pivots_modified, 1);
    EXPECT_EQ(a.to_csr().value, before.value);
    expect_equivalent(data, "shift", reference::shifted(data, report.shift));
}

TEST_P(Pivots, ANegativeOneIsRefusedByCholeskyAlone) {
    const StencilMatrix data = with_pair(stencil, dof, 2.0, 1.0);  // pivot -3
    if (GetParam().storage == MatrixStorage::full) {
        expect_mended(data, "fail", 0);
        expect_equivalent(data, "fail", data);
        return;
    }
    expect_refusal(data, "fail");
    expect_mended(data, "boost", 1);
    const SetupReport report = expect_mended(data, "shift", 1);
    EXPECT_GT(report.shift, 1.0);  // (1 + alpha) - 4 / (1 + alpha) > 0
    expect_equivalent(data, "shift", reference::shifted(data, report.shift));
}

TEST_P(Pivots, TheFirstInNaturalOrderIsNamed) {
    StencilMatrix data = with_block(stencil, diagonal_block(dof, 0.0));
    for (Offset later : {Offset{6, 4, 1}, Offset{0, 0, 2}, Offset{6, 2, 1}}) {
        isolate(data, later);
        data.blocks[box.row(later)].at({}) = diagonal_block(dof, 0.0);
    }
    expect_refusal(data, "fail");
    if (dof > 1) expect_mended(data, "boost", 4);
}

INSTANTIATE_TEST_SUITE_P(All, Pivots, testing::ValuesIn(cases()), [](const auto& info) {
    const Case& c = info.param;
    return c.stencil + "_k" + std::to_string(c.fill_level) + "_dof" + std::to_string(c.dof) + "_7x5x3_" +
           to_string(c.kind) + (c.storage == MatrixStorage::full ? "_full" : "_lower");
});

}  // namespace
}  // namespace hyperplane
