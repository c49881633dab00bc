// SPDX-License-Identifier: BSD-3-Clause
#include "io/matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/counted.hpp"
#include "core/error.hpp"
#include "io/coordinates.hpp"
#include "io/empty_rows.hpp"
#include "io/matrix_lines.hpp"
#include "io/matrix_sizes.hpp"

namespace hyperplane {

using namespace matrix_market;

namespace {

/// What the first line of a file says of the rest.
struct Banner {
    bool given = false, coordinate = true;
    EntryFormat entries;
};

Banner read_banner(Lines& lines) {
    const std::vector<std::string> words = lines.banner();
    if (words.empty()) return {};
    if (words.size() != 5 || words[1] != "matrix") lines.fail("expected %%MatrixMarket matrix FORMAT FIELD SYMMETRY");
    const std::string &format = words[2], &field = words[3], &symmetry = words[4];
    if (format != "coordinate" && format != "array") lines.fail(fmt::format("unknown format '{}'", printable(format)));
    if (field == "complex") lines.fail("the matrix is complex; only real, integer and pattern ones can be solved with");
    const bool pattern = field == "pattern";
    if (field != "real" && field != "integer" && field != "unsigned-integer" && field != "double" && !pattern)
        lines.fail(fmt::format("unknown field '{}'", printable(field)));
    if (pattern && format == "array") lines.fail("an array has values; its field cannot be pattern");
    const bool coordinate = format == "coordinate", integer = field == "integer" || field == "unsigned-integer";
    if (symmetry == "general") return {true, coordinate, {Symmetry::general, pattern, integer}};
    if (symmetry == "symmetric") return {true, coordinate, {Symmetry::symmetric, pattern, integer}};
    if (symmetry != "skew-symmetric")
        lines.fail(fmt::format("symmetry '{}' is none of general, symmetric and skew-symmetric", printable(symmetry)));
    if (pattern) lines.fail("a pattern has no signs, so it cannot be skew-symmetric");
    return {true, coordinate, {Symmetry::skew_symmetric, false, integer}};
}

constexpr Index shortest_value = 2;                      // "1\n"
constexpr Index longest_sparse_vector = Index(1) << 24;  // limits memory, since its file may be short

const char* name_of(Symmetry symmetry) {
    return symmetry == Symmetry::general ? "general" : symmetry == Symmetry::symmetric ? "symmetric" : "skew-symmetric";
}

/// The banner and the line of sizes, which precede the entries of a matrix.
struct Sizes {
    Banner banner;
    Index rows, announced;
};

Sizes read_sizes(Lines& lines) {
    Sizes sizes{read_banner(lines), 0, 0};
    if (!sizes.banner.coordinate) lines.fail("a dense array; a sparse matrix is needed, in coordinate format");
    const auto size = lines.next();
    if (!size) lines.fail("the line 'rows columns entries' is missing");
    if (size->size() != 3)
        lines.fail(fmt::format("expected 'rows columns entries', got {}{}", counted(Index(size->size()), "word"),
                               sizes.banner.given ? "" : "; there is no line '%%MatrixMarket matrix ...' before it"));
    sizes.rows = lines.count((*size)[0]);
    const Index columns = lines.count((*size)[1]);
    sizes.announced = lines.count((*size)[2]);
    const bool mirrored = !sizes.banner.given || sizes.banner.entries.symmetry != Symmetry::general;
    const Index most_entries = sizes.announced * (mirrored && sizes.announced < sizes.rows ? 2 : 1);
    if (const std::string wrong = wrong_sizes(sizes.rows, columns, most_entries); !wrong.empty()) lines.fail(wrong);
    return sizes;
}

/// Whether some rows must be empty, since an entry is in at most two rows.
bool too_few_entries(const Sizes& sizes) {
    return sizes.rows > sizes.announced && sizes.rows - sizes.announced > sizes.announced;
}

/// Throws the error about empty rows of a matrix with too few entries, without memory for its rows.
[[noreturn]] void refuse_missing_rows(const Coordinates& matrix, bool mirrored, const std::string& file) {
    std::vector<Index> met;
    for (const EntryPiece& piece : matrix.pieces)
        for (const Entry& entry : piece.entries) {
            met.push_back(entry.row);
            if (mirrored) met.push_back(entry.column);
        }
    std::sort(met.begin(), met.end());
    met.erase(std::unique(met.begin(), met.end()), met.end());
    Index first = 0;
    while (first < Index(met.size()) && met[std::size_t(first)] == first) ++first;
    refuse_empty_rows(first, matrix.rows - Index(met.size()), matrix.rows, file);
}

/// Throws if the deck contradicts the banner.
void check_symmetry(const Banner& banner, FileSymmetry symmetry, const std::string& file) {
    const Symmetry meant = symmetry == FileSymmetry::symmetric ? Symmetry::symmetric : Symmetry::general;
    if (banner.given && symmetry != FileSymmetry::by_file && meant != banner.entries.symmetry)
        throw FileError(fmt::format("{}:1: the banner says {}, the deck problem.symmetry = {}", file,
                                    name_of(banner.entries.symmetry), name_of(meant)));
}

/// Whether the entries are one triangle of a symmetric matrix. Throws if banner, deck and entries contradict each
/// other, or if they leave it open.
bool is_symmetric(const Banner& banner, FileSymmetry symmetry, const Coordinates& matrix, const std::string& file) {
    const bool said = symmetry == FileSymmetry::symmetric;
    check_symmetry(banner, symmetry, file);
    if (banner.given) return banner.entries.symmetry == Symmetry::symmetric;
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

}  // namespace

InputMatrix parse_matrix_market(std::string_view text, const std::string& file, FileSymmetry symmetry, int threads,
                                const Forget& forget) {
    Lines lines(text, file);
    const Sizes sizes = read_sizes(lines);
    const Banner& banner = sizes.banner;
    Coordinates matrix{sizes.rows, sizes.rows, {}};
    read_entries(lines, sizes.announced, banner.entries, threads, forget, matrix);

    const bool symmetric = is_symmetric(banner, symmetry, matrix, file);
    const Symmetry meant = symmetric ? Symmetry::symmetric : banner.given ? banner.entries.symmetry : Symmetry::general;
    if (too_few_entries(sizes)) refuse_missing_rows(matrix, meant != Symmetry::general, file);
    InputMatrix input;
    std::optional<EntryPlace> repeated;
    input.csr = compress(matrix, meant, threads, file, repeated);
    if (matrix.rounded > 0)
        input.warnings.push_back(fmt::format(
            "{}{}; the system is that of the rounded numbers: where their last digits matter, it cannot be solved in "
            "double precision",
            matrix.first_rounded, matrix.rounded > 1 ? fmt::format(" (one of {} such entries)", matrix.rounded) : ""));
    if (repeated) input.repeated = repeated_entry(matrix, meant, *repeated);
    check_empty_rows(input.csr, file);
    input.declared_symmetric = symmetric;
    return input;
}

bool has_matrix_market_head(std::string_view text) {
    text = without_mark(text);
    for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1))
        if (const std::string_view line = text.substr(0, end); line.substr(0, 1) != "%" && !words_of(line).empty())
            return true;
    return false;
}

