// SPDX-License-Identifier: BSD-3-Clause
// par_ilut on general matrices, compared with the reference, and on a GPU to the last bit with a CPU.
#include "precond/par_ilut/par_ilut.hpp"

#include <cstring>

#include "on_device.hpp"
#include "precond/general_cases.hpp"
#include "reference/jacobi_sweeps.hpp"
#include "reference/par_ilut.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::BlockMatrix;
using reference::ThresholdRules;

struct ThresholdCase {
    GeneralCase matrix;
    ThresholdRules rules;
};

std::vector<ThresholdCase> threshold_cases() {
    std::vector<ThresholdCase> list;
    for (const char* name : {"random", "arrow", "dense_row", "lower", "empty_rows"})
        for (int sweeps : {0, 2}) list.push_back({{name, 30, 1, 0}, {1.5, 2, sweeps, 10}});
    for (int dof : {2, 3, 5, 8}) list.push_back({{"random", 15, dof, 0}, {1.7, 2, dof % 2, 10}});
    for (int dof : {1, 4}) list.push_back({{"dense", 1, dof, 0}, {}});
    for (int dof : {1, 3})
        for (int sweeps : {0, 1}) list.push_back({{"symmetric", 30, dof, 0, true}, {2.0, 2, sweeps, 10, true}});
    list.push_back({{"arrow", 30, 1, 0, true}, {2.5, 2, 0, 3, true}});
    list.push_back({{"random", 60, 1, 0}, {1.0, 4, 0, 1}});  // no fill, few candidates
    for (int sweeps : {0, 2}) list.push_back({{"random", 40, 1, 0}, {3.0, 0, sweeps, 10}});
    for (const GeneralCase& c : with_combined_cases({}, false))
        list.push_back({c, {1.7, 2, c.dof % 2, 10, c.symmetric}});
    return list;
}

/// With `jacobi`, sweeps in place of solves.
Settings settings_of(const ThresholdRules& rules, bool jacobi = false) {
    Settings settings{{"fill_limit", std::to_string(rules.fill_limit)},
                      {"rounds", std::to_string(rules.rounds)},
                      {"sweeps", std::to_string(rules.sweeps)},
                      {"candidates", std::to_string(rules.candidates)}};
    if (jacobi)
        for (const char* key : {"triangular_solve", "lower_sweeps", "upper_sweeps"})
            settings.emplace_back(key, *key == 't' ? "jacobi" : *key == 'l' ? "3" : "2");
    return settings;
}

Index entries(const reference::BlockIlu& ilu) {
    Index sum = 0;
    for (const auto& row : ilu.factors.rows) sum += Index(row.size());
    return sum;
}

class ParIlutCases : public testing::TestWithParam<ThresholdCase> {};
class ParIlutCasesOnDevice : public DeviceTest, public testing::WithParamInterface<ThresholdCase> {};

void expect_equals_reference(const Context& context, const ThresholdCase& c) {
    const auto& [matrix, rules] = c;
    const BlockMatrix data = data_of(matrix);
    const BsrMatrix a = reference::to_bsr_matrix(context, data, matrix.symmetric);
    const auto m = make_general("par_ilut", a, settings_of(rules));
    const reference::BlockIlu expected = reference::par_ilut(data, rules);
    const std::vector<double> r = reference::Random(9).vector(matrix.rows * matrix.dof);
    for (int repeat = 0; repeat < 2; ++repeat) {
        m->setup(a);
        EXPECT_EQ(dynamic_cast<const ParIlut&>(*m).factors().pattern().blocks(), entries(expected));
        EXPECT_EQ(m->traits().symmetric, matrix.symmetric);
        EXPECT_LT(reference::relative_difference(apply_general(*m, a, r), reference::apply_inverse(expected, r)),
                  1e-11);
    }
}

