// SPDX-License-Identifier: BSD-3-Clause
// The orders in which sync_free_ilu works on rows, found on a GPU and on the host.
#include <gtest/gtest.h>

#include "on_device.hpp"
#include "precond/general/orders/orders_cuda.hpp"
#include "precond/general/pattern/diagonals_cuda.hpp"
#include "precond/general/pattern/on_gpu.hpp"
#include "precond/general_cases.hpp"
#include "precond/sync_free_ilu/sync_free_ilu.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;

/// Patterns with all diagonal entries, and a chain, a dense row within a chain, rows of every length up to several
/// warps.
std::vector<std::pair<std::string, std::shared_ptr<const BlockPattern>>> patterns_for_orders(const Context& host) {
    std::vector<std::pair<std::string, std::shared_ptr<const BlockPattern>>> list;
    for (const char* name : {"random", "symmetric", "arrow", "dense_row", "dense", "lower", "empty_rows"})
        for (int rows : {1, 3, 33, 700})
            list.emplace_back(std::string(name) + " " + std::to_string(rows),
                              reference::to_bsr_matrix(
                                  host, reference::random_blocks(reference::pattern_named(name, rows, 4, 43), 1, 1))
                                  .pattern());
    // Row i depends on all of the last i mod 300 rows and on row i - 1, far more rows than are resident.
    std::vector<Index> row_begin{0};
    std::vector<int> column;
    for (int row = 0; row < 20000; ++row) {
        for (int j = std::max(0, row - 1 - row % 300); j <= std::min(19999, row + row % 130); ++j) column.push_back(j);
        row_begin.push_back(Index(column.size()));
    }
    list.emplace_back("long rows", std::make_shared<const BlockPattern>(host, row_begin, column, "test"));
    // Points of a grid in natural order.
    row_begin = {0}, column.clear();
    constexpr int n = 70;
    for (int at = 0; at < n * n * n; ++at) {
        const int x = at % n, y = at / n % n, z = at / (n * n);
        for (const auto& [there, distance] : {std::pair(z > 0, -n * n),
                                              {y > 0, -n},
                                              {x > 0, -1},
                                              {true, 0},
                                              {x < n - 1, 1},
                                              {y < n - 1, n},
                                              {z < n - 1, n * n}})
            if (there) column.push_back(at + distance);
        row_begin.push_back(Index(column.size()));
    }
    list.emplace_back("grid", std::make_shared<const BlockPattern>(host, row_begin, column, "test"));
    // The same without a neighbour of one point.
    const Index entry = row_begin[n * n * n / 2 + n + 3];
    column.erase(column.begin() + entry);
    for (std::size_t row = n * n * n / 2 + n + 4; row < row_begin.size(); ++row) --row_begin[row];
    list.emplace_back("grid with a hole", std::make_shared<const BlockPattern>(host, row_begin, column, "test"));
    // All neighbours of points of an oblong grid.
    row_begin = {0}, column.clear();
    constexpr int nx = 17, ny = 9, nz = 35;
    for (int at = 0; at < nx * ny * nz; ++at) {
        const int x = at % nx, y = at / nx % ny, z = at / (nx * ny);
        for (int k = std::max(0, z - 1); k <= std::min(nz - 1, z + 1); ++k)
            for (int j = std::max(0, y - 1); j <= std::min(ny - 1, y + 1); ++j)
                for (int i = std::max(0, x - 1); i <= std::min(nx - 1, x + 1); ++i)
                    column.push_back((k * ny + j) * nx + i);
        row_begin.push_back(Index(column.size()));
    }
    list.emplace_back("box", std::make_shared<const BlockPattern>(host, row_begin, column, "test"));
    return list;
}

/// The values of a buffer in any memory.
template <class T>
std::vector<T> values_of(const Buffer<T>& buffer) {
    std::vector<T> values(std::size_t(buffer.size()), T{});
    if (buffer.size() > 0)
        copy_between(buffer.context(), buffer.data(), Context::cpu(1), values.data(), buffer.size() * Index(sizeof(T)));
    return values;
}

class GeneralLevelsOnDevice : public DeviceTest {};

