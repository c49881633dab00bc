// SPDX-License-Identifier: BSD-3-Clause
// Preconditioners of general matrices on ranks on GPUs: those that keep every coupling have the bits of one GPU, queued
// once and recorded as a graph; with scope = rank they are those of a matrix without couplings between the ranks' rows.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/graph/orderings.hpp"
#include "core/matrix/row_cuts.hpp"
#include "core/ranks/links_cuda.hpp"
#include "core/vector/scalars.hpp"
#include "on_device.hpp"
#include "on_ranks.hpp"
#include "precond/rounding_cases.hpp"
#include "reference/subdomains.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::BlockMatrix;

struct GpuRowCase {
    std::string preconditioner;
    GeneralCase matrix;
    Settings settings = {};
};

std::string name_of_rows(const testing::TestParamInfo<GpuRowCase>& info) {
    const auto& [name, matrix, settings] = info.param;
    std::string text = name + "_" + matrix.pattern + std::to_string(matrix.rows) + "x" + std::to_string(matrix.dof) +
                       (matrix.symmetric ? "_spd" : "");
    for (const auto& [key, value] : settings) text.append("_").append(key).append(value);
    std::replace(text.begin(), text.end(), '.', '_');
    return text;
}

std::vector<GpuRowCase> cases_with_the_bits_of_one() {
    std::vector<GpuRowCase> list;
    for (const char* name : {"none", "jacobi", "sync_free_ilu"}) {
        list.push_back({name, {"random", 8197, 1, 0}});
        list.push_back({name, {"symmetric", 2111, 4, 0, true}});
        list.push_back({name, {"random", 2101, 11, 0}});
    }
    list.push_back({"jacobi", {"symmetric", 8211, 1, 0, true}, {{"l1", "true"}}});
    for (const char* pattern : {"dense_row", "lower", "empty_rows"})
        list.push_back({"sync_free_ilu", {pattern, 8300, 1, 0}});
    list.push_back({"sync_free_ilu", {"symmetric", 8211, 1, 0, true}});
    list.push_back({"sync_free_ilu", {"random", 2999, 3, 0}});
    list.push_back({"chebyshev", {"symmetric", 8211, 1, 0, true}});
    list.push_back({"chebyshev", {"symmetric", 2999, 3, 0, true}});
    return list;
}

/// Factors whose pattern is not that of the matrix.
std::vector<GpuRowCase> cases_with_another_pattern() {
    std::vector<GpuRowCase> list;
    const std::vector<GeneralCase> matrices{{"random", 8197, 1, 0},  {"symmetric", 8211, 1, 0, true},
                                            {"random", 2999, 3, 0},  {"symmetric", 2999, 3, 0, true},
                                            {"random", 2101, 11, 0}, {"empty_rows", 8300, 1, 0},
                                            {"lower", 8300, 1, 0},   {"symmetric", 4509, 2, 0, true}};
    for (const GeneralCase& matrix : matrices) {
        for (const char* level : {"1", "2"})
            if (matrix.dof < 11 || *level == '1') list.push_back({"sync_free_ilu", matrix, {{"fill_level", level}}});
        for (const char* rounds : {"0", "2"})
            if (matrix.dof < 11) list.push_back({"par_ilut", matrix, {{"rounds", rounds}}});
        list.push_back({"subdomain_ildu0", matrix, {{"parts", "consecutive"}, {"part_rows", "700"}}});
        if (metis_built() && matrix.dof < 11) list.push_back({"subdomain_ildu0", matrix, {{"part_rows", "300"}}});
    }
    for (const char* rounds : {"0", "2"})
        list.push_back({"par_ilut", matrices[3], {{"rounds", rounds}, {"triangular_solve", "jacobi"}}});
    list.push_back({"par_ilut", matrices[0], {{"sweeps", "3"}, {"rounds", "1"}}});
    list.push_back({"par_ilut", matrices[3], {{"tolerance", "0.1"}, {"candidates", "1"}}});
    for (const char* rows : {"1", "512"})  // cuts divide no part
        list.push_back({"subdomain_ildu0", {"random", 4608, 1, 0}, {{"parts", "consecutive"}, {"part_rows", rows}}});
    for (const GeneralCase& matrix : {matrices[2], matrices[1]})
        list.push_back({"subdomain_ildu0",
                        matrix,
                        {{"parts", "consecutive"}, {"part_rows", "700"}, {"triangular_solve", "jacobi"}}});
    return list;
}

