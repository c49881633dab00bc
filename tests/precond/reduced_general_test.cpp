// SPDX-License-Identifier: BSD-3-Clause
// Factors of general matrices in reduced precision, compared with the reference's factors rounded in the same way.
#include <gtest/gtest.h>

#include <cmath>

#include "on_device.hpp"
#include "precond/general_cases.hpp"
#include "precond/sync_free_ilu/sync_free_ilu.hpp"
#include "reference/par_ilu.hpp"
#include "reference/rounded.hpp"
#include "reference/subdomains.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::BlockMatrix;
using reference::relative_difference;

Settings in_storage(FactorStorage storage, Settings settings = {}) {
    settings.emplace_back("storage", to_string(storage));
    return settings;
}
Settings with_fill(FactorStorage storage, const GeneralCase& c, Settings settings = {}) {
    settings.emplace_back("fill_level", std::to_string(c.fill_level));
    return in_storage(storage, settings);
}

/// W, D^-1 and G of the factors, each rounded once.
reference::UnitFactors rounded_alike(const reference::BlockIlu& ilu, FactorStorage storage) {
    return reference::rounded(reference::unit_factors(ilu), storage == FactorStorage::half_scaled);
}

/// `ilu`: the factors in double, by the reference.
void expect_rounded(Preconditioner& m, const BsrMatrix& a, const reference::BlockIlu& ilu, FactorStorage storage) {
    const SetupReport report = m.setup(a);
    EXPECT_EQ(report.pivots_modified, 0);
    EXPECT_EQ(report.values_flushed, 0);
    EXPECT_EQ(m.traits().symmetric, a.symmetric());
    const std::vector<double> r = reference::Random(9).vector(int(a.unknowns())), z = apply_general(m, a, r);
    EXPECT_LT(relative_difference(z, reference::apply_inverse(rounded_alike(ilu, storage), r)), 1e-12);
    const double change = relative_difference(z, reference::apply_inverse(ilu, r));
    EXPECT_LT(change, 16.0 * unit_roundoff(storage));
    EXPECT_TRUE(z.size() <= 8 || change > 0.01 * unit_roundoff(storage)) << "nothing was rounded: " << change;
    m.setup(a);
    EXPECT_EQ(apply_general(m, a, r), z) << "set up again";
}

class ReducedSyncFreeIlu : public testing::TestWithParam<GeneralCase> {};
class ReducedSyncFreeIluOnDevice : public DeviceTest, public testing::WithParamInterface<GeneralCase> {};

void expect_rounded_alike(const Context& context, const GeneralCase& c) {
    const BlockMatrix data = data_of(c);
    const BsrMatrix a = reference::to_bsr_matrix(context, data, c.symmetric);
    for (const FactorStorage storage : reduced_factor_storages) {
        SCOPED_TRACE(to_string(storage));
        const auto m = make_general("sync_free_ilu", a, with_fill(storage, c));
        expect_rounded(*m, a, reference_of(data, c), storage);
    }
}
TEST_P(ReducedSyncFreeIlu, HasTheReferencesFactorsRoundedAlike) {
    expect_rounded_alike(Context::cpu(1), GetParam());
}
TEST_P(ReducedSyncFreeIluOnDevice, HasTheReferencesFactorsRoundedAlike) {
    expect_rounded_alike(Context::cuda(), GetParam());
}

TEST_P(ReducedSyncFreeIlu, HasTheSameBitsForAnyNumberOfThreads) {
    const GeneralCase& c = GetParam();
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data_of(c), c.symmetric);
    const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof);
    for (const FactorStorage storage : reduced_factor_storages)
        expect_same_bits_for_any_threads(a.context(), [&] {
            const auto m = make_general("sync_free_ilu", a, with_fill(storage, c));
            m->setup(a);
            return apply_general(*m, a, r);
        });
}

