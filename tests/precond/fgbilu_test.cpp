// SPDX-License-Identifier: BSD-3-Clause
// fgbilu on both backends and in both styles: compared with the reference's sequential block ILU(0); the correction
// iteration, pivots, reproducible bits, memory.
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "precond/bad_pivots.hpp"
#include "precond/fgbilu/fgbilu.hpp"
#include "precond/swept.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::relative_difference;

const char* const styles[] = {"kernels", "blocks"};

struct Case : SweptCase {
    std::string style;
};

std::vector<Box> boxes_for(int dof) {
    if (dof > 8) return {{4, 3, 2}, {9, 2, 1}, {1, 5, 3}};
    return {{7, 5, 3}, {9, 5, 1}, {1, 33, 1},
            {1, 1, 9}, {1, 9, 5}, {5, 1, 9},
            {2, 2, 2}, {1, 1, 1}, {5, 5, 5, {true, false, true}}};
}

/// All combinations, or each stencil and dof with alternating layouts, storages and styles.
std::vector<Case> cases(bool everything) {
    std::vector<Case> list;
    int turn = 0, row = 0;
    for (const auto& stencil : reference::all_stencils()) {
        for (int dof : reference::all_dofs) {
            for (int form = 0; form < 8; ++form) {
                const SweptCase c{stencil.name, dof, 0, {}, layout_kinds[form % 2], storages[form / 2 % 2]};
                if (everything || form % 4 == (turn + row + form / 4) % 4) list.push_back({c, styles[form / 4]});
            }
            ++turn;
        }
        ++row;
    }
    return list;
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
    const Case& c = info.param;
    return c.stencil + "_dof" + std::to_string(c.dof) + "_" + to_string(c.kind) +
           (c.storage == MatrixStorage::full ? "_full_" : "_lower_") + c.style;
}

/// The tolerance for results with factors in a storage, relative to double precision.
double tolerance_of(FactorStorage factors) {
    return factors == FactorStorage::double_precision ? 1e-13 : factors == FactorStorage::half_scaled ? 4e-3 : 5e-7;
}

void expect_equality(const Context& context, Case c) {
    for (const Box& box : boxes_for(c.dof)) {
        SCOPED_TRACE(reference::name_of(box));
        c.box = box;
        const SweptSystem system(context, c);
        const auto m = make("fgbilu", system.a, {{"style", c.style}});
        const SetupReport report = m->setup(system.a);
        EXPECT_EQ(report.pivots_modified, 0);
        EXPECT_TRUE(m->traits().fixed);
        EXPECT_EQ(m->traits().symmetric, c.storage == MatrixStorage::lower);
        const auto pattern = reference::stencil_pattern(box, filled(c.stencil, 0));
        const auto assembled = reference::assembled(system.data, false);
        const auto expected = c.storage == MatrixStorage::full ? reference::block_ilu(assembled, pattern)
                                                               : reference::block_ic(assembled, pattern);
        for (int repeat = 0; repeat < 2; ++repeat)
            EXPECT_LT(relative_difference(system.applied(*m), reference::apply_inverse(expected, system.r)), 1e-13);
    }
}

class FgBiluTest : public testing::TestWithParam<Case> {};
class FgBiluOnDevice : public DeviceTest, public testing::WithParamInterface<Case> {};

TEST_P(FgBiluTest, EqualsSequentialBlockIlu) {
    expect_equality(Context::cpu(1), GetParam());
}
TEST_P(FgBiluOnDevice, EqualsSequentialBlockIlu) {
    expect_equality(Context::cuda(), GetParam());
}
INSTANTIATE_TEST_SUITE_P(All, FgBiluTest, testing::ValuesIn(cases(true)), name_of_case);
INSTANTIATE_TEST_SUITE_P(All, FgBiluOnDevice, testing::ValuesIn(cases(false)), name_of_case);

class FgBiluPartsOnDevice : public DeviceTest {};

struct LargeShape {
    std::string stencil;
    int dof;
    Grid grid;
    std::vector<FgBiluTuning> tunings;
};

std::vector<LargeShape> large_shapes() {
    const std::vector<FgBiluTuning> some{
        {}, {.together = false}, {.overlapped = false}, {.parts = 1}, {.parts = 32, .points = 3}};
    return {
        {"star7", 1, {131, 67, 45}, some},    {"star7", 5, {47, 35, 19}, some},
        {"star7", 8, {33, 29, 31}, some},     {"star7", 32, {13, 11, 9}, {{}, {.overlapped = false}, {.parts = 32}}},
        {"diamond13", 3, {23, 35, 19}, some}, {"box27", 2, {37, 25, 21}, some},
        {"box27", 6, {23, 21, 17}, some}};
}

