// SPDX-License-Identifier: BSD-3-Clause
#include "io/matrix_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>

#include "core/error.hpp"
#include "io/gzip.hpp"
#include "io/matrix_market.hpp"
#include "io/petsc_binary.hpp"
#include "io/whole_file.hpp"

namespace hyperplane {
namespace {

/// Collects lines or bytes and writes them in large pieces.
class PieceWriter {
public:
    explicit PieceWriter(AtomicFile& file, bool gzip = false) : file_(file) {
        if (gzip) gzip_.emplace([this](std::string_view bytes) { put(bytes); }, made_by_mark);
    }

    template <class... Values>
    void line(fmt::format_string<Values...> format, const Values&... values) {
        fmt::vformat_to(std::back_inserter(buffer_), format, fmt::make_format_args(values...));
        buffer_ += '\n';
        if (buffer_.size() >= piece) flush();
    }
    void bytes(const std::string& more) {
        buffer_ += more;
        if (buffer_.size() >= piece) flush();
    }
    /// Writes what is left.
    void end() {
        flush();
        if (gzip_) gzip_->end();
    }

private:
    static constexpr std::size_t piece = 1 << 20;

    void put(std::string_view bytes) {
        file_.write(bytes.data(), Index(bytes.size()), written_);
        written_ += Index(bytes.size());
    }
    void flush() {
        gzip_ ? gzip_->write(buffer_) : put(buffer_);
        buffer_.clear();
    }

    AtomicFile& file_;
    std::optional<GzipWriter> gzip_;
    std::string buffer_;
    Index written_ = 0;
};

template <class Body>
void for_each_entry(const CsrMatrix& matrix, bool lower_only, const Body& body) {
    for (Index row = 0; row < matrix.rows; ++row)
        for (Index at = matrix.row_begin[std::size_t(row)]; at < matrix.row_begin[std::size_t(row) + 1]; ++at)
            if (const Index column = matrix.column[std::size_t(at)]; !lower_only || column <= row)
                body(row, column, matrix.value[std::size_t(at)]);
}

void refuse_symmetry_of_petsc(const std::string& path, FileSymmetry symmetry) {
    if (symmetry != FileSymmetry::by_file)
        throw FileError(path + ": a PETSc file holds all entries of its matrix; leave problem.symmetry out");
}

/// The block size that FILE.info, which PETSc writes beside a binary file, gives; nothing if there is none.
std::optional<DeclaredBlock> block_beside(const std::string& path, Index rows) {
    const std::string name = petsc_info_name(path);
    if (!std::filesystem::is_regular_file(name)) return std::nullopt;
    const Bytes text = read_text_file(name);
    std::optional<DeclaredBlock> block = parse_petsc_info(text, name);
    if (block && rows % block->size != 0)
        throw FileError(
            fmt::format("{}: -matload_block_size {} does not divide the {} rows of {}; remove the file if it belongs "
                        "to another one",
                        block->where, block->size, rows, path));
    return block;
}

}  // namespace

InputMatrix read_matrix(const std::string& path, FileSymmetry symmetry, int threads) {
    Bytes bytes = read_text_file(path, is_petsc_binary);
    if (!is_petsc_binary(bytes))
        return parse_matrix_market(bytes, path, symmetry, threads,
                                   [&bytes](std::string_view part) { bytes.forget(part); });
    refuse_symmetry_of_petsc(path, symmetry);
    InputMatrix input = parse_petsc_matrix(bytes, path);
    input.block = block_beside(path, input.csr.rows);
    input.each_once = true;
    return input;
}

MatrixHead read_matrix_head(const std::string& path, FileSymmetry symmetry) {
    FileHead head = read_text_head(path, is_petsc_binary);
    if (is_petsc_binary(head.bytes)) {
        refuse_symmetry_of_petsc(path, symmetry);
        MatrixHead found = parse_petsc_head(head.bytes, head.most_bytes, path);
        found.block = block_beside(path, found.rows);
        found.each_once = true;
        return found;
    }
    // Long comments may precede the sizes, or the file may end before them.
    if (!has_matrix_market_head(head.bytes)) {
        head.bytes = std::string_view(read_text_file(path));
        head.most_bytes = head.bytes.size();
    }
    return parse_matrix_market_head(head.bytes, head.most_bytes, path, symmetry);
}

std::vector<double> read_vector(const std::string& path) {
    const Bytes bytes = read_text_file(path, is_petsc_binary);
    return is_petsc_binary(bytes) ? parse_petsc_vector(bytes, path) : parse_matrix_market_vector(bytes, path);
}

std::vector<double> read_doubles(const std::string& path, Index count) {
    static_assert(std::endian::native == std::endian::little);
    struct stat file;
    const bool is_file = stat(path.c_str(), &file) == 0 && S_ISREG(file.st_mode);  // others are refused below
    if (is_file && file.st_size != count * Index(sizeof(double)))
        throw FileError(fmt::format("{}: {} float64 values are needed, {} bytes; the file has {}", path, count,
                                    count * Index(sizeof(double)), file.st_size));
    const Bytes whole = read_whole_file(path);
    const std::string_view bytes = whole;
    if (Index(bytes.size()) != count * Index(sizeof(double)))
        throw FileError(fmt::format("{}: {} float64 values are needed, {} bytes were read", path, count, bytes.size()));
    std::vector<double> values(static_cast<std::size_t>(count));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

void write_matrix_market(AtomicFile& file, const CsrMatrix& matrix, bool symmetric, bool gzip) {
    Index entries = 0;
    for_each_entry(matrix, symmetric, [&](Index, Index, double) { ++entries; });
    PieceWriter writer(file, gzip);
    writer.line("%%MatrixMarket matrix coordinate real {}", symmetric ? "symmetric" : "general");
    writer.line("% {}", made_by_mark);
    writer.line("{} {} {}", matrix.rows, matrix.rows, entries);
    for_each_entry(matrix, symmetric,
                   [&](Index row, Index column, double value) { writer.line("{} {} {}", row + 1, column + 1, value); });
    writer.end();
}

void write_matrix_market(AtomicFile& file, const std::vector<double>& vector, bool gzip) {
    PieceWriter writer(file, gzip);
    writer.line("%%MatrixMarket matrix array real general");
    writer.line("% {}", made_by_mark);
    writer.line("{} 1", vector.size());
    for (double value : vector) writer.line("{}", value);
    writer.end();
}

void write_petsc(AtomicFile& file, const CsrMatrix& matrix) {
    PieceWriter writer(file);
    write_petsc_matrix(matrix, [&](const std::string& bytes) { writer.bytes(bytes); });
    writer.end();
}

void write_petsc(AtomicFile& file, const std::vector<double>& vector) {
    PieceWriter writer(file);
    write_petsc_vector(vector, [&](const std::string& bytes) { writer.bytes(bytes); });
    writer.end();
}

}  // namespace hyperplane
