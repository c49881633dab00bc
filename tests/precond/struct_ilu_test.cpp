// SPDX-License-Identifier: BSD-3-Clause
// struct_ilu apart from equality with the reference: exactness, reproducible bits, wrapping, shift, repeated set-ups.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.hpp"
#include "precond/support.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::Box;
using reference::relative_difference;
using reference::StencilMatrix;

StencilMatrix matrix_for(MatrixStorage storage, const Box& box, const std::string& stencil, int dof, int seed) {
    const auto offsets = reference::stencil_named(stencil).offsets;
    return storage == MatrixStorage::full ? reference::random_matrix(box, offsets, dof, seed)
                                          : reference::random_spd_matrix(box, offsets, dof, seed);
}

/// Calls body(data, a) for each layout, with the levels that fill level k needs, and each storage.
template <class Body>
void for_each_form(const Box& box, const std::string& stencil, int dof, int k, const Body& body) {
    for (LayoutKind kind : layout_kinds)
        for (MatrixStorage storage : storages) {
            SCOPED_TRACE(stencil + " " + to_string(kind) + (storage == MatrixStorage::full ? " full" : " lower"));
            const Context context = Context::cpu(1);
            const StencilMatrix data = matrix_for(storage, box, stencil, dof, 31);
            body(data,
                 reference::to_struct_matrix(context, layout_for(kind, data, stencil, k), data, storage, stencil));
        }
}

TEST(StructIlu, TridiagonalByHand) {
    // A (1, 2, 3, 4) = (0, 0, 0, 5) for A = [2 -1; -1 2 -1; ...], and ILU(0) of a tridiagonal matrix is exact.
    for (const Box& box : {Box{4, 1, 1}, Box{1, 4, 1}, Box{1, 1, 4}})
        for_each_form(box, "star7", 1, 0, [](const StencilMatrix&, StructMatrix a) {
            for (int e = 0; e < a.stored_entries(); ++e)
                for (Index row = 0; row < 4; ++row) {
                    const Int3 p = a.grid().point(row);
                    const double value = e == a.stencil().diagonal() ? 2.0 : -1.0;
                    a.values(e)[a.layout().slot(p)] = a.grid().contains(p + a.stencil()[e]) ? value : 0.0;
                }
            const auto m = make("struct_ilu", a);
            m->setup(a);
            const std::vector<double> x = apply(*m, a, {0, 0, 0, 5});
            for (int i = 0; i < 4; ++i) EXPECT_NEAR(x[i], i + 1.0, 1e-14);
        });
}

TEST(StructIlu, IsExactWhereThePatternHoldsAllFill) {
    int tried = 0;
    for (const auto& stencil : reference::all_stencils())
        for (const Box& box :
             {Box{9, 1, 1}, Box{1, 9, 1}, Box{1, 1, 9}, Box{2, 2, 1}, Box{3, 2, 1}, Box{2, 2, 2}, Box{3, 3, 2}})
            for (int k = 0; k <= 3; ++k) {
                const auto pattern = reference::stencil_pattern(box, stencil.offsets);
                const auto everything = reference::symbolic_ilu(pattern, box.points());
                const auto held = reference::stencil_pattern(box, filled(stencil.name, k));
                const bool complete = std::equal(held.begin(), held.end(), everything.begin(), [](auto& h, auto& e) {
                    return std::includes(h.begin(), h.end(), e.begin(), e.end());
                });
                if (!complete) continue;
                ++tried;
                for_each_form(box, stencil.name, 2, k, [&](const StencilMatrix& data, const StructMatrix& a) {
                    const auto m = make("struct_ilu", a, {{"fill_level", std::to_string(k)}});
                    m->setup(a);
                    const std::vector<double> x = reference::Random(1).vector(int(a.unknowns()));
                    const std::vector<double> b = reference::multiply(reference::assembled(data), x).value;
                    EXPECT_LT(relative_difference(apply(*m, a, b), x), 1e-13) << reference::name_of(box) << " " << k;
                });
            }
    EXPECT_GT(tried, 60);
}

