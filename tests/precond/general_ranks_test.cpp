// SPDX-License-Identifier: BSD-3-Clause
// Preconditioners of general matrices on several ranks: with scope = global the bits of one rank, with scope = rank
// those of a matrix without couplings between the ranks' rows.
#include <gtest/gtest.h>

#include "core/graph/orderings.hpp"
#include "core/matrix/row_cuts.hpp"
#include "on_ranks.hpp"
#include "precond/rounding_cases.hpp"
#include "reference/subdomains.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::BlockMatrix;

struct RankedRows {
    std::string preconditioner;
    GeneralCase matrix;
    Settings settings = {};
    bool another_pattern = false;  ///< have the factors, so that all ranks find that of the whole matrix
};

std::vector<RankedRows> global_cases() {
    std::vector<RankedRows> list;
    for (const char* name : {"none", "jacobi", "sync_free_ilu"}) {
        list.push_back({name, {"random", 8197, 1, 0}});
        list.push_back({name, {"symmetric", 8211, 1, 0, true}});
        list.push_back({name, {"random", 2999, 3, 0}});
        list.push_back({name, {"symmetric", 2111, 4, 0, true}});
        list.push_back({name, {"random", 901, 11, 0}});
    }
    list.push_back({"jacobi", {"symmetric", 8211, 1, 0, true}, {{"l1", "true"}}});
    list.push_back({"chebyshev", {"symmetric", 8211, 1, 0, true}});
    list.push_back({"chebyshev", {"symmetric", 2999, 3, 0, true}});
    for (const char* name : {"jacobi_sweeps", "par_ilu"}) {
        list.push_back({name, {"random", 8197, 1, 0}});
        list.push_back({name, {"symmetric", 2999, 3, 0, true}});
    }
    list.push_back({"par_ilu", {"random", 2999, 3, 0}, {{"triangular_solve", "jacobi"}}});
    for (const char* pattern : {"dense_row", "lower", "empty_rows"})
        list.push_back({"sync_free_ilu", {pattern, 8300, 1, 0}});
    return list;
}

/// Factors in reduced precision.
std::vector<RankedRows> reduced_cases() {
    std::vector<RankedRows> list;
    for (const char* storage : {"single", "half_scaled"}) {
        const auto add = [&](const char* name, const GeneralCase& matrix, Settings settings, bool another_pattern) {
            settings.emplace_back("storage", storage);
            list.push_back({name, matrix, settings, another_pattern});
        };
        add("sync_free_ilu", {"random", 8197, 1, 0}, {}, false);
        add("sync_free_ilu", {"symmetric", 8211, 1, 0, true}, {}, false);
        add("sync_free_ilu", {"symmetric", 2999, 3, 0, true}, {{"fill_level", "1"}}, true);
        add("sync_free_ilu", {"random", 2111, 4, 0}, {{"fill_level", "2"}}, true);
        add("sync_free_ilu", {"random", 901, 11, 0}, {}, false);
        add("sync_free_ilu", {"empty_rows", 8300, 1, 0}, {}, false);
        add("par_ilu", {"random", 2999, 3, 0}, {}, false);
        add("subdomain_ildu0", {"random", 2999, 3, 0}, {{"parts", "consecutive"}, {"part_rows", "1500"}}, true);
    }
    return list;
}

