// SPDX-License-Identifier: BSD-3-Clause
#include "io/petsc_binary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "core/error.hpp"
#include "io/empty_rows.hpp"
#include "io/matrix_sizes.hpp"
#include "io/sort_row.hpp"

namespace hyperplane {
namespace {

constexpr Index matrix_class = 1211216, vector_class = 1211214;

/// The value of big-endian bytes.
template <class Value, class Bits>
Value big_endian(const char* at) {
    static_assert(std::endian::native == std::endian::little && sizeof(Value) == sizeof(Bits));
    Bits bits;
    std::memcpy(&bits, at, sizeof bits);
    if constexpr (sizeof bits == 4)
        bits = __builtin_bswap32(bits);
    else
        bits = __builtin_bswap64(bits);
    return std::bit_cast<Value>(bits);
}

/// The bytes of an integer: 4 or 8, or 0 if the bytes do not begin with `id`.
int integer_bytes(std::string_view bytes, Index id) {
    if (bytes.size() >= 4 && big_endian<std::int32_t, std::uint32_t>(bytes.data()) == id) return 4;
    return bytes.size() >= 8 && big_endian<std::int64_t, std::uint64_t>(bytes.data()) == id ? 8 : 0;
}

/// The number of the class of an object of PETSc that begins with these bytes, all of which lie close together; 0 if
/// none does.
Index class_of(std::string_view bytes) {
    for (Index id = 1211211; id < 1211250; ++id)
        if (integer_bytes(bytes, id) > 0) return id;
    return 0;
}
bool begins_object(std::string_view bytes) {
    return class_of(bytes) > 0;
}

/// Takes numbers from the beginning of the bytes that are left.
class Reader {
public:
    Reader(std::string_view bytes, const std::string& file) : Reader(bytes, bytes.size(), file) {}
    /// The bytes may be only the beginning of a file of `size` bytes.
    Reader(std::string_view bytes, std::size_t size, const std::string& file)
        : size_(size), rest_(bytes), file_(file) {}

    std::string text(const std::string& what) const { return file_ + ": PETSc binary file: " + what; }
    [[noreturn]] void fail(const std::string& what) const { throw FileError(text(what)); }
    std::string_view rest() const { return rest_; }