TEST_P(ParIlutCases, EqualReference) {
    expect_equals_reference(Context::cpu(1), GetParam());
}
TEST_P(ParIlutCasesOnDevice, EqualReference) {
    expect_equals_reference(Context::cuda(), GetParam());
}

void expect_sweeps_equal_reference(const Context& context, const ThresholdCase& c) {
    const auto& [matrix, rules] = c;
    const BlockMatrix data = data_of(matrix);
    const BsrMatrix a = reference::to_bsr_matrix(context, data, matrix.symmetric);
    const auto m = make_general("par_ilut", a, settings_of(rules, true));
    const reference::BlockIlu ilu = reference::par_ilut(data, rules);
    const std::vector<double> r = reference::Random(9).vector(matrix.rows * matrix.dof),
                              expected =
                                  reference::jacobi_sweeps(ilu, false, 2, reference::jacobi_sweeps(ilu, true, 3, r));
    for (int repeat = 0; repeat < 2; ++repeat) {
        m->setup(a);
        EXPECT_FALSE(m->traits().symmetric);
        EXPECT_EQ(m->sweeps().apply, 5);
        EXPECT_EQ(dynamic_cast<const ParIlut&>(*m).solve_way(), "");
        Vector z = reference::to_plain_vector(context, a.dof(), std::vector<double>(r.size(), NAN));
        const Vector rhs = reference::to_plain_vector(context, a.dof(), r);
        m->apply(rhs, z);
        EXPECT_LT(reference::relative_difference(to_natural(z), expected), 1e-11);
        const ApplicationCheck check = m->check_application(a, rhs, z, {});
        EXPECT_TRUE(check.unchecked.empty() && check.passed()) << check.error;
    }
}
TEST_P(ParIlutCases, SweptEqualReference) {
    expect_sweeps_equal_reference(Context::cpu(1), GetParam());
}
TEST_P(ParIlutCasesOnDevice, SweptEqualReference) {
    expect_sweeps_equal_reference(Context::cuda(), GetParam());
}

TEST_P(ParIlutCases, HaveTheSameBitsForAnyNumberOfThreads) {
    const auto& [matrix, rules] = GetParam();
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data_of(matrix), matrix.symmetric);
    const std::vector<double> r = reference::Random(9).vector(matrix.rows * matrix.dof);
    for (const bool jacobi : {false, true})
        expect_same_bits_for_any_threads(a.context(), [&, &rules = rules] {
            const auto m = make_general("par_ilut", a, settings_of(rules, jacobi));
            m->setup(a);
            return apply_general(*m, a, r);
        });
}

/// `beside`: bytes that the peak of a set-up may have, whatever the size of the matrix.
void expect_holds_what_it_plans(const Context& context, const ThresholdCase& c, Index beside, bool jacobi = false) {
    const auto& [matrix, rules] = c;
    const BsrMatrix a = reference::to_bsr_matrix(context, data_of(matrix), matrix.symmetric);
    const PreconditionerPlan plan =
        find_preconditioner("par_ilut").plan(parameters_of("par_ilut", settings_of(rules, jacobi)), setting_of(a));
    const auto m = make_general("par_ilut", a, settings_of(rules, jacobi));
    const Index before = context.ledger().held();
    context.ledger().forget_peak();
    m->setup(a);
    const Index held = context.ledger().held() - before, peak = context.ledger().peak() - before;
    EXPECT_GE(held, plan.bytes);
    EXPECT_GE(peak, plan.bytes + plan.setup_bytes);
    EXPECT_LE(held, plan.most_bytes);
    EXPECT_LE(peak, plan.most_bytes + plan.setup_bytes + beside);
    if (rules.rounds == 0) {
        EXPECT_EQ(held, plan.bytes);
        EXPECT_LE(peak, plan.bytes + plan.setup_bytes + beside);
    }
    if (dynamic_cast<const ParIlut&>(*m).factors().pattern().blocks() ==
        reference::par_ilut_limit(data_of(matrix), rules)) {
        EXPECT_EQ(m->bytes_per_apply(), plan.bytes_per_apply);
    }
}