/// Sweeps in place of an elimination, of solves, or of both.
std::vector<GpuRowCase> cases_of_sweeps() {
    std::vector<GpuRowCase> list;
    const std::vector<GeneralCase> matrices{{"random", 8197, 1, 0},  {"symmetric", 8211, 1, 0, true},
                                            {"random", 2999, 3, 0},  {"symmetric", 2111, 4, 0, true},
                                            {"random", 2101, 11, 0}, {"empty_rows", 8300, 1, 0},
                                            {"lower", 8300, 1, 0}};
    for (const GeneralCase& matrix : matrices) {
        for (const char* name : {"jacobi_sweeps", "par_ilu"}) list.push_back({name, matrix});
        if (matrix.dof == 11) continue;
        list.push_back({"par_ilu", matrix, {{"triangular_solve", "jacobi"}}});
        for (const char* name : {"jacobi_sweeps", "par_ilu"}) list.push_back({name, matrix, {{"fill_level", "1"}}});
    }
    // A row that a thread block of its own sweeps.
    list.push_back({"par_ilu", {"dense_row", 8300, 1, 0}});
    list.push_back({"par_ilu", matrices[0], {{"sweeps", "9"}, {"fill_level", "1"}, {"triangular_solve", "jacobi"}}});
    return list;
}

std::vector<GpuRowCase> cases_in_reduced_precision() {
    std::vector<GpuRowCase> list;
    for (const FactorStorage storage : reduced_factor_storages) {
        const auto add = [&](const char* name, const GeneralCase& matrix, Settings settings = {}) {
            settings.emplace_back("storage", to_string(storage));
            list.push_back({name, matrix, settings});
        };
        const std::vector<GeneralCase> matrices{
            {"random", 8197, 1, 0},          {"symmetric", 8211, 1, 0, true}, {"random", 4509, 2, 0},
            {"symmetric", 2999, 3, 0, true}, {"symmetric", 2111, 4, 0, true}, {"random", 2101, 11, 0},
            {"dense_row", 8300, 1, 0},       {"empty_rows", 8300, 1, 0},      {"lower", 8300, 1, 0}};
        for (const GeneralCase& matrix : matrices) {
            for (const char* name : {"sync_free_ilu", "par_ilu"}) add(name, matrix);
            add("subdomain_ildu0", matrix, {{"parts", "consecutive"}, {"part_rows", "700"}});
        }
        for (const GeneralCase& matrix : {matrices[0], matrices[3], matrices[5]}) {
            for (const char* name : {"sync_free_ilu", "par_ilu"}) add(name, matrix, {{"fill_level", "1"}});
            if (metis_built()) add("subdomain_ildu0", matrix, {{"part_rows", "300"}});
        }
        add("sync_free_ilu", matrices[7], {{"fill_level", "2"}});
        add("par_ilu", matrices[2], {{"sweeps", "7"}});
        add("subdomain_ildu0", {"random", 4608, 1, 0}, {{"parts", "consecutive"}, {"part_rows", "512"}});  // undivided
    }
    return list;
}

std::vector<GpuRowCase> cases_of_scope_rank() {
    std::vector<GpuRowCase> list;
    for (const char* level : {"0", "2"}) {
        list.push_back({"sync_free_ilu", {"random", 8197, 1, 0}, {{"fill_level", level}}});
        list.push_back({"sync_free_ilu", {"symmetric", 2999, 3, 0, true}, {{"fill_level", level}}});
    }
    list.push_back({"sync_free_ilu", {"symmetric", 8211, 1, 0, true}, {{"variant", "table"}}});
    return list;
}

/// M^-1 r for a random r, the same by replays of a graph, and what the set-up reports.
std::vector<double> applied_on_gpu(const Context& context, const GpuRowCase& c, const BlockMatrix& data,
                                   const Settings& settings, bool with_report = false) {
    const Context host = context.host();
    const int dof = c.matrix.dof;
    const BsrMatrix whole = reference::to_bsr_matrix(host.alone(), data, c.matrix.symmetric);
    auto pattern = whole.pattern();
    if (context.ranks()) pattern = rows_of_rank(context, pattern, dof, "test");
    BsrMatrix part(host, pattern, dof, c.matrix.symmetric), a(context, pattern, dof, c.matrix.symmetric);
    const Index first = part.space().first_block_row();
    std::copy_n(whole.values() + whole.pattern()->row_begin()[first] * dof * dof, part.nonzeros(), part.values());
    a.assign(part);
    const auto m = make_general(c.preconditioner, a, settings);
    m->setup(a);
    const SetupReport report = m->setup(a);
    Vector r(context, a.space(), dof, "r"), z(context, a.space(), dof, "z");
    from_natural(reference::Random(3).vector(c.matrix.rows * dof), r);
    m->apply(r, z);
    std::vector<double> found = to_natural(z);
    Scalars rz(context, "r^T z", 1);
    const auto step = [&] { m->apply_dot(r, z, rz.data()); };
    step();
    context.synchronize();
    if (!context.ranks() || links_of(context).records()) {
        const device::Recording recording(context.stream(), step);
        for (int replay = 0; replay < 20; ++replay) {
            if (context.ranks()) synchronise_ranks(context, true);
            recording.queue();
        }
        context.synchronize();
        EXPECT_EQ(to_natural(z), found);
    }
    found.push_back(rz.get(0, 1)[0]);
    if (with_report)
        found.insert(found.end(), {double(report.pivots_modified), report.smallest_pivot_ratio,
                                   double(report.smallest_pivot_cell.x), double(report.values_flushed)});
    return found;
}

