// SPDX-License-Identifier: BSD-3-Clause
#include "io/matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "core/error.hpp"
#include "io/whole_file.hpp"

namespace hyperplane {
namespace {

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

std::vector<std::string_view> words_of(std::string_view line) {
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

std::string quoted(std::string_view text) {
    std::string result;
    for (char c : text.substr(0, 40)) result += c >= ' ' && c <= '~' ? c : '?';
    return text.size() > 40 ? result + "..." : result;
}

/// Lines of a file, without comments and blank lines.
class Lines {
public:
    Lines(std::string_view text, const std::string& file) : size_(text.size()), rest_(text), file_(file) {}

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
    void check_room(Index count, Index bytes) const {
        if (count > Index(size_ + 1) / bytes)
            fail(fmt::format("{} entries are announced, but the file has only {} bytes; is it truncated?", count,
                             size_));
    }
    [[noreturn]] void fail(const std::string& what) const {
        throw FileError(fmt::format("{}:{}: {}", file_, std::max(number_, 1), what));
    }

    Index integer(std::string_view word) const {
        Index value = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (error != std::errc{} || end != word.data() + word.size())
            fail(fmt::format("expected an integer, got '{}'", quoted(word)));
        return value;
    }
    double real(std::string_view word) const {
        double value = 0.0;
        const char* begin = word.data() + (word.size() > 1 && word[0] == '+' && word[1] != '-' ? 1 : 0);
        const auto [end, error] = std::from_chars(begin, word.data() + word.size(), value);
        if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(value))
            fail(fmt::format("expected a finite number, got '{}'", quoted(word)));
        return value;
    }
    /// Parses a number of rows, columns or entries.
    Index count(std::string_view word) const {
        const Index value = integer(word);
        if (value < 0) fail(fmt::format("{} is no count", value));
        return value;
    }
    /// Parses an index from 1 to `last`; the result counts from 0.
    Index index(std::string_view word, const char* what, Index last) const {
        const Index value = integer(word);
        if (value < 1 || value > last) fail(fmt::format("{} {} is outside 1..{}", what, value, last));
        return value - 1;
    }

    int number() const { return number_; }

private:
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
            quoted(line)));
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
    int number_ = 0;
    bool banner_seen_ = false, size_seen_ = false;
};

struct Banner {
    bool given = false, coordinate = true, symmetric = false;
};

Banner read_banner(Lines& lines) {
    const std::vector<std::string> words = lines.banner();
    if (words.empty()) return {};
    if (words.size() != 5 || words[1] != "matrix") lines.fail("expected %%MatrixMarket matrix FORMAT FIELD SYMMETRY");
    const std::string &format = words[2], &field = words[3], &symmetry = words[4];
    if (format != "coordinate" && format != "array") lines.fail(fmt::format("unknown format '{}'", quoted(format)));
    if (field == "pattern") lines.fail("a pattern matrix has no values; only real and integer ones can be solved with");
    if (field == "complex") lines.fail("the matrix is complex; only real and integer ones can be solved with");
    if (field != "real" && field != "integer" && field != "double")
        lines.fail(fmt::format("unknown field '{}'", quoted(field)));
    if (symmetry == "skew-symmetric")
        lines.fail("a skew-symmetric matrix has no diagonal to factor; only general and symmetric ones are read");
    if (symmetry != "general" && symmetry != "symmetric")
        lines.fail(fmt::format("symmetry '{}' is neither general nor symmetric", quoted(symmetry)));
    return {true, format == "coordinate", symmetry == "symmetric"};
}

struct Entry {
    Index row, column;
    double value;
};

struct Coordinates {
    Index rows = 0, columns = 0;
    std::vector<Entry> entries;
    int above = 0, below = 0;  ///< lines of the first entries above and below the diagonal; 0: none
};

constexpr Index shortest_entry = 6;                      // "1 1 1\n"
constexpr Index shortest_value = 2;                      // "1\n"
constexpr Index longest_sparse_vector = Index(1) << 24;  // limits memory, since its file may be short

/// Reads the entries after the line of sizes.
void read_entries(Lines& lines, Index announced, bool lower_only, Coordinates& matrix) {
    lines.check_room(announced, shortest_entry);
    matrix.entries.reserve(std::size_t(announced));
    while (const auto words = lines.next()) {
        if (Index(matrix.entries.size()) == announced)
            lines.fail(fmt::format("there are more than the {} entries announced", announced));
        if (words->size() != 3) lines.fail(fmt::format("expected row, column and value, got {} words", words->size()));
        const Entry entry{lines.index((*words)[0], "row", matrix.rows),
                          lines.index((*words)[1], "column", matrix.columns), lines.real((*words)[2])};
        if (lower_only && entry.column > entry.row)
            lines.fail("an entry above the diagonal; a symmetric file holds the lower triangle only");
        if (entry.column > entry.row && matrix.above == 0) matrix.above = lines.number();
        if (entry.column < entry.row && matrix.below == 0) matrix.below = lines.number();
        matrix.entries.push_back(entry);
    }
    if (Index(matrix.entries.size()) != announced)
        lines.fail(
            fmt::format("the file ends after {} of {} entries; is it truncated?", matrix.entries.size(), announced));
}

