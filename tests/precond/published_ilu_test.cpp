// SPDX-License-Identifier: BSD-3-Clause
// The published variants of sync_free_ilu, one by one: the factors of `search`, bit for bit, the same memory as
// planned, and the same reports of pivots.
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "on_device.hpp"
#include "precond/factors/ldu.hpp"
#include "precond/general_cases.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::BlockMatrix;

const std::vector<std::string> published{"shared", "vect", "adapt", "levs"};

/// Short and long rows, rows of more than 128 entries, empty ones, dense ones and columns, unsymmetric patterns, fill.
std::vector<GeneralCase> published_cases() {
    std::vector<GeneralCase> list;
    for (const char* name : {"random", "arrow", "dense_row", "lower", "empty_rows"})
        for (const int k : {0, 1, 3}) list.push_back({name, 61, 1, k});
    list.push_back({"random", 3000, 1, 0});
    list.push_back({"random", 1500, 1, 1});
    list.push_back({"dense_row", 700, 1, 1});
    list.push_back({"arrow", 2000, 1, 0});
    list.push_back({"dense", 90, 1, 0});
    list.push_back({"dense", 1, 1, 0});
    for (const int k : {0, 2}) list.push_back({"symmetric", 800, 1, k, true});
    list.push_back({"symmetric", 61, 1, 1, true});
    list.push_back({"arrow", 900, 1, 1, true});
    return list;
}

Settings settings_of(const GeneralCase& c, const std::string& variant) {
    return {{"fill_level", std::to_string(c.fill_level)}, {"shift", "0.25"}, {"variant", variant}};
}

class PublishedIlu : public testing::TestWithParam<std::string> {};
class PublishedIluOnDevice : public DeviceTest, public testing::WithParamInterface<std::string> {};

TEST_P(PublishedIluOnDevice, EqualsReference) {
    const Context context = Context::cuda();
    for (const GeneralCase& c : published_cases()) {
        if (c.rows > 100) continue;  // the others have the bits of a search, below
        SCOPED_TRACE(c.pattern + " " + std::to_string(c.rows) + " " + std::to_string(c.fill_level));
        const BlockMatrix data = data_of(c);
        const BsrMatrix a = reference::to_bsr_matrix(context, data, c.symmetric);
        const auto m =
            make_general("sync_free_ilu", a, {{"fill_level", std::to_string(c.fill_level)}, {"variant", GetParam()}});
        EXPECT_EQ(m->setup(a).pivots_modified, 0);
        EXPECT_EQ(m->traits().symmetric, c.symmetric);
        const std::vector<double> r = reference::Random(9).vector(c.rows);
        EXPECT_LT(
            reference::relative_difference(apply_general(*m, a, r), reference::apply_inverse(reference_of(data, c), r)),
            1e-12);
    }
}

TEST_P(PublishedIluOnDevice, HasTheBitsOfASearchAndThePlannedMemory) {
    const Context context = Context::cuda();
    for (const GeneralCase& c : published_cases()) {
        SCOPED_TRACE(c.pattern + " " + std::to_string(c.rows) + " " + std::to_string(c.fill_level));
        const BsrMatrix a = reference::to_bsr_matrix(context, data_of(c), c.symmetric);
        std::vector<LduFactors> factors;
        for (const std::string& variant : {std::string("search"), GetParam()}) {
            const auto m = make_general("sync_free_ilu", a, settings_of(c, variant));
            auto plan = find_preconditioner("sync_free_ilu")
                            .plan(parameters_of("sync_free_ilu", settings_of(c, variant)), setting_of(a));
            plan.kept.reset();
            const Index held = context.ledger().held();
            SetupReport report;
            for (int repeat = 0; repeat < 3; ++repeat) {
                report = m->setup(a);
                factors.push_back(dynamic_cast<const HasLduFactors&>(*m).ldu());
                EXPECT_EQ(factors.back().lower.value, factors.front().lower.value);
                EXPECT_EQ(factors.back().diagonal.value, factors.front().diagonal.value);
                EXPECT_EQ(factors.back().upper.value, factors.front().upper.value);
            }
            EXPECT_EQ(report.shift, 0.25);
            EXPECT_EQ(context.ledger().held() - held, plan.bytes);
        }
    }
}

/// The report of a set-up, or the message of its failure.
std::string outcome_of(const Context& context, const BlockMatrix& data, bool symmetric, const std::string& policy,
                       const std::string& variant) {
    const BsrMatrix a = reference::to_bsr_matrix(context, data, symmetric);
    try {
        const SetupReport report =
            make_general("sync_free_ilu", a, {{"pivot_policy", policy}, {"variant", variant}})->setup(a);
        std::string text = std::to_string(report.pivots_modified) + " " + std::to_string(report.shift) + " " +
                           std::to_string(report.smallest_pivot_ratio) + " " +
                           std::to_string(report.smallest_pivot_cell.x);
        for (const auto& one : report.modified) text += " " + std::to_string(one.cell.x);
        return text;
    } catch (const SetupError& error) {
        return error.what();
    }
}

TEST_P(PublishedIluOnDevice, ReportsPivotsAsACpuDoes) {
    BlockMatrix zero = data_of({"random", 200, 1, 0});
    BlockMatrix small = zero;
    for (const int row : {40, 41, 150}) {
        zero.rows[row].clear();
        zero.rows[row][row] = reference::Dense(1, 1);
        small.rows[row][row].values[0] *= 1e-9;
    }
    const BlockMatrix missing = data_of({"no_diagonal", 5, 1, 0}), negative = [] {
        BlockMatrix made = data_of({"symmetric", 100, 1, 0, true});
        made.rows[7][7].values[0] = 1e-3;
        return made;
    }();
    for (const char* policy : {"fail", "shift", "boost"})
        for (const BlockMatrix* data : std::vector<const BlockMatrix*>{&zero, &small, &missing, &negative}) {
            SCOPED_TRACE(policy);
            const bool symmetric = data == &negative;
            EXPECT_EQ(outcome_of(Context::cuda(), *data, symmetric, policy, GetParam()),
                      outcome_of(Context::cpu(1), *data, symmetric, policy, "auto"));
        }
    EXPECT_NE(outcome_of(Context::cuda(), missing, false, "fail", GetParam()).find("the pivot at row 3 is zero"),
              std::string::npos);
}

TEST_P(PublishedIlu, IsTheSameAlgorithmOnACpu) {
    const GeneralCase c{"random", 300, 1, 1};
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data_of(c));
    const std::vector<double> r = reference::Random(9).vector(c.rows);
    std::vector<std::vector<double>> results;
    for (const std::string& variant : {std::string("auto"), GetParam()}) {
        const auto m = make_general("sync_free_ilu", a, settings_of(c, variant));
        m->setup(a);
        results.push_back(apply_general(*m, a, r));
    }
    EXPECT_EQ(results[0], results[1]);
}

TEST_P(PublishedIlu, RefusesBlocks) {
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data_of({"random", 50, 3, 0}));
    expect_error<UsageError>(
        [&] {
            find_preconditioner("sync_free_ilu")
                .plan(parameters_of("sync_free_ilu", {{"variant", GetParam()}}), setting_of(a));
        },
        GetParam() + " is for matrices of one unknown, and this one has blocks of 3; set variant = auto or search");
}

INSTANTIATE_TEST_SUITE_P(All, PublishedIlu, testing::ValuesIn(published), [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(All, PublishedIluOnDevice, testing::ValuesIn(published),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hyperplane
