// SPDX-License-Identifier: BSD-3-Clause
// Matrix Market files: coordinate matrices and array vectors, with or without banner.
// Format: Boisvert, Pozo, Remington, The Matrix Market Exchange Formats, NISTIR 5935 (1996).
#pragma once

#include <string>
#include <vector>

#include "core/interfaces/input_files.hpp"
#include "io/output_guard.hpp"

namespace hyperplane {

/// Reads a square "%%MatrixMarket matrix coordinate real|integer general|symmetric", or, without a
/// banner, lines "row column value" after a line "rows columns entries". A file without banner whose
/// entries lie on one side of the diagonal may mean a symmetric matrix or a triangular one: it is refused unless
/// `symmetry` says which. What looks like a banner and is none is refused, too. Entries given twice are added up.
/// Memory grows with the file, not with what it claims to hold; a file that is none, or has lines of more than 64 KiB,
/// is refused. Throws FileError with file and line.
InputMatrix read_matrix_market(const std::string& path, FileSymmetry symmetry = FileSymmetry::by_file);
InputMatrix parse_matrix_market(const std::string& text, const std::string& file,
                                FileSymmetry symmetry = FileSymmetry::by_file);

/// Reads an array (or n x 1 coordinate) vector; without banner, one number a line (an optional first
/// line "rows columns"). Throws FileError with file and line.
std::vector<double> read_matrix_market_vector(const std::string& path);
std::vector<double> parse_matrix_market_vector(const std::string& text, const std::string& file);

/// Reads `count` raw little-endian float64 values; throws FileError when the file holds another number.
std::vector<double> read_doubles(const std::string& path, Index count);

/// Writes the digits that read back as the same numbers, whole or not at all; a symmetric matrix as
/// its lower triangle. Throws FileError.
void write_matrix_market(const std::string& path, const CsrMatrix& matrix, bool symmetric,
                         Overwrite overwrite = Overwrite::own);
void write_matrix_market(const std::string& path, const std::vector<double>& vector,
                         Overwrite overwrite = Overwrite::own);

}  // namespace hyperplane