TEST_P(ParIlutCases, HoldWhatTheyPlan) {
    expect_holds_what_it_plans(Context::cpu(1), GetParam(), 0);
    expect_holds_what_it_plans(Context::cpu(1), GetParam(), 0, true);
}
TEST_P(ParIlutCasesOnDevice, HoldWhatTheyPlan) {
    expect_holds_what_it_plans(Context::cuda(), GetParam(), 4096);  // of the sorts that make orders
    expect_holds_what_it_plans(Context::cuda(), GetParam(), 4096, true);
}

/// Expects the rounds, the pattern and the bits of a CPU.
void expect_factors_of_a_cpu(const GeneralCase& matrix, const Settings& settings) {
    const BlockMatrix data = data_of(matrix);
    const Context cpu = Context::cpu(1), gpu = Context::cuda();
    const BsrMatrix a = reference::to_bsr_matrix(cpu, data, matrix.symmetric);
    const BsrMatrix b = reference::to_bsr_matrix(gpu, data, matrix.symmetric);
    const auto expected = make_general("par_ilut", a, settings), found = make_general("par_ilut", b, settings);
    const SetupReport of_cpu = expected->setup(a), of_gpu = found->setup(b);
    EXPECT_EQ(of_gpu.shift, of_cpu.shift);
    EXPECT_EQ(of_gpu.pivots_modified, of_cpu.pivots_modified);
    EXPECT_EQ(of_gpu.smallest_pivot_ratio, of_cpu.smallest_pivot_ratio);
    EXPECT_EQ(of_gpu.factor_bytes, of_cpu.factor_bytes);
    EXPECT_EQ(found->bytes_per_apply(), expected->bytes_per_apply());
    const auto &on_cpu = dynamic_cast<const ParIlut&>(*expected), &on_gpu = dynamic_cast<const ParIlut&>(*found);
    EXPECT_EQ(on_gpu.rounds(), on_cpu.rounds());
    const GeneralFactors &x = on_cpu.factors(), &y = on_gpu.factors();
    const auto equal = [](const auto* one, const auto* other, Index count) {
        return std::memcmp(one, other, std::size_t(count) * sizeof(*one)) == 0;
    };
    ASSERT_EQ(y.pattern().blocks(), x.pattern().blocks());
    EXPECT_TRUE(equal(y.pattern().row_begin(), x.pattern().row_begin(), x.pattern().rows() + 1));
    EXPECT_TRUE(equal(y.pattern().column(), x.pattern().column(), x.pattern().blocks()));
    EXPECT_TRUE(equal(y.filled.diagonal.data(), x.filled.diagonal.data(), x.pattern().rows()));
    Index different = 0;
    for (Index at = 0; at < x.values.size(); ++at) different += !equal(&y.values[at], &x.values[at], 1);
    EXPECT_EQ(different, 0) << "of " << x.values.size();
}

TEST_P(ParIlutCasesOnDevice, HaveTheBitsOfACpu) {
    expect_factors_of_a_cpu(GetParam().matrix, settings_of(GetParam().rules));
}

class ParIlutSystemsOnDevice : public DeviceTest, public testing::WithParamInterface<GeneralCase> {};

TEST_P(ParIlutSystemsOnDevice, HaveTheBitsOfACpu) {
    for (const Settings& more :
         std::vector<Settings>{{}, {{"sweeps", "3"}}, {{"rounds", "0"}}, {{"tolerance", "0.01"}}}) {
        Settings settings{{"pivot_policy", "boost"}};
        settings.insert(settings.end(), more.begin(), more.end());
        expect_factors_of_a_cpu(GetParam(), settings);
        if (HasFailure()) FAIL() << (more.empty() ? "default keys" : more.begin()->first);
    }
}

