// SPDX-License-Identifier: BSD-3-Clause
// Factors of general matrices some of whose rows have entries in most columns, on a CPU: bit for bit those of the plain
// algorithm, without a walk through such a row for each row that depends on it. Where their fill is more than any
// memory holds, it is not sought.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.hpp"
#include "core/graph/graph.hpp"
#include "precond/general/factors/cpu.hpp"
#include "precond/general/pattern/fill.hpp"
#include "precond/general_cases.hpp"
#include "precond/par_ilut/candidates.hpp"
#include "precond/par_ilut/par_ilut.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::BlockMatrix, reference::Pattern;

using ScalarRows = std::vector<std::map<int, double>>;

/// `patterns` by name, besides those of the reference: `hubs` has dense rows 1 and 4 and dense columns, and random
/// entries elsewhere.
BlockMatrix long_rowed(const std::string& name, int rows, bool symmetric) {
    Pattern pattern = reference::pattern_named(name == "hubs" ? "symmetric" : name, rows, 4, 17);
    for (int row = 0; row < rows && name == "hubs"; ++row)
        for (const int hub : {1, 4}) pattern[row].insert(hub), pattern[hub].insert(row);
    const BlockMatrix a = reference::random_blocks(pattern, 1, 23);
    return symmetric ? reference::symmetric_part(a) : a;
}

ScalarRows scalar_rows(const BlockMatrix& a) {
    ScalarRows rows(a.rows.size());
    for (std::size_t row = 0; row < rows.size(); ++row)
        for (const auto& [column, block] : a.rows[row]) rows[row][column] = block.values[0];
    return rows;
}

/// Row by row, with fused products; the diagonal holds inverses.
ScalarRows eliminated(ScalarRows x, bool symmetric) {
    for (int i = 0; i < int(x.size()); ++i) {
        for (auto& [k, l] : x[i]) {
            if (k >= i) break;
            l = (symmetric ? x[k].at(i) : l) * x[k].at(k);
            for (auto& [j, value] : x[i])
                if (j > k && (!symmetric || j >= i))
                    if (const auto u = x[k].find(j); u != x[k].end()) value = std::fma(-l, u->second, value);
        }
        x[i].at(i) = 1.0 / x[i].at(i);
    }
    return x;
}

/// X_ij <- A_ij - sum over k < min(i, j) of X_ik X_kk^-1 X_kj, `sweeps` times; then L_ik = X_ik X_kk^-1.
ScalarRows swept(const ScalarRows& a, int sweeps, bool symmetric) {
    ScalarRows x = a;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        ScalarRows made = a;
        for (int i = 0; i < int(a.size()); ++i)
            for (const auto& [k, left] : x[i]) {
                if (k >= i) break;
                const double w = left * (1.0 / x[k].at(k));
                for (auto& [j, value] : made[i])
                    if (j > k)
                        if (const auto u = x[k].find(j); u != x[k].end()) value = std::fma(-w, u->second, value);
            }
        x = std::move(made);
    }
    ScalarRows factors = x;
    for (int i = 0; i < int(x.size()); ++i)
        for (auto& [k, value] : factors[i])
            if (k <= i) value = k == i ? 1.0 / value : (symmetric ? x[k].at(i) : value) * (1.0 / x[k].at(k));
    return factors;
}

TEST(LongRows, HaveTheBitsOfThePlainAlgorithm) {
    for (const char* name : {"arrow", "hubs", "dense_row"})
        for (const bool symmetric : {false, true})
            for (const int sweeps : {0, 2}) {
                if (symmetric && std::string(name) == "dense_row") continue;
                SCOPED_TRACE(std::string(name) + (symmetric ? " symmetric " : " ") + std::to_string(sweeps));
                const BlockMatrix data = long_rowed(name, 900, symmetric);
                const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(2), data, symmetric);
                // Without rounds these are the factors of sync_free_ilu or par_ilu.
                const auto m = make_general("par_ilut", a, {{"rounds", "0"}, {"sweeps", std::to_string(sweeps)}});
                m->setup(a);
                const GeneralFactors& factors = dynamic_cast<const ParIlut&>(*m).factors();
                const ScalarRows rows = scalar_rows(data);
                const ScalarRows expected = sweeps ? swept(rows, sweeps, symmetric) : eliminated(rows, symmetric);
                const BlockPattern& p = factors.pattern();
                Index different = 0;
                for (Index i = 0; i < p.rows(); ++i)
                    for (Index at = p.row_begin()[i]; at < p.row_begin()[i + 1]; ++at)
                        different += factors.values.data()[at] != expected[i].at(p.column()[at]);
                EXPECT_EQ(different, 0);
            }
}

/// Columns that count how often they are read.
struct CountedColumns {
    const std::vector<int>& columns;
    Index& reads;

    int operator[](Index at) const {
        ++reads;
        return columns.at(std::size_t(at));
    }
};

std::vector<int> random_columns(int count, int step, std::uint64_t seed) {
    reference::Random random(seed);
    std::vector<int> columns;
    for (int at = 0, column = 0; at < count; ++at)
        columns.push_back(column += 1 + int((random() + 1.0) * 0.5 * step) % step);
    return columns;
}

