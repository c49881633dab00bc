// SPDX-License-Identifier: BSD-3-Clause
// sync_free_ilu and block Jacobi on general matrices, compared with the reference; the pattern of ILU(k) on graphs.
#include "precond/sync_free_ilu/sync_free_ilu.hpp"

#include <gtest/gtest.h>

#include "on_device.hpp"
#include "precond/general_cases.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::BlockMatrix;

void expect_equals_reference(const Context& context, const GeneralCase& c, const std::string& variant = "auto") {
    const BlockMatrix data = data_of(c);
    const BsrMatrix a = reference::to_bsr_matrix(context, data, c.symmetric);
    const auto m =
        make_general("sync_free_ilu", a, {{"fill_level", std::to_string(c.fill_level)}, {"variant", variant}});
    const SetupReport report = m->setup(a);
    EXPECT_EQ(m->traits().symmetric, c.symmetric);
    const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof);
    EXPECT_LT(
        reference::relative_difference(apply_general(*m, a, r), reference::apply_inverse(reference_of(data, c), r)),
        1e-12);
    EXPECT_GT(report.factor_bytes, 0);
    EXPECT_EQ(report.pivots_modified, 0);
}

class SyncFreeIlu : public testing::TestWithParam<GeneralCase> {};
class GeneralSolvesOnDevice : public DeviceTest {};
class SyncFreeIluOnDevice : public DeviceTest, public testing::WithParamInterface<GeneralCase> {};

TEST_P(SyncFreeIlu, EqualsReference) {
    expect_equals_reference(Context::cpu(1), GetParam());
}
TEST_P(SyncFreeIluOnDevice, EqualsReference) {
    expect_equals_reference(Context::cuda(), GetParam());
}
TEST_P(SyncFreeIluOnDevice, EqualsReferenceByTablesAndBySearch) {
    expect_equals_reference(Context::cuda(), GetParam(), "search");
    if (GetParam().dof == 1) expect_equals_reference(Context::cuda(), GetParam(), "table");
}
/// Products of the factorisation are fused and have one order.
TEST_P(SyncFreeIluOnDevice, HasTheBitsOfACpu) {
    const GeneralCase& c = GetParam();
    const BlockMatrix data = data_of(c);
    const auto ldu_on = [&](const Context& context, const std::string& variant) {
        const BsrMatrix a = reference::to_bsr_matrix(context, data, c.symmetric);
        const auto m =
            make_general("sync_free_ilu", a, {{"fill_level", std::to_string(c.fill_level)}, {"variant", variant}});
        m->setup(a);
        const LduFactors ldu = dynamic_cast<const HasLduFactors&>(*m).ldu();
        return std::tuple(ldu.lower.value, ldu.diagonal.value, ldu.upper.value);
    };
    const auto expected = ldu_on(Context::cpu(1), "auto");
    for (const char* variant : {"auto", "search"}) EXPECT_EQ(ldu_on(Context::cuda(), variant), expected) << variant;
}
TEST_P(SyncFreeIlu, HasTheSameBitsForAnyNumberOfThreads) {
    const GeneralCase& c = GetParam();
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data_of(c), c.symmetric);
    const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof);
    expect_same_bits_for_any_threads(a.context(), [&] {
        const auto m = make_general("sync_free_ilu", a, {{"fill_level", std::to_string(c.fill_level)}});
        m->setup(a);
        return apply_general(*m, a, r);
    });
}

INSTANTIATE_TEST_SUITE_P(All, SyncFreeIlu, testing::ValuesIn(general_cases()), name_of_general_case);
INSTANTIATE_TEST_SUITE_P(All, SyncFreeIluOnDevice, testing::ValuesIn(general_cases()), name_of_general_case);

TEST(GraphFill, EqualsReference) {
    for (const char* name : {"random", "symmetric", "arrow", "dense_row", "lower", "no_diagonal"})
        for (int k : {0, 1, 2, 3}) {
            SCOPED_TRACE(std::string(name) + " " + std::to_string(k));
            reference::Pattern pattern = reference::pattern_named(name, 70, 4, 41);
            const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), reference::random_blocks(pattern, 1, 1));
            const FilledPattern filled = filled_pattern(Context::cpu(1), a.pattern(), k, "test");
            for (int row = 0; row < 70; ++row) pattern[row].insert(row);
            const reference::Pattern expected = reference::symbolic_ilu(pattern, k);
            Index lower = 0;
            for (int row = 0; row < 70; ++row) {
                const Index begin = filled.pattern->row_begin()[row], end = filled.pattern->row_begin()[row + 1];
                const std::set<int> found(filled.pattern->column() + begin, filled.pattern->column() + end);
                EXPECT_EQ(found, expected[row]) << row;
                EXPECT_EQ(filled.pattern->column()[filled.diagonal[row]], row);
                lower += filled.diagonal[row] - begin;
                for (Index at = a.pattern()->row_begin()[row]; at < a.pattern()->row_begin()[row + 1]; ++at)
                    EXPECT_EQ(filled.pattern->column()[filled.place_of(row, at)], a.pattern()->column()[at]);
            }
            EXPECT_EQ(filled.lower, lower);
        }
}

