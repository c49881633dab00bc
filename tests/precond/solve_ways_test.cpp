// SPDX-License-Identifier: BSD-3-Clause
// The ways of the triangular solves with general factors: every one against the reference, with the same bits.
#include "precond/general/solves/solve_way.hpp"

#include "on_device.hpp"
#include "precond/general_cases.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;

Settings settings_of(const std::string& name, const GeneralCase& c, const std::string& way) {
    Settings settings{{"solve", way}};
    if (name != "par_ilut") settings.emplace_back("fill_level", std::to_string(c.fill_level));
    return settings;
}

/// Returns M^-1 r, solved in one way, and checks that the memory is that of the plan.
std::vector<double> applied(const std::string& name, const GeneralCase& c, const Context& context,
                            const std::string& way, std::string* taken = nullptr) {
    const BsrMatrix a = reference::to_bsr_matrix(context, data_of(c), c.symmetric);
    const Settings settings = settings_of(name, c, way);
    const auto m = make_general(name, a, settings);
    auto plan = find_preconditioner(name).plan(parameters_of(name, settings), setting_of(a));
    plan.kept.reset();
    const Index held = context.ledger().held();
    const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof);
    std::vector<double> z;
    for (int repeat = 0; repeat < 3; ++repeat) {
        m->setup(a);
        for (int again = 0; again < 3; ++again) {
            const std::vector<double> next = apply_general(*m, a, r);
            if (!z.empty()) {
                EXPECT_EQ(next, z);
            }
            z = next;
        }
    }
    if (plan.most_bytes == 0) {
        EXPECT_EQ(context.ledger().held() - held, plan.bytes) << way;
    } else {
        EXPECT_GE(context.ledger().held() - held, plan.bytes) << way;
        EXPECT_LE(context.ledger().held() - held, plan.most_bytes) << way;
    }
    if (taken) *taken = m->solve_way();
    return z;
}

/// Levels that are wide and narrow for a GPU, one after the other, and rows that have many lanes.
std::vector<GeneralCase> cases_of_ways() {
    std::vector<GeneralCase> cases = general_cases();
    for (const GeneralCase& more : {GeneralCase{"random", 20000, 1, 0},
                                    {"symmetric", 9000, 1, 0, true},
                                    {"dense_row", 5000, 1, 0},
                                    {"arrow", 5000, 1, 0},
                                    {"lower", 3000, 2, 0},
                                    {"random", 9000, 3, 0},
                                    {"random", 4000, 7, 0},
                                    {"random", 5000, 8, 0},
                                    {"random", 900, 17, 0}})
        cases.push_back(more);
    return cases;
}

/// Those of them for which the reference takes no more than seconds.
std::vector<GeneralCase> small_cases_of_ways() {
    std::vector<GeneralCase> cases = cases_of_ways();
    std::erase_if(cases, [](const GeneralCase& c) { return c.rows > 80; });
    return cases;
}

class SolveWays : public testing::TestWithParam<GeneralCase> {};
class SolveWaysOnDevice : public DeviceTest, public testing::WithParamInterface<GeneralCase> {};
class SolveWaysOfSmallSystems : public SolveWays {};
class SolveWaysOfSmallSystemsOnDevice : public SolveWaysOnDevice {};
class SolveWayOnDevice : public DeviceTest {};

void expect_equals_reference_in(const std::string& way, const Context& context, const GeneralCase& c) {
    const reference::BlockMatrix data = data_of(c);
    const auto expected = reference::apply_inverse(reference_of(data, c), reference::Random(9).vector(c.rows * c.dof));
    EXPECT_LT(reference::relative_difference(applied("sync_free_ilu", c, context, way), expected), 1e-12) << way;
}

TEST_P(SolveWaysOfSmallSystems, EqualReferenceByLevels) {
    expect_equals_reference_in("levels", Context::cpu(1), GetParam());
}
TEST_P(SolveWaysOfSmallSystemsOnDevice, EqualReference) {
    for (const char* way : {"levels", "sync_free", "auto"})
        expect_equals_reference_in(way, Context::cuda(), GetParam());
}

