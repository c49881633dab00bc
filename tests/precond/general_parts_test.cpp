// SPDX-License-Identifier: BSD-3-Clause
// subdomain_ildu0 on general matrices, compared with the reference: ILU(0) or IC(0) of parts of the rows.
#include "core/graph/orderings.hpp"
#include "core/graph/parts.hpp"
#include "on_device.hpp"
#include "precond/general_cases.hpp"
#include "reference/subdomains.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::BlockMatrix;

constexpr const char* part_name = "subdomain_ildu0";

std::vector<GeneralCase> part_cases() {
    std::vector<GeneralCase> list;
    for (const char* name : {"random", "arrow", "dense_row", "lower", "empty_rows"}) list.push_back({name, 61, 1, 0});
    for (int dof : {2, 3, 4, 5, 6, 7, 8, 13}) list.push_back({"random", 30, dof, 0});
    for (int dof : {1, 3, 32}) list.push_back({"dense", 1, dof, 0});
    for (int dof : {1, 2, 4, 8}) list.push_back({"symmetric", 41, dof, 0, true});
    list.push_back({"random", 1500, 1, 0});
    return with_combined_cases(std::move(list), false);
}

/// The parts that a choice of keys gives; those of METIS are taken as they are.
std::vector<int> parts_by(const BsrMatrix& a, const std::string& how, Index most) {
    const Index n = a.pattern()->rows();
    if (how == "metis") {
        const GraphParts parts = metis_parts(graph_of(*a.pattern()), most, "test", "test");
        return {parts.part.begin(), parts.part.end()};
    }
    const Index count = (n + most - 1) / most;
    std::vector<int> part;
    for (int at = 0; at < count; ++at) part.insert(part.end(), n * (at + 1) / count - n * at / count, at);
    return part;
}

std::vector<std::string> ways() {
    if (metis_built()) return {"consecutive", "metis"};
    return {"consecutive"};
}

Settings part_settings(const std::string& how, Index most) {
    return {{"parts", how}, {"part_rows", std::to_string(most)}};
}

/// ILU(0), or IC(0) of a symmetric matrix, of the parts on their own pattern, with every diagonal block.
reference::BlockIlu parts_by_reference(const BlockMatrix& data, const GeneralCase& c, const std::vector<int>& part) {
    const BlockMatrix all = reference::decoupled(data, part);
    const reference::Pattern pattern = reference::symbolic_ilu(reference::pattern_of(all), 0);
    return c.symmetric ? reference::block_ic(all, pattern) : reference::block_ilu(all, pattern);
}

void expect_parts(const Context& context, const GeneralCase& c) {
    const BlockMatrix data = data_of(c);
    const BsrMatrix a = reference::to_bsr_matrix(context, data, c.symmetric);
    const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof);
    for (const std::string& how : ways())
        for (const Index most : {1, 7, 16, 200}) {
            SCOPED_TRACE(how + ", " + std::to_string(most));
            const auto m = make_general(part_name, a, part_settings(how, most));
            const SetupReport report = m->setup(a);
            EXPECT_EQ(m->traits().symmetric, c.symmetric);
            EXPECT_GT(report.factor_bytes, 0);
            const auto expected = parts_by_reference(data, c, parts_by(a, how, most));
            EXPECT_LT(reference::relative_difference(apply_general(*m, a, r), reference::apply_inverse(expected, r)),
                      1e-12);
        }
}

class GeneralParts : public testing::TestWithParam<GeneralCase> {};
class GeneralPartsOnDevice : public DeviceTest, public testing::WithParamInterface<GeneralCase> {};

TEST_P(GeneralParts, EqualReference) {
    expect_parts(Context::cpu(1), GetParam());
}
TEST_P(GeneralPartsOnDevice, EqualReference) {
    expect_parts(Context::cuda(), GetParam());
}
TEST_P(GeneralParts, HaveTheSameBitsForAnyNumberOfThreads) {
    const GeneralCase& c = GetParam();
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data_of(c), c.symmetric);
    const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof);
    for (const std::string& how : ways())
        expect_same_bits_for_any_threads(a.context(), [&] {
            const auto m = make_general(part_name, a, part_settings(how, 9));
            m->setup(a);
            return apply_general(*m, a, r);
        });
}
TEST_P(GeneralParts, OfAllRowsAreIlu) {
    const GeneralCase& c = GetParam();
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data_of(c), c.symmetric);
    const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof);
    const auto one = make_general(part_name, a, part_settings("consecutive", c.rows));
    const auto whole = make_general("sync_free_ilu", a);
    one->setup(a);
    whole->setup(a);
    EXPECT_EQ(apply_general(*one, a, r), apply_general(*whole, a, r));
}

constexpr const char* gpu_variants[] = {"unfused", "spin", "dag_vertex", "dag_edge"};

Settings variant_settings(Settings settings, const char* variant) {
    settings.emplace_back("variant", variant);
    return settings;
}

/// Applies it twice; all but dag_edge repeat their bits.
std::vector<double> applied_in_variant(const BsrMatrix& a, const Settings& settings, const std::string& variant,
                                       const std::vector<double>& r) {
    const auto m = make_general(part_name, a, variant_settings(settings, variant.c_str()));
    m->setup(a);
    m->setup(a);
    EXPECT_STREQ(m->traits().varies, variant == "dag_edge" ? "variant = dag_edge" : "");
    const std::vector<double> first = apply_general(*m, a, r), second = apply_general(*m, a, r);
    if (variant != "dag_edge") {
        EXPECT_EQ(second, first) << variant;
    }
    return second;
}