void expect_same_bits(const Box& box, const std::string& stencil, int dof, int k, const std::vector<int>& counts) {
    for_each_form(box, stencil, dof, k, [&](const StencilMatrix&, const StructMatrix& a) {
        const std::vector<double> r = reference::Random(2).vector(int(a.unknowns()));
        const auto with_threads = [&](int threads) {
            const SeveralThreads several(a.context(), threads);
            const auto m = make("struct_ilu", a, {{"fill_level", std::to_string(k)}});
            m->setup(a);
            return apply(*m, a, r);
        };
        const std::vector<double> one = with_threads(1);
        for (int threads : counts) EXPECT_EQ(with_threads(threads), one) << threads << " threads";
    });
}

TEST(StructIlu, SameBitsForAnyNumberOfThreads) {
    for (const char* stencil : {"star7", "star13", "diamond13", "box27", "skewed7", "scattered11"})
        expect_same_bits({5, 13, 5}, stencil, 2, 0, {2, 3});
    expect_same_bits({5, 13, 5}, "star7", 1, 1, {2, 3});
    expect_same_bits({5, 31, 3}, "star7", 1, 0, {7});
    expect_same_bits({5, 31, 3}, "box27", 1, 0, {7});
}

TEST(StructIlu, SkipsCouplingsThatWrap) {
    for (const char* stencil : {"star7", "box27", "diamond25", "scattered11"})
        for (const Box& box : {Box{7, 5, 5, {true, true, true}}, Box{5, 4, 3, {true, false, false}},
                               Box{4, 7, 3, {false, true, false}}, Box{3, 2, 6, {false, false, true}}})
            for (int k : {0, 1})
                for_each_form(box, stencil, 2, k, [&](const StencilMatrix& data, const StructMatrix& a) {
                    const auto m = make("struct_ilu", a, {{"fill_level", std::to_string(k)}});
                    m->setup(a);
                    const std::vector<double> r = reference::Random(3).vector(int(a.unknowns()));
                    const auto expected = reference::apply_inverse(reference_ilu(data, stencil, k), r);
                    EXPECT_LT(relative_difference(apply(*m, a, r), expected), 1e-13) << reference::name_of(box);
                });
}

TEST(StructIlu, FactorsAShiftedMatrixAndLeavesAUnchanged) {
    for (const char* stencil : {"star7", "diamond13", "box27"})
        for (int k : {0, 1})
            for_each_form({7, 5, 3}, stencil, 3, k, [&](const StencilMatrix& data, const StructMatrix& a) {
                const CsrMatrix before = a.to_csr();
                const auto m = make("struct_ilu", a, {{"fill_level", std::to_string(k)}, {"shift", "0.25"}});
                const SetupReport report = m->setup(a);
                EXPECT_EQ(report.shift, 0.25);
                EXPECT_EQ(report.pivots_modified, 0);
                EXPECT_EQ(a.to_csr().value, before.value);
                const std::vector<double> r = reference::Random(4).vector(int(a.unknowns()));
                const auto expected = apply_inverse(reference_ilu(reference::shifted(data, 0.25), stencil, k), r);
                EXPECT_LT(relative_difference(apply(*m, a, r), expected), 1e-13);
            });
}

TEST(StructIlu, LeavesAUnchanged) {
    for (int k : {0, 1, 2})
        for_each_form({7, 5, 3}, "box27", 2, k, [&](const StencilMatrix&, const StructMatrix& a) {
            const CsrMatrix before = a.to_csr();
            make("struct_ilu", a, {{"fill_level", std::to_string(k)}})->setup(a);
            EXPECT_EQ(a.to_csr().value, before.value);
        });
}

TEST(StructIlu, IsBuiltFromTheMatrixGivenNotFromTheOperator) {
    // The operator is on box27, the matrix that is factored on star7.
    const Context context = Context::cpu(1);
    for (LayoutKind kind : layout_kinds) {
        const StencilMatrix amat =
            reference::random_matrix({7, 5, 3}, reference::stencil_named("box27").offsets, 2, 41);
        const StencilMatrix pmat =
            reference::random_matrix({7, 5, 3}, reference::stencil_named("star7").offsets, 2, 42);
        const Layout layout = layout_for(kind, amat, "star7", 1);
        const StructMatrix a = reference::to_struct_matrix(context, layout, amat, MatrixStorage::full);
        const StructMatrix p = reference::to_struct_matrix(context, layout, pmat, MatrixStorage::full);
        const auto m = make("struct_ilu", p, {{"fill_level", "1"}});
        m->setup(p);
        const std::vector<double> x = reference::Random(5).vector(int(a.unknowns()));
        const std::vector<double> ax = apply(a, a, x);
        EXPECT_LT(relative_difference(apply(*m, a, ax), apply_inverse(reference_ilu(pmat, "star7", 1), ax)), 1e-13);
    }
}