TEST(LongRows, ShareTheColumnsThatPlainSearchFinds) {
    for (const auto& [mine, my_step, theirs, their_step] : {std::tuple(3, 900, 3000, 1),
                                                            {40, 70, 3000, 2},
                                                            {1, 5, 1, 5},
                                                            {0, 1, 50, 2},
                                                            {50, 2, 0, 1},
                                                            {30, 3, 40, 2},
                                                            {3000, 1, 3, 900},
                                                            {3000, 2, 40, 70},
                                                            {200, 5, 3300, 1},
                                                            {206, 5, 3300, 1},
                                                            {17, 2, 1, 9},
                                                            {1, 9, 17, 2}})
        for (std::uint64_t seed = 1; seed < 20; ++seed) {
            std::vector<int> both = random_columns(mine, my_step, seed);
            const std::vector<int> others = random_columns(theirs, their_step, seed + 100);
            both.insert(both.end(), others.begin(), others.end());
            const Index end = mine, last = Index(both.size());
            std::vector<std::pair<Index, Index>> found, expected;
            for (Index at = 0; at < end; ++at)
                for (Index other = end; other < last; ++other)
                    if (both[at] == both[other]) expected.emplace_back(at, other);
            Index reads = 0;
            general_cpu::for_each_shared(CountedColumns{both, reads}, 0, end, end, last,
                                         [&](Index at, Index other) { found.emplace_back(at, other); });
            EXPECT_EQ(found, expected) << mine << " and " << theirs;
        }
}

/// What is read for all rows of an arrow grows as n log n with its rows, not as their square.
TEST(LongRows, AreNotReadWholeForEachRowThatDependsOnThem) {
    for (const bool search_in_mine : {false, true}) {
        const int rows = 100000;
        std::vector<int> columns(rows);
        for (int at = 0; at < rows; ++at) columns[at] = at;
        columns.push_back(0);
        Index reads = 0, shared = 0;
        for (int row = 1; row < rows; ++row) {
            columns.back() = row;  // the rest of a row that has this entry alone
            const auto count = [&](Index, Index) { ++shared; };
            const CountedColumns counted{columns, reads};
            search_in_mine ? general_cpu::for_each_shared(counted, 0, rows, rows, rows + 1, count)
                           : general_cpu::for_each_shared(counted, rows, rows + 1, 0, rows, count);
        }
        EXPECT_EQ(shared, rows - 1);
        EXPECT_LT(reads, 80 * Index(rows));
    }
}

std::shared_ptr<const BlockPattern> pattern_with_columns(const std::vector<std::vector<int>>& rows) {
    std::vector<Index> row_begin{0};
    std::vector<int> column;
    for (const std::vector<int>& row : rows) {
        column.insert(column.end(), row.begin(), row.end());
        row_begin.push_back(Index(column.size()));
    }
    return std::make_shared<const BlockPattern>(Context::cpu(2), row_begin, column, "test pattern");
}

TEST(LongRows, BoundTheFillFromBelow) {
    // Rows 1 and 2 get what row 0 has beyond them, row 3 the same column as it has itself. What row 2 has precedes
    // row 4.
    const auto small = pattern_with_columns({{0, 2, 3, 5}, {0, 1}, {0, 2, 4}, {0, 3, 5}, {2, 4}, {5}});
    EXPECT_EQ(least_fill_above(*small), 3 + 3 + 2 + 1);
    for (const char* name :
         {"random", "symmetric", "arrow", "dense_row", "dense", "lower", "empty_rows", "no_diagonal"})
        for (std::uint64_t seed = 1; seed <= 5; ++seed)
            for (const int k : {1, 2, 3}) {
                SCOPED_TRACE(std::string(name) + " " + std::to_string(seed) + " " + std::to_string(k));
                const Pattern pattern = reference::pattern_named(name, 70, 4, seed);
                const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), reference::random_blocks(pattern, 2, 1));
                Index above = 0, below = 0;
                const Pattern filled = reference::symbolic_ilu(pattern, k);
                for (int row = 0; row < 70; ++row)
                    for (const int column : filled[row]) above += column > row, below += column < row;
                const Index least = least_fill_above(*a.pattern());
                const Index mirrored = least_fill_above(transposed(*a.pattern(), "test"));
                EXPECT_LE(least, above);
                EXPECT_LE(mirrored, below);
                if (name != std::string("arrow") && name != std::string("dense")) continue;
                EXPECT_EQ(least, 70 * 69 / 2);
                EXPECT_EQ(mirrored, 70 * 69 / 2);
            }
}