/// Factors whose pattern is not that of the matrix.
std::vector<RankedRows> cases_with_another_pattern() {
    std::vector<RankedRows> list;
    const std::vector<GeneralCase> matrices{{"random", 8197, 1, 0},          {"symmetric", 8211, 1, 0, true},
                                            {"random", 4501, 2, 0},          {"random", 2999, 3, 0},
                                            {"symmetric", 2999, 3, 0, true}, {"random", 2111, 4, 0},
                                            {"empty_rows", 8300, 1, 0},      {"lower", 8300, 1, 0}};
    for (const GeneralCase& matrix : matrices) {
        for (const char* level : {"1", "2", "3"}) {
            if (matrix.symmetric && *level == '3') continue;  // rows fill up, which takes long and shows no more
            list.push_back({"sync_free_ilu", matrix, {{"fill_level", level}}});
        }
        list.push_back({"subdomain_ildu0", matrix, {{"parts", "consecutive"}, {"part_rows", "1500"}}});
        if (metis_built()) list.push_back({"subdomain_ildu0", matrix, {{"part_rows", "700"}}});
        for (const char* rounds : {"0", "2"}) list.push_back({"par_ilut", matrix, {{"rounds", rounds}}});
    }
    for (const char* rounds : {"0", "2"})
        list.push_back({"par_ilut", matrices[3], {{"rounds", rounds}, {"triangular_solve", "jacobi"}}});
    list.push_back({"par_ilut", matrices[0], {{"sweeps", "3"}, {"rounds", "1"}}});
    list.push_back({"par_ilut", matrices[4], {{"tolerance", "0.1"}, {"candidates", "1"}}});
    list.push_back({"jacobi_sweeps", matrices[0], {{"fill_level", "1"}}});
    list.push_back({"par_ilu", matrices[4], {{"fill_level", "1"}}});
    list.push_back({"par_ilu", matrices[3], {{"fill_level", "1"}, {"triangular_solve", "jacobi"}}});
    list.push_back({"subdomain_ildu0", matrices[3], {{"part_rows", "700"}, {"triangular_solve", "jacobi"}}});
    for (RankedRows& one : list) one.another_pattern = true;
    return list;
}

std::string name_of_ranked_rows(const testing::TestParamInfo<RankedRows>& info) {
    const auto& [name, matrix, settings, another_pattern] = info.param;
    return name + "_" + matrix.pattern + std::to_string(matrix.rows) + "x" + std::to_string(matrix.dof) +
           (matrix.symmetric ? "_spd" : "") + (settings.empty() ? "" : "_" + settings[0].first);
}

std::string name_with_values(const testing::TestParamInfo<RankedRows>& info) {
    std::string name = info.param.preconditioner + "_" + info.param.matrix.pattern + std::to_string(info.index);
    for (const auto& [key, value] : info.param.settings) name.append("_").append(key).append("_").append(value);
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
}

/// r^T M^-1 r, M^-1 r for a random r, and what the set-up reports.
std::vector<double> applied(const Context& context, const RankedRows& c, const BlockMatrix& data,
                            const Settings& settings) {
    const BsrMatrix whole = reference::to_bsr_matrix(context.alone(), data, c.matrix.symmetric);
    auto pattern = whole.pattern();
    if (context.ranks()) pattern = rows_of_rank(context, pattern, c.matrix.dof, "test");
    BsrMatrix a(context, pattern, c.matrix.dof, c.matrix.symmetric);
    const Index first = a.space().first_block_row(), size = c.matrix.dof * c.matrix.dof;
    std::copy_n(whole.values() + whole.pattern()->row_begin()[first] * size, a.nonzeros(), a.values());
    auto plan = find_preconditioner(c.preconditioner).plan(parameters_of(c.preconditioner, settings), setting_of(a));
    plan.kept.reset();  // a set-up that takes it over would allocate less
    const auto m = make_general(c.preconditioner, a, settings);
    const Index held = context.ledger().held();
    context.ledger().forget_peak();
    const SetupReport report = m->setup(a);
    if (context.ranks()) {
        const Index more = std::max<Index>(0, plan.most_bytes - plan.bytes);
        EXPECT_GE(context.ledger().held() - held, plan.bytes);
        EXPECT_LE(context.ledger().held() - held, plan.bytes + more);
        if (c.another_pattern) {
            EXPECT_LE(context.ledger().peak() - held, plan.bytes + plan.setup_bytes + more);
            if (more == 0) {
                EXPECT_EQ(m->bytes_per_apply(), plan.bytes_per_apply);
            }
        }
    }
    Vector r(context, a.space(), c.matrix.dof, "r"), z(context, a.space(), c.matrix.dof, "z");
    from_natural(reference::Random(3).vector(c.matrix.rows * c.matrix.dof), r);
    std::vector<double> found{0.0, double(report.values_flushed), double(report.pivots_modified),
                              report.smallest_pivot_ratio, double(report.smallest_pivot_cell.x)};
    for (const PivotEvent& event : report.modified) found.push_back(double(event.cell.x));
    m->apply_dot(r, z, found.data());
    m->setup(a);
    m->apply(r, z);
    const std::vector<double> solution = to_natural(z);
    found.insert(found.end(), solution.begin(), solution.end());
    return found;
}