MatrixHead parse_matrix_market_head(std::string_view text, std::size_t most_bytes, const std::string& file,
                                    FileSymmetry symmetry) {
    Lines lines(text, file);
    const Sizes sizes = read_sizes(lines);
    const auto& [banner, rows, announced] = sizes;
    lines.check_room(announced, shortest_entry(banner.entries), most_bytes);
    check_symmetry(banner, symmetry, file);
    MatrixHead head{.rows = rows, .entries = announced, .most_entries = announced};
    const bool known = banner.given || symmetry != FileSymmetry::by_file;
    const Symmetry meant = banner.given                          ? banner.entries.symmetry
                           : symmetry == FileSymmetry::symmetric ? Symmetry::symmetric
                                                                 : Symmetry::general;
    if (!known || meant != Symmetry::general) head.most_entries = 2 * announced;
    if (known && meant == Symmetry::symmetric) head.entries = std::max(announced, 2 * announced - rows);
    if (meant == Symmetry::skew_symmetric) head.entries = head.most_entries;
    if (head.most_entries < rows)
        lines.fail(
            fmt::format("{} rows, but {} entries{}: at least {} rows have none, so the matrix is singular and no "
                        "preconditioner can be built from it",
                        rows, announced,
                        head.most_entries > announced ? fmt::format(", {} with mirror images", head.most_entries) : "",
                        rows - head.most_entries));
    head.symmetry_open = !known;
    head.unsymmetric = meant == Symmetry::skew_symmetric;
    head.reading_bytes = announced * Index(sizeof(Entry)) + head.entries * Index(sizeof(Index) + sizeof(double));
    return head;
}

std::vector<double> parse_matrix_market_vector(std::string_view text, const std::string& file) {
    Lines lines(text, file);
    const Banner banner = read_banner(lines);
    const bool coordinate = banner.given && banner.coordinate;
    auto words = lines.next();
    if (!words) lines.fail("the file holds no numbers");
    std::optional<Index> announced;
    if (banner.given || words->size() != 1) {
        if (words->size() != (coordinate ? 3 : 2))
            lines.fail(fmt::format("expected '{}', got {}", coordinate ? "rows columns entries" : "rows columns",
                                   counted(Index(words->size()), "word")));
        announced = lines.count((*words)[0]);
        if (const Index columns = lines.count((*words)[1]); columns != 1)
            lines.fail(
                fmt::format("there are {} columns, and a vector has one; write the column that is meant to a "
                            "file of its own",
                            columns));
        if (coordinate) {
            const Index entries = lines.count((*words)[2]);
            if (*announced > longest_sparse_vector)
                lines.fail(fmt::format("more than {} rows; write so long a vector as an array", longest_sparse_vector));
            Coordinates column{*announced, 1, {}};
            read_entries(lines, entries, {.integer = banner.entries.integer}, 1, keep_text, column);
            std::vector<double> values(std::size_t(*announced), 0.0);
            for (const Entry& entry : column.pieces.front().entries) values[std::size_t(entry.row)] += entry.value;
            return values;
        }
        lines.check_room(*announced, shortest_value);
        words = lines.next();
    }
    std::vector<double> values;
    for (; words; words = lines.next()) {
        if (words->size() != 1)
            lines.fail(fmt::format("expected one number, got {}", counted(Index(words->size()), "word")));
        values.push_back(lines.real((*words)[0], banner.entries.integer));
    }
    if (announced && Index(values.size()) != *announced)
        lines.fail(fmt::format("the file holds {} numbers, {} are announced", values.size(), *announced));
    return values;
}

}  // namespace hyperplane
