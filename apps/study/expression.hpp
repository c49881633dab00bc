// SPDX-License-Identifier: BSD-3-Clause
// The conditions of a study: skip = preconditioner.name == jacobi and grid.cells > 64
//
//   condition   and, or, not, parentheses; == != < <= > >=; + - * / %
//   operands    numbers, swept keys (section.key), words (jacobi) or texts in single quotes ('a b')
//
// Evaluated as written and completely: a mistake in a part that does not decide is still a mistake.
#pragma once

#include <map>
#include <string>

namespace hyperplane {

/// Whether `condition` holds for these values ("section.key" -> text). Throws UsageError with the column where
/// it cannot be understood.
bool holds(const std::string& condition, const std::map<std::string, std::string>& values);

}  // namespace hyperplane
