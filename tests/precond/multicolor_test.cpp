// SPDX-License-Identifier: BSD-3-Clause
// multicolor compared with ILU(0) and IC(0) of the reordered matrix, for every stencil and many dofs, extents and
// layouts.
#include "precond/multicolor/multicolor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "precond/bad_pivots.hpp"
#include "precond/large_multicolor.hpp"
#include "precond/reproductions/looked_up_colours.hpp"
#include "precond/swept.hpp"
#include "reference/coloured_ilu.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::relative_difference;

/// The greedy colouring, computed from its definition.
std::vector<int> greedily_coloured(const Box& box, const std::vector<Offset>& offsets) {
    std::vector<int> colours(box.points(), -1);
    for (int row = 0; row < box.points(); ++row)
        for (bool taken = true; taken;) {
            ++colours[row];
            taken = std::any_of(offsets.begin(), offsets.end(), [&](Offset o) {
                const Offset q = box.point(row) + o;
                return !(o == Offset{}) && box.contains(q) && colours[box.row(q)] == colours[row];
            });
        }
    return colours;
}

std::vector<int> coloured(const std::string& rule, const StencilMatrix& data) {
    if (rule == "hashed") {
        const Grid grid = reference::to_grid(data.box);
        return hashed_colours(Context::cpu(1), grid, coupling_offsets(grid, reference::to_stencil({"", data.offsets})));
    }
    if (rule == "greedy") return greedily_coloured(data.box, data.offsets);
    return linearly_coloured(data);
}

std::vector<double> expected_of(const std::string& rule, const StencilMatrix& data, bool symmetric,
                                const std::vector<double>& r) {
    return reference::apply_coloured_ilu(data, reference::sorted_by_colour(coloured(rule, data)), symmetric, r);
}

std::vector<SweptCase> cases() {
    std::vector<SweptCase> list;
    const std::vector<Box> thin{{9, 5, 1}, {1, 9, 1}, {2, 1, 7}, {1, 1, 1}}, boxes{{7, 5, 3}, {6, 4, 4}};
    for (const auto& stencil : reference::all_stencils())
        for (MatrixStorage storage : storages) {
            int turn = 0;
            const auto add = [&](int dof, const Box& box) {
                list.push_back({stencil.name, dof, 0, box, layout_kinds[turn++ % 2], storage});
            };
            for (int dof : reference::small_dofs) {
                for (const Box& box : boxes)
                    if (dof < 4 || (box.nx == 7) == (dof % 2 == 0)) add(dof, box);
                if (dof < 4)
                    for (const Box& box : thin) add(dof, box);
            }
            for (int dof : {1, 3}) {
                add(dof, {17, 9, 5});
                add(dof, {5, 6, 7, {true, false, true}});
                add(dof, {8, 5, 5, {true, true, true}});
            }
            for (int dof : {17, 32}) add(dof, {4, 3, dof == 17 ? 2 : 1});
        }
    return list;
}

void expect_equality(const Context& context, const SweptCase& c) {
    const SweptSystem system(context, c);
    const bool symmetric = c.storage == MatrixStorage::lower;
    for (const char* rule : {"stencil", "greedy", "hashed"}) {
        const auto m = make("multicolor", system.a, {{"colours", rule}});
        const SetupReport report = m->setup(system.a);
        EXPECT_EQ(report.pivots_modified, 0);
        EXPECT_TRUE(m->traits().fixed);
        EXPECT_EQ(m->traits().symmetric, symmetric);
        EXPECT_LT(relative_difference(system.applied(*m), expected_of(rule, system.data, symmetric, system.r)), 1e-13)
            << rule;
    }
}

class MulticolorTest : public testing::TestWithParam<SweptCase> {};
class MulticolorOnDevice : public DeviceTest, public testing::WithParamInterface<SweptCase> {};

