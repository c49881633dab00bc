// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with the sizes of a matrix that the head of a file announces.
#pragma once

#include <fmt/format.h>

#include <string>

#include "core/matrix/block_pattern.hpp"

namespace hyperplane {

/// Returns why a matrix of such sizes cannot be solved with; "" if nothing but its entries decides that. `most_entries`
/// counts those of the file and their mirror images.
inline std::string wrong_sizes(Index rows, Index columns, Index most_entries) {
    if (rows == 0 && columns == 0) return "the matrix has no rows, so there is nothing to solve";
    if (rows != columns) return fmt::format("the matrix is {} x {}; a square one is needed", rows, columns);
    // Blocks of several unknowns make fewer block rows, but each row has an entry.
    if (rows > most_block_rows && most_entries < rows)
        return fmt::format(
            "{} rows are more than {}, the most block rows of a matrix, and the file has too few entries for blocks of "
            "several unknowns",
            rows, most_block_rows);
    return "";
}

}  // namespace hyperplane
