// SPDX-License-Identifier: BSD-3-Clause
// The error about a matrix from a file with rows that have no entry.
#pragma once

#include <fmt/format.h>

#include <string>

#include "core/error.hpp"
#include "core/interfaces/input_files.hpp"

namespace hyperplane {

/// Throws the error. `first`, which counts from 0, is the first of `empty` such rows.
[[noreturn]] inline void refuse_empty_rows(Index first, Index empty, Index rows, const std::string& file) {
    const std::string others = empty > 1 ? fmt::format(" (one of {} such rows)", empty) : "";
    throw FileError(
        fmt::format("{}: row {}{} of {} has no entry, so the matrix is singular and no preconditioner can be built "
                    "from it",
                    file, first + 1, others, rows));
}

/// Throws it if a matrix has such rows.
inline void check_empty_rows(const CsrMatrix& csr, const std::string& file) {
    Index first = 0, empty = 0;
    for (Index row = csr.rows; row-- > 0;)
        if (csr.row_begin[std::size_t(row)] == csr.row_begin[std::size_t(row) + 1]) first = row, ++empty;
    if (empty > 0) refuse_empty_rows(first, empty, csr.rows, file);
}

}  // namespace hyperplane