    /// Throws unless `count` numbers of `bytes` bytes are left.
    void check_room(Index count, int bytes, const char* what) const {
        if (count > (Index(size_) - passed_) / bytes)
            fail(fmt::format("{} {} are announced, but the file has only {} bytes; is it truncated?", count, what,
                             size_));
    }
    /// Throws unless `count` values are left, beside each of which are `beside` bytes of integers. A PETSc that was
    /// configured for single precision writes values of 4 bytes.
    void check_values(Index count, int beside, const char* what) const {
        const Index left = Index(size_) - passed_;
        if (count > left / (beside + 8) && count <= left / (beside + 4)) {
            const Index in_single = count * (beside + 4);
            if (left == in_single ||
                (Index(rest_.size()) > in_single && begins_object(rest_.substr(std::size_t(in_single)))))
                fail(
                    "its values have 4 bytes and so are of single precision; ones of 8 bytes are needed: write it with "
                    "a PETSc that was configured for double precision");
        }
        check_room(count, beside + 8, what);
    }
    Index integer(int bytes, const char* what) {
        check_room(1, bytes, what);
        const Index value = bytes == 4 ? big_endian<std::int32_t, std::uint32_t>(rest_.data())
                                       : big_endian<std::int64_t, std::uint64_t>(rest_.data());
        skip(1, bytes);
        return value;
    }
    double real() {
        const double value = big_endian<double, std::uint64_t>(rest_.data());
        skip(1, 8);
        return value;
    }
    /// Throws unless the file ends here or another object begins, as after `values` real numbers of an object. A PETSc
    /// that was configured with complex numbers writes two of 8 bytes for each.
    void check_end_of(const char* object, Index values) const {
        const auto may_end = [](std::string_view rest) { return rest.empty() || begins_object(rest); };
        if (may_end(rest_)) return;
        if (Index(rest_.size()) / 8 >= values && may_end(rest_.substr(std::size_t(values) * 8)))
            fail(
                "its values have 16 bytes and so are complex; only real ones, of 8 bytes, can be solved with: write it "
                "with a PETSc that was configured for real numbers");
        fail(
            fmt::format("{} bytes follow the {}, and no object of PETSc begins with them: the file is damaged, or its "
                        "values are not real numbers of 8 bytes; write it with a PETSc that was configured for real "
                        "numbers in double precision",
                        rest_.size(), object));
    }
    /// Goes on after numbers for which check_room has found room.
    void skip(Index count, int bytes) {
        passed_ += count * bytes;
        rest_.remove_prefix(std::min(rest_.size(), std::size_t(count * bytes)));
    }

private:
    std::size_t size_;  ///< of the file
    Index passed_ = 0;  ///< bytes
    std::string_view rest_;
    const std::string& file_;
};

/// The head of a matrix: what follows its class.
struct Head {
    int integers;  ///< bytes of an integer
    Index rows, columns, nonzeros;
};

Head matrix_head(Reader& reader) {
    Head head{integer_bytes(reader.rest(), matrix_class), 0, 0, 0};
    if (head.integers == 0)
        reader.fail(integer_bytes(reader.rest(), vector_class) > 0 ? "it begins with a vector, not with a matrix"
                                                                   : "it does not begin with a matrix");
    reader.integer(head.integers, "numbers");
    head.rows = reader.integer(head.integers, "rows");
    head.columns = reader.integer(head.integers, "columns");
    head.nonzeros = reader.integer(head.integers, "nonzeros");
    if (head.nonzeros == -1) reader.fail("the matrix is dense; a sparse one is needed (MATAIJ)");
    if (head.rows < 0 || head.columns < 0 || head.nonzeros < 0)
        reader.fail(fmt::format("{} x {} with {} nonzeros is no matrix", head.rows, head.columns, head.nonzeros));
    return head;
}

/// The head of a matrix that can be solved with, as far as its sizes tell.
Head square_matrix_head(Reader& reader) {
    const Head head = matrix_head(reader);
    if (const std::string wrong = wrong_sizes(head.rows, head.columns, head.nonzeros); !wrong.empty())
        reader.fail(wrong);
    reader.check_room(head.rows, head.integers, "rows");
    return head;
}

/// Looks at what follows a matrix. Vectors may, such as its right-hand side. Throws if another matrix does, since
/// nothing says which of them is meant. Returns a warning about another object, of which it is not known where it ends.
std::string warning_about_rest(Reader reader) {
    while (const int integers = integer_bytes(reader.rest(), vector_class)) {
        reader.integer(integers, "numbers");
        const Index size = reader.integer(integers, "values");
        if (size < 0) reader.fail(fmt::format("{} is no size of a vector", size));
        reader.check_values(size, 0, "values");
        reader.skip(size, 8);
        reader.check_end_of("vector", size);
    }
    if (reader.rest().empty()) return "";
    if (integer_bytes(reader.rest(), matrix_class) > 0)
        reader.fail(
            "it holds a second matrix, and nothing says which of them is meant; write each to a file of its own");
    return reader.text(
        fmt::format("an object of PETSc that is neither matrix nor vector, of class {}, follows the matrix; it is not "
                    "read, nor is what follows it",
                    class_of(reader.rest())));
}

/// Sorts the entries of a row by column; throws if a column is there twice.
void sort_entries(const Reader& reader, CsrMatrix& csr, Index row, std::vector<std::pair<Index, double>>& scratch) {
    const Index begin = csr.row_begin[std::size_t(row)], end = csr.row_begin[std::size_t(row) + 1];
    Index* const columns = csr.column.data() + begin;
    if (!sort_row(columns, csr.value.data() + begin, end - begin, scratch)) return;
    const Index twice = *std::adjacent_find(columns, columns + (end - begin));
    reader.fail(fmt::format("row {} has column {} twice", row + 1, twice + 1));
}

/// Bytes of integers up to `most`.
int bytes_for(Index most) {
    return most <= std::numeric_limits<std::int32_t>::max() ? 4 : 8;
}

/// Collects big-endian numbers and hands them on in pieces.
class BigEndian {
public:
    BigEndian(const std::function<void(const std::string&)>& put, int integer_bytes)
        : put_(put), integer_bytes_(integer_bytes) {}