void expect_check_and_export(const Context& context, const GeneralCase& c) {
    const BlockMatrix data = data_of(c);
    const BsrMatrix a = reference::to_bsr_matrix(context, data, c.symmetric);
    const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof);
    for (const FactorStorage storage : reduced_factor_storages) {
        SCOPED_TRACE(to_string(storage));
        const auto m = make_general("sync_free_ilu", a, with_fill(storage, c));
        m->setup(a);
        const Vector of_r = reference::to_plain_vector(context, c.dof, r);
        Vector z = reference::to_plain_vector(context, c.dof, r);
        m->apply(of_r, z);
        const ApplicationCheck check = m->check_application(a, of_r, z, nullptr);
        EXPECT_LT(check.error, check.bound);
        std::vector<double> changed = to_natural(z);
        changed[std::size_t(c.rows * c.dof / 2)] *= 1.0 + 1e-6;
        z = reference::to_plain_vector(context, c.dof, changed);
        EXPECT_GT(m->check_application(a, of_r, z, nullptr).error, check.error);

        const LduFactors ldu = dynamic_cast<const HasLduFactors&>(*m).ldu();
        const reference::UnitFactors expected = rounded_alike(reference_of(data, c), storage);
        for (const auto& [held, triangle] : {std::pair(&ldu.lower, &expected.lower), {&ldu.upper, &expected.upper}})
            for (Index row = 0; row < held->rows; ++row)
                for (Index at = held->row_begin[row]; at < held->row_begin[row + 1]; ++at) {
                    const Index column = held->column[at];
                    if (column == row) continue;
                    const auto& blocks = triangle->rows[std::size_t(row / c.dof)];
                    EXPECT_EQ(held->value[at], blocks.at(int(column / c.dof))(int(row % c.dof), int(column % c.dof)));
                }
    }
}

TEST_P(ReducedSyncFreeIlu, PassesItsCheckAndExportsWhatItSolvesWith) {
    expect_check_and_export(Context::cpu(1), GetParam());
}
TEST_P(ReducedSyncFreeIluOnDevice, PassesItsCheckAndExportsWhatItSolvesWith) {
    expect_check_and_export(Context::cuda(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, ReducedSyncFreeIlu, testing::ValuesIn(general_cases()), name_of_general_case);
INSTANTIATE_TEST_SUITE_P(All, ReducedSyncFreeIluOnDevice, testing::ValuesIn(general_cases()), name_of_general_case);

/// Where no number is far below the others of its row, G is W transposed to the last bit of what both are rounded to.
TEST(ReducedGeneralFactors, OfASymmetricMatrixAreSymmetric) {
    for (const int dof : {1, 3}) {
        const GeneralCase c{"symmetric", 60, dof, 1, true};
        const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data_of(c), true);
        for (const FactorStorage storage : reduced_factor_storages) {
            const auto m = make_general("sync_free_ilu", a, with_fill(storage, c));
            m->setup(a);
            const LduFactors ldu = dynamic_cast<const HasLduFactors&>(*m).ldu();
            expect_transposed_triangles(ldu);
        }
    }
}

class ReducedGeneralFactorsOnDevice : public DeviceTest {};

/// Families that have these factors, too.
void expect_sweeps_and_parts_rounded_alike(const Context& context, const Settings& of_parts) {
    for (const GeneralCase& c : {GeneralCase{"random", 50, 1, 0}, GeneralCase{"random", 25, 3, 0},
                                 GeneralCase{"dense_row", 50, 1, 0}, GeneralCase{"symmetric", 40, 2, 0, true}})
        for (const FactorStorage storage : reduced_factor_storages) {
            SCOPED_TRACE(c.pattern + " " + std::to_string(c.dof) + " " + to_string(storage));
            const BlockMatrix data = data_of(c);
            const BsrMatrix a = reference::to_bsr_matrix(context, data, c.symmetric);
            const auto swept = make_general("par_ilu", a, with_fill(storage, c, {{"sweeps", "3"}}));
            expect_rounded(*swept, a, reference::par_ilu(data, reference::pattern_of(data), 3), storage);
            const int half = c.rows / 2;
            Settings settings{{"parts", "consecutive"}, {"part_rows", std::to_string(c.rows - half)}};
            settings.insert(settings.end(), of_parts.begin(), of_parts.end());
            const auto parted = make_general("subdomain_ildu0", a, in_storage(storage, settings));
            std::vector<int> part(std::size_t(c.rows), 1);
            std::fill_n(part.begin(), half, 0);
            const BlockMatrix decoupled = reference::decoupled(data, part);
            expect_rounded(*parted, a, reference_of(decoupled, c), storage);
            const Vector of_r = reference::to_plain_vector(context, c.dof, reference::Random(9).vector(c.rows * c.dof));
            Vector z = reference::to_plain_vector(context, c.dof, std::vector<double>(std::size_t(c.rows * c.dof)));
            parted->apply(of_r, z);
            const ApplicationCheck check = parted->check_application(a, of_r, z, nullptr);
            EXPECT_LT(check.error, check.bound);
        }
}
TEST(ReducedGeneralFactors, OfSweepsAndOfPartsAreRoundedAlike) {
    expect_sweeps_and_parts_rounded_alike(Context::cpu(1), {});
}
TEST_F(ReducedGeneralFactorsOnDevice, OfSweepsAndOfPartsAreRoundedAlike) {
    for (const char* variant : {"level", "unfused"})
        expect_sweeps_and_parts_rounded_alike(Context::cuda(), {{"variant", variant}});
}

/// Rows of many slices and of one, blocks of up to 32 unknowns, and thread blocks that wait for each other.
TEST_F(ReducedGeneralFactorsOnDevice, OfLargeMatricesAreThoseOfTheHost) {
    for (const GeneralCase& c :
         {GeneralCase{"random", 20011, 1, 0}, GeneralCase{"dense_row", 9001, 1, 0}, GeneralCase{"arrow", 5003, 3, 0},
          GeneralCase{"random", 4001, 5, 0}, GeneralCase{"symmetric", 6007, 4, 0, true},
          GeneralCase{"random", 301, 8, 1}, GeneralCase{"random", 61, 32, 0}, GeneralCase{"random", 83, 17, 0}})
        for (const FactorStorage storage : reduced_factor_storages)
            for (const char* name : {"sync_free_ilu", "par_ilu", "subdomain_ildu0"}) {
                if (std::string(name) == "subdomain_ildu0" && c.fill_level > 0) continue;
                SCOPED_TRACE(std::string(name) + " " + c.pattern + " " + std::to_string(c.dof) + to_string(storage));
                const Settings settings =
                    std::string(name) == "subdomain_ildu0" ? in_storage(storage) : with_fill(storage, c);
                const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof);
                const auto applied = [&](const Context& context) {
                    const BsrMatrix a = reference::to_bsr_matrix(context, data_of(c), c.symmetric);
                    const auto m = make_general(name, a, settings);
                    m->setup(a);
                    return apply_general(*m, a, r);
                };
                EXPECT_LT(relative_difference(applied(Context::cuda()), applied(Context::cpu(1))), 1e-12);
            }
}

