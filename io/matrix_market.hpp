// SPDX-License-Identifier: BSD-3-Clause
// Matrix Market files: matrices in coordinate format and vectors in array format, with or without a banner.
// Format: Boisvert, Pozo, Remington, The Matrix Market Exchange Formats, NISTIR 5935 (1996).
#pragma once

#include <string>
#include <vector>

#include "core/interfaces/input_files.hpp"
#include "io/output_guard.hpp"

namespace hyperplane {

/// Reads a square "%%MatrixMarket matrix coordinate real|integer general|symmetric", or, without a banner, lines "row
/// column value" after a line "rows columns entries". A file without a banner whose entries are all on one side of the
/// diagonal may mean a symmetric or a triangular matrix; it is refused unless `symmetry` says which. A line that looks
/// like a banner but is not valid is refused, too. Entries given twice are added. The memory used is limited by the
/// size of the file, not by the sizes that it announces. A file of another kind, or with lines of more than 64 KiB, is
/// refused. Throws FileError with file and line.
InputMatrix read_matrix_market(const std::string& path, FileSymmetry symmetry = FileSymmetry::by_file);
InputMatrix parse_matrix_market(const std::string& text, const std::string& file,
                                FileSymmetry symmetry = FileSymmetry::by_file);

/// Reads an array (or n x 1 coordinate) vector; without banner, one number a line (an optional first
/// line "rows columns"). Throws FileError with file and line.
std::vector<double> read_matrix_market_vector(const std::string& path);
std::vector<double> parse_matrix_market_vector(const std::string& text, const std::string& file);

/// Reads `count` raw little-endian float64 values. Throws FileError if the file has another number of values.
std::vector<double> read_doubles(const std::string& path, Index count);

/// Writes the whole file or none, with as many digits as give the same numbers when they are read; of a symmetric
/// matrix it writes the lower triangle. Throws FileError.
void write_matrix_market(const std::string& path, const CsrMatrix& matrix, bool symmetric,
                         Overwrite overwrite = Overwrite::own);
void write_matrix_market(const std::string& path, const std::vector<double>& vector,
                         Overwrite overwrite = Overwrite::own);

}  // namespace hyperplane
