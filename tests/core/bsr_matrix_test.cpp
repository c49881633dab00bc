// SPDX-License-Identifier: BSD-3-Clause
// General matrices: products, residuals and statistics compared with the reference.
#include "core/matrix/bsr_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/epsilon.hpp"
#include "core/error.hpp"
#include "on_device.hpp"
#include "reference/general_matrices.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

using reference::BlockMatrix;

struct BsrCase {
    std::string pattern;
    int rows, dof;
};

std::vector<BsrCase> bsr_cases() {
    std::vector<BsrCase> list;
    for (const char* name : {"random", "symmetric", "arrow", "dense_row", "lower", "empty_rows"})
        for (int dof : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 16, 17, 32}) list.push_back({name, dof > 8 ? 7 : 61, dof});
    for (int dof : {1, 3, 32}) list.push_back({"dense", 1, dof});
    list.push_back({"dense_row", 3000, 1});  // rows that a GPU cuts into pieces
    list.push_back({"arrow", 1500, 3});
    for (const char* name : {"uneven", "uneven_far"}) list.push_back({name, 1237, 1});  // whose long ones have a warp
    return list;
}

BlockMatrix bsr_matrix_of(const BsrCase& c) {
    return reference::random_blocks(reference::pattern_named(c.pattern, c.rows, 6, 11), c.dof, 5);
}

/// |y - A x| <= 16 ulp of |A| |x| in each row; the residual of a nearly exact b to 2 ulp.
void expect_products(const Context& context, const BsrCase& c) {
    const BlockMatrix a = bsr_matrix_of(c);
    const BsrMatrix matrix = reference::to_bsr_matrix(context, a);
    const std::vector<double> x = reference::Random(3).vector(c.rows * c.dof);
    const reference::Product expected = reference::multiply(a, x);
    const Vector there = reference::to_plain_vector(context, c.dof, x);
    Vector y = reference::to_plain_vector(context, c.dof, std::vector<double>(x.size(), NAN));
    matrix.apply(there, y);
    const std::vector<double> actual = to_natural(y);
    for (std::size_t at = 0; at < x.size(); ++at)
        ASSERT_NEAR(actual[at], expected.value[at], 16 * epsilon * expected.magnitude[at]) << "row " << at;

    const std::vector<double>& b = expected.value;  // A x rounded once, so that the residual is all cancellation
    const std::vector<double> exact = reference::exact_residual(a, b, x);
    matrix.residual(reference::to_plain_vector(context, c.dof, b), there, y);
    const std::vector<double> r = to_natural(y);
    for (std::size_t at = 0; at < x.size(); ++at)
        ASSERT_NEAR(r[at], exact[at], 2 * epsilon * std::abs(exact[at]) + 1e-28 * expected.magnitude[at]) << at;
}

class BsrProduct : public testing::TestWithParam<BsrCase> {};
class BsrProductOnDevice : public testing_support::DeviceTest, public testing::WithParamInterface<BsrCase> {};

TEST_P(BsrProduct, EqualsReference) {
    expect_products(Context::cpu(1), GetParam());
}
TEST_P(BsrProduct, HasTheSameBitsForAnyNumberOfThreads) {
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), bsr_matrix_of(GetParam()));
    const Vector x =
        reference::to_plain_vector(Context::cpu(1), a.dof(), reference::Random(3).vector(int(a.unknowns())));
    expect_same_bits_for_any_threads(a.context(), [&] {
        Vector y = reference::to_plain_vector(Context::cpu(), a.dof(), std::vector<double>(x.size(), NAN));
        Vector r = reference::to_plain_vector(Context::cpu(), a.dof(), std::vector<double>(x.size(), NAN));
        a.apply(x, y);
        a.residual(x, y, r);
        std::vector<double> both = to_natural(y), rest = to_natural(r);
        both.insert(both.end(), rest.begin(), rest.end());
        return both;
    });
}
TEST_P(BsrProductOnDevice, EqualsReference) {
    expect_products(Context::cuda(), GetParam());
}
TEST_P(BsrProductOnDevice, HasTheSameBitsEachTime) {
    const Context context = Context::cuda();
    const BsrMatrix a = reference::to_bsr_matrix(context, bsr_matrix_of(GetParam()));
    const Vector x = reference::to_plain_vector(context, a.dof(), reference::Random(3).vector(int(a.unknowns())));
    Vector y = reference::to_plain_vector(context, a.dof(), std::vector<double>(x.size(), NAN));
    a.apply(x, y);
    const std::vector<double> first = to_natural(y);
    for (int repeat = 0; repeat < 3; ++repeat) {
        a.apply(x, y);
        EXPECT_EQ(to_natural(y), first);
    }
}

const auto name_of_bsr_case = [](const testing::TestParamInfo<BsrCase>& info) {
    return info.param.pattern + "_" + std::to_string(info.param.rows) + "_" + std::to_string(info.param.dof);
};
INSTANTIATE_TEST_SUITE_P(All, BsrProduct, testing::ValuesIn(bsr_cases()), name_of_bsr_case);
INSTANTIATE_TEST_SUITE_P(All, BsrProductOnDevice, testing::ValuesIn(bsr_cases()), name_of_bsr_case);

