// SPDX-License-Identifier: BSD-3-Clause
// What problems that read a linear system from files have in common.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/interfaces/input_files.hpp"
#include "core/parameters/parameters.hpp"

namespace hyperplane {

/// The key that says what happens with entries that a file gives more than once.
ParameterSpec repeated_entries_key();

/// What problem.symmetry says.
FileSymmetry file_symmetry(const Parameters& parameters);

/// Refuses problem.repeated_entries = add where the format of the file gives no entry twice.
void check_repeated_entries(const Parameters& parameters, bool each_once);

/// The matrix of the file that problem.`key` names, whose entries mean what problem.symmetry says. Throws FileError,
/// which begins with the key's place in the deck; also if an entry is given more than once and problem.repeated_entries
/// does not allow it.
InputMatrix read_input_matrix(const Parameters& parameters, const char* key, const InputFiles& files);

/// A(row, column), 0 if it is not stored.
double entry_of(const CsrMatrix& csr, Index row, Index column);
/// The first entry, row by row, that differs from its mirror image.
std::optional<EntryPlace> first_unsymmetric(const CsrMatrix& csr);
/// "row 3, column 4 is -1.5, row 4, column 3 is -1", or where values do not differ, the first zero that is stored while
/// its mirror image is not; empty if there is no such entry.
std::string unsymmetric_text(const CsrMatrix& csr, int dof);
/// The warning about a matrix for which b = A 1, the `product`, is zero or the same number in every row but for
/// rounding, where `largest` is the coefficient of the largest magnitude; empty if b is neither.
std::string product_warning(std::span<const double> product, double largest);
/// The warning about a row or a column without a coefficient other than zero, which makes a matrix singular; empty if
/// there is none.
std::string zeros_warning(const CsrMatrix& csr);

/// Throws UsageError if the equations of an unknown add up to zero, as they do where no value is prescribed anywhere,
/// but their right-hand sides do not: then no x solves them. `key` says where the right-hand side was given.
void check_solvable(const CsrMatrix& csr, int dof, const std::vector<double>& rhs, const std::string& key,
                    bool from_file);
/// The warning about a matrix whose columns add up to zero, or with `of_rows` its rows; empty if they do not.
std::string sums_warning(const CsrMatrix& csr, bool of_rows);

/// The values of the file that problem.right_hand_side names. Throws FileError, which begins with the key's place in
/// the deck, also unless there are `rows` of them.
std::vector<double> read_input_vector(const Parameters& parameters, const InputFiles& files, Index rows);

}  // namespace hyperplane