/// For every tuning of the shape, with factors kept in `factors`: ten applications give the same bits.
void expect_the_hosts(const LargeShape& shape, const StructMatrix& here, const StructMatrix& there,
                      const FactorStorage factors) {
    const std::vector<double> r = reference::Random(6).vector(int(here.unknowns()));
    const Vector in = to_vector(there.context(), there.layout(), shape.dof, r);
    const auto expected = make("struct_ilu", here, {{"storage", to_string(factors)}});
    const SetupReport wanted = expected->setup(here);
    const std::vector<double> z = apply(*expected, here, r);
    for (const FgBiluTuning& tuning : shape.tunings) {
        SCOPED_TRACE("parts " + std::to_string(tuning.parts) + (tuning.together ? " together " : " ") +
                     (tuning.overlapped ? " overlapped " : " "));
        FgBilu m(there.context(), {.pivots = {}, .storage = factors}, tuning);
        std::vector<double> first;
        for (int repeat = 0; repeat < 10; ++repeat) {
            if (repeat % 5 == 0) {
                const SetupReport report = m.setup(there);
                EXPECT_NEAR(report.smallest_pivot_ratio, wanted.smallest_pivot_ratio, 1e-12);
                EXPECT_EQ(report.smallest_pivot_cell, wanted.smallest_pivot_cell);
                EXPECT_EQ(report.values_flushed, wanted.values_flushed);
            }
            Vector out = poisoned(there.context(), there.layout(), shape.dof);
            m.apply(in, out);
            if (repeat == 0) first = from_vector(out);
            ASSERT_EQ(from_vector(out), first);
        }
        // A few values lie so close to the midpoint of two floats that backends round them differently.
        EXPECT_LT(relative_difference(first, z), factors == FactorStorage::single_precision ? 1e-7 : 1e-12);
    }
}

class LargeFgBiluOnDevice : public DeviceTest,
                            public testing::WithParamInterface<std::tuple<LargeShape, MatrixStorage>> {};

/// Levels with many thread blocks, for several tunings; a repeated application or set-up gives the same bits.
TEST_P(LargeFgBiluOnDevice, EqualsTheHosts) {
    const auto& [shape, storage] = GetParam();
    const Stencil stencil = Stencil::by_name(shape.stencil);
    const StructMatrix here = random_struct_matrix(Layout(LayoutKind::hyperplane, shape.grid, stencil.level_map()),
                                                   stencil, shape.dof, storage, 3);
    const StructMatrix there = in_context(Context::cuda(), here);
    for (const FactorStorage factors : all_factor_storages) {
        SCOPED_TRACE(to_string(factors));
        expect_the_hosts(shape, here, there, factors);
    }
}

std::string name_of_large(const testing::TestParamInfo<std::tuple<LargeShape, MatrixStorage>>& info) {
    const auto& [shape, storage] = info.param;
    return shape.stencil + "_dof" + std::to_string(shape.dof) + (storage == MatrixStorage::full ? "_full" : "_lower");
}
INSTANTIATE_TEST_SUITE_P(All, LargeFgBiluOnDevice,
                         testing::Combine(testing::ValuesIn(large_shapes()), testing::ValuesIn(storages)),
                         name_of_large);

/// The quantity of the FGBILU paper's Table 1: sums of squares of the residual over 19 corrections, with n = 6.
void expect_corrections(const Context& context, const std::string& style) {
    const SweptSystem system(context, {"star7", 6, 0, {17, 9, 5}, LayoutKind::hyperplane, MatrixStorage::full});
    const auto matrix = reference::assembled(system.data);
    const auto ilu = reference_ilu(system.data, "star7", 0);
    const auto m = make("fgbilu", system.a, {{"style", style}});
    m->setup(system.a);
    const Vector b = to_vector(context, system.a.layout(), 6, system.r);
    Vector x = to_vector(context, system.a.layout(), 6, std::vector<double>(system.r.size(), 0.0)),
           r = in_context(context, b), z = poisoned(context, system.a.layout(), 6);
    std::vector<double> expected_x(system.r.size(), 0.0), expected_r = system.r;
    const auto squares = [](const std::vector<double>& v) {
        double sum = 0.0;
        for (double value : v) sum += value * value;
        return sum;
    };
    const double beginning = squares(expected_r);
    for (int correction = 0; correction <= 19; ++correction) {
        const double actual = squares(from_vector(r)), expected = squares(expected_r);
        // When the residual is about 1e-12 of b, rounding errors of b - A x leave few digits of its square.
        EXPECT_LE(std::abs(actual - expected), expected * 1e-12 + 1e-15 * std::sqrt(beginning * expected))
            << "correction " << correction;
        m->apply(r, z);
        std::vector<double> sum = from_vector(x);
        const std::vector<double> change = from_vector(z), wanted = reference::apply_inverse(ilu, expected_r);
        for (std::size_t at = 0; at < sum.size(); ++at) sum[at] += change[at], expected_x[at] += wanted[at];
        x = to_vector(context, system.a.layout(), 6, sum);
        system.a.residual(b, x, r);
        expected_r = reference::multiply(matrix, expected_x).value;
        for (std::size_t at = 0; at < expected_r.size(); ++at) expected_r[at] = system.r[at] - expected_r[at];
    }
    EXPECT_LT(squares(expected_r), 1e-12 * beginning);
}