void expect_held_as_planned(const Context& context) {
    for (const char* name : {"sync_free_ilu", "par_ilu", "subdomain_ildu0"})
        for (const GeneralCase& c : {GeneralCase{"random", 500, 3, 0}, GeneralCase{"random", 500, 1, 2},
                                     GeneralCase{"symmetric", 300, 2, 0, true}})
            for (const FactorStorage storage : reduced_factor_storages) {
                const bool fills = std::string(name) != "subdomain_ildu0";
                if (!fills && c.fill_level > 0) continue;
                SCOPED_TRACE(std::string(name) + " " + std::to_string(c.dof) + " " + to_string(storage));
                const Settings settings = fills ? with_fill(storage, c) : in_storage(storage, {{"part_rows", "99"}});
                expect_holds_what_it_plans(name, c, settings, context);
                const BsrMatrix a = reference::to_bsr_matrix(context, data_of(c), c.symmetric);
                auto plan = find_preconditioner(name).plan(parameters_of(name, settings), setting_of(a));
                plan.kept.reset();
                const auto m = make_general(name, a, settings);
                const Index before = context.ledger().held();
                for (int repeat = 0; repeat < 2; ++repeat) {
                    const SetupReport report = m->setup(a);
                    EXPECT_EQ(context.ledger().held() - before, plan.bytes);
                    EXPECT_LE(report.factor_bytes, plan.bytes);
                    context.ledger().forget_peak();
                }
                m->setup(a);
                const double peak = double(context.ledger().peak() - before);
                EXPECT_NEAR(double(plan.bytes + plan.setup_bytes), peak, 0.03 * peak);
            }
}
TEST(ReducedGeneralFactors, AreHeldAsPlannedAndThoseInDoubleAreReleased) {
    expect_held_as_planned(Context::cpu(1));
}
TEST_F(ReducedGeneralFactorsOnDevice, AreHeldAsPlannedAndThoseInDoubleAreReleased) {
    expect_held_as_planned(Context::cuda());
}

/// A value that single precision cannot hold is named by its row, also of blocks; a scale makes half precision hold it.
void expect_named_where_they_do_not_fit(const Context& context) {
    for (const int dof : {1, 2}) {
        BlockMatrix data = data_of({"empty_rows", 12, dof, 0});
        data.rows[7][3] = reference::Dense(dof, dof);
        data.rows[7].at(3)(dof - 1, 0) = 1e40;
        const BsrMatrix a = reference::to_bsr_matrix(context, data);
        expect_error<SetupError>(
            [&] {
                make_general("sync_free_ilu", a, {{"storage", "single"}})->setup(a);
            },
            "sync_free_ilu: a value of the factors in row " + std::to_string(8 * dof) + " is ");
        expect_error<SetupError>(
            [&] {
                make_general("sync_free_ilu", a, {{"storage", "single"}})->setup(a);
            },
            "which single precision cannot hold (1 such rows of coefficients in all). Use preconditioner.storage = "
            "half_scaled, which scales each row, or double.");
        if (dof == 1) {
            EXPECT_NO_THROW(make_general("sync_free_ilu", a, {{"storage", "half_scaled"}})->setup(a));
        }
    }
}

