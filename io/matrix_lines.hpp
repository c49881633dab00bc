// SPDX-License-Identifier: BSD-3-Clause
// The lines of a Matrix Market file and the numbers in them; each error names file and line.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/types.hpp"
#include "io/line_ends.hpp"

namespace hyperplane::matrix_market {

inline bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

inline std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at < line.size();) {
        if (is_space(line[at])) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < line.size() && !is_space(line[end])) ++end;
        words.push_back(line.substr(at, end - at));
        at = end;
    }
    return words;
}

/// The beginning of a text from a file, for a message: at most 40 characters, `?` for those that cannot be printed.
inline std::string printable(std::string_view text) {
    std::string result;
    for (char c : text.substr(0, 40)) result += c >= ' ' && c <= '~' ? c : '?';
    return text.size() > 40 ? result + "..." : result;
}

/// A text without the byte order mark of UTF-8, which editors put before it.
inline std::string_view without_mark(std::string_view text) {
    return text.substr(0, 3) == "\xef\xbb\xbf" ? text.substr(3) : text;
}

/// Whether a text is a number other than 0 that is closer to 0 than every double.
inline bool is_too_small(const char* begin, const char* end) {
    double value = 0.0;
    const auto [after, error] = std::from_chars(begin, end, value);
    return after == end && error == std::errc::result_out_of_range &&
           std::abs(std::strtod(std::string(begin, end).c_str(), nullptr)) < 1.0;
}

/// Lines of a file, without comments and blank lines.
class Lines {
public:
    /// `number` lines of the file precede the text, among them, if there are any, its banner and sizes.
    Lines(std::string_view text, const std::string& file, Index number = 0)
        : size_(text.size()),
          rest_(number == 0 ? without_mark(text) : text),
          file_(file),
          number_(number),
          size_seen_(number > 0) {
        const std::string_view first = rest_.substr(0, std::min(rest_.find('\n'), longest_line));
        const std::size_t end = std::min(first.find('\r'), first.size());
        if (number == 0 && first.find_first_not_of('\r', end) != first.npos) fail(lone_returns);
    }

    /// The words of the next line; nothing at the end.
    std::optional<std::vector<std::string_view>> next() {
        while (!rest_.empty()) {
            const std::string_view line = take();
            if (line.size() > longest_line) fail(fmt::format("the line has more than {} bytes", longest_line));
            if (!line.empty() && line[0] == '%') {
                if (!banner_seen_ && !size_seen_) refuse_misspelt(line);
                continue;
            }
            size_seen_ = true;
            if (auto words = words_of(line); !words.empty()) return words;
        }
        return std::nullopt;
    }
    /// The words of the banner in lower case. If there is no banner, returns none and reads no line.
    std::vector<std::string> banner() {
        constexpr std::string_view mark = "%%matrixmarket";
        std::string head(rest_.substr(0, mark.size()));
        for (char& c : head) c = lower(c);
        if (head != mark) return {};
        banner_seen_ = true;
        std::vector<std::string> words;
        for (std::string_view word : words_of(take())) {
            words.emplace_back(word);
            for (char& c : words.back()) c = lower(c);
        }
        return words;
    }
    /// Throws unless the file is large enough for `count` lines of at least `bytes` bytes, of which the last one need
    /// not have a line end. Thus no memory is allocated for entries that cannot exist.
    void check_room(Index count, Index bytes) const { check_room(count, bytes, size_); }
    /// Throws likewise where the text is only the beginning of a file of `size` bytes.
    void check_room(Index count, Index bytes, std::size_t size) const {
        if (count > Index(size + 1) / bytes)
            fail(
                fmt::format("{} entries are announced, but the file has only {} bytes; is it truncated?", count, size));
    }
    [[noreturn]] void fail(const std::string& what) const {
        throw FileError(fmt::format("{}:{}: {}", file_, std::max<Index>(number_, 1), what));
    }