std::vector<GeneralCase> systems_of_par_ilut() {
    std::vector<GeneralCase> list;
    for (const GeneralCase& c : general_cases())
        if (c.fill_level == 0 && c.rows < 1000) list.push_back(c);
    for (const GeneralCase& c : general_swept_cases())
        if (c.fill_level == 0 && c.rows < 1000) list.push_back(c);
    list.push_back({"random", 1500, 1, 0});  // rows are searched in several parts
    list.push_back({"symmetric", 900, 1, 0, true});
    list.push_back({"random", 6, 32, 0});
    return list;
}
INSTANTIATE_TEST_SUITE_P(All, ParIlutSystemsOnDevice, testing::ValuesIn(systems_of_par_ilut()));

INSTANTIATE_TEST_SUITE_P(All, ParIlutCases, testing::ValuesIn(threshold_cases()));
INSTANTIATE_TEST_SUITE_P(All, ParIlutCasesOnDevice, testing::ValuesIn(threshold_cases()));

// With enough fill the factors become complete: M = A.
TEST(ParIlut, WithEnoughFillIsTheCompleteFactorisation) {
    for (const GeneralCase& c : {GeneralCase{"random", 30, 1, 0}, GeneralCase{"random", 15, 3, 0},
                                 GeneralCase{"symmetric", 30, 1, 0, true}, GeneralCase{"symmetric", 15, 2, 0, true}}) {
        const BlockMatrix data = data_of(c);
        const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data, c.symmetric);
        const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof);
        for (const char* sweeps : {"0", "40"}) {
            const auto m =
                make_general("par_ilut", a, {{"fill_limit", "1000"}, {"candidates", "1000"}, {"sweeps", sweeps}});
            m->setup(a);
            EXPECT_LT(reference::relative_difference(reference::multiply(data, apply_general(*m, a, r)).value, r),
                      1e-12)
                << sweeps;
        }
    }
}

TEST(ParIlut, EndsItsRoundsWhenTheyGainLittle) {
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data_of({"random", 60, 1, 0}));
    for (const auto& [tolerance, least, most] :
         {std::tuple("0", 30, 30), std::tuple("0.001", 1, 29), std::tuple("1", 1, 1)}) {
        const auto m = make_general("par_ilut", a, {{"rounds", "30"}, {"tolerance", tolerance}});
        m->setup(a);
        EXPECT_GE(dynamic_cast<const ParIlut&>(*m).rounds(), least) << tolerance;
        EXPECT_LE(dynamic_cast<const ParIlut&>(*m).rounds(), most) << tolerance;
    }
}

TEST(ParIlut, NamesPivotsThatCannotBeUsed) {
    BlockMatrix data = data_of({"empty_rows", 12, 1, 0});
    data.rows[4][4].values[0] = 0.0;
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data);
    expect_error<SetupError>([&] { make_general("par_ilut", a)->setup(a); }, "the pivot at row 5 is zero");
    expect_error<SetupError>(
        [&] {
            make_general("par_ilut", a, {{"sweeps", "3"}})->setup(a);
        },
        "It was found after 3 sweeps");
    const BsrMatrix missing = reference::to_bsr_matrix(
        Context::cpu(1), reference::random_blocks(reference::pattern_named("no_diagonal", 5, 1, 1), 2, 3));
    expect_error<SetupError>([&] { make_general("par_ilut", missing)->setup(missing); }, "the pivot at row 5 is zero");
}

// A matrix on whose pattern ILU(0) has a zero pivot, and the shift that mends it.
TEST(ParIlut, ShiftsTheMatrix) {
    BlockMatrix data = data_of({"random", 12, 1, 0});
    data.rows[4][4].values[0] = 0.0;
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data);
    EXPECT_EQ(make_general("par_ilut", a, {{"shift", "0.5"}, {"pivot_policy", "boost"}})->setup(a).shift, 0.5);
}

}  // namespace
}  // namespace hyperplane
