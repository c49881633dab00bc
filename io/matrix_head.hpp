// SPDX-License-Identifier: BSD-3-Clause
// The head of a matrix file: the sizes and the symmetry that it announces before its entries.
#pragma once

#include <optional>

#include "core/interfaces/input_files.hpp"
#include "core/types.hpp"

namespace hyperplane {

struct MatrixHead {
    Index rows = 0;
    /// Entries of the matrix, of both triangles, if each diagonal entry is there and none is given twice.
    Index entries = 0;
    /// The most entries: more than that, if the file holds one triangle and diagonal entries are missing, or if only
    /// its entries tell whether it holds one.
    Index most_entries = 0;
    bool symmetry_open = false;  ///< only the entries tell whether they are one triangle of a symmetric matrix
    bool unsymmetric = false;    ///< it cannot be symmetric; otherwise its values decide
    Index reading_bytes = 0;     ///< the least memory that reading the entries takes
    std::optional<DeclaredBlock> block = std::nullopt;  ///< as InputMatrix has it
    bool each_once = false;                             ///< as InputMatrix has it
};

}  // namespace hyperplane