std::vector<double> on_first_gpu(int ranks, const GpuRowCase& c, const BlockMatrix& data, const Settings& settings,
                                 bool with_report = false) {
    std::vector<double> found;
    on_each_gpu_rank(ranks, [&](const Context& context) {
        std::vector<double> mine = applied_on_gpu(context, c, data, settings, with_report);
        if (is_first_rank(context)) found = std::move(mine);
    });
    return found;
}

/// The message with which a set-up fails.
std::string message_of(const Context& context, const GpuRowCase& c, const BlockMatrix& data) {
    try {
        applied_on_gpu(context, c, data, c.settings);
    } catch (const SetupError& error) {
        return error.what();
    }
    return "no error";
}

/// All of several ranks have the message of one GPU, which contains `text`.
void expect_message_of_one_gpu(const GpuRowCase& c, const BlockMatrix& data, const std::string& text) {
    const std::string one = message_of(Context::cuda(), c, data);
    EXPECT_NE(one.find(text), std::string::npos) << one;
    for (int ranks = 2; ranks <= 3; ++ranks)
        on_each_gpu_rank(ranks, [&](const Context& context) {
            EXPECT_EQ(message_of(context, c, data), one) << c.preconditioner << " on " << ranks;
        });
}

class GeneralOnGpuRanks : public DeviceTest, public testing::WithParamInterface<GpuRowCase> {};
INSTANTIATE_TEST_SUITE_P(OnDevice, GeneralOnGpuRanks, testing::ValuesIn(cases_with_the_bits_of_one()), name_of_rows);

INSTANTIATE_TEST_SUITE_P(WithAnotherPatternOnDevice, GeneralOnGpuRanks, testing::ValuesIn(cases_with_another_pattern()),
                         name_of_rows);
INSTANTIATE_TEST_SUITE_P(OfSweepsOnDevice, GeneralOnGpuRanks, testing::ValuesIn(cases_of_sweeps()), name_of_rows);
INSTANTIATE_TEST_SUITE_P(ReducedOnDevice, GeneralOnGpuRanks, testing::ValuesIn(cases_in_reduced_precision()),
                         name_of_rows);

TEST_P(GeneralOnGpuRanks, HaveTheBitsOfOneGpu) {
    const BlockMatrix data = data_of(GetParam().matrix);
    const std::vector<double> one = applied_on_gpu(Context::cuda(), GetParam(), data, GetParam().settings, true);
    for (int ranks = 2; ranks <= 4; ++ranks)
        EXPECT_EQ(on_first_gpu(ranks, GetParam(), data, GetParam().settings, true), one) << ranks << " ranks";
}

class SubdomainsOfTwoSizesOnDevice : public DeviceTest {};

TEST_F(SubdomainsOfTwoSizesOnDevice, SolveSideBySide) {
    const Context gpu = Context::cuda();
    const BsrMatrix whole = reference::to_bsr_matrix(Context::cpu(1), data_of({"random", 2999, 1, 0}));
    BsrMatrix a(gpu, whole.pattern(), 1, false);
    a.assign(whole);
    Vector r(gpu, a.space(), 1, "r"), z(gpu, a.space(), 1, "z"), again(gpu, a.space(), 1, "z");
    from_natural(reference::Random(3).vector(2999), r);
    const auto of = [&](const char* rows) {
        return make_general("subdomain_ildu0", a, {{"parts", "consecutive"}, {"part_rows", rows}});
    };
    const auto large = of("1500"), small = of("30");
    large->setup(a);
    large->apply(r, z);
    small->setup(a);
    large->apply(r, again);
    EXPECT_EQ(to_natural(again), to_natural(z));
}