TEST(StructIlu, ASecondSetupEqualsAFreshOne) {
    for (const char* stencil : {"star7", "diamond13"})
        for (int k : {0, 1})
            for_each_form({7, 5, 3}, stencil, 2, k, [&](const StencilMatrix& data, StructMatrix a) {
                const Settings settings{{"fill_level", std::to_string(k)}};
                const auto reused = make("struct_ilu", a, settings);
                reused->setup(a);
                const Index held = a.context().ledger().held();
                const MatrixStorage storage = a.storage();
                const StencilMatrix changed = matrix_for(storage, data.box, stencil, 2, 77);
                a = reference::to_struct_matrix(a.context(), a.layout(), changed, storage, stencil);
                reused->setup(a);
                EXPECT_EQ(a.context().ledger().held(), held);
                const auto fresh = make("struct_ilu", a, settings);
                fresh->setup(a);
                const std::vector<double> r = reference::Random(6).vector(int(a.unknowns()));
                EXPECT_EQ(apply(*reused, a, r), apply(*fresh, a, r));
                EXPECT_LT(
                    relative_difference(apply(*reused, a, r), apply_inverse(reference_ilu(changed, stencil, k), r)),
                    1e-13);
            });
}

TEST(StructIlu, WorksInTheLayoutItPlans) {
    for (const auto& stencil : reference::all_stencils())
        for (MatrixStorage storage : storages)
            for (int k : {0, 1, 2}) {
                const Context context = Context::cpu(1);
                const StencilMatrix data = matrix_for(storage, {7, 5, 3}, stencil.name, 2, 51);
                const Parameters parameters = parameters_of("struct_ilu", {{"fill_level", std::to_string(k)}});
                const PreconditionerSetting setting{
                    context,
                    {reference::to_grid(data.box), reference::to_stencil(stencil), 2, storage == MatrixStorage::lower}};
                const PreconditionerPlan plan = find_preconditioner("struct_ilu").plan(parameters, setting);
                const StructMatrix a =
                    reference::to_struct_matrix(context, plan.space.layout(), data, storage, stencil.name);
                const Index before = context.ledger().held();
                const auto m = find_preconditioner("struct_ilu").create(parameters, setting);
                const SetupReport report = m->setup(a);
                const double held = double(context.ledger().held() - before);
                EXPECT_NEAR(double(plan.bytes), held, 0.05 * held) << stencil.name << " " << k;
                EXPECT_EQ(report.factor_bytes, Index(held)) << stencil.name << " " << k;
                EXPECT_EQ(plan.traits.symmetric, m->traits().symmetric);
                EXPECT_EQ(plan.traits.fixed, m->traits().fixed);
                EXPECT_EQ(m->bytes_per_apply(), plan.bytes_per_apply);
                const std::vector<double> r = reference::Random(7).vector(int(a.unknowns()));
                const auto expected = apply_inverse(reference_ilu(data, stencil.name, k), r);
                EXPECT_LT(relative_difference(apply(*m, a, r), expected), 1e-13) << stencil.name << " " << k;
            }
}

TEST(StructIlu, RefusesFillLevelsOutOfRange) {
    expect_refused("struct_ilu", {{"fill_level", "4"}}, "preconditioner.fill_level: 4 is out of range");
    expect_refused("struct_ilu", {{"fill_level", "-1"}}, "preconditioner.fill_level: -1 is out of range");
    expect_refused("struct_ilu", {{"shift", "-0.1"}}, "preconditioner.shift: -0.1 is out of range");
    expect_refused("struct_ilu", {{"pivot_policy", "hope"}},
                   "preconditioner.pivot_policy: 'hope' is none of fail | shift | boost");
    expect_error<UsageError>([&] { find_preconditioner("struct_lu"); },
                             "no preconditioner is called 'struct_lu'; there are struct_ilu, ");
}

}  // namespace
}  // namespace hyperplane