class GeneralOnRanks : public testing::TestWithParam<RankedRows> {};
INSTANTIATE_TEST_SUITE_P(OnHost, GeneralOnRanks, testing::ValuesIn(global_cases()), name_of_ranked_rows);

TEST_P(GeneralOnRanks, GlobalScopeHasTheBitsOfOneRank) {
    const BlockMatrix data = data_of(GetParam().matrix);
    const auto compute = [&](const Context& context) {
        return applied(context, GetParam(), data, GetParam().settings);
    };
    const std::vector<double> one = on_first_of(1, compute);
    for (int ranks = 2; ranks <= 4; ++ranks) EXPECT_EQ(on_first_of(ranks, compute), one) << ranks << " ranks";
}

INSTANTIATE_TEST_SUITE_P(Reduced, GeneralOnRanks, testing::ValuesIn(reduced_cases()), name_with_values);
INSTANTIATE_TEST_SUITE_P(WithAnotherPattern, GeneralOnRanks, testing::ValuesIn(cases_with_another_pattern()),
                         name_with_values);

std::vector<RankedRows> dropping_cases() {
    std::vector<RankedRows> list;
    for (const char* level : {"0", "2"}) {
        list.push_back({"sync_free_ilu", {"random", 8197, 1, 0}, {{"fill_level", level}}});
        list.push_back({"sync_free_ilu", {"symmetric", 2999, 3, 0, true}, {{"fill_level", level}}});
    }
    return list;
}

class ScopeOfGeneralRanks : public testing::TestWithParam<RankedRows> {};
INSTANTIATE_TEST_SUITE_P(OnHost, ScopeOfGeneralRanks, testing::ValuesIn(dropping_cases()),
                         [](const auto& info) { return name_of_ranked_rows(info) + info.param.settings[0].second; });

TEST_P(ScopeOfGeneralRanks, RankDropsTheCouplingsBetweenRanksAndNoOthers) {
    const RankedRows& c = GetParam();
    Settings settings = c.settings;
    settings.push_back({"scope", "rank"});
    const BlockMatrix data = data_of(c.matrix);
    const auto whole = reference::to_bsr_matrix(Context::cpu(1), data).pattern();
    for (int ranks = 2; ranks <= 4; ++ranks) {
        const auto cuts = row_cuts(*whole, c.matrix.dof, ranks);
        const BlockMatrix cut = reference::decoupled(data, reference::parts_between(cuts));
        const auto expected = on_first_of(1, [&](const Context& one) { return applied(one, c, cut, c.settings); });
        const auto found = on_first_of(ranks, [&](const Context& one) { return applied(one, c, data, settings); });
        EXPECT_LT(reference::relative_difference(found, expected), 1e-13) << ranks << " ranks";
    }
}

/// The published variants of sync_free_ilu and its tables take rows of one rank; those of others may be left out.
TEST(VariantsOnRanks, AreRefusedUnlessCouplingsAreDropped) {
    const GeneralCase c{"random", 8197, 1, 0};
    const BlockMatrix data = data_of(c);
    on_each_rank(2, [&](const Context& context) {
        for (const std::string variant : {"table", "adapt"}) {
            expect_error<UsageError>(
                [&] {
                    applied(context, {"sync_free_ilu", c}, data, {{"variant", variant}});
                },
                "preconditioner.variant: " + variant +
                    " is for the rows of one rank, and those of several depend on each other with scope = global; set "
                    "variant = auto or search, or scope = rank, or take one rank");
            EXPECT_NO_THROW(applied(context, {"sync_free_ilu", c}, data, {{"variant", variant}, {"scope", "rank"}}));
        }
        EXPECT_NO_THROW(applied(context, {"sync_free_ilu", c}, data, {{"variant", "search"}}));
    });
}

