// SPDX-License-Identifier: BSD-3-Clause
// A linear system A x = b from a file, without a grid: any square sparse matrix.
//
// b is A 1 by default, whose solution is known. The matrix is solved with in blocks, whose size the file's pattern
// gives or the deck. The problem keeps a copy of the matrix in addition to the one that is solved with, and shares the
// pattern with it.
#pragma once

#include <memory>
#include <optional>

#include "core/interfaces/input_files.hpp"
#include "core/interfaces/problem.hpp"
#include "core/parameters/parameters.hpp"

namespace hyperplane {

ParameterTable matrix_parameters();
/// Throws UsageError for keys of a deck that mean nothing for a matrix of a file.
void refuse_keys_of_others(const Parameters& parameters);
/// The size of blocks that the deck gives, or what the file `declared`; nothing if the entries tell it. Throws
/// UsageError if these are two, and unless it divides the rows.
std::optional<int> given_block_size(const Parameters& parameters, Index rows,
                                    const std::optional<DeclaredBlock>& declared);
/// Throws UsageError if sizes do not fit, and FileError if a file cannot be read or gives an entry twice.
std::unique_ptr<Problem> create_matrix(const Parameters& parameters, const Context& context, const InputFiles& files);

}  // namespace hyperplane