TEST(FgBilu, NineteenCorrectionsAreThoseOfSequentialBlockIlu) {
    for (const char* style : styles) expect_corrections(Context::cpu(1), style);
}
TEST_F(FgBiluPartsOnDevice, NineteenCorrectionsAreThoseOfSequentialBlockIlu) {
    for (const char* style : styles) expect_corrections(Context::cuda(), style);
}

TEST(FgBilu, HasTheSameBitsForAnyNumberOfThreads) {
    for (const char* stencil : {"star7", "box27"})
        for (const char* style : styles)
            for (const FactorStorage factors : all_factor_storages)
                for (LayoutKind kind : layout_kinds) {
                    const SweptSystem system(Context::cpu(1), {stencil, 2, 0, {17, 9, 5}, kind, MatrixStorage::full});
                    expect_same_bits_for_any_threads(system.a.context(), [&] {
                        const auto m = make("fgbilu", system.a, {{"style", style}, {"storage", to_string(factors)}});
                        m->setup(system.a);
                        return system.applied(*m);
                    });
                }
}

/// A set-up has the same outcome as struct_ilu's, including the message.
void expect_pivots_of_struct_ilu(const Context& context) {
    const auto outcome = [&](const std::string& name, const Settings& settings, const StructMatrix& a) {
        Outcome result = outcome_of(*make(name, a, settings), a);
        if (!result.message.empty()) result.message.erase(0, name.size());
        return result;
    };
    const auto expect_equal = [&](const StencilMatrix& data, MatrixStorage storage) {
        const StructMatrix here = reference::to_struct_matrix(
            Context::cpu(1), layout_for(LayoutKind::hyperplane, data, "star7", 0), data, storage, "star7");
        const StructMatrix a = in_context(context, here);
        for (const char* policy : {"fail", "shift", "boost"}) {
            const Outcome expected = outcome("struct_ilu", {{"pivot_policy", policy}}, here);
            for (const char* style : styles) {
                SCOPED_TRACE(std::string(policy) + " " + style);
                const Outcome actual = outcome("fgbilu", {{"pivot_policy", policy}, {"style", style}}, a);
                EXPECT_EQ(actual.message, expected.message);
                expect_equal_reports(actual.report, expected.report);
                EXPECT_EQ(actual.z.size(), expected.z.size());
                EXPECT_TRUE(expected.z.empty() || relative_difference(actual.z, expected.z) < 1e-11);
            }
        }
    };
    for (int dof : {1, 3})
        for (MatrixStorage storage : storages) {
            SCOPED_TRACE(std::to_string(dof) + (storage == MatrixStorage::full ? " full" : " lower"));
            const StencilMatrix zero = with_block("star7", diagonal_block(dof, 0.0));
            for (const StencilMatrix& data :
                 {zero, with_block("star7", diagonal_block(dof, INFINITY)), with_pair("star7", dof, 1.0, 1.0 + 0x1p-50),
                  with_pair("star7", dof, 1.0, 1.0 + 1e-6), with_pair("star7", dof, 2.0, 1.0)})
                expect_equal(data, storage);
            StencilMatrix many = zero;
            const Dense bad = diagonal_block(dof, dof > 1 ? 0.0 : -1.0);
            for (int row = 1; row < box.points(); row += 4) {
                isolate(many, box.point(row));
                many.blocks[row].at({}) = bad;
            }
            if (dof == 1) many.blocks[box.row(bad_cell)].at({}) = bad;
            expect_equal(many, storage);
        }
}

TEST(FgBilu, TreatsPivotsAsStructIluDoes) {
    expect_pivots_of_struct_ilu(Context::cpu(1));
}
TEST_F(FgBiluPartsOnDevice, TreatPivotsAsStructIluDoes) {
    expect_pivots_of_struct_ilu(Context::cuda());
}