/// A refusal names no way out that ranks refuse, too.
TEST(SolvesOnRanks, AreRefusedWithWhatRanksCanDo) {
    const GeneralCase c{"random", 8197, 1, 0};
    const BlockMatrix data = data_of(c);
    on_each_rank(2, [&](const Context& context) {
        for (const std::string name : {"sync_free_ilu", "par_ilut"}) {
            const auto with = [&](const Settings& settings) {
                return [=, &c, &data, &context] { applied(context, {name, c}, data, settings); };
            };
            const std::string scope = name == "sync_free_ilu" ? ", or scope = rank" : "";
            expect_error<UsageError>(
                with({{"solve", "levels"}}),
                "preconditioner.solve: levels is for the rows of one rank: those of several depend "
                "on each other, and ranks have no levels in common; set solve = auto" +
                    scope + ", or take one rank");
            expect_error<UsageError>(with({{"solve", "sync_free"}}),
                                     "so there is no sync_free; set solve = auto, which gives the same bits, or "
                                     "device.backend = cuda");
        }
        EXPECT_NO_THROW(applied(context, {"sync_free_ilu", c}, data, {{"solve", "levels"}, {"scope", "rank"}}));
    });
}

/// All of several ranks have the message of one with which a set-up fails, and that contains `text`.
void expect_message_of_one(const RankedRows& c, const BlockMatrix& data, const std::string& text) {
    const auto message = [&](const Context& context) {
        try {
            applied(context, c, data, c.settings);
        } catch (const SetupError& error) {
            return std::string(error.what());
        }
        return std::string("no error");
    };
    const std::string one = message(Context::cpu(1));
    EXPECT_NE(one.find(text), std::string::npos) << one;
    for (int ranks = 2; ranks <= 3; ++ranks)
        on_each_rank(ranks, [&](const Context& context) { EXPECT_EQ(message(context), one) << c.preconditioner; });
}

TEST(PivotsOfGeneralRanks, TheFirstFailureIsReportedByAllRanks) {
    const GeneralCase of{"random", 8197, 1, 0};
    BlockMatrix data = data_of(of);
    for (int row : {4100, 8000}) data.rows[row].erase(row);
    for (const char* name : {"jacobi", "sync_free_ilu", "par_ilut"})
        expect_message_of_one({name, of}, data, "row 4101");
}

TEST(RoundingOnGeneralRanks, TheFirstValueThatDoesNotFitIsNamedByAllRanks) {
    const BlockMatrix data = with_values_that_do_not_fit();
    for (const FactorStorage storage : reduced_factor_storages)
        for (const RoundingCase& c : rounding_cases(storage))
            expect_message_of_one({c.preconditioner, matrix_to_round(), c.settings}, data, first_that_does_not_fit);
}

TEST(RoundingOnGeneralRanks, ZerosAreCountedAsOnOneRank) {
    const BlockMatrix data = with_values_that_become_zero();
    for (const RoundingCase& rounded : rounding_cases(FactorStorage::half_scaled)) {
        const RankedRows c{rounded.preconditioner, matrix_to_round(), rounded.settings};
        const auto compute = [&](const Context& context) { return applied(context, c, data, c.settings); };
        const std::vector<double> one = on_first_of(1, compute);
        EXPECT_GT(one[1], 0.0) << c.preconditioner;
        for (const int ranks : {2, 3}) EXPECT_EQ(on_first_of(ranks, compute), one) << ranks;
    }
}

}  // namespace
}  // namespace hyperplane
