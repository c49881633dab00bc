// SPDX-License-Identifier: BSD-3-Clause
#include "io/coordinates.hpp"

#include <exception>
#include <span>
#include <thread>
#include <utility>

#include "core/counted.hpp"
#include "io/bytes.hpp"
#include "io/decimal.hpp"

namespace hyperplane::matrix_market {
namespace {

constexpr Index smallest_piece = 1 << 18;  // bytes of text, or entries, for which another thread is worth its start

/// Calls body(i) for i in [0, count), each in a thread of its own but the last one. The bodies must not throw.
template <class Body>
void for_each_thread(int count, const Body& body) {
    std::vector<std::thread> others;
    for (int i = 0; i + 1 < count; ++i) others.emplace_back([&body, i] { body(i); });
    body(count - 1);
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
    EntryReader(const Coordinates& matrix, EntryFormat format, const std::string& file)
        : matrix_(matrix), format_(format), file_(file) {}

    /// Reads entries from a text that `lines` lines precede, at most `limit` of them. Throws FileError.
    void read(std::string_view text, Index line, Index limit, std::vector<Entry>& entries) {
        const char *at = text.data(), *const end = at + text.size();
        while (at < end) {
            ++line;
            Entry entry;
            if (const char* const after = parse(at, end, entry)) {
                if (Index(entries.size()) == limit) too_many(Lines(line_at(at, end), file_, line));
                at = after;
            } else {
                const std::string_view one = line_at(at, end);
                at += std::min(Index(one.size()) + 1, Index(end - at));
                Lines careful(one, file_, line - 1);
                const auto words = careful.next();
                if (!words) continue;  // blank, or a comment
                if (Index(entries.size()) == limit) too_many(careful);
                entry = entry_of(careful, *words);
            }
            if (entry.column > entry.row && above == 0) above = line;
            if (entry.column < entry.row && below == 0) below = line;
            entries.push_back(entry);
        }
    }

    const EntryFormat& format() const { return format_; }

    Index announced = 0;
    Index above = 0, below = 0;

private:
    [[noreturn]] void too_many(const Lines& lines) const {
        lines.fail(fmt::format("there are more than the {} entries announced", announced));
    }
    static constexpr Index longest_plain = 256;  // bytes

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
    const char* parse(const char* at, const char* end, Entry& entry) const {
        const char* const begin = at;
        if (format_.pattern || !number(at, end, entry.row) || !number(at, end, entry.column)) return nullptr;
        while (at < end && is_space(*at)) ++at;
        const auto [after, error] = decimal::read(at, end, entry.value);
        if (error != std::errc{} || !std::isfinite(entry.value)) return nullptr;
        if (format_.integer && entry.value != std::floor(entry.value)) return nullptr;
        for (at = after; at < end && *at != '\n'; ++at)
            if (!is_space(*at)) return nullptr;
        --entry.row, --entry.column;
        const bool inside =
            entry.row >= 0 && entry.row < matrix_.rows && entry.column >= 0 && entry.column < matrix_.columns;
        return inside && allowed(entry) && at - begin <= longest_plain ? std::min(at + 1, end) : nullptr;
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
        lines.fail(
            fmt::format("an entry above the diagonal; a {0} file holds the lower triangle only. If it holds both, "
                        "its first line must say general in place of {0}",
                        kind));
    }

    const Coordinates& matrix_;
    EntryFormat format_;
    const std::string& file_;
};

/// A piece of the text, what was read from it, and what ended the reading.
struct Piece {
    std::string_view text;
    Index lines_before = 0, lines = 0;
    std::vector<Entry> entries;
    Index above = 0, below = 0;
    std::exception_ptr error;
};

void read_piece(Piece& piece, EntryReader reader, Index limit) {
    try {
        piece.entries.clear();
        const Index most =
            std::min({limit, piece.lines, Index(piece.text.size() + 1) / shortest_entry(reader.format())});
        piece.entries.reserve(std::size_t(most));
        prefer_large_pages(piece.entries.data(), std::size_t(most) * sizeof(Entry));
        reader.read(piece.text, piece.lines_before, limit, piece.entries);
    } catch (...) {
        piece.error = std::current_exception();
    }
    piece.above = reader.above, piece.below = reader.below;
}

/// Sorts one row, in which entries with the same column keep their order; returns whether a column is there twice.
bool sort_row(Index* column, double* value, Index size, std::vector<std::pair<Index, double>>& scratch) {
    if (!std::is_sorted(column, column + size)) {
        scratch.clear();
        for (Index at = 0; at < size; ++at) scratch.emplace_back(column[at], value[at]);
        std::stable_sort(scratch.begin(), scratch.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        for (Index at = 0; at < size; ++at) std::tie(column[at], value[at]) = scratch[std::size_t(at)];
    }
    return std::adjacent_find(column, column + size) != column + size;
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
std::vector<std::span<const std::vector<Entry>>> groups_of(const Coordinates& matrix) {
    Index entries = 0;
    for (const auto& piece : matrix.pieces) entries += Index(piece.size());
    const Index pieces = Index(matrix.pieces.size());
    const Index count = std::clamp<Index>(entries / (2 * matrix.rows), 1, std::max<Index>(pieces, 1));
    std::vector<std::span<const std::vector<Entry>>> groups;
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
        for (const auto& piece : groups[std::size_t(g)])
            for (const Entry& entry : piece) body(own[std::size_t(entry.row)], entry.column, entry.value);
        if (!mirrored) return;
        std::vector<Index>& others = next[std::size_t(g) + count];
        for (const auto& piece : groups[std::size_t(g)])
            for (const Entry& entry : piece)
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

void read_entries(const Lines& lines, Index announced, EntryFormat format, int threads, Coordinates& matrix) {
    lines.check_room(announced, shortest_entry(format));
    const std::string_view text = lines.rest();
    const int count = pieces_of(Index(text.size()), threads);
    std::vector<Piece> pieces(static_cast<std::size_t>(count));
    const std::vector<std::string_view> texts = cut(text, count);
    EntryReader reader(matrix, format, lines.file());
    reader.announced = announced;
    for_each_thread(count, [&](int i) {
        Piece& piece = pieces[std::size_t(i)];
        piece.text = texts[std::size_t(i)];
        piece.lines = std::count(piece.text.begin(), piece.text.end(), '\n') +
                      Index(!piece.text.empty() && piece.text.back() != '\n');
    });
    Index line = lines.number();
    for (Piece& piece : pieces) {
        piece.lines_before = line;
        line += piece.lines;
    }
    for_each_thread(count, [&](int i) { read_piece(pieces[std::size_t(i)], reader, announced); });
    Index left = announced;
    for (Piece& piece : pieces) {
        const Index read = Index(piece.entries.size());
        if (read > left || (piece.error && read >= left)) read_piece(piece, reader, left);  // may find one too many
        if (piece.error) std::rethrow_exception(piece.error);
        left -= Index(piece.entries.size());
        if (matrix.above == 0) matrix.above = piece.above;
        if (matrix.below == 0) matrix.below = piece.below;
        matrix.pieces.push_back(std::move(piece.entries));
    }
    if (left > 0)
        Lines({}, lines.file(), line)
            .fail(fmt::format("the file ends after {} of {} entries; is it truncated?", announced - left, announced));
}

RepeatedEntry repeated_entry(const Lines& lines, const Coordinates& matrix, Symmetry symmetry, EntryPlace place) {
    const auto is_there = [&](const Entry& entry) {
        return (entry.row == place.row && entry.column == place.column) ||
               (symmetry != Symmetry::general && entry.row == place.column && entry.column == place.row);
    };
    Index at = 0;
    std::vector<Index> found;  // numbers of entries
    RepeatedEntry repeated;
    for (const auto& piece : matrix.pieces)
        for (const Entry& entry : piece) {
            if (is_there(entry) && found.size() < 2) {
                found.push_back(at);
                repeated.place = {entry.row, entry.column};
            }
            ++at;
        }
    Lines walk(lines.rest(), lines.file(), lines.number());
    for (at = 0; at <= found[1]; ++at) {
        walk.next();
        if (at == found[0]) repeated.line = walk.number();
    }
    repeated.again = walk.number();
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