/// The number in the message is the bound: a search ends at another one, after minutes, when it has filled a third of
/// the memory. The fill of `corner` lies below the diagonal alone.
TEST(LongRows, AreRefusedBeforeASearchForFillThatNoMemoryHolds) {
    const double memory = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE));
    const int rows = int(2.2 * std::sqrt(memory / 12.0)), half = rows / 2;
    std::vector<std::vector<int>> arrow(std::size_t(rows), std::vector<int>{}), corner = arrow;
    for (int row = 0; row < rows; ++row) {
        arrow[0].push_back(row);
        if (row < half) corner[0].push_back(row);
        if (row == 0) continue;
        arrow[row] = {0, row};
        corner[row] = row < half ? std::vector{row} : std::vector{0, row};
    }
    const auto refused = [](const std::vector<std::vector<int>>& columns, Index least) {
        const auto a = pattern_with_columns(columns);
        expect_error<OutOfMemory>([&] { filled_pattern(a->context(), a, 1, "test"); },
                                  "at least " + std::to_string(least) +
                                      " above and below the diagonal together, that they do not fit into the memory");
    };
    refused(arrow, Index(rows) * (rows - 1));
    refused(corner, Index(half) * (rows - half) + half - 1);
}

/// The largest `most` times as many values of A - M as A has in a row, which X = A does not have, among equal ones the
/// first; for a symmetric matrix those above the diagonal with their mirror images.
ScalarRows largest_candidates(const ScalarRows& a, bool symmetric, int most) {
    ScalarRows all(a.size());
    for (int i = 0; i < int(a.size()); ++i) {
        std::map<int, double> row;
        for (const auto& [k, left] : a[i]) {
            if (k >= i) break;
            const double w = left * (1.0 / a[k].at(k));
            for (const auto& [j, value] : a[k])
                if (j > k && (!symmetric || j > i) && !a[i].count(j)) row[j] = std::fma(-w, value, row[j]);
        }
        std::vector<std::pair<double, int>> order;
        for (const auto& [j, value] : row) order.emplace_back(-value * value, j);
        std::sort(order.begin(), order.end());
        const auto first = symmetric ? a[i].lower_bound(i) : a[i].begin();
        const auto limit = std::size_t(most) * std::size_t(std::distance(first, a[i].end()));
        order.resize(std::min(order.size(), limit));
        for (const auto& [size, j] : order) all[i][j] = row[j], (symmetric ? all[j][i] : all[i][j]) = row[j];
    }
    return all;
}

TEST(LongRows, GiveTheLargestCandidates) {
    for (const char* name : {"arrow", "hubs"})
        for (const bool symmetric : {false, true})
            for (const bool equal : {false, true})
                for (const int most : {1, 2, 40}) {
                    SCOPED_TRACE(std::string(name) + (symmetric ? " symmetric " : " ") + (equal ? "equal " : "") +
                                 std::to_string(most));
                    BlockMatrix data = long_rowed(name, 300, symmetric);
                    for (int row = 0; row < 300 && equal; ++row)
                        for (auto& [column, block] : data.rows[row])
                            if (column != row) block.values[0] = -0.25;
                    const ScalarRows rows = scalar_rows(data);
                    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(2), data, symmetric);
                    GeneralFactors x;
                    x.symmetric = symmetric;
                    x.filled = filled_pattern(a.context(), a.pattern(), 0, "test");
                    x.values = Buffer<double>(a.context(), "test", x.value_count());
                    std::copy_n(a.values(), x.value_count(), x.values.data());
                    Buffer<double> inverse(a.context(), "test", 300);
                    for (int row = 0; row < 300; ++row) inverse[row] = 1.0 / rows[row].at(row);
                    const auto found = par_ilut::candidates_of(a, 0.0, x, inverse.data(), most, false);
                    ScalarRows listed(300);
                    for (int row = 0; row < 300; ++row)
                        for (Index at = found.begin[row]; at < found.begin[row + 1]; ++at)
                            listed[row][found.column[at]] = found.values[at];
                    EXPECT_TRUE(listed == largest_candidates(rows, symmetric, most));
                }
}

/// par_ilut looks for candidates in all products, so a plan tells where there are many of them, and of which row.
TEST(LongRows, AreToldByThePlanOfParIlut) {
    const auto warning = [](const std::string& pattern, int rows, bool symmetric, const Settings& settings = {}) {
        const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), long_rowed(pattern, rows, symmetric), symmetric);
        return find_preconditioner("par_ilut").plan(parameters_of("par_ilut", settings), setting_of(a)).warning;
    };
    EXPECT_NE(warning("arrow", 7500, false)
                  .find("5.6e+07 products, 2499 for each block of the matrix, so the set-up takes long. Most come from "
                        "row 1: it has 7499 blocks beyond its diagonal, and 7499 rows depend on it. ordering.name"),
              std::string::npos);
    EXPECT_NE(warning("arrow", 10200, true).find("5.2e+07 products"), std::string::npos);
    EXPECT_EQ(warning("arrow", 7500, true), "");  // half as many
    EXPECT_EQ(warning("arrow", 7500, false, {{"rounds", "0"}}), "");
    EXPECT_EQ(warning("dense", 430, false), "");  // 143 for each block, but in no time
    EXPECT_EQ(warning("symmetric", 20000, true), "");
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), long_rowed("arrow", 7500, false), false);
    EXPECT_NE(par_ilut::about_long_rows(*a.pattern(), false, true).find("depend on it. sync_free_ilu looks for"),
              std::string::npos);
}

}  // namespace
}  // namespace hyperplane
