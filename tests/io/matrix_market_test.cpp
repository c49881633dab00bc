// SPDX-License-Identifier: BSD-3-Clause
// Matrix Market files: valid ones, and the message for each kind of invalid one.
#include "io/matrix_market.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "io/bad_luck.hpp"
#include "io/file_error.hpp"
#include "io/scratch.hpp"

namespace hyperplane {
namespace {

using Indices = std::vector<Index>;
using Values = std::vector<double>;
const std::string general = "%%MatrixMarket matrix coordinate real general\n";
const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";

std::string matrix_error(const std::string& text) {
    return error_of([&] { parse_matrix_market(text, "a.mtx"); });
}
std::string vector_error(const std::string& text) {
    return error_of([&] { parse_matrix_market_vector(text, "b.mtx"); });
}

TEST(MatrixMarket, General) {
    const InputMatrix m = parse_matrix_market(
        general + "% a comment\n\n3 3 5\r\n2 1 -1\n1 1 2.5e0\n% another\n  3\t3 +4\n\n1 3 .5\n2 2 3\n", "a.mtx");
    EXPECT_FALSE(m.declared_symmetric);
    EXPECT_EQ(m.csr.rows, 3);
    EXPECT_EQ(m.csr.row_begin, (Indices{0, 2, 4, 5}));
    EXPECT_EQ(m.csr.column, (Indices{0, 2, 0, 1, 2}));
    EXPECT_EQ(m.csr.value, (Values{2.5, 0.5, -1, 3, 4}));
}

TEST(MatrixMarket, SymmetricIsFilledIn) {
    const InputMatrix m = parse_matrix_market(symmetric + "2 2 3\n1 1 4\n2 1 -1\n2 2 5", "a.mtx");
    EXPECT_TRUE(m.declared_symmetric);
    EXPECT_EQ(m.csr.row_begin, (Indices{0, 2, 4}));
    EXPECT_EQ(m.csr.column, (Indices{0, 1, 0, 1}));
    EXPECT_EQ(m.csr.value, (Values{4, -1, -1, 5}));
}

TEST(MatrixMarket, IntegerFieldAndAnyCase) {
    const InputMatrix m =
        parse_matrix_market("%%matrixmarket MATRIX Coordinate INTEGER General\n1 1 1\n1 1 7\n", "a.mtx");
    EXPECT_EQ(m.csr.value, Values{7});
}

TEST(MatrixMarket, PatternsHaveOnes) {
    const std::string pattern = "%%MatrixMarket matrix coordinate pattern symmetric\n";
    const InputMatrix m = parse_matrix_market(pattern + "2 2 3\n1 1\n2 1\n2 2\n", "a.mtx");
    EXPECT_TRUE(m.declared_symmetric);
    EXPECT_EQ(m.csr.column, (Indices{0, 1, 0, 1}));
    EXPECT_EQ(m.csr.value, (Values{1, 1, 1, 1}));
    EXPECT_EQ(matrix_error(pattern + "1 1 1\n1 1 1\n"), "a.mtx:3: expected row and column, got 3 words");
}

TEST(MatrixMarket, SkewSymmetricHasTheOppositeSignAboveTheDiagonal) {
    const std::string skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n";
    const InputMatrix m = parse_matrix_market(skew + "3 3 2\n2 1 4\n3 2 -5\n", "a.mtx");
    EXPECT_FALSE(m.declared_symmetric);
    EXPECT_EQ(m.csr.row_begin, (Indices{0, 1, 3, 4}));
    EXPECT_EQ(m.csr.column, (Indices{1, 0, 2, 1}));
    EXPECT_EQ(m.csr.value, (Values{-4, 4, 5, -5}));
    EXPECT_EQ(matrix_error(skew + "2 2 1\n2 2 4\n"),
              "a.mtx:3: an entry on the diagonal, which is zero in a skew-symmetric matrix; leave it out");
    EXPECT_EQ(
        matrix_error(skew + "2 2 1\n1 2 4\n"),
        "a.mtx:3: an entry above the diagonal; a skew-symmetric file holds the lower triangle only. If it holds "
        "both, its "
        "first line must say general in place of skew-symmetric; if it holds the upper one alone, exchange the rows "
        "and columns of its entries, and their signs");
    EXPECT_EQ(error_of([&] { parse_matrix_market(skew + "2 2 1\n2 1 4\n", "a.mtx", FileSymmetry::general); }),
              "a.mtx:1: the banner says skew-symmetric, the deck problem.symmetry = general");
}

/// A text that is long enough for several threads: `rows` rows of three entries, the last row first.
std::string long_text(int rows, const std::string& banner) {
    std::string text =
        banner + std::to_string(rows) + " " + std::to_string(rows) + " " + std::to_string(3 * rows) + "\n";
    for (int row = rows; row > 0; --row)
        for (const int column : {row % rows + 1, row, row})  // the diagonal in two parts
            text += std::to_string(row) + " " + std::to_string(column) + " " + std::to_string(0.1 * row) + "\n";
    return text;
}

TEST(MatrixMarket, EveryNumberOfThreadsReadsTheSame) {
    const std::string text = long_text(40000, general);
    ASSERT_GT(text.size(), 4u << 18);
    const InputMatrix one = parse_matrix_market(text, "a.mtx");
    EXPECT_EQ(one.csr.row_begin.back(), 80000);
    for (const int threads : {2, 3, 4}) {
        const InputMatrix m = parse_matrix_market(text, "a.mtx", FileSymmetry::by_file, threads);
        EXPECT_EQ(m.csr.row_begin, one.csr.row_begin);
        EXPECT_EQ(m.csr.column, one.csr.column);
        EXPECT_EQ(m.csr.value, one.csr.value);
    }
}

/// Rows with enough entries that each thread counts and places its own part of the file.
TEST(MatrixMarket, ThreadsPlaceEntriesInTheOrderOfTheFile) {
    constexpr int rows = 3000, entries = 60000;
    for (const char* symmetry : {"general", "symmetric", "skew-symmetric"}) {
        const bool mirrored = symmetry[0] == 's';
        const double sign = symmetry[1] == 'k' ? -1.0 : 1.0;
        std::string text = std::string("%%MatrixMarket matrix coordinate real ") + symmetry + "\n" +
                           std::to_string(rows) + " " + std::to_string(rows) + " " + std::to_string(entries) + "\n";
        std::map<std::pair<Index, Index>, double> sums;  // entries given twice are added in the order of the file
        std::uint64_t state = 5;
        const auto draw = [&](int below) { return int((state = state * 6364136223846793005u + 1) >> 33) % below; };
        for (int k = 0; k < entries; ++k) {
            const int row = k < rows - 1 ? k + 2 : mirrored || k > rows ? 2 + draw(rows - 1) : 1;
            const int column = 1 + draw(mirrored ? row - 1 : rows);
            const double value = double(draw(1 << 30)) / 7.0;
            text += fmt::format("{} {} {}\n", row, column, value);
            sums[{row - 1, column - 1}] += value;
            if (mirrored) sums[{column - 1, row - 1}] += sign * value;
        }
        ASSERT_GT(text.size(), 4u << 18);
        for (const int threads : {1, 2, 4}) {
            const InputMatrix m = parse_matrix_market(text, "a.mtx", FileSymmetry::by_file, threads);
            std::size_t at = 0;
            ASSERT_EQ(m.csr.value.size(), sums.size());
            for (const auto& [place, sum] : sums) {
                ASSERT_LT(Index(at), m.csr.row_begin[std::size_t(place.first) + 1]);
                ASSERT_EQ(m.csr.column[at], place.second);
                ASSERT_EQ(m.csr.value[at++], sum);
            }
        }
    }
}

TEST(MatrixMarket, EveryNumberOfThreadsFindsTheFirstError) {
    const std::string good = long_text(40000, general);
    const auto error = [](const std::string& text, int threads) {
        return error_of([&] { parse_matrix_market(text, "a.mtx", FileSymmetry::by_file, threads); });
    };
    const auto with_line = [&](int line, const std::string& words) {  // in place of a line of `good`
        std::string text = good;
        std::size_t at = 0;
        for (int before = 1; before < line; ++before) at = text.find('\n', at) + 1;
        return text.replace(at, text.find('\n', at) - at, words);
    };
    const std::string two_bad = [&] {
        std::string text = with_line(100000, "1 1 x");
        return text.replace(text.find("\n39000 39000 "), 7, "\n3900x ");
    }();
    for (const int threads : {1, 2, 3, 4}) {
        EXPECT_EQ(error(with_line(100000, "1 1 x"), threads), "a.mtx:100000: expected a finite number, got 'x'");
        EXPECT_EQ(error(two_bad, threads), "a.mtx:3004: expected an integer, got '3900x'");
        EXPECT_EQ(error(good + "1 1 1\n", threads), "a.mtx:120003: there are more than the 120000 entries announced");
        EXPECT_EQ(error(good + "\n% end\n1 x 1\n", threads),
                  "a.mtx:120005: there are more than the 120000 entries announced");
        EXPECT_EQ(error(with_line(60000, "% none"), threads),
                  "a.mtx:120002: the file ends after 119999 of 120000 entries; is it truncated?");
    }
}

TEST(MatrixMarket, WithoutBannerOneTriangleMayMeanTwoThings) {
    for (const bool below : {true, false}) {
        const std::string text = std::string("2 2 3\n1 1 1\n2 2 2\n") + (below ? "2 1 3" : "1 2 3");
        EXPECT_EQ(matrix_error(text), std::string("a.mtx:4: all entries beside the diagonal are ") +
                                          (below ? "below" : "above") +
                                          " it, and without a banner that may mean a triangular matrix or a symmetric "
                                          "one; begin the file with %%MatrixMarket matrix coordinate real general (or "
                                          "symmetric), or set problem.symmetry");
        const InputMatrix symmetric = parse_matrix_market(text, "a.mtx", FileSymmetry::symmetric);
        EXPECT_TRUE(symmetric.declared_symmetric);
        EXPECT_EQ(symmetric.csr.value, (Values{1, 3, 3, 2}));
        const InputMatrix triangular = parse_matrix_market(text, "a.mtx", FileSymmetry::general);
        EXPECT_FALSE(triangular.declared_symmetric);
        EXPECT_EQ(triangular.csr.value, (Values{1, 3, 2}));
    }
    const std::string both = "2 2 4\n1 1 1\n2 2 2\n2 1 3\n1 2 3\n";
    const InputMatrix general = parse_matrix_market(both, "a.mtx");
    EXPECT_FALSE(general.declared_symmetric);
    EXPECT_EQ(general.csr.value, (Values{1, 3, 3, 2}));
    EXPECT_EQ(
        error_of([&] { parse_matrix_market(both, "a.mtx", FileSymmetry::symmetric); }),
        "a.mtx:5: an entry in the other triangle than the one of line 4; with problem.symmetry = symmetric a file "
        "holds one of them");
    EXPECT_TRUE(parse_matrix_market("2 2 2\n1 1 1\n2 2 2\n", "a.mtx").declared_symmetric);  // both at once
}

TEST(MatrixMarket, BannerAndDeckMustNotContradict) {
    const std::string text = general + "2 2 3\n1 1 1\n2 2 2\n2 1 3\n";
    EXPECT_EQ(parse_matrix_market(text, "a.mtx", FileSymmetry::general).csr.value, (Values{1, 3, 2}));
    EXPECT_EQ(parse_matrix_market(text, "a.mtx").csr.value, (Values{1, 3, 2}));  // triangular, and says so
    EXPECT_EQ(error_of([&] { parse_matrix_market(text, "a.mtx", FileSymmetry::symmetric); }),
              "a.mtx:1: the banner says general, the deck problem.symmetry = symmetric");
    EXPECT_EQ(error_of([&] { parse_matrix_market(symmetric + "1 1 1\n1 1 1\n", "a.mtx", FileSymmetry::general); }),
              "a.mtx:1: the banner says symmetric, the deck problem.symmetry = general");
}

TEST(MatrixMarket, WhatLooksLikeABannerIsOne) {
    const std::string rest = "1 1 1\n1 1 1\n";
    const auto refused = [&](const std::string& line, int at) {
        return "a.mtx:" + std::to_string(at) + ": '" + line +
               "' is no banner, and is not taken for a comment either; expected %%MatrixMarket matrix FORMAT FIELD "
               "SYMMETRY, or no such line";
    };
    for (const char* line : {"%%MatrixMarkt matrix coord", "%MatrixMarket matrix general", "%% MatrixMarket", "%%",
                             "% matrix coordinate real general", "%%Matrix Market matrix array"})
        EXPECT_EQ(matrix_error(std::string(line) + "\n" + rest), refused(line, 1));
    EXPECT_EQ(matrix_error("% of a file\n%%MatrixMarket matrix coordinate real symmetric\n" + rest),
              "a.mtx:2: the banner must be the first line of the file, and begin it");
    EXPECT_EQ(vector_error("%%MatrixMarkt array\n1\n"), "b" + refused("%%MatrixMarkt array", 1).substr(1));
    EXPECT_EQ(parse_matrix_market("% of a matrix\n" + rest + "%% the end\n", "a.mtx").csr.value, Values{1});
    EXPECT_EQ(parse_matrix_market(general + "%%%% decoration\n" + rest, "a.mtx").csr.value, Values{1});
}

TEST(MatrixMarket, NoLineIsEndless) {
    const std::string many(70000, '1');
    EXPECT_EQ(matrix_error(general + many), "a.mtx:2: the line has more than 65536 bytes");
    EXPECT_EQ(matrix_error(general + "1 1 1\n%" + many), "a.mtx:3: the line has more than 65536 bytes");
}

TEST(MatrixMarket, EntriesGivenTwiceAreAddedUp) {
    const InputMatrix m = parse_matrix_market(general + "2 2 5\n1 1 1\n2 2 1\n1 1 2\n1 2 9\n1 1 4\n", "a.mtx");
    EXPECT_EQ(m.csr.column, (Indices{0, 1, 1}));
    EXPECT_EQ(m.csr.value, (Values{7, 9, 1}));
}

TEST(MatrixMarket, EmptyRowsAreToldWithTheirNumbers) {
    const std::string told = " of 4 has no entry, so the matrix is singular and no preconditioner can be built from it";
    EXPECT_EQ(matrix_error(general + "4 4 4\n2 2 1\n3 3 1\n4 4 1\n4 1 1\n"), "a.mtx: row 1" + told);
    EXPECT_EQ(matrix_error(general + "4 4 3\n1 1 1\n2 2 1\n3 1 1\n"), "a.mtx: row 4" + told);
    EXPECT_EQ(matrix_error(general + "4 4 2\n1 2 1\n4 1 1\n"), "a.mtx: row 2 (one of 2 such rows)" + told);
    EXPECT_EQ(matrix_error(general + "4 4 1\n1 2 1\n"), "a.mtx: row 2 (one of 3 such rows)" + told);
    EXPECT_EQ(matrix_error(general + "4 4 0\n"), "a.mtx: row 1 (one of 4 such rows)" + told);
    EXPECT_EQ(matrix_error(symmetric + "4 4 1\n2 1 1\n"), "a.mtx: row 3 (one of 2 such rows)" + told);
    EXPECT_EQ(parse_matrix_market(symmetric + "4 4 2\n2 1 1\n4 3 1\n", "a.mtx").csr.row_begin,
              (Indices{0, 1, 2, 3, 4}));
}

TEST(MatrixMarket, TooSmallNumbersAreToldAsSuch) {
    const auto entry = [](const std::string& value) { return matrix_error(general + "1 1 1\n1 1 " + value + "\n"); };
    const std::string told = "is too small for double precision; write 0, or a number of at least 4.9e-324 in size";
    for (const char* value : {"1e-400", "-1e-400", "+1e-400", "0.1e-399"})
        EXPECT_EQ(entry(value), "a.mtx:3: " + std::string(value) + " " + told);
    EXPECT_EQ(vector_error("1\n1e-400\n"), "b.mtx:2: 1e-400 " + told);
    EXPECT_EQ(parse_matrix_market(general + "1 1 1\n1 1 5e-324\n", "a.mtx").csr.value, Values{5e-324});
}

TEST(MatrixMarket, ExponentsMayBeFortrans) {
    const auto value = [](const std::string& word) {
        return parse_matrix_market(general + "1 1 1\n1 1 " + word + "\n", "a.mtx").csr.value.at(0);
    };
    EXPECT_EQ(value("1D+05"), 1e5);
    EXPECT_EQ(value("-.25d1"), -2.5);
    EXPECT_EQ(value("+0.1D-02"), 1e-3);
    EXPECT_EQ(matrix_error(general + "1 1 1\n1 1 1D-400\n"),
              "a.mtx:3: 1D-400 is too small for double precision; write 0, or a number of at least 4.9e-324 in size");
}

TEST(MatrixMarket, IntegersAreWholeNumbers) {
    const std::string integer = "%%MatrixMarket matrix coordinate integer general\n";
    EXPECT_EQ(matrix_error(integer + "2 2 2\n1 1 1\n2 2 1.7\n"),
              "a.mtx:4: expected an integer, as the banner says, got '1.7'");
    EXPECT_EQ(matrix_error(integer + "1 1 1\n1 1 +1e-3\n"),
              "a.mtx:3: expected an integer, as the banner says, got '+1e-3'");
    EXPECT_EQ(parse_matrix_market(integer + "1 1 1\n1 1 -3e2\n", "a.mtx").csr.value, Values{-300});
    EXPECT_EQ(vector_error("%%MatrixMarket matrix array integer general\n2 1\n1\n0.5\n"),
              "b.mtx:4: expected an integer, as the banner says, got '0.5'");
    EXPECT_EQ(vector_error("%%MatrixMarket matrix coordinate integer general\n2 1 1\n1 1 0.5\n"),
              "b.mtx:3: expected an integer, as the banner says, got '0.5'");
}

TEST(MatrixMarket, AByteOrderMarkIsSkippedAsInDecks) {
    const std::string mark = "\xef\xbb\xbf";
    EXPECT_EQ(parse_matrix_market(mark + symmetric + "1 1 1\n1 1 7\n", "a.mtx").csr.value, Values{7});
    EXPECT_EQ(parse_matrix_market_vector(mark + "1\n2\n", "b.mtx"), (Values{1, 2}));
    EXPECT_FALSE(has_matrix_market_head(mark + general + "% a comment\n"));
    EXPECT_EQ(parse_matrix_market_head(mark + general + "1 1 1\n1 1 7\n", 99, "a.mtx", FileSymmetry::by_file).rows, 1);
}

TEST(MatrixMarket, WrongBanners) {
    const auto banner = [](const std::string& rest) {
        return matrix_error("%%MatrixMarket " + rest + "\n1 1 1\n1 1 1\n");
    };
    EXPECT_EQ(banner("matrix coordinate"), "a.mtx:1: expected %%MatrixMarket matrix FORMAT FIELD SYMMETRY");
    EXPECT_EQ(banner("vector coordinate real general"),
              "a.mtx:1: expected %%MatrixMarket matrix FORMAT FIELD SYMMETRY");
    EXPECT_EQ(banner("matrix array pattern general"), "a.mtx:1: an array has values; its field cannot be pattern");
    EXPECT_EQ(banner("matrix coordinate pattern skew-symmetric"),
              "a.mtx:1: a pattern has no signs, so it cannot be skew-symmetric");
    EXPECT_EQ(banner("matrix coordinate complex general"),
              "a.mtx:1: the matrix is complex; only real, integer and pattern ones can be solved with");
    EXPECT_EQ(banner("matrix coordinate quaternion general"), "a.mtx:1: unknown field 'quaternion'");
    EXPECT_EQ(banner("matrix list real general"), "a.mtx:1: unknown format 'list'");
    EXPECT_EQ(banner("matrix coordinate real hermitian"),
              "a.mtx:1: symmetry 'hermitian' is none of general, symmetric and skew-symmetric");
    EXPECT_EQ(banner("matrix array real general"),
              "a.mtx:1: a dense array; a sparse matrix is needed, in coordinate format");
}

TEST(MatrixMarket, WrongSizes) {
    EXPECT_EQ(matrix_error(""), "a.mtx:1: the line 'rows columns entries' is missing");
    EXPECT_EQ(matrix_error(general + "% only comments\n"), "a.mtx:2: the line 'rows columns entries' is missing");
    EXPECT_EQ(matrix_error(general + "2 2\n"), "a.mtx:2: expected 'rows columns entries', got 2 words");
    EXPECT_EQ(matrix_error("2 2\n"),
              "a.mtx:1: expected 'rows columns entries', got 2 words; there is no line '%%MatrixMarket matrix ...' "
              "before it");
    EXPECT_EQ(matrix_error(general + "2 3 1\n1 1 1\n"), "a.mtx:2: the matrix is 2 x 3; a square one is needed");
    EXPECT_EQ(matrix_error(general + "0 0 0\n"), "a.mtx:2: the matrix has no rows, so there is nothing to solve");
    EXPECT_EQ(matrix_error(general + "0 3 0\n"), "a.mtx:2: the matrix is 0 x 3; a square one is needed");
    EXPECT_EQ(matrix_error(general + "-2 -2 1\n1 1 1\n"), "a.mtx:2: -2 is no count");
    EXPECT_EQ(matrix_error(general + "2 2 1.5\n1 1 1\n"), "a.mtx:2: expected an integer, got '1.5'");
    EXPECT_EQ(matrix_error(general + "99999999999999999999 1 1\n1 1 1\n"),
              "a.mtx:2: 99999999999999999999 is out of range; integers are at most 9223372036854775807 in size");
    EXPECT_EQ(matrix_error(general + "2 2 99999999999999999999x\n1 1 1\n"),
              "a.mtx:2: expected an integer, got '99999999999999999999x'");
    EXPECT_EQ(
        matrix_error(general + "9 9 1\n1 1 1\n"),
        "a.mtx: row 2 (one of 8 such rows) of 9 has no entry, so the matrix is singular and no preconditioner can be "
        "built from it");
}

TEST(MatrixMarket, CountsThatOnlyClaim) {
    EXPECT_EQ(matrix_error("1000000000000 1000000000000 9000000000000000000\n1 1 1\n"),
              "a.mtx:1: 9000000000000000000 entries are announced, but the file has only 54 bytes; is it truncated?");
    for (const std::string rows : {"3000000000", "9223372036854775807"})
        EXPECT_EQ(matrix_error(fmt::format("{0} {0} 1\n1 1 1\n", rows)),
                  "a.mtx:1: " + rows +
                      " rows are more than 2147483647, the most block rows of a matrix, and the file has too few "
                      "entries for blocks of several unknowns");
    EXPECT_EQ(matrix_error("2147483647 2147483647 1\n1 1 1\n"),
              "a.mtx: row 2 (one of 2147483646 such rows) of 2147483647 has no entry, so the matrix is singular and no "
              "preconditioner can be built from it");
    EXPECT_EQ(vector_error("9223372036854775807 1\n1\n"),
              "b.mtx:1: 9223372036854775807 entries are announced, but the file has only 24 bytes; is it truncated?");
}

TEST(MatrixMarket, WrongEntries) {
    const auto entry = [](const std::string& line) { return matrix_error(general + "2 2 2\n1 1 1\n" + line + "\n"); };
    EXPECT_EQ(entry("2 2"), "a.mtx:4: expected row, column and value, got 2 words");
    EXPECT_EQ(entry("2 2 1 0"), "a.mtx:4: expected row, column and value, got 4 words");
    EXPECT_EQ(entry("0 1 1"), "a.mtx:4: row 0 is outside 1..2; rows and columns are counted from 1");
    EXPECT_EQ(entry("3 1 1"), "a.mtx:4: row 3 is outside 1..2");
    EXPECT_EQ(entry("1 3 1"), "a.mtx:4: column 3 is outside 1..2");
    EXPECT_EQ(entry("1 -9223372036854775809 1"),
              "a.mtx:4: -9223372036854775809 is out of range; integers are at most 9223372036854775807 in size");
    EXPECT_EQ(entry("1 x 1"), "a.mtx:4: expected an integer, got 'x'");
    EXPECT_EQ(entry("2 2 nan"), "a.mtx:4: expected a finite number, got 'nan'");
    EXPECT_EQ(entry("2 2 -inf"), "a.mtx:4: expected a finite number, got '-inf'");
    EXPECT_EQ(entry("2 2 1e999"), "a.mtx:4: expected a finite number, got '1e999'");
    EXPECT_EQ(entry("2 2 1.0D"), "a.mtx:4: expected a finite number, got '1.0D'");
    EXPECT_EQ(entry("2 2 1.0D+999"), "a.mtx:4: expected a finite number, got '1.0D+999'");
    EXPECT_EQ(entry("2 2 1.0Q+3"), "a.mtx:4: expected a finite number, got '1.0Q+3'");
    EXPECT_EQ(entry("2 2 1.0D+100-100"), "a.mtx:4: expected a finite number, got '1.0D+100-100'");
    EXPECT_EQ(entry("2 2 1e5-100"), "a.mtx:4: expected a finite number, got '1e5-100'");
    EXPECT_EQ(entry("2 2 1.0+x00"), "a.mtx:4: expected a finite number, got '1.0+x00'");
    EXPECT_EQ(entry("2 2 1.0+3"), "a.mtx:4: expected a finite number, got '1.0+3'");
    EXPECT_EQ(entry("2 2 +-1"), "a.mtx:4: expected a finite number, got '+-1'");
    EXPECT_EQ(entry("2 2 1\x1b[m"), "a.mtx:4: expected a finite number, got '1?[m'");
    EXPECT_EQ(
        matrix_error(symmetric + "2 2 1\n1 2 3\n"),
        "a.mtx:3: an entry above the diagonal; a symmetric file holds the lower triangle only. If it holds both, "
        "its first "
        "line must say general in place of symmetric; if it holds the upper one alone, exchange the rows and columns "
        "of its entries");
    EXPECT_EQ(matrix_error(general + "1 1 2\n1 1 1.7e308\n1 1 1.7e308\n"),
              "a.mtx: the entries of row 1, column 1 add up to more than a double holds");
}

TEST(MatrixMarket, WrongCounts) {
    EXPECT_EQ(matrix_error(general + "2 2 3\n1 1 1\n2 2 1\n"),
              "a.mtx:4: the file ends after 2 of 3 entries; is it truncated?");
    EXPECT_EQ(matrix_error(general + "2 2 1\n1 1 1\n2 2 1\n"), "a.mtx:4: there are more than the 1 entries announced");
}

TEST(MatrixMarketVector, AllForms) {
    const auto parse = [](const std::string& text) { return parse_matrix_market_vector(text, "b.mtx"); };
    EXPECT_EQ(parse("%%MatrixMarket matrix array real general\n3 1\n1\n-2.5\n3e-1\n"), (Values{1, -2.5, 0.3}));
    EXPECT_EQ(parse("%%MatrixMarket matrix coordinate real general\n3 1 2\n3 1 7\n1 1 5\n"), (Values{5, 0, 7}));
    EXPECT_EQ(parse("1\n% comment\n\n2\n"), (Values{1, 2}));
    EXPECT_EQ(parse("2 1\n1\n2"), (Values{1, 2}));
}

TEST(MatrixMarketVector, Wrong) {
    EXPECT_EQ(vector_error(""), "b.mtx:1: the file holds no numbers");
    EXPECT_EQ(
        vector_error("2 2\n1\n2\n3\n4\n"),
        "b.mtx:1: there are 2 columns, and a vector has one; write the column that is meant to a file of its own");
    EXPECT_EQ(vector_error("%%MatrixMarket matrix coordinate real general\n1000000000000 1 1\n1 1 1\n"),
              "b.mtx:2: more than 16777216 rows; write so long a vector as an array");
    EXPECT_EQ(vector_error("1\n2 3\n"), "b.mtx:2: expected one number, got 2 words");
    EXPECT_EQ(vector_error("2 1\n1\n"), "b.mtx:2: the file holds 1 numbers, 2 are announced");
    EXPECT_EQ(vector_error("2 1\n1\n2\n3\n"), "b.mtx:4: the file holds 3 numbers, 2 are announced");
    EXPECT_EQ(vector_error("1\nx\n"), "b.mtx:2: expected a finite number, got 'x'");
    EXPECT_EQ(vector_error("1 2 3 4\n"), "b.mtx:1: expected 'rows columns', got 4 words");
}

}  // namespace
}  // namespace hyperplane