/// Whether the entries are one triangle of a symmetric matrix. Throws if banner, deck and entries contradict each
/// other, or if they leave it open.
bool is_symmetric(const Banner& banner, FileSymmetry symmetry, const Coordinates& matrix, const std::string& file) {
    const bool said = symmetry == FileSymmetry::symmetric;
    if (banner.given && symmetry != FileSymmetry::by_file && said != banner.symmetric)
        throw FileError(fmt::format("{}:1: the banner says {}, the deck problem.symmetry = {}", file,
                                    banner.symmetric ? "symmetric" : "general", said ? "symmetric" : "general"));
    if (banner.given) return banner.symmetric;
    const int first = std::max(matrix.above, matrix.below);
    if (said && matrix.above > 0 && matrix.below > 0)
        throw FileError(
            fmt::format("{}:{}: an entry in the other triangle than the one of line {}; with problem.symmetry = "
                        "symmetric a file holds one of them",
                        file, first, std::min(matrix.above, matrix.below)));
    if (symmetry != FileSymmetry::by_file) return said;
    if (first == 0) return true;  // a diagonal matrix
    if (matrix.above > 0 && matrix.below > 0) return false;
    throw FileError(
        fmt::format("{}:{}: all entries beside the diagonal are {} it, and without a banner that may mean a triangular "
                    "matrix or a symmetric one; begin the file with %%MatrixMarket matrix coordinate real general (or "
                    "symmetric), or set problem.symmetry",
                    file, first, matrix.above > 0 ? "above" : "below"));
}

/// Sorts the entries by row, then by column. Entries with the same row and column are added in the order of the file.
CsrMatrix compress(Index rows, std::vector<Entry>& entries, const std::string& file) {
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return a.row != b.row ? a.row < b.row : a.column < b.column;
    });
    CsrMatrix csr;
    csr.rows = rows;
    csr.row_begin.assign(std::size_t(rows) + 1, 0);
    csr.column.reserve(entries.size());
    csr.value.reserve(entries.size());
    Index row = -1;
    for (const Entry& entry : entries) {
        if (entry.row == row && csr.column.back() == entry.column) {
            csr.value.back() += entry.value;
        } else {
            csr.column.push_back(entry.column);
            csr.value.push_back(entry.value);
        }
        row = entry.row;
        csr.row_begin[std::size_t(row) + 1] = Index(csr.column.size());
        if (!std::isfinite(csr.value.back()))
            throw FileError(fmt::format("{}: the entries of row {}, column {} add up to more than a double holds", file,
                                        entry.row + 1, entry.column + 1));
    }
    for (std::size_t r = 1; r < csr.row_begin.size(); ++r)
        csr.row_begin[r] = std::max(csr.row_begin[r], csr.row_begin[r - 1]);
    return csr;
}

}  // namespace

InputMatrix parse_matrix_market(const std::string& text, const std::string& file, FileSymmetry said) {
    Lines lines(text, file);
    const Banner banner = read_banner(lines);
    if (!banner.coordinate) lines.fail("a dense array; a sparse matrix is needed, in coordinate format");
    const auto size = lines.next();
    if (!size) lines.fail("the line 'rows columns entries' is missing");
    if (size->size() != 3) lines.fail(fmt::format("expected 'rows columns entries', got {} words", size->size()));
    Coordinates matrix;
    matrix.rows = lines.count((*size)[0]);
    matrix.columns = lines.count((*size)[1]);
    const Index announced = lines.count((*size)[2]);
    if (matrix.rows != matrix.columns || matrix.rows == 0)
        lines.fail(fmt::format("the matrix is {} x {}; a square one is needed", matrix.rows, matrix.columns));
    if (matrix.rows > announced && matrix.rows - announced > announced)
        lines.fail(fmt::format("{} rows, but only {} entries: some rows are empty", matrix.rows, announced));
    read_entries(lines, announced, banner.symmetric, matrix);

    const bool symmetric = is_symmetric(banner, said, matrix, file);
    if (symmetric) {
        const std::size_t stored = matrix.entries.size();
        for (std::size_t at = 0; at < stored; ++at) {
            const Entry entry = matrix.entries[at];
            if (entry.row != entry.column) matrix.entries.push_back({entry.column, entry.row, entry.value});
        }
    }
    return {compress(matrix.rows, matrix.entries, file), symmetric};
}

std::vector<double> parse_matrix_market_vector(const std::string& text, const std::string& file) {
    Lines lines(text, file);
    const Banner banner = read_banner(lines);
    const bool coordinate = banner.given && banner.coordinate;
    auto words = lines.next();
    if (!words) lines.fail("the file holds no numbers");
    std::optional<Index> announced;
    if (banner.given || words->size() != 1) {
        if (words->size() != (coordinate ? 3 : 2))
            lines.fail(fmt::format("expected '{}', got {} words", coordinate ? "rows columns entries" : "rows columns",
                                   words->size()));
        announced = lines.count((*words)[0]);
        if (lines.count((*words)[1]) != 1) lines.fail("a vector has one column");
        if (coordinate) {
            const Index entries = lines.count((*words)[2]);
            if (*announced > longest_sparse_vector)
                lines.fail(fmt::format("more than {} rows; write so long a vector as an array", longest_sparse_vector));
            Coordinates column{*announced, 1, {}};
            read_entries(lines, entries, false, column);
            std::vector<double> values(std::size_t(*announced), 0.0);
            for (const Entry& entry : column.entries) values[std::size_t(entry.row)] += entry.value;
            return values;
        }
        lines.check_room(*announced, shortest_value);
        words = lines.next();
    }
    std::vector<double> values;
    for (; words; words = lines.next()) {
        if (words->size() != 1) lines.fail(fmt::format("expected one number, got {} words", words->size()));
        values.push_back(lines.real((*words)[0]));
    }
    if (announced && Index(values.size()) != *announced)
        lines.fail(fmt::format("the file holds {} numbers, {} are announced", values.size(), *announced));
    return values;
}

InputMatrix read_matrix_market(const std::string& path, FileSymmetry symmetry) {
    return parse_matrix_market(read_text_file(path), path, symmetry);
}

std::vector<double> read_matrix_market_vector(const std::string& path) {
    return parse_matrix_market_vector(read_text_file(path), path);
}

}  // namespace hyperplane
