// SPDX-License-Identifier: BSD-3-Clause
// Files of matrices and vectors: Matrix Market or PETSc binary when read, recognised from their first bytes and
// expanded if they are gzip files; either of them when written, Matrix Market also as gzip files.
#pragma once

#include <string>
#include <vector>

#include "core/interfaces/input_files.hpp"
#include "io/atomic_file.hpp"
#include "io/matrix_head.hpp"

namespace hyperplane {

/// Reads a square matrix. The result is the same for any number of threads. Throws FileError, as parse_matrix_market
/// and parse_petsc_matrix do; also if `symmetry` is given for a PETSc file, which always holds all entries.
InputMatrix read_matrix(const std::string& path, FileSymmetry symmetry = FileSymmetry::by_file, int threads = 1);
/// Reads only the beginning of a matrix file, 1 MiB of it expanded, or more if its comments are longer.
/// Throws FileError as read_matrix does for what it has read.
MatrixHead read_matrix_head(const std::string& path, FileSymmetry symmetry = FileSymmetry::by_file);
/// Reads a vector; of a PETSc file its first one. Throws FileError.
std::vector<double> read_vector(const std::string& path);

/// Reads `count` raw little-endian float64 values. Throws FileError if the file has another number of values.
std::vector<double> read_doubles(const std::string& path, Index count);

/// Writes a file from its beginning, with as many digits as give the same numbers when they are read; of a symmetric
/// matrix it writes the lower triangle. With `gzip` the file is compressed. Throws FileError. Who opened the file
/// commits it.
void write_matrix_market(AtomicFile& file, const CsrMatrix& matrix, bool symmetric, bool gzip = false);
void write_matrix_market(AtomicFile& file, const std::vector<double>& vector, bool gzip = false);

/// Writes as PETSc's MatView (of an AIJ matrix, with all entries) and VecView do. Such a file has no place for a word
/// that says who wrote it, so a later one replaces it only with Overwrite::any. Throws FileError.
void write_petsc(AtomicFile& file, const CsrMatrix& matrix);
void write_petsc(AtomicFile& file, const std::vector<double>& vector);

}  // namespace hyperplane