TEST(ReducedGeneralFactors, ThatDoNotFitAreNamed) {
    expect_named_where_they_do_not_fit(Context::cpu(1));
}
TEST_F(ReducedGeneralFactorsOnDevice, ThatDoNotFitAreNamed) {
    expect_named_where_they_do_not_fit(Context::cuda());
}

void expect_zeros_counted(const Context& context) {
    BlockMatrix data = data_of({"empty_rows", 12, 1, 0});
    for (const int column : {3, 4}) data.rows[7][column] = reference::Dense(1, 1);
    data.rows[7].at(3)(0, 0) = 1.0, data.rows[7].at(4)(0, 0) = 1e-30;
    const BsrMatrix a = reference::to_bsr_matrix(context, data);
    const auto flushed = [&](const char* storage) {
        return make_general("sync_free_ilu", a, {{"storage", storage}})->setup(a).values_flushed;
    };
    EXPECT_EQ(flushed("double"), 0);
    EXPECT_EQ(flushed("single"), 0);
    EXPECT_EQ(flushed("half_scaled"), 1);
}
TEST(ReducedGeneralFactors, CountWhatBecomesZero) {
    expect_zeros_counted(Context::cpu(1));
}
TEST_F(ReducedGeneralFactorsOnDevice, CountWhatBecomesZero) {
    expect_zeros_counted(Context::cuda());
}

TEST(ReducedGeneralFactors, HavePivotsAndShiftsAsInDouble) {
    GeneralCase c{"random", 40, 2, 1};
    const BlockMatrix data = data_of(c);
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data);
    BlockMatrix shifted = data;
    for (int row = 0; row < c.rows; ++row)
        for (int r = 0; r < c.dof; ++r) shifted.rows[row].at(row)(r, r) *= 1.25;
    for (const FactorStorage storage : reduced_factor_storages) {
        const auto m = make_general("sync_free_ilu", a, with_fill(storage, c, {{"shift", "0.25"}}));
        expect_rounded(*m, a, reference_of(shifted, c), storage);
    }
    const BsrMatrix missing = reference::to_bsr_matrix(
        Context::cpu(1), reference::random_blocks(reference::pattern_named("no_diagonal", 5, 1, 1), 2, 3));
    expect_error<SetupError>(
        [&] {
            make_general("sync_free_ilu", missing, {{"storage", "single"}})->setup(missing);
        },
        "the pivot at row 5 is zero");
}

TEST(ReducedGeneralFactors, AreRefusedWhereSweepsTakeThePlaceOfSolves) {
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data_of({"random", 50, 1, 0}));
    const auto expect = [&](const std::string& name, Settings settings, const std::string& text) {
        expect_error<UsageError>([&] { make_general(name, a, in_storage(FactorStorage::single_precision, settings)); },
                                 "preconditioner.storage: of a general matrix, " + name + text);
    };
    expect("jacobi_sweeps", {}, " stores its factors in double alone; leave the key out");
    for (const char* name : {"par_ilu", "subdomain_ildu0"})
        expect(name, {{"triangular_solve", "jacobi"}},
               " stores its factors in double alone where sweeps take the place of solves; leave the key out, or set "
               "triangular_solve = exact");
}

TEST_F(ReducedGeneralFactorsOnDevice, AreRefusedByVariantsForComparison) {
    const BsrMatrix a = reference::to_bsr_matrix(Context::cuda(), data_of({"random", 50, 1, 0}));
    for (const FactorStorage storage : reduced_factor_storages)
        for (const std::string variant : {"spin", "dag_vertex", "dag_edge"})
            expect_error<UsageError>(
                [&] {
                    make_general("subdomain_ildu0", a, in_storage(storage, {{"variant", variant}}));
                },
                "preconditioner.storage: of a general matrix, subdomain_ildu0 stores its factors in double alone on a "
                "GPU with variant = " +
                    variant + "; leave the key out, or set variant = level");
}

}  // namespace
}  // namespace hyperplane
