// SPDX-License-Identifier: BSD-3-Clause
// Products of general matrices on a GPU: the order of a row's sum, to the last bit, however its blocks are read.
#include "core/matrix/bsr_product_cuda.hpp"

#include "core/matrix/bsr_matrix.hpp"
#include "core/vector/blas1.hpp"
#include "on_device.hpp"
#include "reference/general_matrices.hpp"

namespace hyperplane {
namespace {

struct ProductCase {
    std::string pattern;
    int rows, dof;
};

std::vector<ProductCase> product_cases() {
    std::vector<ProductCase> list;
    for (const char* name : {"random", "arrow", "dense_row", "empty_rows"})
        for (const int dof : {1, 2, 3, 4, 5, 6, 7, 8, 9, 17}) list.push_back({name, dof > 8 ? 9 : 61, dof});
    for (const int dof : {1, 3}) list.push_back({"random", 5003, dof});       // many thread blocks, the last not full
    for (const int dof : {2, 3, 8}) list.push_back({"dense_row", 401, dof});  // a row that shared memory cannot hold
    list.push_back({"dense_row", 3000, 1});                                   // and one that is cut into pieces
    list.push_back({"arrow", 1500, 3});
    list.push_back({"dense", 47, 1});
    list.push_back({"dense", 200, 1});  // thread blocks whose rows shared memory holds a few at a time
    list.push_back({"dense", 100, 3});
    list.push_back({"dense", 1, 4});
    for (const int dof : {3, 5, 7})
        list.push_back({"dense", 40, dof});  // so long that thread blocks have fewer threads
    list.push_back({"dense", 1100, 1});      // all rows are cut into pieces
    list.push_back({"dense", 530, 3});
    for (const int dof : {2, 4, 5, 6, 7, 8, 17}) list.push_back({"arrow", 1030, dof});
    // A warp a block row: rows of less than one group of blocks, of more than 32, and none; a last thread block of one
    // warp, and long rows beside the others.
    for (const int dof : {3, 5, 7, 9, 10, 12, 16, 17, 24, 32}) {
        for (const int rows : {33, 35}) list.push_back({"random", rows, dof});
        list.push_back({"empty_rows", 37, dof});
        list.push_back({"dense", 67, dof});
        if (dof > 8) list.push_back({"arrow", 521, dof});
    }
    for (const int dof : {2, 3, 4, 5, 6, 8}) list.push_back({"dense", 97, dof});
    for (const int dof : {3, 5, 7}) list.push_back({"band", 2003, dof});  // first blocks at each place in a line
    for (const int rows : {1, 31, 33, 129}) list.push_back({"band", rows, 1});
    list.push_back({"band", 400007, 1});  // more rows than threads are resident
    // Uneven rows, nearby and not: a warp has those of 33 to 512.
    for (const char* name : {"uneven", "uneven_far"})
        for (const int rows : {1237, 70001}) list.push_back({name, rows, 1});
    list.push_back({"few_long", 5003, 1});  // also such as shared memory does not hold
    list.push_back({"uneven", 1237, 2});    // blocks, whose rows have their lanes as ever
    return list;
}

/// Rows of one entry, and nine of 512, 472, ..., 192.
reference::Pattern few_long_rows(int rows) {
    reference::Pattern pattern(static_cast<std::size_t>(rows));
    for (int row = 0; row < rows; ++row) pattern[std::size_t(row)].insert(row);
    for (int at = 0; at < 9; ++at) {
        const int first = 550 * at;
        auto& row = pattern[static_cast<std::size_t>(first) + 300];
        for (int column = first; column < first + 512 - 40 * at; ++column) row.insert(column);
    }
    return pattern;
}

/// Patterns by name; "few_long"; and "band": a few entries a row near the diagonal, some hundred in every 20000th row.
reference::Pattern pattern_of(const ProductCase& c) {
    if (c.pattern == "few_long") return few_long_rows(c.rows);
    if (c.pattern != "band") return reference::pattern_named(c.pattern, c.rows, 6, 11);
    reference::Pattern pattern(std::size_t(c.rows));
    for (int row = 0; row < c.rows; ++row)
        for (int at = -2; at <= (row % 20000 == 9 ? 400 : 2); ++at)
            if (const int column = row + at; column >= 0 && column < c.rows && (at == 0 || (row + at) % 3 != 0))
                pattern[std::size_t(row)].insert(column);
    return pattern;
}

/// The rows of the blocks [begin, end) as `lanes` lanes add them: lane l has column l mod dof of every (lanes / dof)th
/// block, and then pairs of lanes are added, the farthest first.
std::vector<double> added_by_lanes(const BsrMatrix& a, const std::vector<double>& x, Index begin, Index end,
                                   int lanes) {
    const int dof = a.dof(), group = lanes / dof;
    std::vector<double> rows(static_cast<std::size_t>(dof));
    for (int r = 0; r < dof; ++r) {
        std::vector<double> sum(static_cast<std::size_t>(lanes), 0.0);
        for (Index at = begin; at < end; ++at)
            for (int c = 0; c < dof; ++c) {
                double& mine = sum[std::size_t((at - begin) % group * dof + c)];
                mine = std::fma(a.values()[(at * dof + r) * dof + c],
                                x[std::size_t(a.pattern()->column()[at]) * dof + c], mine);
            }
        for (int distance = lanes / 2; distance > 0; distance /= 2)
            for (int l = 0; l < distance; ++l) sum[l] += sum[l + distance];
        rows[r] = sum[0];
    }
    return rows;
}

std::vector<double> expected_product(const BsrMatrix& a, const std::vector<double>& x) {
    constexpr Index longest = 512;
    const auto rows = BsrProductCuda::row_threads(*a.pattern(), a.dof());
    std::vector<double> y;
    for (Index row = 0; row < a.pattern()->rows(); ++row) {
        const Index begin = a.pattern()->row_begin()[row], end = a.pattern()->row_begin()[row + 1];
        if (end - begin <= longest) {
            const auto sums = added_by_lanes(a, x, begin, end, rows.uneven && end - begin > 32 ? 32 : rows.lanes);
            y.insert(y.end(), sums.begin(), sums.end());
            continue;
        }
        std::vector<double> total(std::size_t(a.dof()), 0.0);
        for (Index at = begin; at < end; at += longest) {
            const auto sums = added_by_lanes(a, x, at, std::min(at + longest, end), 32);
            for (int r = 0; r < a.dof(); ++r) total[r] += sums[r];
        }
        y.insert(y.end(), total.begin(), total.end());
    }
    return y;
}

/// The ground of a circuit: first row and column have an entry for each other row.
TEST(BsrProduct, ReadsNearbyThoughALongRowReadsAll) {
    const int rows = 20000;
    reference::Pattern near(std::size_t{rows}), far(std::size_t{rows});
    for (int row = 0; row < rows; ++row) {
        near[std::size_t(row)] = {row, std::max(row - 1, 0), std::min(row + 1, rows - 1), 0};
        near[0].insert(row);
        far[std::size_t(row)] = {row, (row + rows / 3) % rows, (row + rows / 2) % rows};
    }
    const auto reads_nearby = [](const reference::Pattern& pattern) {
        const auto blocks = reference::random_blocks(pattern, 1, 5);
        return BsrProductCuda::reads_nearby(*reference::to_bsr_matrix(Context::cpu(1), blocks).pattern());
    };
    EXPECT_TRUE(reads_nearby(near));
    EXPECT_FALSE(reads_nearby(far));
}

/// Rows of 33 to 512 blocks count, where they have an eighth of all blocks and the mean is less than 16.
TEST(BsrProduct, DividesUnevenRowsByTheirLengths) {
    const auto threads = [](int short_rows, int shorter, int long_rows, int longer, int dof) {
        std::vector<Index> row_begin{0};
        std::vector<int> column;
        const int rows = short_rows + long_rows;
        for (int row = 0; row < rows; ++row) {
            for (int at = 0; at < (row < short_rows ? shorter : longer); ++at) column.push_back(at);
            row_begin.push_back(Index(column.size()));
        }
        const auto found = BsrProductCuda::row_threads({Context::cpu(1), row_begin, column, "pattern"}, dof);
        return std::pair(found.lanes, found.uneven);
    };
    EXPECT_EQ(threads(1000, 4, 20, 100, 1), std::pair(4, true));
    EXPECT_EQ(threads(1000, 4, 20, 100, 2), std::pair(8, false)) << "blocks";
    EXPECT_EQ(threads(700, 10, 10, 100, 1), std::pair(4, true)) << "an eighth";
    EXPECT_EQ(threads(701, 10, 10, 100, 1), std::pair(8, false)) << "less";
    EXPECT_EQ(threads(1000, 4, 100, 32, 1), std::pair(4, false)) << "no row is longer than a warp";
    EXPECT_EQ(threads(1000, 4, 3, 513, 1), std::pair(4, false)) << "which are cut into pieces";
    EXPECT_EQ(threads(900, 14, 100, 34, 1), std::pair(16, false)) << "a mean of 16";
    EXPECT_EQ(threads(901, 14, 99, 34, 1), std::pair(4, true));
}

/// The cases have the rows after which they are named: uneven ones and, in few_long, five or more that shared memory
/// does not hold, which has room for 1.4 times the mean blocks of a thread block's rows, and 8 (bsr_staged).
TEST(BsrProduct, CasesOfUnevenRowsHaveThem) {
    int uneven = 0;
    for (const ProductCase& c : product_cases()) {
        if (c.dof > 1 || (c.pattern != "few_long" && c.pattern.find("uneven") == std::string::npos)) continue;
        const auto host = reference::to_bsr_matrix(Context::cpu(1), reference::random_blocks(pattern_of(c), 1, 5));
        EXPECT_TRUE(BsrProductCuda::row_threads(*host.pattern(), 1).uneven) << c.pattern << " " << c.rows;
        EXPECT_EQ(BsrProductCuda::reads_nearby(*host.pattern()), c.pattern != "uneven_far" || c.rows < 5000);
        if (c.pattern == "few_long") {
            EXPECT_LT(1.4 * host.pattern()->mean() * staged_rows(4, 1) + 8.0, 512 - 4 * 40);
        }
        ++uneven;
    }
    EXPECT_EQ(uneven, 5);
}

class BsrProductOrderOnDevice : public testing_support::DeviceTest, public testing::WithParamInterface<ProductCase> {};

TEST_P(BsrProductOrderOnDevice, IsThatOfTheLanes) {
    const auto& [pattern, rows, dof] = GetParam();
    const auto blocks = reference::random_blocks(pattern_of(GetParam()), dof, 5);
    const BsrMatrix host = reference::to_bsr_matrix(Context::cpu(1), blocks);
    const Context context = Context::cuda();
    const BsrMatrix a = reference::to_bsr_matrix(context, blocks);
    const std::vector<double> x = reference::Random(3).vector(rows * dof);
    Vector y = reference::to_plain_vector(context, dof, std::vector<double>(x.size(), NAN));
    for (int product = 0; product < 2; ++product) {  // what counts the pieces of long rows must be ready again
        fill(y, NAN);
        a.apply(reference::to_plain_vector(context, dof, x), y);
        EXPECT_EQ(to_natural(y), expected_product(host, x));
    }
}

INSTANTIATE_TEST_SUITE_P(All, BsrProductOrderOnDevice, testing::ValuesIn(product_cases()), [](const auto& info) {
    return info.param.pattern + "_" + std::to_string(info.param.rows) + "_" + std::to_string(info.param.dof);
});

}  // namespace
}  // namespace hyperplane
