// SPDX-License-Identifier: BSD-3-Clause
#include "io/coordinates.hpp"

#include <cstdint>
#include <exception>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

#include "core/counted.hpp"
#include "io/bytes.hpp"
#include "io/decimal.hpp"
#include "io/sort_row.hpp"

namespace hyperplane::matrix_market {
namespace {

constexpr Index smallest_piece = 1 << 18;  // bytes of text, or entries, for which another thread is worth its start

/// Calls body(i) for i in [0, count), each in a thread of its own as long as the system starts threads, the others in
/// this one. The bodies must not throw.
template <class Body>
void for_each_thread(int count, const Body& body) {
    std::vector<std::thread> others;
    int i = 0;
    try {
        for (; i + 1 < count; ++i) others.emplace_back([&body, i] { body(i); });
    } catch (const std::system_error&) {
        // This thread does what is left.
    }
    for (; i < count; ++i) body(i);
    for (std::thread& other : others) other.join();
}

int pieces_of(Index size, int threads) {
    return int(std::clamp<Index>(size / smallest_piece, 1, std::max(threads, 1)));
}

/// Cuts a text into `count` pieces that end with the end of a line.
std::vector<std::string_view> cut(std::string_view text, int count) {
    std::vector<std::string_view> pieces;
    for (int left = count; left > 0; --left) {
        std::size_t size = text.size() / std::size_t(left);
        if (left > 1) size = std::min(text.find('\n', size), text.size() - 1) + 1;
        if (text.empty()) size = 0;
        pieces.push_back(text.substr(0, size));
        text.remove_prefix(size);
    }
    return pieces;
}

/// Reads lines "row column value" as most files have them. Whatever else a line may be is left to Lines, which accepts
/// it or says what is wrong.
class EntryReader {
public:
    EntryReader(const Coordinates& matrix, EntryFormat format, const std::string& file, Index announced,
                const Forget& forget)
        : matrix_(matrix), format_(format), file_(file), announced_(announced), forget_(forget) {}

    /// Reads the entries of a text, at most those announced. Throws FileError.
    void read(std::string_view text, EntryPiece& piece) {
        std::vector<Entry>& entries = piece.entries;
        Index line = piece.lines_before;
        const char *at = text.data(), *const end = at + text.size(), *forgotten = at;
        while (at < end) {
            forgotten = forget_before(at, forgotten);
            ++line;
            Entry entry;
            if (const char* const after = parse(at, end, entry)) {
                if (Index(entries.size()) == announced_) too_many(line);
                at = after;
            } else {
                const std::string_view one = line_at(at, end);
                at += std::min(Index(one.size()) + 1, Index(end - at));
                Lines careful(one, file_, line - 1);
                const auto words = careful.next();
                if (!words) {  // blank, or a comment
                    piece.skip_line();
                    continue;
                }
                if (Index(entries.size()) == announced_) too_many(line);
                refused = line;
                entry = entry_of(careful, *words);
                refused = 0;
                if (format_.integer) count_rounded(careful, *words, entry);
            }
            if (entry.column > entry.row && above == 0) above = line;
            if (entry.column < entry.row && below == 0) below = line;
            entries.push_back(entry);
        }
        forget_({forgotten, std::size_t(end - forgotten)});
    }
    [[noreturn]] void too_many(Index line) const {
        Lines({}, file_, line).fail(fmt::format("there are more than the {} entries announced", announced_));
    }

    const EntryFormat& format() const { return format_; }
    Index announced() const { return announced_; }

    Index above = 0, below = 0;
    Index refused = 0;  ///< the line of an entry that cannot be accepted
    Index rounded = 0;  ///< this and the next as Coordinates has them
    std::string first_rounded;

private:
    static constexpr Index longest_plain = 256;  // bytes
    static constexpr std::uintptr_t large_page = std::uintptr_t(2) << 20;

    /// Forgets what lies before the large page of `at`, from `from` on; returns where that ends.
    const char* forget_before(const char* at, const char* from) const {
        if (at - from < Index(large_page)) return from;
        const char* const to = at - reinterpret_cast<std::uintptr_t>(at) % large_page;
        if (to > from) forget_({from, std::size_t(to - from)});
        return std::max(from, to);
    }