/// Factors and results have the same bits however often and in whatever company they are computed.
TEST_F(GeneralSolvesOnDevice, RepeatTheirBits) {
    const Context context = Context::cuda();
    for (const GeneralCase& c : {GeneralCase{"random", 3000, 1, 1}, {"symmetric", 900, 3, 0, true}}) {
        const BsrMatrix a = reference::to_bsr_matrix(context, data_of(c), c.symmetric);
        const auto m = make_general("sync_free_ilu", a, {{"fill_level", std::to_string(c.fill_level)}});
        m->setup(a);
        const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof), first = apply_general(*m, a, r);
        for (int repeat = 0; repeat < 20; ++repeat) {
            if (repeat % 5 == 0) m->setup(a);
            EXPECT_EQ(apply_general(*m, a, r), first);
        }
    }
}

/// A search and tables do the same operations in the same order, also where rows are long or a shift is added.
TEST_F(GeneralSolvesOnDevice, HaveTheSameBitsByTablesAndBySearch) {
    const Context context = Context::cuda();
    for (const GeneralCase& c : {GeneralCase{"random", 3000, 1, 0},
                                 {"random", 3000, 1, 2},
                                 {"symmetric", 2000, 1, 1, true},
                                 {"dense_row", 700, 1, 1},
                                 {"arrow", 900, 1, 1},
                                 {"arrow", 900, 1, 1, true},
                                 {"empty_rows", 60, 1, 1}}) {
        SCOPED_TRACE(c.pattern + " " + std::to_string(c.rows));
        const BsrMatrix a = reference::to_bsr_matrix(context, data_of(c), c.symmetric);
        const std::vector<double> r = reference::Random(9).vector(c.rows);
        std::vector<double> results[2];
        for (const bool table : {false, true}) {
            const auto m = make_general("sync_free_ilu", a,
                                        {{"fill_level", std::to_string(c.fill_level)},
                                         {"shift", "0.25"},
                                         {"variant", table ? "table" : "search"}});
            auto plan = find_preconditioner("sync_free_ilu")
                            .plan(parameters_of("sync_free_ilu", {{"fill_level", std::to_string(c.fill_level)},
                                                                  {"variant", table ? "table" : "search"}}),
                                  setting_of(a));
            plan.kept.reset();
            const Index held = context.ledger().held();
            for (int repeat = 0; repeat < 3; ++repeat) {
                m->setup(a);
                results[table] = apply_general(*m, a, r);
            }
            EXPECT_EQ(context.ledger().held() - held, plan.bytes);
        }
        EXPECT_EQ(results[0], results[1]);
    }
}

/// Short rows of blocks that are polled themselves have the factors of a search, bit for bit, and so have matrices with
/// a row that is too long for that.
TEST_F(GeneralSolvesOnDevice, HaveTheSameBitsByPollingBlocksAndBySearch) {
    const Context context = Context::cuda();
    for (const GeneralCase& c : {GeneralCase{"random", 3000, 3, 0},
                                 {"random", 2000, 2, 0},
                                 {"random", 900, 4, 0},
                                 {"random", 40, 3, 1},
                                 {"random", 900, 5, 0},
                                 {"symmetric", 2000, 3, 0, true},
                                 {"symmetric", 500, 2, 0, true},
                                 {"symmetric", 300, 4, 0, true},
                                 {"no_diagonal", 400, 3, 0},
                                 {"dense_row", 700, 3, 0},
                                 {"empty_rows", 60, 3, 1},
                                 {"dense", 15, 3, 0},
                                 {"dense", 1, 3, 0}}) {
        SCOPED_TRACE(c.pattern + " " + std::to_string(c.rows) + " " + std::to_string(c.dof));
        BlockMatrix data = data_of(c);
        if (c.pattern == "no_diagonal")  // the pivot that A does not store follows from these
            for (const auto& [row, column] : {std::pair(2, 0), {0, 2}}) {
                data.rows[row][column] = reference::Dense(c.dof, c.dof);
                for (int at = 0; at < c.dof; ++at) data.rows[row][column].values[at * c.dof + at] = 1.0;
            }
        const BsrMatrix a = reference::to_bsr_matrix(context, data, c.symmetric);
        const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof);
        std::vector<std::vector<double>> results;
        std::vector<LduFactors> factors;
        for (const char* variant : {"search", "auto"}) {
            const Settings settings{
                {"fill_level", std::to_string(c.fill_level)}, {"shift", "0.25"}, {"variant", variant}};
            const auto m = make_general("sync_free_ilu", a, settings);
            auto plan =
                find_preconditioner("sync_free_ilu").plan(parameters_of("sync_free_ilu", settings), setting_of(a));
            plan.kept.reset();
            const Index held = context.ledger().held();
            for (int repeat = 0; repeat < 3; ++repeat) {
                m->setup(a);
                results.push_back(apply_general(*m, a, r));
                EXPECT_EQ(results.back(), results.front());
            }
            EXPECT_EQ(context.ledger().held() - held, plan.bytes);
            factors.push_back(dynamic_cast<const HasLduFactors&>(*m).ldu());
        }
        EXPECT_EQ(factors[0].lower.value, factors[1].lower.value);
        EXPECT_EQ(factors[0].diagonal.value, factors[1].diagonal.value);
        EXPECT_EQ(factors[0].upper.value, factors[1].upper.value);
    }
}

