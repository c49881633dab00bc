// SPDX-License-Identifier: BSD-3-Clause
// Matrix Market files: matrices in coordinate format and vectors in array format, with or without a banner.
// Format: Boisvert, Pozo, Remington, The Matrix Market Exchange Formats, NISTIR 5935 (1996).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/interfaces/input_files.hpp"
#include "io/matrix_head.hpp"

namespace hyperplane {

/// Is told of parts of a text, by any thread, that are not read again.
using Forget = std::function<void(std::string_view part)>;
inline void keep_text(std::string_view /*part*/) {}

/// Reads a square "%%MatrixMarket matrix coordinate FIELD SYMMETRY", FIELD real, integer or pattern (each value is 1),
/// SYMMETRY general, symmetric or skew-symmetric; or, without a banner, lines "row column value" after a line "rows
/// columns entries". A file without a banner whose entries are all on one side of the diagonal may mean a symmetric or
/// a triangular matrix; it is refused unless `symmetry` says which. A line that looks like a banner but is not valid is
/// refused, too. Entries given twice are added. The memory used is limited by the size of the file, not by the sizes
/// that it announces. Lines of more than 64 KiB are refused. The result is the same for
/// any number of threads. Throws FileError with file and line. `forget` is told what has been read, so that its memory
/// can become that of entries; no byte of it is read again.
InputMatrix parse_matrix_market(std::string_view text, const std::string& file,
                                FileSymmetry symmetry = FileSymmetry::by_file, int threads = 1,
                                const Forget& forget = keep_text);

/// Whether the first line of sizes ends within a text that may be only the beginning of a file.
bool has_matrix_market_head(std::string_view text);
/// Parses the beginning of such a file, for which has_matrix_market_head is true; the whole file has `most_bytes` at
/// most.
/// Throws FileError as parse_matrix_market does.
MatrixHead parse_matrix_market_head(std::string_view text, std::size_t most_bytes, const std::string& file,
                                    FileSymmetry symmetry = FileSymmetry::by_file);

/// Reads an array (or n x 1 coordinate) vector; without banner, one number a line (an optional first
/// line "rows columns"). Throws FileError with file and line.
std::vector<double> parse_matrix_market_vector(std::string_view text, const std::string& file);

}  // namespace hyperplane