    static std::string_view line_at(const char* at, const char* end) {
        const std::string_view text(at, std::size_t(end - at));
        return text.substr(0, text.find('\n'));
    }
    static bool number(const char*& at, const char* end, Index& value) {
        while (at < end && is_space(*at)) ++at;
        const char* const begin = at;
        for (value = 0; at < end && *at >= '0' && *at <= '9' && at - begin < 18; ++at) value = 10 * value + (*at - '0');
        return at > begin && at < end && is_space(*at);
    }
    /// Reads a line at the beginning of [at, end); returns where the next one begins, or null if it is left to Lines.
    const char* parse(const char* at, const char* end, Entry& entry) {
        const char* const begin = at;
        if (format_.pattern || !number(at, end, entry.row) || !number(at, end, entry.column)) return nullptr;
        while (at < end && is_space(*at)) ++at;
        const auto [after, error] = decimal::read(at, end, entry.value);
        if (error != std::errc{} || !std::isfinite(entry.value)) return nullptr;
        bool is_rounded = false;
        if (format_.integer && !takes_integer(at, after, entry.value, is_rounded)) return nullptr;
        for (at = after; at < end && *at != '\n'; ++at)
            if (!is_space(*at)) return nullptr;
        --entry.row, --entry.column;
        const bool taken = entry.row >= 0 && entry.row < matrix_.rows && entry.column >= 0 &&
                           entry.column < matrix_.columns && allowed(entry) && at - begin <= longest_plain;
        rounded += taken && is_rounded;
        return taken ? std::min(at + 1, end) : nullptr;
    }
    /// False if a value is left to Lines: no integer, one beyond 64 bits, or the first whose digits are another number.
    bool takes_integer(const char* at, const char* end, double value, bool& is_rounded) const {
        if (std::abs(value) < 0x1p53) return value == std::floor(value);
        std::int64_t exact = 0;
        const auto [after, error] = std::from_chars(at, end, exact);
        if (after != end || error != std::errc{}) return after != end;  // a point or an exponent: not digits alone
        is_rounded = value >= 0x1p63 || std::int64_t(value) != exact;   // -2^63 is the least integer
        return !is_rounded || rounded > 0;
    }
    /// Counts an entry whose value is an integer of so many digits that its double is another number.
    void count_rounded(const Lines& lines, const std::vector<std::string_view>& words, const Entry& entry) {
        std::string_view digits = words.back();
        if (std::abs(entry.value) < 0x1p53 || digits.find_first_not_of("+-0123456789") != digits.npos) return;
        digits.remove_prefix(std::min(digits.find_first_not_of("+-0"), digits.size()));
        const std::string taken = fmt::format("{:.0f}", std::abs(entry.value));
        if (digits == taken || ++rounded > 1) return;
        first_rounded = fmt::format("{}:{}: row {}, column {}: no number of double precision is {}, and {}{} is taken",
                                    file_, lines.number(), entry.row + 1, entry.column + 1, printable(words.back()),
                                    entry.value < 0.0 ? "-" : "", taken);
    }
    bool allowed(const Entry& entry) const {
        if (format_.symmetry == Symmetry::general) return true;
        return format_.symmetry == Symmetry::symmetric ? entry.column <= entry.row : entry.column < entry.row;
    }
    Entry entry_of(const Lines& lines, const std::vector<std::string_view>& words) const {
        const std::size_t expected = format_.pattern ? 2 : 3;
        if (words.size() != expected)
            lines.fail(fmt::format("expected row{} {}, got {}", format_.pattern ? " and" : ",",
                                   format_.pattern ? "column" : "column and value",
                                   counted(Index(words.size()), "word")));
        const Entry entry{lines.index(words[0], "row", matrix_.rows), lines.index(words[1], "column", matrix_.columns),
                          format_.pattern ? 1.0 : lines.real(words[2], format_.integer)};
        if (allowed(entry)) return entry;
        if (entry.column == entry.row)
            lines.fail("an entry on the diagonal, which is zero in a skew-symmetric matrix; leave it out");
        const char* const kind = format_.symmetry == Symmetry::symmetric ? "symmetric" : "skew-symmetric";
        lines.fail(fmt::format(
            "an entry above the diagonal; a {0} file holds the lower triangle only. If it holds both, "
            "its first line must say general in place of {0}; if it holds the upper one alone, exchange the "
            "rows and columns of its entries{1}",
            kind, format_.symmetry == Symmetry::symmetric ? "" : ", and their signs"));
    }

