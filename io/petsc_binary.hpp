// SPDX-License-Identifier: BSD-3-Clause
// Matrices and vectors as PETSc's MatView and VecView write them to a binary viewer (manual pages of MatLoad and
// VecLoad).
//
// All numbers are big-endian. A matrix of kind AIJ or BAIJ is
//
//     1211216  rows  columns  nonzeros  (nonzeros of each row)  (columns, counted from 0)  (values, float64)
//
// and a vector is 1211214, its size, and its values. Integers have 4 bytes; a PETSc configured with 64-bit indices
// writes 8. A file may hold several objects, one after another. Nothing in a file says whether its values are real or
// complex, which have 16 bytes, or in single precision, which have 4: only where the next object begins, or the file
// ends, tells.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/interfaces/input_files.hpp"
#include "io/matrix_head.hpp"

namespace hyperplane {

/// Whether a file that begins with these bytes is such a file.
bool is_petsc_binary(std::string_view head);

/// Reads what the beginning of a file says of its first matrix; the whole file has `most_bytes` at most. Throws
/// FileError as parse_petsc_matrix does.
MatrixHead parse_petsc_head(std::string_view bytes, std::size_t most_bytes, const std::string& file);
/// The first matrix of a file. Columns of a row may be in any order. Throws FileError that names row and entry if the
/// matrix is not square, if the file is too short, or if a column is out of range or given twice, or a value not
/// finite.
InputMatrix parse_petsc_matrix(std::string_view bytes, const std::string& file);
/// The first vector of a file. Throws FileError.
std::vector<double> parse_petsc_vector(std::string_view bytes, const std::string& file);

/// The block size in the text of the options that PETSc writes beside a binary file, -matload_block_size N, whatever
/// prefix it has; none without it. `file`: the name of the text's file. Throws FileError unless N is a positive number.
std::optional<DeclaredBlock> parse_petsc_info(std::string_view text, const std::string& file);
/// The name of the file with these options: with .info in place of .gz, or behind the name.
std::string petsc_info_name(const std::string& file);

/// Hands a file's bytes to `put`, piece after piece. Integers have 4 bytes if rows and entries can be counted with them
/// and `least_bytes` is 4, otherwise 8.
void write_petsc_matrix(const CsrMatrix& matrix, const std::function<void(const std::string&)>& put,
                        int least_bytes = 4);
void write_petsc_vector(const std::vector<double>& vector, const std::function<void(const std::string&)>& put);

}  // namespace hyperplane
