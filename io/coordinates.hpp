// SPDX-License-Identifier: BSD-3-Clause
// Entries of a sparse matrix in any order, read from the lines of a Matrix Market file by several threads.
//
// The text is cut into pieces at ends of lines. The lines of each piece are counted first, so that an error names its
// line. Of several errors the first in the file is reported, and entries keep the file's order: the result does not
// depend on the number of threads. Text is given back while entries take memory, and no line is read twice.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/interfaces/input_files.hpp"
#include "io/matrix_lines.hpp"
#include "io/matrix_market.hpp"

namespace hyperplane::matrix_market {

struct Entry {
    Index row, column;
    double value;
};

/// Which entries a file holds of its matrix.
enum class Symmetry {
    general,
    symmetric,       ///< the lower triangle; the upper one equals its mirror image
    skew_symmetric,  ///< the entries below the diagonal; those above have the opposite sign
};

struct EntryFormat {
    Symmetry symmetry = Symmetry::general;
    bool pattern = false;  ///< lines "row column"; each value is 1
    bool integer = false;  ///< values are whole numbers
};

/// The entries of some lines that follow one another, and which lines they were.
struct EntryPiece {
    /// Blank lines and comments between two entries.
    struct Gap {
        Index entries;  ///< before it
        Index lines;    ///< without entries so far, those of this gap included
    };
    std::vector<Entry> entries;
    Index lines_before = 0;  ///< of the file
    std::vector<Gap> gaps;

    /// Counts a line without an entry.
    void skip_line();
    /// The line of an entry, which counts from 0.
    Index line_of(Index entry) const;
};

struct Coordinates {
    Index rows = 0, columns = 0;
    std::vector<EntryPiece> pieces;  ///< in the order of the file
    Index above = 0, below = 0;      ///< lines of the first entries above and below the diagonal; 0: none
    Index rounded = 0;               ///< entries of a file of integers whose values are no doubles
    std::string first_rounded = {};  ///< the first of them, as a message tells it
};

/// Bytes of the shortest entry: "1 1\n", "1 1 1\n".
inline Index shortest_entry(const EntryFormat& format) {
    return format.pattern ? 4 : 6;
}

/// Reads the `announced` entries that follow in `lines` to the end of the text. Throws FileError with the line.
void read_entries(const Lines& lines, Index announced, EntryFormat format, int threads, const Forget& forget,
                  Coordinates& matrix);

/// Sorts the entries by row and column and fills in the other triangle of `symmetry`. Entries with the same row and
/// column are added in the order of the file; `repeated` receives the first place, row by row, of such entries. Throws
/// FileError if a sum is not finite.
CsrMatrix compress(const Coordinates& matrix, Symmetry symmetry, int threads, const std::string& file,
                   std::optional<EntryPlace>& repeated);

/// The entry of the file at a place, which may hold its mirror image alone, and the lines of the first two there.
RepeatedEntry repeated_entry(const Coordinates& matrix, Symmetry symmetry, EntryPlace place);

}  // namespace hyperplane::matrix_market