    const Coordinates& matrix_;
    EntryFormat format_;
    const std::string& file_;
    Index announced_;
    const Forget& forget_;
};

/// A piece of the text, what was read from it, and what ended the reading.
struct Piece {
    std::string_view text;
    Index lines = 0;
    EntryPiece read;
    Index above = 0, below = 0;
    std::exception_ptr error;
    Index refused = 0;  ///< the line of an entry that was the error
    Index rounded = 0;  ///< this and the next as Coordinates has them
    std::string first_rounded;
};

void read_piece(Piece& piece, EntryReader reader) {
    std::vector<Entry>& entries = piece.read.entries;
    try {
        const Index most =
            std::min({reader.announced(), piece.lines, Index(piece.text.size() + 1) / shortest_entry(reader.format())});
        entries.reserve(std::size_t(most));
        prefer_large_pages(entries.data(), std::size_t(most) * sizeof(Entry));
        reader.read(piece.text, piece.read);
    } catch (...) {
        piece.error = std::current_exception();
    }
    piece.above = reader.above, piece.below = reader.below;
    piece.refused = reader.refused;
    piece.rounded = reader.rounded, piece.first_rounded = std::move(reader.first_rounded);
}

/// Adds up entries that are side by side and have the same column, and returns the first place of such entries.
EntryPlace add_up(CsrMatrix& csr) {
    std::optional<EntryPlace> first_met;
    Index to = 0, begin = 0;
    for (Index row = 0; row < csr.rows; ++row) {
        const Index end = csr.row_begin[std::size_t(row) + 1], first = to;
        for (Index at = begin; at < end; ++at) {
            if (to > first && csr.column[std::size_t(to - 1)] == csr.column[std::size_t(at)]) {
                csr.value[std::size_t(to - 1)] += csr.value[std::size_t(at)];
                if (!first_met) first_met = {row, csr.column[std::size_t(at)]};
                continue;
            }
            csr.column[std::size_t(to)] = csr.column[std::size_t(at)];
            csr.value[std::size_t(to++)] = csr.value[std::size_t(at)];
        }
        begin = end;
        csr.row_begin[std::size_t(row) + 1] = to;
    }
    csr.column.resize(std::size_t(to));
    csr.value.resize(std::size_t(to));
    return first_met.value();
}

/// Groups of consecutive pieces, of which each has a thread and a counter for each row; so few that counters take less
/// memory than entries.
std::vector<std::span<const EntryPiece>> groups_of(const Coordinates& matrix) {
    Index entries = 0;
    for (const EntryPiece& piece : matrix.pieces) entries += Index(piece.entries.size());
    const Index pieces = Index(matrix.pieces.size());
    const Index count = std::clamp<Index>(entries / (2 * matrix.rows), 1, std::max<Index>(pieces, 1));
    std::vector<std::span<const EntryPiece>> groups;
    for (Index g = 0; g < count; ++g) {
        const auto first = std::size_t(pieces * g / count), last = std::size_t(pieces * (g + 1) / count);
        groups.push_back(std::span(matrix.pieces).subspan(first, last - first));
    }
    return groups;
}

/// The entries row by row: those of the file in its order, and then their mirror images.
CsrMatrix in_rows(const Coordinates& matrix, Symmetry symmetry) {
    const bool mirrored = symmetry != Symmetry::general;
    const double sign = symmetry == Symmetry::skew_symmetric ? -1.0 : 1.0;
    const auto groups = groups_of(matrix);
    const auto rows = std::size_t(matrix.rows), count = groups.size();
    // [group or mirrored group][row]: first the numbers of entries, then the places of the next ones.
    std::vector<std::vector<Index>> next(mirrored ? 2 * count : count);
    const auto for_each_entry = [&](int g, const auto& body) {
        std::vector<Index>& own = next[std::size_t(g)];
        for (const EntryPiece& piece : groups[std::size_t(g)])
            for (const Entry& entry : piece.entries) body(own[std::size_t(entry.row)], entry.column, entry.value);
        if (!mirrored) return;
        std::vector<Index>& others = next[std::size_t(g) + count];
        for (const EntryPiece& piece : groups[std::size_t(g)])
            for (const Entry& entry : piece.entries)
                if (entry.row != entry.column) body(others[std::size_t(entry.column)], entry.row, sign * entry.value);
    };
    for (auto& counters : next) counters.assign(rows, 0);
    for_each_thread(int(count), [&](int g) { for_each_entry(g, [](Index& number, Index, double) { ++number; }); });
    CsrMatrix csr;
    csr.rows = matrix.rows;
    csr.row_begin.assign(rows + 1, 0);
    Index sum = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        for (auto& counters : next) sum += std::exchange(counters[row], sum);
        csr.row_begin[row + 1] = sum;
    }
    const auto resize = [&](auto& values) {
        values.reserve(std::size_t(sum));
        prefer_large_pages(values.data(), std::size_t(sum) * sizeof values[0]);
        values.resize(std::size_t(sum));
    };
    resize(csr.column);
    resize(csr.value);
    for_each_thread(int(count), [&](int g) {
        for_each_entry(g, [&](Index& place, Index column, double value) {
            csr.column[std::size_t(place)] = column;
            csr.value[std::size_t(place++)] = value;
        });
    });
    return csr;
}

}  // namespace

