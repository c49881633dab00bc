// SPDX-License-Identifier: BSD-3-Clause
// The functions with which a problem reads files. The room io implements them; problems and io do not
// include each other. File names in a deck are relative to the deck's folder.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/matrix/struct_matrix.hpp"

namespace hyperplane {

/// The place of an entry, counted from 0.
struct EntryPlace {
    Index row, column;
};

/// An entry that a file gives more than once, with the lines of the first two.
struct RepeatedEntry {
    EntryPlace place;
    Index line = 0, again = 0;
};

/// The block size that a file says a matrix has, and the place where it says so.
struct DeclaredBlock {
    int size = 1;
    std::string where;  ///< "a.petsc.info:1"
};

/// A square real matrix. If its file declares it symmetric and so holds one triangle, the other one is filled in.
struct InputMatrix {
    CsrMatrix csr;
    bool declared_symmetric = false;
    std::optional<RepeatedEntry> repeated = std::nullopt;  ///< the first entry that was added up with others
    std::optional<DeclaredBlock> block = std::nullopt;     ///< of a PETSc file with one that names a block size
    bool each_once = false;                                ///< its format gives no entry twice, as PETSc's
    std::vector<std::string> warnings = {};                ///< what of the file is not in the matrix, or not as it is
};

/// What the entries of a matrix file mean.
enum class FileSymmetry {
    by_file,    ///< what its banner says; without one all entries of a general matrix
    symmetric,  ///< one triangle of a symmetric matrix
    general,    ///< all entries
};

/// Each function throws FileError naming file and line.
struct InputFiles {
    std::function<InputMatrix(const std::string& path, FileSymmetry symmetry)> matrix;  ///< Matrix Market or PETSc
    std::function<std::vector<double>(const std::string& path)> vector;                 ///< Matrix Market or PETSc
    std::function<std::vector<double>(const std::string& path, Index count)> doubles;  ///< raw float64, `count` of them
};

}  // namespace hyperplane