TEST_P(GeneralPartsOnDevice, InEachVariantEqualReference) {
    const GeneralCase& c = GetParam();
    const BlockMatrix data = data_of(c);
    const BsrMatrix a = reference::to_bsr_matrix(Context::cuda(), data, c.symmetric);
    const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof);
    for (const std::string& how : ways())
        for (const Index most : {1, 7, 200}) {
            const std::vector<double> expected =
                reference::apply_inverse(parts_by_reference(data, c, parts_by(a, how, most)), r);
            for (const char* variant : gpu_variants)
                EXPECT_LT(reference::relative_difference(applied_in_variant(a, part_settings(how, most), variant, r),
                                                         expected),
                          1e-12)
                    << variant << ", " << how << ", " << most;
        }
}

class PartVariantsOnDevice : public DeviceTest {};

/// Parts as large as shared memory allows, rows of thousands of blocks, and more parts than a GPU solves at a time.
TEST_F(PartVariantsOnDevice, OfLargePartsEqualThoseByLevel) {
    for (const auto& [c, most] : {std::pair(GeneralCase{"random", 16384, 1, 0}, "16384"),
                                  {GeneralCase{"dense_row", 9001, 1, 0}, "9001"},
                                  {GeneralCase{"arrow", 5000, 3, 0}, "5000"},
                                  {GeneralCase{"random", 40001, 3, 0}, "auto"},
                                  {GeneralCase{"random", 200001, 1, 0}, "128"},
                                  {GeneralCase{"random", 9001, 8, 0}, "auto"}}) {
        SCOPED_TRACE(c.pattern + " " + std::to_string(c.rows) + " " + most);
        const BsrMatrix a = reference::to_bsr_matrix(Context::cuda(), data_of(c));
        const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof);
        const Settings settings{{"parts", "consecutive"}, {"part_rows", most}};
        const auto by_level = make_general(part_name, a, settings);
        by_level->setup(a);
        const std::vector<double> expected = apply_general(*by_level, a, r);
        for (const char* variant : gpu_variants)
            EXPECT_LT(reference::relative_difference(applied_in_variant(a, settings, variant, r), expected), 1e-12)
                << variant;
    }
}

TEST_F(PartVariantsOnDevice, HoldWhatTheyPlan) {
    for (const GeneralCase& c : {GeneralCase{"random", 50, 3, 0}, GeneralCase{"symmetric", 50, 1, 0, true}})
        for (const std::string& how : ways())
            for (const char* variant : gpu_variants)
                expect_holds_what_it_plans(part_name, c, variant_settings(part_settings(how, 12), variant),
                                           Context::cuda());
}

INSTANTIATE_TEST_SUITE_P(All, GeneralParts, testing::ValuesIn(part_cases()));
INSTANTIATE_TEST_SUITE_P(All, GeneralPartsOnDevice, testing::ValuesIn(part_cases()));

TEST(GeneralPartsSetup, HoldsWhatItPlans) {
    for (const GeneralCase& c : {GeneralCase{"random", 50, 3, 0}, GeneralCase{"symmetric", 50, 1, 0, true}})
        for (const std::string& how : ways()) {
            expect_holds_what_it_plans(part_name, c, part_settings(how, 12));
            Settings swept = part_settings(how, 12);
            swept.emplace_back("triangular_solve", "jacobi");
            expect_holds_what_it_plans(part_name, c, swept);
        }
}

TEST(GeneralPartsSetup, ServesNewValuesOfTheSamePattern) {
    const GeneralCase c{"random", 40, 2, 0};
    const BlockMatrix first = data_of(c);
    BlockMatrix second = first;
    for (auto& row : second.rows)
        for (auto& [column, block] : row)
            for (double& value : block.values) value *= 1.0 + 0.1 * column;
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), first);
    BsrMatrix b(a.context(), a.pattern(), 2, false);
    b.assign(reference::to_bsr_matrix(Context::cpu(1), second));
    const auto m = make_general(part_name, a, part_settings("consecutive", 9));
    m->setup(a);
    m->setup(b);
    const std::vector<double> r = reference::Random(9).vector(80);
    EXPECT_LT(reference::relative_difference(
                  apply_general(*m, b, r),
                  reference::apply_inverse(parts_by_reference(second, c, parts_by(a, "consecutive", 9)), r)),
              1e-12);
}

TEST(GeneralPartsSetup, RefusesWhatItDoesNotServe) {
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data_of({"random", 20, 3, 0}));
    expect_error<UsageError>([&] { make_general(part_name, a, {{"subdomain", "4 4 4"}}); }, "no boxes of points");
    for (const char* variant : {"unfused", "spin", "dag_vertex", "dag_edge"})
        expect_error<UsageError>(
            [&] {
                make_general(part_name, a, {{"variant", variant}});
            },
            std::string("variant ") + variant + " is a way in which threads of a GPU work");
    const Settings swept_single{{"storage", "single"}, {"triangular_solve", "jacobi"}};
    expect_error<UsageError>([&] { make_general(part_name, a, swept_single); },
                             "double alone where sweeps take the place of solves");
    expect_error<UsageError>([&] { make_general(part_name, a, {{"part_rows", "5462"}}); }, "more than 5461");
    BlockMatrix zero = data_of({"empty_rows", 12, 1, 0});
    zero.rows[4][4].values[0] = 0.0;
    const BsrMatrix b = reference::to_bsr_matrix(Context::cpu(1), zero);
    expect_error<SetupError>([&] { make_general(part_name, b, part_settings("consecutive", 5))->setup(b); },
                             "the pivot at row 5 is zero");
}

}  // namespace
}  // namespace hyperplane