void EntryPiece::skip_line() {
    const Index before = gaps.empty() ? 0 : gaps.back().lines, now = Index(entries.size());
    if (gaps.empty() || gaps.back().entries != now) gaps.push_back({now, before});
    ++gaps.back().lines;
}

Index EntryPiece::line_of(Index entry) const {
    const auto after =
        std::upper_bound(gaps.begin(), gaps.end(), entry, [](Index at, const Gap& gap) { return at < gap.entries; });
    return lines_before + entry + 1 + (after == gaps.begin() ? 0 : std::prev(after)->lines);
}

void read_entries(const Lines& lines, Index announced, EntryFormat format, int threads, const Forget& forget,
                  Coordinates& matrix) {
    lines.check_room(announced, shortest_entry(format));
    const std::string_view text = lines.rest();
    const int count = pieces_of(Index(text.size()), threads);
    std::vector<Piece> pieces(static_cast<std::size_t>(count));
    const std::vector<std::string_view> texts = cut(text, count);
    const EntryReader reader(matrix, format, lines.file(), announced, forget);
    for_each_thread(count, [&](int i) {
        Piece& piece = pieces[std::size_t(i)];
        piece.text = texts[std::size_t(i)];
        piece.lines = std::count(piece.text.begin(), piece.text.end(), '\n') +
                      Index(!piece.text.empty() && piece.text.back() != '\n');
    });
    Index line = lines.number();
    for (Piece& piece : pieces) {
        piece.read.lines_before = line;
        line += piece.lines;
    }
    for_each_thread(count, [&](int i) { read_piece(pieces[std::size_t(i)], reader); });
    Index left = announced;
    for (Piece& piece : pieces) {
        const Index read = Index(piece.read.entries.size());
        if (read > left) reader.too_many(piece.read.line_of(left));
        if (read == left && piece.refused > 0) reader.too_many(piece.refused);
        if (piece.error) std::rethrow_exception(piece.error);
        left -= read;
        if (matrix.above == 0) matrix.above = piece.above;
        if (matrix.below == 0) matrix.below = piece.below;
        if (matrix.rounded == 0) matrix.first_rounded = std::move(piece.first_rounded);
        matrix.rounded += piece.rounded;
        matrix.pieces.push_back(std::move(piece.read));
    }
    if (left > 0)
        Lines({}, lines.file(), line)
            .fail(fmt::format("the file ends after {} of {} entries; is it truncated?", announced - left, announced));
}

RepeatedEntry repeated_entry(const Coordinates& matrix, Symmetry symmetry, EntryPlace place) {
    const auto is_there = [&](const Entry& entry) {
        return (entry.row == place.row && entry.column == place.column) ||
               (symmetry != Symmetry::general && entry.row == place.column && entry.column == place.row);
    };
    RepeatedEntry repeated;
    for (const EntryPiece& piece : matrix.pieces)
        for (std::size_t at = 0; at < piece.entries.size(); ++at) {
            const Entry& entry = piece.entries[at];
            if (!is_there(entry)) continue;
            repeated.place = {entry.row, entry.column};
            repeated.again = piece.line_of(Index(at));
            if (repeated.line > 0) return repeated;
            repeated.line = repeated.again;
        }
    return repeated;
}

CsrMatrix compress(const Coordinates& matrix, Symmetry symmetry, int threads, const std::string& file,
                   std::optional<EntryPlace>& repeated) {
    CsrMatrix csr = in_rows(matrix, symmetry);
    const int count = pieces_of(csr.row_begin.back(), threads);
    std::vector<char> twice(static_cast<std::size_t>(count), 0);
    for_each_thread(count, [&](int i) {
        std::vector<std::pair<Index, double>> scratch;
        for (Index row = csr.rows * i / count; row < csr.rows * (i + 1) / count; ++row) {
            const std::size_t begin = std::size_t(csr.row_begin[std::size_t(row)]);
            const Index size = csr.row_begin[std::size_t(row) + 1] - Index(begin);
            if (sort_row(csr.column.data() + begin, csr.value.data() + begin, size, scratch)) twice[std::size_t(i)] = 1;
        }
    });
    if (std::find(twice.begin(), twice.end(), 1) == twice.end()) return csr;
    repeated = add_up(csr);
    for (Index row = 0; row < csr.rows; ++row)
        for (Index at = csr.row_begin[std::size_t(row)]; at < csr.row_begin[std::size_t(row) + 1]; ++at)
            if (!std::isfinite(csr.value[std::size_t(at)]))
                throw FileError(fmt::format("{}: the entries of row {}, column {} add up to more than a double holds",
                                            file, row + 1, csr.column[std::size_t(at)] + 1));
    return csr;
}

}  // namespace hyperplane::matrix_market