    Index integer(std::string_view word) const {
        Index value = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (error == std::errc::invalid_argument || end != word.data() + word.size())
            fail(fmt::format("expected an integer, got '{}'", printable(word)));
        if (error == std::errc::result_out_of_range)
            fail(fmt::format("{} is out of range; integers are at most {} in size", printable(word),
                             std::numeric_limits<Index>::max()));
        return value;
    }
    /// Parses a value, which must be a whole number if `integer`. Messages quote it as it is given.
    double real(std::string_view word, bool integer = false) const { return real(word, integer, word); }
    /// Parses a number of rows, columns or entries.
    Index count(std::string_view word) const {
        const Index value = integer(word);
        if (value < 0) fail(fmt::format("{} is no count", value));
        return value;
    }
    /// Parses an index from 1 to `last`; the result counts from 0.
    Index index(std::string_view word, const char* what, Index last) const {
        const Index value = integer(word);
        if (value < 1 || value > last)
            fail(fmt::format("{} {} is outside 1..{}{}", what, value, last,
                             value == 0 ? "; rows and columns are counted from 1" : ""));
        return value - 1;
    }

    /// Of the line that was read last.
    Index number() const { return number_; }
    const std::string& file() const { return file_; }
    /// What has not been read.
    std::string_view rest() const { return rest_; }

private:
    double real(std::string_view word, bool integer, std::string_view given) const {
        double value = 0.0;
        const char* begin = word.data() + (word.size() > 1 && word[0] == '+' && word[1] != '-' ? 1 : 0);
        const auto [end, error] = std::from_chars(begin, word.data() + word.size(), value);
        if (const std::string text = without_fortran(word, std::size_t(end - word.data())); !text.empty())
            return real(text, integer, given);
        if (error != std::errc{} && is_too_small(begin, word.data() + word.size()))
            fail(fmt::format("{} is too small for double precision; write 0, or a number of at least 4.9e-324 in size",
                             printable(given)));
        if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(value))
            fail(fmt::format("expected a finite number, got '{}'", printable(given)));
        if (integer && value != std::floor(value))
            fail(fmt::format("expected an integer, as the banner says, got '{}'", printable(given)));
        return value;
    }

    /// A number with an exponent as Fortran writes it, 1.0D+00 or, where it has three digits, 1.0-100, with an e; empty
    /// if it has none. The first `length` characters are a number without exponent.
    static std::string without_fortran(std::string_view word, std::size_t length) {
        if (length == 0 || length == word.size()) return "";
        std::string text(word);
        const char next = word[length];
        if (next == 'D' || next == 'd')
            text[length] = 'e';
        else if ((next == '+' || next == '-') && word.size() == length + 4)
            text.insert(length, 1, 'e');
        else
            return "";
        return text;
    }

    static constexpr std::size_t longest_line = 65536;
    static char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; }

    /// Refuses a comment before the sizes that was probably meant as the banner: it begins with two '%', or has the
    /// words of one.
    void refuse_misspelt(std::string_view line) const {
        std::string text(line);
        for (char& c : text) c = lower(c);
        const auto holds = [&](const char* word) { return text.find(word) != text.npos; };
        const bool meant = text.rfind("%%", 0) == 0 || holds("matrixmarket") ||
                           (holds("matrix") && (holds("coordinate") || holds("array")));
        if (!meant) return;
        if (holds("%%matrixmarket")) fail("the banner must be the first line of the file, and begin it");
        fail(fmt::format(
            "'{}' is no banner, and is not taken for a comment either; expected %%MatrixMarket matrix FORMAT "
            "FIELD SYMMETRY, or no such line",
            printable(line)));
    }
    std::string_view take() {
        ++number_;
        const std::size_t end = std::min(rest_.find('\n'), rest_.size());
        const std::string_view line = rest_.substr(0, end);
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        return line;
    }

    std::size_t size_;
    std::string_view rest_;
    const std::string& file_;
    Index number_;
    bool banner_seen_ = false, size_seen_;
};

}  // namespace hyperplane::matrix_market