    void integer(Index value) {
        if (integer_bytes_ == 4)
            append(__builtin_bswap32(std::uint32_t(value)));
        else
            append(__builtin_bswap64(std::uint64_t(value)));
    }
    void real(double value) { append(__builtin_bswap64(std::bit_cast<std::uint64_t>(value))); }
    void end() {
        put_(piece_);
        piece_.clear();
    }

private:
    template <class Bits>
    void append(Bits bits) {
        constexpr std::size_t most = 1 << 20;
        piece_.append(reinterpret_cast<const char*>(&bits), sizeof bits);
        if (piece_.size() >= most) end();
    }

    const std::function<void(const std::string&)>& put_;
    int integer_bytes_;
    std::string piece_;
};

}  // namespace

bool is_petsc_binary(std::string_view head) {
    return integer_bytes(head, matrix_class) > 0 || integer_bytes(head, vector_class) > 0;
}

MatrixHead parse_petsc_head(std::string_view bytes, std::size_t most_bytes, const std::string& file) {
    Reader reader(bytes, std::max(most_bytes, bytes.size()), file);
    const Head head = square_matrix_head(reader);
    reader.skip(head.rows, head.integers);
    reader.check_values(head.nonzeros, head.integers, "nonzeros");
    return {.rows = head.rows,
            .entries = head.nonzeros,
            .most_entries = head.nonzeros,
            .symmetry_open = false,
            .unsymmetric = false,
            .reading_bytes = head.rows * Index(head.integers + sizeof(Index)) +
                             head.nonzeros * Index(head.integers + 8 + sizeof(Index) + sizeof(double))};
}

InputMatrix parse_petsc_matrix(std::string_view bytes, const std::string& file) {
    Reader reader(bytes, file);
    const Head head = square_matrix_head(reader);
    CsrMatrix csr;
    csr.rows = head.rows;
    csr.row_begin.assign(std::size_t(head.rows) + 1, 0);
    for (Index row = 0; row < head.rows; ++row) {
        const Index length = reader.integer(head.integers, "rows");
        if (length < 0 || length > head.columns)
            reader.fail(fmt::format("row {} has {} nonzeros, of {} columns", row + 1, length, head.columns));
        csr.row_begin[std::size_t(row) + 1] = csr.row_begin[std::size_t(row)] + length;
    }
    if (csr.row_begin.back() != head.nonzeros)
        reader.fail(
            fmt::format("its rows have {} nonzeros, but {} are announced", csr.row_begin.back(), head.nonzeros));
    reader.check_values(head.nonzeros, head.integers, "nonzeros");
    csr.column.resize(std::size_t(head.nonzeros));
    csr.value.resize(std::size_t(head.nonzeros));
    for (Index row = 0; row < head.rows; ++row)
        for (Index at = csr.row_begin[std::size_t(row)]; at < csr.row_begin[std::size_t(row) + 1]; ++at) {
            const Index column = csr.column[std::size_t(at)] = reader.integer(head.integers, "columns");
            if (column < 0 || column >= head.columns)
                reader.fail(fmt::format("row {}: column {} is outside 1..{}", row + 1, column + 1, head.columns));
        }
    for (Index row = 0; row < head.rows; ++row)
        for (Index at = csr.row_begin[std::size_t(row)]; at < csr.row_begin[std::size_t(row) + 1]; ++at)
            if (!std::isfinite(csr.value[std::size_t(at)] = reader.real()))
                reader.fail(fmt::format("row {}, column {}: the value is not finite", row + 1,
                                        csr.column[std::size_t(at)] + 1));
    reader.check_end_of("matrix", head.nonzeros);
    InputMatrix input;
    if (std::string text = warning_about_rest(reader); !text.empty()) input.warnings.push_back(std::move(text));
    std::vector<std::pair<Index, double>> scratch;
    for (Index row = 0; row < head.rows; ++row) sort_entries(reader, csr, row, scratch);
    check_empty_rows(csr, file);
    input.csr = std::move(csr);
    return input;
}

std::vector<double> parse_petsc_vector(std::string_view bytes, const std::string& file) {
    Reader reader(bytes, file);
    while (integer_bytes(reader.rest(), matrix_class) > 0) {  // a matrix may precede its right-hand side
        const Head head = matrix_head(reader);
        reader.check_room(head.rows, head.integers, "rows");
        reader.skip(head.rows, head.integers);
        reader.check_values(head.nonzeros, head.integers, "nonzeros");
        reader.skip(head.nonzeros, head.integers + 8);
        reader.check_end_of("matrix", head.nonzeros);
    }
    const int integers = integer_bytes(reader.rest(), vector_class);
    if (integers == 0) reader.fail("it holds no vector, or not where one would begin");
    reader.integer(integers, "numbers");
    const Index size = reader.integer(integers, "values");
    if (size < 0) reader.fail(fmt::format("{} is no size of a vector", size));
    reader.check_values(size, 0, "values");
    std::vector<double> values(static_cast<std::size_t>(size));
    for (std::size_t at = 0; at < values.size(); ++at)
        if (!std::isfinite(values[at] = reader.real())) reader.fail(fmt::format("value {} is not finite", at + 1));
    reader.check_end_of("vector", size);
    return values;
}

std::optional<DeclaredBlock> parse_petsc_info(std::string_view text, const std::string& file) {
    constexpr std::string_view option = "matload_block_size", spaces = " \t\r";
    std::optional<DeclaredBlock> found;
    for (Index line = 1; !text.empty(); ++line) {
        std::string_view rest = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), rest.size() + 1));
        rest = rest.substr(0, rest.find('#'));
        std::vector<std::string_view> words;
        while (rest.find_first_not_of(spaces) != rest.npos) {
            rest.remove_prefix(rest.find_first_not_of(spaces));
            words.push_back(rest.substr(0, rest.find_first_of(spaces)));
            rest.remove_prefix(words.back().size());
        }
        for (std::size_t at = 0; at < words.size(); ++at) {
            if (!words[at].starts_with('-') || !words[at].ends_with(option)) continue;
            const std::string_view size = at + 1 < words.size() ? words[at + 1] : std::string_view();
            DeclaredBlock block{0, fmt::format("{}:{}", file, line)};
            const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), block.size);
            if (error != std::errc() || end != size.data() + size.size() || block.size < 1)
                throw FileError(
                    fmt::format("{}: '{}' of {} is no block size; write an integer >= 1 and <= {}, or remove the file",
                                block.where, size, words[at], std::numeric_limits<int>::max()));
            found = std::move(block);
        }
    }
    return found;
}

std::string petsc_info_name(const std::string& file) {
    return (file.ends_with(".gz") ? file.substr(0, file.size() - 3) : file) + ".info";
}

void write_petsc_matrix(const CsrMatrix& matrix, const std::function<void(const std::string&)>& put, int least_bytes) {
    const Index entries = Index(matrix.value.size());
    BigEndian out(put, std::max(least_bytes, bytes_for(std::max(entries, matrix.rows))));
    for (const Index one : {matrix_class, matrix.rows, matrix.rows, entries}) out.integer(one);
    for (Index row = 0; row < matrix.rows; ++row)
        out.integer(matrix.row_begin[std::size_t(row) + 1] - matrix.row_begin[std::size_t(row)]);
    for (const Index column : matrix.column) out.integer(column);
    for (const double value : matrix.value) out.real(value);
    out.end();
}

void write_petsc_vector(const std::vector<double>& vector, const std::function<void(const std::string&)>& put) {
    BigEndian out(put, bytes_for(Index(vector.size())));
    for (const Index one : {vector_class, Index(vector.size())}) out.integer(one);
    for (const double value : vector) out.real(value);
    out.end();
}

}  // namespace hyperplane