/// Row i is row `order[i]` of one with `(7 * row) % 12` entries, near the diagonal.
std::vector<double> product_of_rows(const std::vector<int>& order, const std::vector<double>& x) {
    const BlockMatrix of = [&] {
        reference::Pattern pattern(order.size());
        for (int row = 0; row < int(order.size()); ++row)
            for (int at = 0; at < 7 * row % 12; ++at) pattern[row].insert((row + 3 * at) % int(order.size()));
        return reference::random_blocks(pattern, 1, 5);
    }();
    BlockMatrix a = of;
    for (std::size_t at = 0; at < order.size(); ++at) a.rows[at] = of.rows[order[at]];
    Vector y = reference::to_plain_vector(Context::cpu(1), 1, std::vector<double>(x.size(), NAN));
    reference::to_bsr_matrix(Context::cpu(1), a).apply(reference::to_plain_vector(Context::cpu(1), 1, x), y);
    return to_natural(y);
}

/// Whether the rows around it have its number of entries, or any others, which take different code.
TEST(BsrProductOfRows, HasBitsThatDependOnNoOtherRow) {
    constexpr int rows = 3001;
    std::vector<int> mixed(rows);
    std::iota(mixed.begin(), mixed.end(), 0);
    std::vector<int> sorted = mixed;
    std::ranges::stable_sort(sorted, {}, [](int row) { return 7 * row % 12; });
    std::vector<double> x = reference::Random(3).vector(rows);
    x[1500] = std::numeric_limits<double>::infinity();
    const std::vector<double> one = product_of_rows(mixed, x), other = product_of_rows(sorted, x);
    for (int at = 0; at < rows; ++at) {
        EXPECT_EQ(other[at], one[sorted[at]]) << "row " << sorted[at];
        EXPECT_FALSE(std::isnan(one[at])) << "an entry that is not there was counted in row " << at;
    }
}

TEST(BsrMatrixMemory, IsThatOfItsShape) {
    const Context context = Context::cpu(1);
    const BsrMatrix a = reference::to_bsr_matrix(context, bsr_matrix_of({"random", 61, 3}));
    const Index held = context.ledger().held();
    const MatrixShape shape(a.pattern(), 3, false);
    const auto made = make_matrix(context, shape.natural_space(), shape, "matrix");
    EXPECT_EQ(context.ledger().held() - held, bytes_of(shape, shape.natural_space(), Backend::cpu))
        << "the pattern is shared";
    EXPECT_EQ(made->bytes(), bytes_of(shape, shape.natural_space(), Backend::cpu));
    EXPECT_EQ(made->nonzeros(), a.pattern()->blocks() * 9);
    EXPECT_EQ(shape.kind(), MatrixKind::general);
    EXPECT_THROW(shape.grid(), Error);
    EXPECT_THROW(BsrMatrix(context, a.pattern(), 33, false), UsageError);
}

TEST(BlockPattern, HasStatistics) {
    const Context context = Context::cpu(1);
    //  x . . x
    //  . . x .
    //  . x x .
    //  . . . .
    const BlockPattern pattern(context, {0, 2, 3, 5, 5}, {0, 3, 2, 1, 2}, "pattern");
    const PatternStatistics s = pattern.statistics();
    EXPECT_EQ(s.rows, 4);
    EXPECT_EQ(s.blocks, 5);
    EXPECT_EQ(s.shortest, 0);
    EXPECT_EQ(s.longest, 2);
    EXPECT_EQ(s.lower_bandwidth, 1);
    EXPECT_EQ(s.upper_bandwidth, 3);
    EXPECT_EQ(s.missing_diagonals, 2);
    EXPECT_FALSE(s.symmetric) << "(0, 3) has no mirror image";
    EXPECT_EQ(pattern.find(0, 3), 1);
    EXPECT_EQ(pattern.find(3, 3), -1);
    EXPECT_TRUE(BlockPattern(context, {0, 1, 2}, {1, 0}, "pattern").statistics().symmetric);
}