TEST_F(GeneralLevelsOnDevice, AreThoseOfTheHost) {
    const Context gpu = Context::cuda(), host = Context::cpu(1);
    auto patterns = patterns_for_orders(host);
    patterns.emplace_back("no_diagonal",
                          reference::to_bsr_matrix(
                              host, reference::random_blocks(reference::pattern_named("no_diagonal", 700, 4, 43), 1, 1))
                              .pattern());
    for (const auto& [name, pattern] : patterns) {
        SCOPED_TRACE(name);
        const BothLevels expected = levels_of_both(host, *pattern, "test");
        const auto there = pattern->copied_to(gpu, "test");
        const DiagonalsOnGpu diagonals = diagonals_on_gpu(gpu, *there, false, "test");
        for (int repeat = 0; repeat < 3; ++repeat) {
            const bool are_known = repeat > 0 && diagonals.counts.missing == 0;
            const BothDepths found = depths_on_gpu(gpu, *there, "test", are_known ? &diagonals.place : nullptr);
            for (const Side side : {Side::lower, Side::upper}) {
                const RowDepths& depths = side == Side::lower ? found.lower : found.upper;
                const RowLevels& levels = expected.of(side);
                ASSERT_EQ(depths.levels, levels.levels());
                std::vector<int> depth(std::size_t(pattern->rows()), 0);
                for (Index level = 0; level < levels.levels(); ++level)
                    for (Index at = levels.begin[level]; at < levels.begin[level + 1]; ++at)
                        depth[levels.rows[at]] = int(level) + 1;
                EXPECT_EQ(values_of(depths.depth), depth);
            }
        }
    }
}

class GeneralOrdersOnDevice : public DeviceTest {};

/// Places of diagonals and counts of rows, also where diagonals are missing.
TEST_F(GeneralOrdersOnDevice, CountRowsAsTheHostDoes) {
    const Context gpu = Context::cuda(), host = Context::cpu(1);
    for (const auto& [name, pattern] : patterns_for_orders(host)) {
        SCOPED_TRACE(name);
        const FilledPattern filled = filled_pattern(host, pattern, 1, "test");
        for (const bool symmetric : {false, true}) {
            const DiagonalsOnGpu found =
                diagonals_on_gpu(gpu, *filled.pattern->copied_to(gpu, "test"), symmetric, "test");
            EXPECT_EQ(values_of(found.place), values_of(filled.diagonal));
            EXPECT_TRUE(found.counts == row_counts(filled, symmetric));
            EXPECT_EQ(found.counts.lower, filled.lower);
        }
    }
    const auto pattern = reference::to_bsr_matrix(
                             host, reference::random_blocks(reference::pattern_named("no_diagonal", 500, 4, 43), 1, 1))
                             .pattern();
    const DiagonalsOnGpu found = diagonals_on_gpu(gpu, *pattern->copied_to(gpu, "test"), false, "test");
    const std::vector<Index> places = values_of(found.place);
    Index missing = 0;
    for (Index row = 0; row < pattern->rows(); ++row) {
        EXPECT_EQ(places[row], pattern->find(row, int(row)));
        missing += places[row] < 0;
    }
    EXPECT_GT(missing, 0);
    EXPECT_EQ(found.counts.missing, missing);
}

/// Orders, slices and sums, value for value, and the positions that follow from them.
TEST_F(GeneralOrdersOnDevice, AreThoseOfTheHost) {
    const Context gpu = Context::cuda(), host = Context::cpu(1);
    for (const auto& [name, pattern] : patterns_for_orders(host)) {
        SCOPED_TRACE(name);
        const FilledPattern filled = filled_pattern(host, pattern, 0, "test");
        const BothLevels levels = levels_of_both(host, *filled.pattern, "test");
        const auto there = filled.pattern->copied_to(gpu, "test");
        const Buffer<Index> diagonal = copy_on(gpu, "test", filled.diagonal);
        for (const auto& [dof, symmetric] : {std::pair(1, false), {3, true}, {32, false}}) {
            SCOPED_TRACE(dof);
            const TableShape shape = table_shape(row_counts(filled, symmetric), symmetric);
            const OrderNeeds needs{
                .dof = dof, .slices = true, .way = SolveWay::levels, .table = shape, .by_level = true};
            const Orders found = orders_on_gpu(gpu, *there, diagonal, needs, "test");
            EXPECT_EQ(values_of(found.by_level), values_of(levels.lower.rows));
            std::vector<int> positions[2];
            for (const Side side : {Side::lower, Side::upper}) {
                const SlicedOrder expected = sliced_order(host, filled, levels.of(side), side, dof, "test");
                const SlicedOrder& order = side == Side::lower ? *found.lower : *found.upper;
                EXPECT_EQ(values_of(order.row), values_of(expected.row));
                EXPECT_EQ(order.places, expected.places);
                EXPECT_EQ(order.levels, expected.levels);
                EXPECT_EQ(order.level_begin, expected.level_begin);
                const auto slices = values_of(order.slices), wanted = values_of(expected.slices);
                ASSERT_EQ(slices.size(), wanted.size());
                for (std::size_t at = 0; at < slices.size(); ++at) {
                    const SolveSlice &a = slices[at], &b = wanted[at];
                    ASSERT_EQ(std::tuple(a.begin, a.first, a.width, a.rows, a.lanes),
                              std::tuple(b.begin, b.first, b.width, b.rows, b.lanes))
                        << at;
                }
                const Buffer<int> position = positions_on_gpu(gpu, order.row, "test");
                std::vector<int>& own = positions[side == Side::upper];
                own.resize(std::size_t(order.row.size()));
                for (Index at = 0; at < expected.row.size(); ++at) own[expected.row[at]] = int(at);
                EXPECT_EQ(values_of(position), own);
                if (side == Side::lower) continue;
                const auto from =
                    values_of(between_on_gpu(gpu, positions_on_gpu(gpu, found.lower->row, "test"), order.row, "test"));
                for (Index at = 0; at < expected.row.size(); ++at) ASSERT_EQ(from[at], positions[0][expected.row[at]]);
            }
            const TableOrder expected = table_order(host, filled, levels.lower, shape, "test");
            const TableOrder& order = *found.table;
            EXPECT_EQ(values_of(order.row), values_of(expected.row));
            EXPECT_EQ(std::tuple(order.sizes.slices, order.sizes.pivots, order.sizes.offsets, order.sizes.in_long_rows,
                                 order.levels),
                      std::tuple(expected.sizes.slices, expected.sizes.pivots, expected.sizes.offsets,
                                 expected.sizes.in_long_rows, expected.levels));
            const auto slices = values_of(order.slices), wanted = values_of(expected.slices);
            ASSERT_EQ(slices.size(), wanted.size());
            for (std::size_t at = 0; at < slices.size(); ++at) {
                const TableSlice &a = slices[at], &b = wanted[at];
                ASSERT_EQ(std::tuple(a.pivots, a.offsets, a.first, a.width, a.rows, a.lanes),
                          std::tuple(b.pivots, b.offsets, b.first, b.width, b.rows, b.lanes))
                    << at;
            }
        }
    }
}