void expect_shift_and_reuse(const Context& context) {
    for (const char* style : styles)
        for (const char* stencil : {"star7", "box27"})
            for (const FactorStorage factors : all_factor_storages) {
                const Settings settings{{"style", style}, {"storage", to_string(factors)}};
                const auto system_of = [&](MatrixStorage storage) {
                    return SweptSystem(context, {stencil, 3, 0, {7, 5, 3}, LayoutKind::hyperplane, storage});
                };
                const SweptSystem system = system_of(MatrixStorage::full), other = system_of(MatrixStorage::lower);
                Settings with_shift = settings;
                with_shift.push_back({"shift", "0.25"});
                const auto m = make("fgbilu", system.a, with_shift);
                EXPECT_EQ(m->setup(system.a).shift, 0.25);
                const auto shifted = reference_ilu(reference::shifted(system.data, 0.25), stencil, 0);
                EXPECT_LT(relative_difference(system.applied(*m), reference::apply_inverse(shifted, system.r)),
                          tolerance_of(factors));
                const auto automatic = make("fgbilu", other.a, settings);
                automatic->setup(other.a);
                const Index held = context.ledger().held();
                automatic->suggest_shift(0.25);
                EXPECT_EQ(automatic->setup(system.a).shift, 0.25);
                EXPECT_EQ(system.applied(*automatic), system.applied(*m)) << "set up again, for another matrix";
                EXPECT_EQ(automatic->setup(other.a).shift, 0.25);
                EXPECT_EQ(context.ledger().held(), held);
            }
}

TEST(FgBilu, FactorsAShiftedMatrixAndCanBeSetUpAgain) {
    expect_shift_and_reuse(Context::cpu(1));
}
TEST_F(FgBiluPartsOnDevice, FactorAShiftedMatrixAndCanBeSetUpAgain) {
    expect_shift_and_reuse(Context::cuda());
}

void expect_memory_predicted(const Context& context) {
    for (const char* style : styles)
        for (const char* stencil : {"star7", "box27"})
            for (int dof : {1, 5})
                for (MatrixStorage storage : storages)
                    for (const FactorStorage factors : all_factor_storages) {
                        SCOPED_TRACE(std::string(style) + " " + stencil + " " + std::to_string(dof) + " " +
                                     to_string(factors));
                        const bool by_lines = context.backend() == Backend::cpu && std::string(style) == "blocks";
                        const LayoutKind kind = by_lines ? LayoutKind::natural : LayoutKind::hyperplane;
                        const SweptSystem system(context, {stencil, dof, 0, {17, 9, 5}, kind, storage});
                        const Settings settings{{"style", style}, {"storage", to_string(factors)}};
                        const PreconditionerPlan plan =
                            find_preconditioner("fgbilu").plan(parameters_of("fgbilu", settings), setting_of(system.a));
                        EXPECT_TRUE(plan.space == system.a.layout());
                        const Index before = context.ledger().held();
                        context.ledger().forget_peak();
                        const auto m = make("fgbilu", system.a, settings);
                        const Index factor_bytes = m->setup(system.a).factor_bytes;
                        const Index held = context.ledger().held() - before;
                        EXPECT_EQ(plan.bytes, held);
                        EXPECT_LE(factor_bytes, held);
                        const double peak = double(context.ledger().peak() - before);
                        EXPECT_NEAR(double(plan.bytes + plan.setup_bytes), peak, 0.02 * peak);
                        EXPECT_EQ(plan.bytes_per_apply, m->bytes_per_apply());
                        EXPECT_EQ(plan.traits.symmetric, m->traits().symmetric);
                    }
}

TEST(FgBilu, HoldsWhatIsPredicted) {
    expect_memory_predicted(Context::cpu(1));
}
TEST_F(FgBiluPartsOnDevice, HoldWhatIsPredicted) {
    expect_memory_predicted(Context::cuda());
}

TEST(FgBilu, RefusesLevelsThatAreTooFew) {
    const StencilMatrix data = reference::random_matrix({5, 4, 3}, reference::stencil_named("box27").offsets, 1, 1);
    const Layout layout(LayoutKind::hyperplane, reference::to_grid(data.box), {1, 1});
    const StructMatrix a = reference::to_struct_matrix(Context::cpu(1), layout, data, MatrixStorage::full, "box27");
    expect_error<UsageError>([&] { make("fgbilu", a)->setup(a); }, "stencil box27 needs levels i + 2 j + 4 k");
    expect_refused("fgbilu", {{"style", "threads"}}, "preconditioner.style: 'threads' is none of kernels | blocks");
}

}  // namespace
}  // namespace hyperplane