class PivotsOfGeneralGpuRanksOnDevice : public DeviceTest {};

TEST_F(PivotsOfGeneralGpuRanksOnDevice, TheFirstFailureIsReportedByAllRanks) {
    const GeneralCase of{"random", 8197, 1, 0};
    BlockMatrix data = data_of(of);
    for (const int row : {4100, 8000}) data.rows[row].erase(row);
    for (const GpuRowCase& c :
         std::vector<GpuRowCase>{{"sync_free_ilu", of},
                                 {"par_ilu", of},
                                 {"par_ilut", of},
                                 {"subdomain_ildu0", of, {{"parts", "consecutive"}, {"part_rows", "1"}}},
                                 {"subdomain_ildu0", of, {{"parts", "consecutive"}, {"part_rows", "900"}}}})
        expect_message_of_one_gpu(c, data, "row 4101");
}

TEST_F(PivotsOfGeneralGpuRanksOnDevice, BoostsAndShiftsAreThoseOfOneGpu) {
    const GeneralCase of{"random", 8197, 1, 0};
    BlockMatrix data = data_of(of);
    for (const int row : {17, 4100, 4103, 8000}) data.rows[row].erase(row);
    for (const char* name : {"sync_free_ilu", "par_ilu", "subdomain_ildu0"})
        for (const char* policy : {"boost", "shift"}) {
            Settings settings{{"pivot_policy", policy}};
            if (name == std::string("subdomain_ildu0"))
                settings.insert(settings.end(), {{"parts", "consecutive"}, {"part_rows", "900"}});
            const GpuRowCase c{name, of, settings};
            const auto found = [&](int ranks) {
                try {
                    return ranks == 1 ? applied_on_gpu(Context::cuda(), c, data, settings, true)
                                      : on_first_gpu(ranks, c, data, settings, true);
                } catch (const Error&) {
                    return std::vector<double>{-1.0};
                }
            };
            const std::vector<double> one = found(1);
            for (const int ranks : {2, 3}) EXPECT_EQ(found(ranks), one) << name << " " << policy;
        }
}

class RoundingOnGeneralGpuRanksOnDevice : public DeviceTest {};

TEST_F(RoundingOnGeneralGpuRanksOnDevice, TheFirstValueThatDoesNotFitIsNamedByAllRanks) {
    const BlockMatrix data = with_values_that_do_not_fit();
    for (const FactorStorage storage : reduced_factor_storages)
        for (const RoundingCase& c : rounding_cases(storage))
            expect_message_of_one_gpu({c.preconditioner, matrix_to_round(), c.settings}, data, first_that_does_not_fit);
}

TEST_F(RoundingOnGeneralGpuRanksOnDevice, ZerosAreCountedAsOnOneGpu) {
    const BlockMatrix data = with_values_that_become_zero();
    for (const RoundingCase& rounded : rounding_cases(FactorStorage::half_scaled)) {
        const GpuRowCase c{rounded.preconditioner, matrix_to_round(), rounded.settings};
        const std::vector<double> one = applied_on_gpu(Context::cuda(), c, data, c.settings, true);
        EXPECT_GT(one.back(), 0.0) << c.preconditioner;
        for (const int ranks : {2, 3}) EXPECT_EQ(on_first_gpu(ranks, c, data, c.settings, true), one) << ranks;
    }
}

class ScopeOfGeneralGpuRanks : public DeviceTest, public testing::WithParamInterface<GpuRowCase> {};
INSTANTIATE_TEST_SUITE_P(OnDevice, ScopeOfGeneralGpuRanks, testing::ValuesIn(cases_of_scope_rank()), name_of_rows);

TEST_P(ScopeOfGeneralGpuRanks, RankDropsTheCouplingsBetweenRanksAndNoOthers) {
    const GpuRowCase& c = GetParam();
    Settings settings = c.settings;
    settings.push_back({"scope", "rank"});
    const BlockMatrix data = data_of(c.matrix);
    const auto whole = reference::to_bsr_matrix(Context::cpu(1), data).pattern();
    for (int ranks = 2; ranks <= 4; ++ranks) {
        const auto cuts = row_cuts(*whole, c.matrix.dof, ranks, Backend::cuda);
        const BlockMatrix cut = reference::decoupled(data, reference::parts_between(cuts));
        const std::vector<double> expected = applied_on_gpu(Context::cuda(), c, cut, c.settings);
        EXPECT_LT(reference::relative_difference(on_first_gpu(ranks, c, data, settings), expected), 1e-13)
            << ranks << " ranks";
    }
}

}  // namespace
}  // namespace hyperplane