/// Set-ups that a plan precedes and those that none precedes have the same bits, hold what was planned, and export the
/// same factors as a CPU.
TEST_F(GeneralOrdersOnDevice, ServeSetupsWithAndWithoutAPlan) {
    const Context gpu = Context::cuda();
    for (const GeneralCase& c : {GeneralCase{"random", 3000, 1, 0},
                                 {"symmetric", 2000, 1, 0, true},
                                 {"no_diagonal", 300, 1, 0},
                                 {"random", 400, 3, 0},
                                 {"dense_row", 500, 2, 1}}) {
        SCOPED_TRACE(c.pattern + " " + std::to_string(c.dof));
        const Settings settings{{"fill_level", std::to_string(c.fill_level)}, {"shift", "0.5"}};
        reference::BlockMatrix data = data_of(c);
        if (c.pattern == "no_diagonal")  // the pivot that A does not store follows from these
            for (const auto& [row, column] : {std::pair(2, 0), {0, 2}})
                data.rows[row][column] = reference::Dense(1, 1), data.rows[row][column].values[0] = 1.0;
        const BsrMatrix a = reference::to_bsr_matrix(gpu, data, c.symmetric);
        const std::vector<double> r = reference::Random(9).vector(c.rows * c.dof);
        std::vector<std::vector<double>> results;
        LduFactors ldu[2];
        for (const bool planned : {false, true}) {
            const auto m = make_general("sync_free_ilu", a, settings);
            auto plan =
                find_preconditioner("sync_free_ilu").plan(parameters_of("sync_free_ilu", settings), setting_of(a));
            if (!planned) plan.kept.reset();
            const Index held = gpu.ledger().held();
            gpu.ledger().forget_peak();
            m->setup(a);
            EXPECT_EQ(gpu.ledger().held() - held, plan.bytes);
            EXPECT_LE(gpu.ledger().peak() - held, plan.bytes + plan.setup_bytes);
            results.push_back(apply_general(*m, a, r));
            ldu[planned] = dynamic_cast<const HasLduFactors&>(*m).ldu();
        }
        EXPECT_EQ(results[0], results[1]);
        const BsrMatrix on_cpu = reference::to_bsr_matrix(Context::cpu(1), data, c.symmetric);
        const auto m = make_general("sync_free_ilu", on_cpu, settings);
        m->setup(on_cpu);
        const LduFactors expected = dynamic_cast<const HasLduFactors&>(*m).ldu();
        for (const LduFactors& one : ldu) {
            EXPECT_EQ(one.lower.column, expected.lower.column);
            EXPECT_EQ(one.upper.column, expected.upper.column);
            EXPECT_LT(reference::relative_difference(one.lower.value, expected.lower.value), 1e-12);
        }
    }
}

}  // namespace
}  // namespace hyperplane