TEST(SyncFreeIluVariants, TablesOfBlocksAreRefused) {
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data_of({"random", 50, 3, 0}));
    expect_error<UsageError>(
        [&] {
            make_general("sync_free_ilu", a, {{"variant", "table"}});
        },
        "tables are for matrices of one unknown, and this one has blocks of 3");
}

TEST(SyncFreeIluSetup, RepeatsTheNumericPartAlone) {
    const GeneralCase c{"random", 50, 2, 1};
    const Context context = Context::cpu(1);
    BlockMatrix data = data_of(c);
    BsrMatrix a = reference::to_bsr_matrix(context, data);
    const auto m = make_general("sync_free_ilu", a, {{"fill_level", "1"}});
    EXPECT_GT(m->setup(a).symbolic_seconds, 0.0);
    for (auto& row : data.rows)
        for (auto& [column, block] : row)
            for (double& value : block.values) value *= 1.5;
    for (Index at = 0; at < a.nonzeros(); ++at) a.values()[at] *= 1.5;
    const Index held = context.ledger().held();
    EXPECT_EQ(m->setup(a).symbolic_seconds, 0.0);
    EXPECT_EQ(context.ledger().held(), held);
    const std::vector<double> r = reference::Random(9).vector(100);
    EXPECT_LT(
        reference::relative_difference(apply_general(*m, a, r), reference::apply_inverse(reference_of(data, c), r)),
        1e-12);
}

/// ILU of one unknown by the definition, with fused products in the order of k, row by row: L, 1 / U_ii and U.
std::vector<double> fused_factors(const BlockMatrix& a, const reference::Pattern& filled, bool symmetric) {
    std::vector<std::map<int, double>> x(a.rows.size());
    std::vector<double> inverse, found;
    for (int i = 0; i < int(x.size()); ++i) {
        for (const int j : filled[i]) x[i][j] = a.rows[i].count(j) ? a.rows[i].at(j).values[0] : 0.0;
        for (auto& [k, value] : x[i]) {
            if (k >= i) break;
            const double w = std::fma(symmetric ? x[k].at(i) : value, inverse[k], 0.0);
            value = w;
            for (const auto& [j, u] : x[k])
                if (j > k && (!symmetric || j >= i) && x[i].count(j)) x[i][j] = std::fma(-w, u, x[i][j]);
        }
        inverse.push_back(1.0 / x[i].at(i));
        for (const auto& [j, value] : x[i]) found.push_back(j == i ? inverse[i] : value);
    }
    return found;
}

/// Short rows are compared entry by entry, and long ones are spread over their columns.
TEST(SyncFreeIluSetup, LongAndShortRowsHaveTheBitsOfTheDefinition) {
    for (const GeneralCase& c : {GeneralCase{"random", 300, 1, 2},
                                 {"dense_row", 300, 1, 1},
                                 {"arrow", 900, 1, 0},
                                 {"dense", 70, 1, 0},
                                 {"symmetric", 200, 1, 2, true},
                                 {"arrow", 90, 1, 1, true}}) {
        SCOPED_TRACE(c.pattern + " " + std::to_string(c.rows));
        const BlockMatrix data = data_of(c);
        const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(2), data, c.symmetric);
        SyncFreeOptions options;
        options.fill_level = c.fill_level;
        hyperplane::SyncFreeIlu m(a.context(), options);
        m.setup(a);
        const reference::Pattern filled = reference::symbolic_ilu(reference::pattern_of(data), c.fill_level);
        const auto& values = m.factors().values;
        EXPECT_EQ(std::vector<double>(values.begin(), values.end()), fused_factors(data, filled, c.symmetric));
    }
}