TEST_P(MulticolorTest, EqualsIluOfTheReorderedMatrix) {
    expect_equality(Context::cpu(1), GetParam());
}
TEST_P(MulticolorOnDevice, EqualsIluOfTheReorderedMatrix) {
    expect_equality(Context::cuda(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, MulticolorTest, testing::ValuesIn(cases()), name_of);
INSTANTIATE_TEST_SUITE_P(All, MulticolorOnDevice, testing::ValuesIn(cases()), name_of);

/// Rules of colouring in double precision, and reduced precision with the default rule, the only one that it allows.
std::vector<Settings> rules_and_storages() {
    return {{{"colours", "stencil"}},
            {{"colours", "greedy"}},
            {{"colours", "hashed"}},
            {{"storage", "single"}},
            {{"storage", "half_scaled"}}};
}

TEST(Multicolor, HasTheSameBitsForAnyNumberOfThreads) {
    for (const char* stencil : {"star7", "box27"})
        for (const Settings& settings : rules_and_storages())
            for (MatrixStorage storage : storages) {
                const SweptSystem system(Context::cpu(1), {stencil, 2, 0, {17, 9, 5}, LayoutKind::natural, storage});
                expect_same_bits_for_any_threads(system.a.context(), [&] {
                    const auto m = make("multicolor", system.a, settings);
                    m->setup(system.a);
                    return system.applied(*m);
                });
            }
}

/// A NaN in one right-hand side has no effect on the next application.
void expect_no_trace(const Context& context) {
    for (const char* stencil : {"star7", "box27"})
        for (int dof : {1, 9}) {
            SweptSystem system(context, {stencil, dof, 0, {5, 4, 3}, LayoutKind::natural, MatrixStorage::full});
            const auto m = make("multicolor", system.a);
            m->setup(system.a);
            const std::vector<double> clean = system.applied(*m), r = system.r;
            for (double& value : system.r) value = NAN;
            EXPECT_TRUE(std::isnan(system.applied(*m)[0]));
            system.r = r;
            EXPECT_EQ(system.applied(*m), clean) << stencil << dof;
        }
}
TEST(Multicolor, KeepsNoTraceOfANanAfterTheNextSetup) {
    expect_no_trace(Context::cpu(1));
}
TEST_F(LargeMulticolorOnDevice, KeepsNoTraceOfANanAfterTheNextSetup) {
    expect_no_trace(Context::cuda());
}

TEST(Multicolor, FactorsAShiftedMatrixAndLeavesAUnchanged) {
    for (MatrixStorage storage : storages)
        for (const char* rule : {"stencil", "greedy", "hashed"}) {
            const SweptSystem system(Context::cpu(1), {"box27", 3, 0, {7, 5, 3}, LayoutKind::natural, storage});
            const CsrMatrix before = system.a.to_csr();
            const auto m = make("multicolor", system.a, {{"colours", rule}, {"shift", "0.25"}});
            EXPECT_EQ(m->setup(system.a).shift, 0.25);
            EXPECT_EQ(system.a.to_csr().value, before.value);
            const auto expected =
                expected_of(rule, reference::shifted(system.data, 0.25), storage == MatrixStorage::lower, system.r);
            EXPECT_LT(relative_difference(system.applied(*m), expected), 1e-13);
        }
}

TEST(Multicolor, SetsUpAnotherMatrixOfAnyShape) {
    const Context context = Context::cpu(1);
    const auto make_system = [&](const char* stencil, int dof, const Box& box, MatrixStorage storage) {
        return SweptSystem(context, {stencil, dof, 0, box, LayoutKind::natural, storage});
    };
    const SweptSystem first = make_system("star7", 1, {5, 4, 3}, MatrixStorage::full);
    const auto m = make("multicolor", first.a);
    for (const SweptSystem& system : {make_system("star7", 1, {5, 4, 3}, MatrixStorage::full),
                                      make_system("star7", 1, {5, 4, 3}, MatrixStorage::lower),
                                      make_system("box27", 2, {5, 4, 3}, MatrixStorage::full),
                                      make_system("box27", 2, {7, 5, 1}, MatrixStorage::full)}) {
        m->setup(system.a);
        EXPECT_LT(relative_difference(system.applied(*m),
                                      expected_of("stencil", system.data, system.a.symmetric(), system.r)),
                  1e-13);
    }
}

TEST(Multicolor, RefusesAWideStencil) {
    const Stencil wide = Stencil::closure({{3, 0, 0}, {0, 1, 0}});
    const StructMatrix a(Context::cpu(1), Layout(LayoutKind::natural, {9, 5, 3}, {1, 1}), wide, 1);
    const auto m = make("multicolor", a);
    expect_error<UsageError>([&] { m->setup(a); }, "has radius 3, the largest it takes is 2");
}

TEST(Multicolor, HasNoFillLevel) {
    expect_refused("multicolor", {{"fill_level", "1"}}, "unknown key preconditioner.fill_level");
}

/// The outcome of a set-up under a pivot policy, on either backend.
Outcome outcome(const Context& context, const StencilMatrix& data, MatrixStorage storage, const std::string& rule,
                const std::string& policy) {
    const Layout layout = layout_for(LayoutKind::natural, data, "star7", 0);
    const StructMatrix a =
        in_context(context, reference::to_struct_matrix(context.host(), layout, data, storage, "star7"));
    const auto m = make("multicolor", a, {{"colours", rule}, {"pivot_policy", policy}});
    return outcome_of(*m, a);
}

void expect_policies(const Context& context) {
    for (MatrixStorage storage : storages)
        for (int dof : {1, 3})
            for (const char* rule : {"stencil", "greedy", "hashed"}) {
                SCOPED_TRACE(std::string(rule) + std::to_string(dof));
                const auto of = [&](const StencilMatrix& data, const char* policy) {
                    return outcome(context, data, storage, rule, policy);
                };
                const auto expect_equivalent = [&](const Outcome& mended, const StencilMatrix& equivalent) {
                    const auto r = reference::Random(1).vector(int(equivalent.box.points() * dof));
                    EXPECT_LT(relative_difference(mended.z, expected_of(rule, equivalent, false, r)), 1e-11);
                };
                const StencilMatrix zero = with_block("star7", diagonal_block(dof, 0.0));
                for (const char* policy : {"fail", "shift"}) {
                    const std::string message = of(zero, policy).message;
                    EXPECT_NE(message.find("multicolor: the pivot at cell (3,2,1)"), std::string::npos) << message;
                }
                if (dof == 1)
                    EXPECT_NE(of(zero, "boost").message.find("(3,2,1)"), std::string::npos);
                else
                    EXPECT_EQ(of(zero, "boost").report.pivots_modified, 1);

                const double tiny = 0x1p-50;
                // Whichever point of the pair comes first in coloured order, its pivot is its own diagonal.
                const StencilMatrix small = with_pair("star7", dof, 1.0, 1.0 + tiny);
                EXPECT_FALSE(of(small, "fail").message.empty());
                const Outcome boosted = of(small, "boost"), shifted = of(small, "shift");
                EXPECT_EQ(boosted.report.pivots_modified, 1);
                ASSERT_EQ(boosted.report.modified.size(), 1u);
                EXPECT_EQ(boosted.report.modified[0].component, dof - 1);
                EXPECT_GT(shifted.report.shift, 0.0);
                EXPECT_EQ(shifted.report.pivots_modified, 1);
                expect_equivalent(shifted, reference::shifted(small, shifted.report.shift));

                for (double bad : {double(NAN), double(INFINITY)})
                    for (const char* policy : {"fail", "shift", "boost"}) {
                        const std::string message = of(with_block("star7", diagonal_block(dof, bad)), policy).message;
                        EXPECT_NE(message.find("(3,2,1)"), std::string::npos) << message;
                    }
                const Outcome negative = of(with_pair("star7", dof, 2.0, 1.0), "fail");
                EXPECT_EQ(negative.message.empty(), storage == MatrixStorage::full);
            }
}
TEST(Multicolor, HandlesPivotsByTheirPolicy) {
    expect_policies(Context::cpu(1));
}
TEST_F(LargeMulticolorOnDevice, HandlesPivotsByTheirPolicy) {
    expect_policies(Context::cuda());
}

/// Of many bad pivots, the message names the first in natural order and counts all.
void expect_first_named(const Context& context) {
    for (const char* rule : {"stencil", "greedy", "hashed"}) {
        StencilMatrix data = with_block("star7", diagonal_block(3, 0.0));
        for (int row = 1; row < box.points(); row += 4) {
            isolate(data, box.point(row));
            data.blocks[row].at({}) = diagonal_block(3, 0.0);
        }
        const Outcome boosted = outcome(context, data, MatrixStorage::full, rule, "boost");
        EXPECT_GT(boosted.report.pivots_modified, 16);
        ASSERT_EQ(boosted.report.modified.size(), SetupReport::max_events);
        EXPECT_EQ(boosted.report.modified[0].cell, (Int3{1, 0, 0}));
        EXPECT_EQ(boosted.report.modified[1].cell, (Int3{5, 0, 0}));
        const std::string message = outcome(context, data, MatrixStorage::full, rule, "fail").message;
        EXPECT_NE(message.find("(1,0,0), component 2"), std::string::npos) << message;
    }
}
TEST(Multicolor, NamesTheFirstPivotInNaturalOrder) {
    expect_first_named(Context::cpu(1));
}
TEST_F(LargeMulticolorOnDevice, NamesTheFirstPivotInNaturalOrder) {
    expect_first_named(Context::cuda());
}

/// A stencil's name, its unknowns a point, and how factors are kept.
using KeptPoints = std::tuple<std::string, int, FactorStorage>;
class KeptMulticolor : public testing::TestWithParam<KeptPoints> {};
class KeptMulticolorOnDevice : public DeviceTest, public testing::WithParamInterface<KeptPoints> {};

/// Reduced precision changes M by no more than the rounding of its factors and keeps it symmetric.
void expect_kept(const Context& context, const KeptPoints& of) {
    const auto& [stencil, dof, factors] = of;
    const bool halves = factors == FactorStorage::half_scaled;
    for (LayoutKind kind : layout_kinds)
        for (MatrixStorage storage : storages) {
            SCOPED_TRACE(to_string(kind));
            const SweptSystem system(context, {stencil, dof, 0, {7, 5, 3}, kind, storage});
            const auto of_double = make("multicolor", system.a);
            const auto m = make("multicolor", system.a, {{"storage", to_string(factors)}});
            const Index bytes = of_double->setup(system.a).factor_bytes, kept = m->setup(system.a).factor_bytes;
            EXPECT_GE(kept, bytes / (halves ? 4 : 2));
            EXPECT_LE(kept, bytes / 2);
            const std::vector<double> z = system.applied(*m);
            const double change = relative_difference(z, system.applied(*of_double));
            EXPECT_LT(change, halves ? 4e-3 : 1e-6);
            EXPECT_GT(change, halves ? 1e-6 : 1e-10);
            m->setup(system.a);
            EXPECT_EQ(system.applied(*m), z);
            if (dof > 1 || storage == MatrixStorage::full) continue;
            SweptSystem other(context, system.c);
            other.r = reference::Random(8).vector(int(other.r.size()));
            const double product = dot(other.r, z);
            EXPECT_NEAR(dot(other.applied(*m), system.r), product, 1e-12 * std::abs(product));
        }
}

TEST_P(KeptMulticolor, IsRounded) {
    expect_kept(Context::cpu(1), GetParam());
}
TEST_P(KeptMulticolorOnDevice, IsRounded) {
    expect_kept(Context::cuda(), GetParam());
}

const auto kept_points = testing::Combine(testing::Values("star7", "box27"), testing::Values(1, 2, 4, 9),
                                          testing::ValuesIn(reduced_factor_storages));
const auto name_of_kept = [](const testing::TestParamInfo<KeptPoints>& info) {
    return std::get<0>(info.param) + "_dof" + std::to_string(std::get<1>(info.param)) + "_" +
           to_string(std::get<2>(info.param));
};
INSTANTIATE_TEST_SUITE_P(All, KeptMulticolor, kept_points, name_of_kept);
INSTANTIATE_TEST_SUITE_P(All, KeptMulticolorOnDevice, kept_points, name_of_kept);

/// A value that does not fit in reduced precision is reported; half_scaled is advised where its scale makes it fit.
void expect_told(const Context& context, FactorStorage factors) {
    const bool halves = factors == FactorStorage::half_scaled;
    for (const auto& [diagonal, value] : {std::pair(1e-60, "1e+60"), std::pair(1e-40, "1e+40")}) {
        StructMatrix tiny = random_struct_matrix(Layout(LayoutKind::natural, {5, 4, 3}, {1, 1}), Stencil::star7(), 1,
                                                 MatrixStorage::full, 3);
        for (Index at = 0; at < tiny.layout().slots(); ++at) tiny.values(tiny.stencil().diagonal())[at] = diagonal;
        for (int e = 0; e < tiny.stencil().size(); ++e)
            for (Index at = 0; e != tiny.stencil().diagonal() && at < tiny.layout().slots(); ++at)
                tiny.values(e)[at] = 0.0;
        const StructMatrix there = in_context(context, tiny);
        const auto set_up = [&] { make("multicolor", there, {{"storage", to_string(factors)}})->setup(there); };
        const bool half_holds = diagonal == 1e-40;
        if (halves && half_holds) {
            EXPECT_NO_THROW(set_up());
            continue;
        }
        try {
            set_up();
            ADD_FAILURE() << "accepted";
        } catch (const SetupError& error) {
            EXPECT_EQ(std::string(error.what()),
                      std::string("multicolor: a value of the factors at cell (0,0,0), component 0, is ") + value +
                          ", which " +
                          (halves ? "half precision with a scale from 2^-126 to 2^127 cannot hold"
                                  : "single precision cannot hold") +
                          " (60 such rows of coefficients in all). Use preconditioner.storage = " +
                          (half_holds ? "half_scaled, which scales each row, or " : "") + "double.");
        }
    }
}

TEST(Multicolor, ReportsValuesThatDoNotFitTheStorage) {
    for (const FactorStorage factors : reduced_factor_storages) expect_told(Context::cpu(1), factors);
}
TEST_F(LargeMulticolorOnDevice, ReportsValuesThatDoNotFitTheStorage) {
    for (const FactorStorage factors : reduced_factor_storages) expect_told(Context::cuda(), factors);
}

TEST(Multicolor, LooksColoursUpInDoublePrecisionAlone) {
    const SweptSystem system(Context::cpu(1), {"star7", 1, 0, {5, 4, 3}, LayoutKind::natural, MatrixStorage::full});
    for (const char* storage : {"single", "half_scaled"})
        expect_refused("multicolor", system.a, {{"storage", storage}, {"colours", "greedy"}},
                       "preconditioner.storage: with these colours factors are in double precision alone");
}

TEST(Multicolor, HoldsWhatItPlans) {
    for (const auto& stencil : reference::all_stencils())
        for (MatrixStorage storage : storages)
            for (const Settings& settings : rules_and_storages()) {
                const Context context = Context::cpu(1);
                const SweptSystem system(context, {stencil.name, 3, 0, {7, 5, 3}, LayoutKind::natural, storage});
                const Index before = context.ledger().held();
                const auto m = make("multicolor", system.a, settings);
                m->setup(system.a);
                const auto plan =
                    find_preconditioner("multicolor").plan(parameters_of("multicolor", settings), setting_of(system.a));
                EXPECT_EQ(context.ledger().held() - before, plan.bytes) << stencil.name << settings[0].second;
                EXPECT_EQ(m->bytes_per_apply(), plan.bytes_per_apply);
            }
}

}  // namespace
}  // namespace hyperplane
