// SPDX-License-Identifier: BSD-3-Clause
// The text of a Matrix Market file, whose memory is given back while entries are read.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "io/bytes.hpp"
#include "io/file_error.hpp"
#include "io/matrix_market.hpp"

namespace hyperplane {
namespace {

constexpr int rows = 150000, entries = 3 * rows - 2, comments_after = 1000;

/// A tridiagonal matrix, with a comment and a blank line after every so many rows; its first two lines are banner and
/// sizes. `announced`: so many entries more than there are.
std::string long_text(int announced = 0) {
    std::string text =
        fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n", rows, rows, 3 * rows - 2 + announced);
    for (int row = 1; row <= rows; ++row) {
        for (int column = std::max(1, row - 1); column <= std::min(rows, row + 1); ++column)
            text += fmt::format("{} {} {}.125\n", row, column, (row * 7 + column * 3) % 1000);
        if (row % comments_after == 0) text += "% so far\n\n";
    }
    return text;
}
/// The line of an entry, which counts from 1.
Index line_of(const std::string& text, Index entry) {
    Index line = 0, entries = -1;  // the sizes are no entry
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
        ++line;
        if (text[at] != '%' && text[at] != '\n' && ++entries == entry) return line;
    }
    return 0;
}

/// Reads a text that is destroyed where it has been read.
InputMatrix read_destroyed(std::string text, int threads) {
    std::mutex mutex;
    std::size_t forgotten = 0;
    const auto destroy = [&](std::string_view part) {
        std::memset(text.data() + (part.data() - text.data()), '!', part.size());
        const std::lock_guard lock(mutex);
        forgotten += part.size();
    };
    const std::size_t head = text.find('\n', text.find('\n') + 1) + 1;
    InputMatrix made = parse_matrix_market(text, "a.mtx", FileSymmetry::by_file, threads, destroy);
    EXPECT_EQ(forgotten, text.size() - head) << "each part is forgotten once";
    EXPECT_EQ(text.find_first_not_of('!', head), text.npos);
    return made;
}

TEST(ForgottenText, IsNotReadAgain) {
    const std::string text = long_text();
    ASSERT_GT(text.size(), 3u << 21) << "more than one large page of each thread";
    const InputMatrix expected = parse_matrix_market(text, "a.mtx");
    EXPECT_EQ(expected.csr.row_begin.back(), entries);
    for (const int threads : {1, 2, 3}) {
        const InputMatrix found = read_destroyed(text, threads);
        EXPECT_EQ(found.csr.row_begin, expected.csr.row_begin);
        EXPECT_EQ(found.csr.column, expected.csr.column);
        EXPECT_EQ(found.csr.value, expected.csr.value);
    }
}

TEST(ForgottenText, LeavesTheLinesOfRepeatedEntries) {
    const std::string text = long_text(1) + "120000 120001 5\n";
    for (const int threads : {1, 2, 3}) {
        const InputMatrix found = read_destroyed(text, threads);
        ASSERT_TRUE(found.repeated);
        EXPECT_EQ(found.repeated->place.row, 119999);
        EXPECT_EQ(found.repeated->place.column, 120000);
        EXPECT_EQ(found.repeated->line, line_of(text, 3 * 120000 - 1));
        EXPECT_EQ(found.repeated->again, line_of(text, entries + 1));
    }
}

TEST(ForgottenText, LeavesTheLinesOfErrors) {
    for (const int threads : {1, 2, 3}) {
        const auto expect_error = [&](const std::string& text, Index line, const std::string& what) {
            EXPECT_EQ(error_of([&] { read_destroyed(text, threads); }), fmt::format("a.mtx:{}: {}", line, what));
        };
        const std::string few = long_text(-100000), all = long_text(), one_more = long_text(1);
        expect_error(few, line_of(few, entries - 100000 + 1),
                     fmt::format("there are more than the {} entries announced", entries - 100000));
        expect_error(all + "1 x\n", line_of(all + "1 x\n", entries + 1),
                     fmt::format("there are more than the {} entries announced", entries));
        expect_error(one_more + "1 x 1\n", line_of(one_more + "1 x 1\n", entries + 1), "expected an integer, got 'x'");
        expect_error(one_more, std::count(one_more.begin(), one_more.end(), '\n'),
                     fmt::format("the file ends after {} of {} entries; is it truncated?", entries, entries + 1));
    }
}

TEST(ForgottenText, KeepsWhatLiesBeside) {
    constexpr std::size_t size = 1 << 20;
    Bytes bytes;
    std::memset(bytes.resize(size), 'a', size);
    const std::string_view text = bytes;
    bytes.forget(text.substr(5000, 300000));
    bytes.forget(text.substr(7, 3));
    EXPECT_EQ(text.substr(0, 5000).find_first_not_of('a'), text.npos);
    EXPECT_EQ(text.substr(305000).find_first_not_of('a'), text.npos);
    EXPECT_NE(text.find_first_not_of('a'), text.npos);
}

}  // namespace
}  // namespace hyperplane