TEST_P(SolveWays, HaveTheSameBitsForAnyNumberOfThreads) {
    const GeneralCase& c = GetParam();
    std::string taken;
    const std::vector<double> expected = applied("sync_free_ilu", c, Context::cpu(1), "auto", &taken);
    EXPECT_EQ(taken, "natural_order");
    for (const int threads : {1, 2, 4}) {
        const Context context = Context::cpu(threads);
        if (c.rows <= 900) context.set_least_parallel_work(0);
        EXPECT_EQ(applied("sync_free_ilu", c, context, "levels", &taken), expected) << threads;
        EXPECT_EQ(taken, "levels");
    }
}
TEST_P(SolveWaysOnDevice, HaveTheSameBits) {
    const GeneralCase& c = GetParam();
    const Context context = Context::cuda();
    std::string taken;
    const std::vector<double> expected = applied("sync_free_ilu", c, context, "sync_free", &taken);
    EXPECT_EQ(taken, "sync_free");
    EXPECT_EQ(applied("sync_free_ilu", c, context, "levels", &taken), expected);
    EXPECT_EQ(taken, "levels");
    EXPECT_EQ(applied("sync_free_ilu", c, context, "auto"), expected);
}

INSTANTIATE_TEST_SUITE_P(All, SolveWaysOfSmallSystems, testing::ValuesIn(small_cases_of_ways()), name_of_general_case);
INSTANTIATE_TEST_SUITE_P(All, SolveWaysOfSmallSystemsOnDevice, testing::ValuesIn(small_cases_of_ways()),
                         name_of_general_case);
INSTANTIATE_TEST_SUITE_P(All, SolveWays, testing::ValuesIn(cases_of_ways()), name_of_general_case);
INSTANTIATE_TEST_SUITE_P(All, SolveWaysOnDevice, testing::ValuesIn(cases_of_ways()), name_of_general_case);

void expect_same_bits_of(const std::string& name, const Context& context, const std::vector<std::string>& ways) {
    for (const GeneralCase& c : {GeneralCase{"random", 700, 1, 0}, {"random", 200, 3, 0}}) {
        const std::vector<double> expected = applied(name, c, context, "auto");
        for (const std::string& way : ways) {
            std::string taken;
            EXPECT_EQ(applied(name, c, context, way, &taken), expected) << name;
            EXPECT_EQ(taken, way);
        }
    }
}
TEST(SolveWay, IsChosenForOtherFactors) {
    for (const char* name : {"par_ilu", "par_ilut"}) expect_same_bits_of(name, Context::cpu(1), {"levels"});
}
TEST_F(SolveWayOnDevice, IsChosenForOtherFactors) {
    for (const char* name : {"par_ilu", "par_ilut"})
        expect_same_bits_of(name, Context::cuda(), {"levels", "sync_free"});
}

TEST(SolveWay, OfSingleRowsIsRefusedOnACpu) {
    for (const char* name : {"sync_free_ilu", "par_ilu", "par_ilut"}) {
        const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data_of({"random", 20, 1, 0}));
        try {
            make_general(name, a, {{"solve", "sync_free"}});
            ADD_FAILURE() << name;
        } catch (const UsageError& error) {
            EXPECT_NE(std::string(error.what()).find("solve"), std::string::npos) << error.what();
            EXPECT_NE(std::string(error.what()).find("set solve = levels or auto"), std::string::npos) << error.what();
        }
    }
}

TEST(SolveWay, IsByLevelsWhereLevelsAreLarge) {
    EXPECT_FALSE(solves_by_levels(SolveWay::automatic, 4, (Index(4) << 21) - 1));
    EXPECT_TRUE(solves_by_levels(SolveWay::automatic, 4, Index(4) << 21));
    EXPECT_FALSE(solves_by_levels(SolveWay::automatic, 0, 0));
    EXPECT_FALSE(solves_by_levels(SolveWay::sync_free, 4, Index(4) << 21));
    EXPECT_TRUE(solves_by_levels(SolveWay::levels, 4, 0));
}

/// Steps cover all levels once: a wide one by itself, and as many narrow ones together as follow each other.
TEST(SolveLevels, AreDividedIntoSteps) {
    const int n = int(most_narrow_slices);
    const std::vector<int> slices{1, n, n + 1, 100, 2, 2, n, 500, 1};
    std::vector<int> begin{0};
    for (const int one : slices) begin.push_back(begin.back() + one);
    EXPECT_EQ(steps_of_levels(begin), (std::vector<int>{0, 2, 3, 4, 7, 8, 9}));
    const LevelCounts counts = counts_of_levels(begin);
    EXPECT_EQ(counts.levels, 9);
    EXPECT_EQ(counts.steps, 6);
    EXPECT_EQ(counts.widest, 500);
    EXPECT_EQ(steps_of_levels({0}), std::vector<int>{0});
}

}  // namespace
}  // namespace hyperplane