TEST(SyncFreeIluSetup, HoldsWhatItPlans) {
    for (const GeneralCase& c : {GeneralCase{"random", 50, 3, 0}, GeneralCase{"random", 50, 1, 2}})
        expect_holds_what_it_plans("sync_free_ilu", c, {{"fill_level", std::to_string(c.fill_level)}});
}

TEST(SyncFreeIluPivots, AreNamedShiftedOrBoosted) {
    const Context context = Context::cpu(1);
    BlockMatrix data = reference::random_blocks(reference::pattern_named("empty_rows", 12, 1, 1), 1, 3);
    data.rows[4][4].values[0] = 0.0;
    data.rows[4][7] = data.rows[7][4] = reference::Dense(1, 1);
    data.rows[4][7].values[0] = 1.0;
    const BsrMatrix a = reference::to_bsr_matrix(context, data);
    expect_error<SetupError>([&] { make_general("sync_free_ilu", a)->setup(a); }, "the pivot at row 5 is zero");
    // The block of one unknown is zero, so the row gives the scale of its pivot.
    EXPECT_EQ(make_general("sync_free_ilu", a, {{"pivot_policy", "boost"}})->setup(a).pivots_modified, 1);

    // As a symmetric matrix: the pivot of row 8 is its diagonal minus 1000.
    data.rows[4][4].values[0] = 1e-3;
    BlockMatrix mirrored = data;
    mirrored.rows[7][4].values[0] = 1.0;
    const BsrMatrix indefinite = reference::to_bsr_matrix(context, mirrored, true);
    expect_error<SetupError>([&] { make_general("sync_free_ilu", indefinite)->setup(indefinite); }, "row 8");
    const SetupReport shifted =
        make_general("sync_free_ilu", a, {{"shift", "0.5"}})->setup(reference::to_bsr_matrix(context, data));
    EXPECT_EQ(shifted.shift, 0.5);
}

std::vector<GeneralCase> jacobi_cases() {
    std::vector<GeneralCase> list;
    for (int dof : {1, 2, 3, 4, 5, 6, 7, 8, 13, 32}) list.push_back({"random", 40, dof, 0});
    return with_combined_cases(std::move(list), false);
}

void expect_jacobi(const Context& context, const GeneralCase& c) {
    SCOPED_TRACE(c.pattern + " " + std::to_string(c.rows) + " " + std::to_string(c.dof));
    const BlockMatrix data = data_of(c);
    const BsrMatrix a = reference::to_bsr_matrix(context, data, c.symmetric);
    const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof);
    for (bool l1 : {false, true}) {
        const auto m = make_general("jacobi", a, {{"l1", l1 ? "true" : "false"}});
        m->setup(a);
        const auto expected = reference::apply_block_jacobi(l1 ? reference::with_l1_diagonal(data) : data, r);
        EXPECT_LT(reference::relative_difference(apply_general(*m, a, r), expected), 1e-12);
    }
    const auto none = make_general("none", a);
    none->setup(a);
    EXPECT_EQ(apply_general(*none, a, r), r);
}
TEST(GeneralJacobi, AndNoneEqualReference) {
    for (const GeneralCase& c : jacobi_cases()) expect_jacobi(Context::cpu(1), c);
}
class GeneralJacobiOnDevice : public DeviceTest {};
TEST_F(GeneralJacobiOnDevice, AndNoneEqualReference) {
    for (const GeneralCase& c : jacobi_cases()) expect_jacobi(Context::cuda(), c);
}
TEST(GeneralJacobi, HoldsWhatItPlans) {
    expect_holds_what_it_plans("jacobi", {"random", 50, 3, 0}, {});
    expect_holds_what_it_plans("jacobi", {"random", 50, 3, 0}, {{"l1", "true"}});
}

TEST(MatrixKinds, ThatDoNotFitAreRefusedWithNamesThatWould) {
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data_of({"random", 50, 1, 0}));
    expect_error<UsageError>(
        [&] { make_general("struct_ilu", a); },
        "preconditioner.name = struct_ilu takes matrices on a grid alone, and this one is general; "
        "use jacobi_sweeps, par_ilu, subdomain_ildu0, jacobi, sync_free_ilu, par_ilut, none");
    expect_error<UsageError>(
        [&] { make_general("multicolor", a); },
        "sync_free_ilu, par_ilut, none; a general matrix is factored by colours with sync_free_ilu and "
        "ordering.name = multicolor");
    const PreconditionerSetting grid{Context::cpu(1), {{7, 5, 3}, Stencil::star7(), 1, true}};
    expect_error<UsageError>([&] { check_matrix(find_preconditioner("sync_free_ilu"), grid); },
                             "takes general matrices alone, and this one is on a grid (matrix.format = general makes");
}

}  // namespace
}  // namespace hyperplane