/// The statistics by definition: each block looks for its mirror image, and each row for the longest chain to it.
PatternStatistics slow_statistics(const BlockPattern& p) {
    PatternStatistics s{.rows = p.rows(), .blocks = p.blocks(), .shortest = p.rows() > 0 ? p.blocks() : 0};
    s.symmetric = true;
    std::vector<Index> lower(std::size_t(p.rows()), 1), upper(std::size_t(p.rows()), 1);
    for (Index i = 0; i < p.rows(); ++i) {
        const Index blocks = p.row_begin()[i + 1] - p.row_begin()[i];
        s.shortest = std::min(s.shortest, blocks);
        s.longest = std::max(s.longest, blocks);
        if (blocks > 32 && blocks <= 512) s.in_long_rows += blocks;
        s.missing_diagonals += p.find(i, int(i)) < 0;
        for (Index j = 0; j < p.rows(); ++j) {
            if (p.find(i, int(j)) < 0) continue;
            s.lower_bandwidth = std::max(s.lower_bandwidth, i - j);
            s.upper_bandwidth = std::max(s.upper_bandwidth, j - i);
            s.symmetric = s.symmetric && p.find(j, int(i)) >= 0;
            if (j < i) lower[i] = std::max(lower[i], lower[j] + 1);
        }
        s.lower_levels = std::max(s.lower_levels, lower[i]);
    }
    for (Index i = p.rows() - 1; i >= 0; --i) {
        for (Index j = i + 1; j < p.rows(); ++j)
            if (p.find(i, int(j)) >= 0) upper[i] = std::max(upper[i], upper[j] + 1);
        s.upper_levels = std::max(s.upper_levels, upper[i]);
    }
    return s;
}

void expect_slow_statistics(const BlockPattern& p) {
    const PatternStatistics s = p.statistics(), t = slow_statistics(p);
    EXPECT_EQ(s.rows, t.rows);
    EXPECT_EQ(s.blocks, t.blocks);
    EXPECT_EQ(s.shortest, t.shortest);
    EXPECT_EQ(s.longest, t.longest);
    EXPECT_EQ(s.lower_bandwidth, t.lower_bandwidth);
    EXPECT_EQ(s.upper_bandwidth, t.upper_bandwidth);
    EXPECT_EQ(s.lower_levels, t.lower_levels);
    EXPECT_EQ(s.upper_levels, t.upper_levels);
    EXPECT_EQ(s.missing_diagonals, t.missing_diagonals);
    EXPECT_EQ(s.symmetric, t.symmetric);
    EXPECT_EQ(s.in_long_rows, t.in_long_rows);
}

TEST(BlockPattern, HasTheStatisticsOfTheirDefinitions) {
    for (const char* name :
         {"random", "symmetric", "arrow", "dense_row", "lower", "empty_rows", "no_diagonal", "uneven"})
        for (const int rows : {1, 2, 61, 150})
            for (const int threads : {1, 3}) {
                SCOPED_TRACE(std::string(name) + " " + std::to_string(rows));
                const Context context = Context::cpu(threads);
                expect_slow_statistics(*reference::to_bsr_matrix(context, bsr_matrix_of({name, rows, 1})).pattern());
            }
    // As many blocks below the diagonal as above it, in rows and columns that are the same numbers.
    const BlockPattern crossed(Context::cpu(1), {0, 2, 4, 6, 8}, {0, 3, 1, 2, 0, 2, 1, 3}, "pattern");
    expect_slow_statistics(crossed);
    EXPECT_FALSE(crossed.statistics().symmetric);
    expect_slow_statistics(BlockPattern(Context::cpu(1), {0}, {}, "pattern"));
}

TEST(BlockPattern, IsDividedByBlocks) {
    const Context context = Context::cpu(1);
    std::vector<Index> row_begin{0};
    std::vector<int> column;
    for (int row = 0; row < 100; ++row) {
        for (int j = 0; j < (row == 0 ? 100 : 1); ++j) column.push_back(row == 0 ? j : row);
        row_begin.push_back(Index(column.size()));
    }
    const BlockPattern pattern(context, row_begin, column, "pattern");
    EXPECT_EQ(pattern.first_row(0, 3), 0);
    EXPECT_EQ(pattern.first_row(1, 3), 1) << "the first row is a third of the matrix";
    EXPECT_EQ(pattern.first_row(3, 3), 100);
    EXPECT_NEAR(double(pattern.first_row(2, 3)), 50.0, 2.0);
}

TEST(BsrMatrix, EqualsItsTransposeOrNot) {
    for (const int dof : {1, 3}) {
        const auto random = reference::random_blocks(reference::pattern_named("symmetric", 61, 6, 11), dof, 5);
        const BlockMatrix symmetric = reference::symmetric_part(random);
        for (const int threads : {1, 3}) {
            const Context host = Context::cpu(threads);
            const auto equal = [&](const BlockMatrix& a) {
                return equals_transpose(reference::to_bsr_matrix(host, a));
            };
            EXPECT_TRUE(equal(symmetric));
            EXPECT_FALSE(equal(random));
            BlockMatrix changed = symmetric;
            changed.rows[40].at(40)(0, dof - 1) +=
                1.0;  // within a block of the diagonal, if it has more than one value
            EXPECT_EQ(equal(changed), dof == 1);
            for (const bool below : {false, true}) {  // a block whose mirror image is missing
                changed = symmetric;
                for (int row = 0; row < 61; ++row)
                    for (const auto& [column, block] : symmetric.rows[row])
                        if (row < column) {
                            below ? changed.rows[row].erase(column) : changed.rows[column].erase(row);
                            row = 61;
                            break;
                        }
                EXPECT_FALSE(equal(changed));
            }
        }
    }
}

}  // namespace
}  // namespace hyperplane
